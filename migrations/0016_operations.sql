-- +goose Up
-- What a transaction cannot cover: a change that is written in the clinic's EHR too. The operation, the attempt and the
-- business identifier (the operation's id, the same for every attempt) are committed before each call.
CREATE TABLE ehr_operations (
  clinic         ident NOT NULL,
  id             ident NOT NULL, -- the value of the business identifier in the EHR
  proposal       ident NOT NULL,
  revision       integer NOT NULL,
  plan_hash      text NOT NULL,
  item           integer NOT NULL DEFAULT 0 CHECK (item >= 0), -- of a bulk, from 1; 0 = the plan's only visit
  kind           text NOT NULL CHECK (kind IN ('book', 'move', 'cancel')),
  appointment    ident NOT NULL, -- ours; of a booking the one that will be
  -- ready: nothing is there, or what was sent is known to have had no effect. unknown: it may be there; committed before
  -- every call, so that a process that dies leaves the truth behind. pending: the EHR works on it. manual: a person must
  -- look. applied and refused are final.
  state          text NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'unknown', 'pending', 'manual', 'applied', 'refused')),
  phase          text NOT NULL DEFAULT 'write' CHECK (phase IN ('write', 'cancel_old')), -- a move as two bookings: the new one, then the old
  code           text, -- why it is where it is; never a text that could name somebody
  remote_id      text, -- in the EHR: the visit that the plan knows, or the one that was found to be ours
  remote_version text, -- the version that the plan was made from
  old_remote_id  text, -- of a move as two bookings, once the new one is known: the old one
  refusal        text, -- code of a refusal that look-ups have not yet borne out
  attempts       integer NOT NULL DEFAULT 0,
  unsettled      integer NOT NULL DEFAULT 0, -- attempts that got no clear answer
  looks          integer NOT NULL DEFAULT 0,
  empty_looks    integer NOT NULL DEFAULT 0, -- in a row, since the settle time after the last attempt
  attempted_at   timestamptz, -- the last
  looked_at      timestamptz, -- the last
  send_until     timestamptz NOT NULL, -- nothing is sent for the first time, or again, at or after it
  deadline       timestamptz NOT NULL, -- then a person is asked
  next_at        timestamptz NOT NULL DEFAULT app_now(),
  asked_by       ident, -- the person who asks to have it looked for; null = nobody waits for a look
  lease          bigint NOT NULL DEFAULT 0, -- fencing token: rises with every claim
  leased_until   timestamptz,
  person         ident NOT NULL, -- who confirmed it: it is carried out in that name
  person_name    text NOT NULL,
  role           text NOT NULL,
  via            text NOT NULL,
  request        text NOT NULL,
  created_at     timestamptz NOT NULL DEFAULT app_now(),
  ended_at       timestamptz,
  version        bigint NOT NULL DEFAULT 1, -- rises with all that a person decides by
  PRIMARY KEY (clinic, id),
  UNIQUE (clinic, proposal, item),
  FOREIGN KEY (clinic, proposal) REFERENCES proposals,
  CHECK ((state IN ('applied', 'refused')) = (ended_at IS NOT NULL))
);
-- One at a time for one visit.
CREATE UNIQUE INDEX ehr_operations_one_open ON ehr_operations (clinic, appointment) WHERE ended_at IS NULL;
CREATE INDEX ehr_operations_due ON ehr_operations (clinic, next_at) WHERE ended_at IS NULL AND state <> 'manual';
CREATE INDEX ehr_operations_open ON ehr_operations (clinic, created_at, id) WHERE ended_at IS NULL;
CREATE TRIGGER version BEFORE UPDATE ON ehr_operations FOR EACH ROW
  WHEN ((OLD.state, OLD.phase, OLD.code, OLD.remote_id, OLD.old_remote_id, OLD.refusal, OLD.attempts)
    IS DISTINCT FROM (NEW.state, NEW.phase, NEW.code, NEW.remote_id, NEW.old_remote_id, NEW.refusal, NEW.attempts))
  EXECUTE FUNCTION raise_version();
-- +goose StatementBegin
CREATE FUNCTION operation_is_over() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'operation % is over', OLD.id USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'ehr_operations_one_end';
END $$;
-- +goose StatementEnd
CREATE TRIGGER one_end BEFORE UPDATE OR DELETE ON ehr_operations FOR EACH ROW WHEN (OLD.ended_at IS NOT NULL) EXECUTE FUNCTION operation_is_over();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON ehr_operations EXECUTE FUNCTION never_changes();

-- One call that writes, committed before it is made; its end is filled in once.
CREATE TABLE ehr_attempts (
  clinic       ident NOT NULL,
  operation    ident NOT NULL,
  n            integer NOT NULL CHECK (n >= 1),
  phase        text NOT NULL,
  method       text NOT NULL,
  request      bytea NOT NULL, -- the body as sent
  request_hash text NOT NULL CHECK (request_hash ~ '^[0-9a-f]+$' AND length(request_hash) = 64),
  request_id   text NOT NULL, -- the X-Request-Id sent
  started_at   timestamptz NOT NULL DEFAULT app_now(),
  finished_at  timestamptz,
  http_status  integer, -- null = no answer
  outcome      text CHECK (outcome IN ('not_sent', 'rejected', 'throttled', 'accepted', 'pending', 'unknown', 'manual')), -- accepted = said to be there; look-ups must bear it out
  code         text,
  PRIMARY KEY (clinic, operation, n),
  FOREIGN KEY (clinic, operation) REFERENCES ehr_operations,
  CHECK ((finished_at IS NULL) = (outcome IS NULL))
);
-- +goose StatementBegin
CREATE FUNCTION attempt_is_over() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'an attempt has one end' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'ehr_attempts_one_end';
END $$;
-- +goose StatementEnd
CREATE TRIGGER one_end BEFORE UPDATE OR DELETE ON ehr_attempts FOR EACH ROW WHEN (OLD.outcome IS NOT NULL) EXECUTE FUNCTION attempt_is_over();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON ehr_attempts EXECUTE FUNCTION never_changes();

-- One look into the EHR and what was seen.
CREATE TABLE ehr_looks (
  clinic         ident NOT NULL,
  operation      ident NOT NULL,
  n              integer NOT NULL CHECK (n >= 1),
  at             timestamptz NOT NULL DEFAULT app_now(),
  how            text NOT NULL CHECK (how IN ('before', 'read', 'identifier', 'window')), -- before = the look before the first attempt
  matches        integer, -- null = the look failed
  verdict        text NOT NULL CHECK (verdict IN ('equal', 'different', 'wrong_patient', 'none', 'several', 'unchanged', 'moved_on', 'failed')),
  code           text, -- the members that differ, or why it failed
  remote_id      text, -- of the one match
  remote_version text,
  asked_by       ident, -- the person who had it looked for; null = the program
  PRIMARY KEY (clinic, operation, n),
  FOREIGN KEY (clinic, operation) REFERENCES ehr_operations
);
CREATE TRIGGER never_changes BEFORE UPDATE OR DELETE ON ehr_looks FOR EACH ROW EXECUTE FUNCTION never_changes();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON ehr_looks EXECUTE FUNCTION never_changes();

-- What a row of ours is in the EHR, and the version of it that we know.
CREATE TABLE ehr_links (
  clinic         ident NOT NULL,
  kind           text NOT NULL CHECK (kind IN ('Patient', 'Practitioner', 'Location', 'Schedule', 'Slot', 'Appointment')),
  id             ident NOT NULL, -- ours
  remote_id      text NOT NULL,
  remote_version text,
  PRIMARY KEY (clinic, kind, id),
  UNIQUE (clinic, kind, remote_id)
);

-- The way to one clinic's EHR: paused while it is throttled or does not answer.
CREATE TABLE ehr_lanes (
  clinic       ident PRIMARY KEY REFERENCES clinics,
  paused_until timestamptz,
  failures     integer NOT NULL DEFAULT 0, -- in a row
  failing_since timestamptz,
  code         text
);

-- A slot that a confirmed change waits to take: nobody else's, and not yet a visit's.
ALTER TABLE slots ADD COLUMN held_by ident,
  ADD CONSTRAINT slots_held_by FOREIGN KEY (clinic, held_by) REFERENCES proposals,
  ADD CONSTRAINT slots_held_or_taken CHECK (held_by IS NULL OR appointment IS NULL);
CREATE INDEX slots_held ON slots (clinic, held_by) WHERE held_by IS NOT NULL;
DROP TRIGGER version ON slots;
CREATE TRIGGER version BEFORE UPDATE ON slots FOR EACH ROW
  WHEN ((OLD.practitioner, OLD.location, OLD.schedule, OLD.starts_at, OLD.ends_at, OLD.types, OLD.state, OLD.appointment, OLD.held_by)
    IS DISTINCT FROM (NEW.practitioner, NEW.location, NEW.schedule, NEW.starts_at, NEW.ends_at, NEW.types, NEW.state, NEW.appointment, NEW.held_by))
  EXECUTE FUNCTION raise_version();

-- An item of a bulk that has been given to the EHR is neither waiting nor over.
ALTER TABLE bulk_items DROP CONSTRAINT bulk_items_state_check, DROP CONSTRAINT bulk_items_check,
  ADD CONSTRAINT bulk_items_state_check CHECK (state IN ('waiting', 'executing', 'completed', 'failed', 'stopped')),
  ADD CONSTRAINT bulk_items_check CHECK ((state IN ('waiting', 'executing')) = (ended_at IS NULL));
DROP TRIGGER one_result ON bulk_items;
CREATE TRIGGER one_result BEFORE UPDATE ON bulk_items FOR EACH ROW WHEN (OLD.state NOT IN ('waiting', 'executing')) EXECUTE FUNCTION bulk_item_is_over();
CREATE TRIGGER never_deleted BEFORE DELETE ON bulk_items FOR EACH ROW EXECUTE FUNCTION bulk_item_is_over();

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['ehr_operations', 'ehr_attempts', 'ehr_looks', 'ehr_links', 'ehr_lanes']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_clinic ON %I USING (clinic = current_setting(''app.clinic'', true)) WITH CHECK (clinic = current_setting(''app.clinic'', true))', t);
  END LOOP;
END $$;
-- +goose StatementEnd
GRANT SELECT, INSERT, UPDATE ON ehr_operations, ehr_attempts, ehr_lanes TO countersign_app;
GRANT SELECT, INSERT ON ehr_looks TO countersign_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ehr_links TO countersign_app;
