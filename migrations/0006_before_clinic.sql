-- +goose Up
-- Signing in and adding people happen before a clinic is set, and clinics are under row-level security. Both look-ups
-- name the one clinic they want, which is all that SET app.clinic would give them anyway.

-- The name of a clinic, for the answer to "who is this?", inside the one statement that asks it.
-- +goose StatementBegin
CREATE FUNCTION clinic_name(p_clinic text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  before text := coalesce(current_setting('app.clinic', true), '');
  found_name text;
BEGIN
  PERFORM set_config('app.clinic', p_clinic, true);
  SELECT name INTO found_name FROM clinics WHERE id = p_clinic;
  PERFORM set_config('app.clinic', before, true);
  RETURN found_name;
END $$;
-- +goose StatementEnd

-- A clinic by its exact name, for the operator's commands.
CREATE POLICY by_name ON clinics FOR SELECT USING (name = current_setting('app.clinic_name', true));

-- Readiness: is every migration of this program there?
GRANT SELECT ON goose_db_version TO countersign_app;
