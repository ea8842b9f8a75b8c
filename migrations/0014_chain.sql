-- +goose Up
-- What waits to be sealed: written by the statement that writes the trail, taken by the sealer. No two business
-- transactions wait for each other here.
CREATE TABLE unsealed (
  clinic    ident NOT NULL REFERENCES clinics,
  n         bigint GENERATED ALWAYS AS IDENTITY, -- the order in which they were written, not that of their commits
  entry     ident NOT NULL,
  queued_at timestamptz NOT NULL DEFAULT app_now(),
  PRIMARY KEY (clinic, n)
);

-- The hash chain of a clinic. chain_hash is of clinic, seq, entry, content_hash and prev_hash (internal/audit, Link). No
-- foreign key to audit: that an entry is gone must be provable, and a cut takes a prefix of both.
CREATE TABLE chain (
  clinic       ident NOT NULL REFERENCES clinics,
  seq          bigint NOT NULL CHECK (seq >= 1),
  entry        ident NOT NULL,
  content_hash bytea NOT NULL CHECK (length(content_hash) = 32),
  prev_hash    bytea NOT NULL CHECK (length(prev_hash) = 32),
  chain_hash   bytea NOT NULL CHECK (length(chain_hash) = 32),
  sealed_at    timestamptz NOT NULL DEFAULT app_now(),
  PRIMARY KEY (clinic, seq),
  UNIQUE (clinic, entry),
  UNIQUE (clinic, prev_hash)
);

-- The root of every 256 leaves of the clinic's Merkle tree (RFC 9162), counted from 0.
CREATE TABLE tiles (
  clinic ident NOT NULL REFERENCES clinics,
  n      bigint NOT NULL CHECK (n >= 0),
  root   bytea NOT NULL CHECK (length(root) = 32),
  PRIMARY KEY (clinic, n)
);

-- Every checkpoint there was, as signed and handed out.
CREATE TABLE checkpoints (
  clinic   ident NOT NULL REFERENCES clinics,
  size     bigint NOT NULL CHECK (size >= 0),
  note     text NOT NULL,
  taken_at timestamptz NOT NULL DEFAULT app_now(),
  PRIMARY KEY (clinic, size)
);

-- A cut took the first size entries away, those before a time. Its checkpoint, the frontier of the tree that is gone, and
-- the hash that the next link names stay, so that the rest can be verified.
CREATE TABLE anchors (
  clinic   ident NOT NULL,
  size     bigint NOT NULL CHECK (size >= 1),
  before   timestamptz NOT NULL,
  frontier bytea NOT NULL CHECK (length(frontier) % 32 = 0),
  cut_at   timestamptz NOT NULL DEFAULT app_now(),
  PRIMARY KEY (clinic, size),
  FOREIGN KEY (clinic, size) REFERENCES checkpoints
);

-- That an older checkpoint is a prefix of an anchor's (RFC 9162 section 2.1.4), made while both could still be computed.
CREATE TABLE consistency (
  clinic ident NOT NULL,
  older  bigint NOT NULL,
  size   bigint NOT NULL,
  path   bytea NOT NULL CHECK (length(path) % 32 = 0),
  PRIMARY KEY (clinic, older),
  FOREIGN KEY (clinic, size) REFERENCES anchors
);

ALTER TABLE clinics ADD COLUMN audit_years integer CHECK (audit_years >= 1); -- how long the trail is kept; null = always

-- A version made by a change in place owes an entry of the trail, whatever it says of itself.
ALTER TABLE appointment_history ADD COLUMN updated boolean NOT NULL DEFAULT false;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION keep_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO appointment_history (clinic, appointment, version, status, practitioner, location, type, during,
    reason_code, changed_by, changed_via, proposal, changed_at, updated)
  VALUES (NEW.clinic, NEW.id, NEW.version, NEW.status, NEW.practitioner, NEW.location, NEW.type, NEW.during,
    NEW.reason_code, NEW.changed_by, NEW.changed_via, NEW.proposal, NEW.changed_at, TG_OP = 'UPDATE');
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION queue_for_sealing() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO unsealed (clinic, entry) SELECT clinic, id FROM written; -- they stand in the order they were written
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER queue_for_sealing AFTER INSERT ON audit REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION queue_for_sealing();

-- A cut names its clinic in app.cut; it needs the right to delete, which the app's role has not.
-- +goose StatementBegin
CREATE FUNCTION changes_by_a_cut_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND OLD.clinic = current_setting('app.cut', true) THEN RETURN OLD; END IF;
  RAISE EXCEPTION 'a row of % never changes', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END $$;
-- +goose StatementEnd
DROP TRIGGER never_changes ON audit;
CREATE TRIGGER never_changes BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION changes_by_a_cut_only();
CREATE TRIGGER never_changes BEFORE UPDATE OR DELETE ON chain FOR EACH ROW EXECUTE FUNCTION changes_by_a_cut_only();

-- The trail so far is queued. The owner may be under the policies too, so they are lifted for this one statement.
ALTER TABLE audit NO FORCE ROW LEVEL SECURITY;
INSERT INTO unsealed (clinic, entry) SELECT clinic, id FROM audit ORDER BY at, id;
ALTER TABLE audit FORCE ROW LEVEL SECURITY;

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['tiles', 'checkpoints', 'anchors', 'consistency'] LOOP
    EXECUTE format('CREATE TRIGGER never_changes BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION never_changes()', t);
  END LOOP;
  FOREACH t IN ARRAY ARRAY['chain', 'tiles', 'checkpoints', 'anchors', 'consistency'] LOOP
    EXECUTE format('CREATE TRIGGER never_emptied BEFORE TRUNCATE ON %I EXECUTE FUNCTION never_changes()', t);
    EXECUTE format('GRANT SELECT, INSERT ON %I TO countersign_app', t);
  END LOOP;
  FOREACH t IN ARRAY ARRAY['unsealed', 'chain', 'tiles', 'checkpoints', 'anchors', 'consistency'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_clinic ON %I USING (clinic = current_setting(''app.clinic'', true)) WITH CHECK (clinic = current_setting(''app.clinic'', true))', t);
  END LOOP;
END $$;
-- +goose StatementEnd
REVOKE INSERT ON anchors, consistency FROM countersign_app; -- only who cuts
GRANT SELECT, INSERT, DELETE ON unsealed TO countersign_app;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO countersign_app;
