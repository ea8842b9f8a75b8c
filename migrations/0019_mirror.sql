-- +goose Up
-- What a row was when the EHR (or a file of it) last said so: what is said again changes nothing, also where the row has
-- changed here since. seen_at is the last full reading of the EHR that saw it.
ALTER TABLE ehr_links ADD COLUMN taken_hash text, ADD COLUMN seen_at timestamptz;

-- A slot that came from the EHR, as it has it there. Its state here follows from that, from leave, and from the visits we know.
ALTER TABLE slots ADD COLUMN remote_status text CHECK (remote_status IN ('free', 'busy', 'busy-unavailable', 'busy-tentative', 'entered-in-error')),
  ADD COLUMN remote_types text[]; -- its own, where it has any; else those of its schedule

-- What our appointment types are called in the EHR: FHIR has no resource for them.
CREATE TABLE ehr_types (
  clinic ident NOT NULL,
  system text NOT NULL, -- '' = none
  code   text NOT NULL,
  type   ident NOT NULL,
  PRIMARY KEY (clinic, system, code),
  FOREIGN KEY (clinic, type) REFERENCES appointment_types
);

-- How far the EHR has been read. since is of the EHR's clock and never later than ours; null = from the beginning.
CREATE TABLE ehr_cursors (
  clinic  ident NOT NULL REFERENCES clinics,
  kind    text NOT NULL,
  since   timestamptz,
  full_at timestamptz, -- the start of the last full reading that came to its end
  read_at timestamptz, -- the last reading that came to its end
  code    text,        -- why the last reading did not
  PRIMARY KEY (clinic, kind)
);

-- Where the EHR and we differ and nothing can be done by itself. It is tried again, and vanishes when solved.
CREATE TABLE ehr_drift (
  clinic    ident NOT NULL REFERENCES clinics,
  kind      text NOT NULL,
  remote_id text NOT NULL, -- '' = it is known here only
  id        text NOT NULL, -- ours; '' = it is known there only
  code      text NOT NULL,
  first_at  timestamptz NOT NULL DEFAULT app_now(),
  last_at   timestamptz NOT NULL DEFAULT app_now(),
  tries     integer NOT NULL DEFAULT 1,
  PRIMARY KEY (clinic, kind, remote_id, id)
);
CREATE INDEX ehr_drift_due ON ehr_drift (clinic, kind, last_at);

-- Their coming visits are to be cancelled.
CREATE INDEX patients_deceased ON patients (clinic, id) WHERE deceased;

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['ehr_types', 'ehr_cursors', 'ehr_drift']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_clinic ON %I USING (clinic = current_setting(''app.clinic'', true)) WITH CHECK (clinic = current_setting(''app.clinic'', true))', t);
  END LOOP;
END $$;
-- +goose StatementEnd
GRANT SELECT, INSERT, UPDATE ON ehr_types, ehr_cursors TO countersign_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ehr_drift TO countersign_app;
