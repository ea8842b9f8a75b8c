-- +goose Up
-- A bulk that was confirmed. Whoever works on it holds this row; lease is the fencing token. person .. request are who
-- confirmed it: its items run in that name.
CREATE TABLE bulk_runs (
  clinic       ident NOT NULL,
  proposal     ident NOT NULL,
  lease        bigint NOT NULL,
  leased_until timestamptz NOT NULL,
  person       ident NOT NULL,
  person_name  text NOT NULL,
  role         text NOT NULL,
  via          text NOT NULL,
  request      text NOT NULL,
  ended_at     timestamptz,
  PRIMARY KEY (clinic, proposal),
  FOREIGN KEY (clinic, proposal) REFERENCES proposals
);
CREATE INDEX bulk_runs_open ON bulk_runs (clinic, leased_until) WHERE ended_at IS NULL;

CREATE TABLE bulk_items (
  clinic      ident NOT NULL,
  proposal    ident NOT NULL,
  item        integer NOT NULL CHECK (item BETWEEN 1 AND 100), -- in the plan's order
  appointment ident NOT NULL,
  state       text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'completed', 'failed', 'stopped')),
  code        text, -- why it failed
  message     text, -- the same in words; rows and times, no patient
  version     bigint, -- of the appointment after it
  ended_at    timestamptz,
  PRIMARY KEY (clinic, proposal, item),
  FOREIGN KEY (clinic, proposal) REFERENCES bulk_runs,
  CHECK ((state = 'waiting') = (ended_at IS NULL)),
  CHECK ((state = 'completed') = (version IS NOT NULL)),
  CHECK ((state = 'failed') = (code IS NOT NULL))
);
-- +goose StatementBegin
CREATE FUNCTION bulk_item_is_over() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'an item of a bulk has one result' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'bulk_items_one_result';
END $$;
-- +goose StatementEnd
CREATE TRIGGER one_result BEFORE UPDATE OR DELETE ON bulk_items FOR EACH ROW WHEN (OLD.state <> 'waiting') EXECUTE FUNCTION bulk_item_is_over();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON bulk_items EXECUTE FUNCTION never_changes();

-- Why somebody is away, and who said so; empty for leave that was imported.
ALTER TABLE leave ADD COLUMN reason_code text CHECK (reason_code IN ('sickness', 'holiday', 'training', 'other')),
  ADD COLUMN created_by ident, ADD COLUMN created_name text, ADD COLUMN created_at timestamptz NOT NULL DEFAULT app_now();
CREATE INDEX leave_by_practitioner ON leave (clinic, practitioner, from_day);

-- A patient who would come earlier. Nothing is booked by itself.
CREATE TABLE waiting_list (
  clinic       ident NOT NULL,
  id           ident NOT NULL,
  patient      ident NOT NULL,
  type         ident NOT NULL,
  practitioner ident, -- null = any
  location     ident, -- null = any
  earliest     date,  -- local days; null = from today
  latest       date CHECK (latest >= earliest),
  appointment  ident, -- the visit that would be moved; null = a new one
  note         text CHECK (length(note) <= 500),
  created_by   ident NOT NULL,
  created_name text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT app_now(),
  ended_by     ident,
  ended_at     timestamptz,
  PRIMARY KEY (clinic, id),
  CHECK ((ended_by IS NULL) = (ended_at IS NULL)),
  FOREIGN KEY (clinic, patient) REFERENCES patients,
  FOREIGN KEY (clinic, type) REFERENCES appointment_types,
  FOREIGN KEY (clinic, practitioner) REFERENCES practitioners,
  FOREIGN KEY (clinic, location) REFERENCES locations,
  FOREIGN KEY (clinic, appointment) REFERENCES appointments
);
CREATE INDEX waiting_list_open ON waiting_list (clinic, created_at, id) WHERE ended_at IS NULL;
CREATE INDEX waiting_list_by_patient ON waiting_list (clinic, patient) WHERE ended_at IS NULL;

-- A cancelled visit that needs no new date any more, and why.
CREATE TABLE rebooking_closed (
  clinic      ident NOT NULL,
  appointment ident NOT NULL,
  reason      text NOT NULL CHECK (reason <> '' AND length(reason) <= 500),
  closed_by   ident NOT NULL,
  closed_name text NOT NULL,
  closed_at   timestamptz NOT NULL DEFAULT app_now(),
  PRIMARY KEY (clinic, appointment),
  FOREIGN KEY (clinic, appointment) REFERENCES appointments
);
CREATE TRIGGER never_changes BEFORE UPDATE OR DELETE ON rebooking_closed FOR EACH ROW EXECUTE FUNCTION never_changes();
CREATE INDEX appointments_cancelled ON appointments (clinic, changed_at, id) WHERE status = 'cancelled' AND changed_via = 'plan';

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['bulk_runs', 'bulk_items', 'waiting_list', 'rebooking_closed']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_clinic ON %I USING (clinic = current_setting(''app.clinic'', true)) WITH CHECK (clinic = current_setting(''app.clinic'', true))', t);
  END LOOP;
END $$;
-- +goose StatementEnd
GRANT SELECT, INSERT, UPDATE ON bulk_runs, bulk_items, waiting_list TO countersign_app;
GRANT SELECT, INSERT ON rebooking_closed TO countersign_app;
