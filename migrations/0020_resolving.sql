-- +goose Up
-- What people do about operations whose outcome the program does not know.

-- A person asked for one more look at an operation that waits for a person. Nothing is sent for it, whatever the look
-- shows: it stays with people unless the EHR has exactly what was approved.
ALTER TABLE ehr_operations ADD COLUMN look_only boolean NOT NULL DEFAULT false;
CREATE INDEX ehr_operations_to_look ON ehr_operations (clinic, next_at) WHERE ended_at IS NULL AND look_only;

-- +goose StatementBegin
CREATE FUNCTION nothing_is_sent_for_people() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM ehr_operations o WHERE o.clinic = NEW.clinic AND o.id = NEW.operation AND (o.look_only OR o.ended_at IS NOT NULL)) THEN
    RAISE EXCEPTION 'operation % is with people: nothing is sent', NEW.operation USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'ehr_attempts_not_for_people';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER not_for_people BEFORE INSERT ON ehr_attempts FOR EACH ROW EXECUTE FUNCTION nothing_is_sent_for_people();

-- A look that shows what the one before it did not is news to whoever is deciding. One that failed shows nothing.
-- +goose StatementBegin
CREATE FUNCTION look_is_news() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  seen text;
  shows text := concat_ws(' ', NEW.verdict, coalesce(NEW.matches, -1), coalesce(NEW.code, '-'), coalesce(NEW.remote_id, '-'), coalesce(NEW.remote_version, '-'));
BEGIN
  IF NEW.verdict = 'failed' THEN
    RETURN NULL;
  END IF;
  SELECT concat_ws(' ', l.verdict, coalesce(l.matches, -1), coalesce(l.code, '-'), coalesce(l.remote_id, '-'), coalesce(l.remote_version, '-')) INTO seen
    FROM ehr_looks l WHERE l.clinic = NEW.clinic AND l.operation = NEW.operation AND l.n < NEW.n AND l.verdict <> 'failed' ORDER BY l.n DESC LIMIT 1;
  IF seen IS DISTINCT FROM shows THEN
    UPDATE ehr_operations SET version = version + 1 WHERE clinic = NEW.clinic AND id = NEW.operation AND ended_at IS NULL;
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER news AFTER INSERT ON ehr_looks FOR EACH ROW EXECUTE FUNCTION look_is_news();
