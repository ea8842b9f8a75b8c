-- +goose Up
-- An administrator lets one agent propose beyond its limit: why, how long and how many stand here for good. It runs
-- until its time is over, its number is used (counted from the proposals) or somebody ends it.
CREATE TABLE bypasses (
  clinic       ident NOT NULL REFERENCES clinics,
  id           ident NOT NULL,
  agent        ident NOT NULL REFERENCES tokens,
  agent_name   text NOT NULL,
  reason       text NOT NULL CHECK (reason <> '' AND length(reason) <= 500),
  most         integer NOT NULL CHECK (most BETWEEN 1 AND 200),
  granted_by   ident NOT NULL REFERENCES accounts,
  granted_name text NOT NULL,
  granted_at   timestamptz NOT NULL DEFAULT app_now(),
  ends_at      timestamptz NOT NULL CHECK (ends_at > granted_at AND ends_at <= granted_at + interval '60 minutes'),
  ended_by     ident REFERENCES accounts,
  ended_name   text,
  ended_at     timestamptz,
  PRIMARY KEY (clinic, id),
  CHECK ((ended_at IS NULL) = (ended_by IS NULL) AND (ended_at IS NULL) = (ended_name IS NULL))
);
CREATE INDEX bypasses_by_agent ON bypasses (clinic, agent, ends_at);
CREATE INDEX bypasses_newest ON bypasses (clinic, granted_at DESC, id DESC);
-- +goose StatementBegin
CREATE FUNCTION bypass_is_bound() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a bypass is ended once and otherwise never changes' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'bypasses_ended_once';
END $$;
-- +goose StatementEnd
CREATE TRIGGER ended_once BEFORE UPDATE ON bypasses FOR EACH ROW
  WHEN (OLD.ended_at IS NOT NULL OR
    (OLD.clinic, OLD.id, OLD.agent, OLD.agent_name, OLD.reason, OLD.most, OLD.granted_by, OLD.granted_name, OLD.granted_at, OLD.ends_at)
    IS DISTINCT FROM (NEW.clinic, NEW.id, NEW.agent, NEW.agent_name, NEW.reason, NEW.most, NEW.granted_by, NEW.granted_name, NEW.granted_at, NEW.ends_at))
  EXECUTE FUNCTION bypass_is_bound();
CREATE TRIGGER never_deleted BEFORE DELETE ON bypasses FOR EACH ROW EXECUTE FUNCTION never_changes();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON bypasses EXECUTE FUNCTION never_changes();

ALTER TABLE bypasses ENABLE ROW LEVEL SECURITY;
ALTER TABLE bypasses FORCE ROW LEVEL SECURITY;
CREATE POLICY own_clinic ON bypasses USING (clinic = current_setting('app.clinic', true)) WITH CHECK (clinic = current_setting('app.clinic', true));
GRANT SELECT, INSERT ON bypasses TO countersign_app;
GRANT UPDATE (ended_by, ended_name, ended_at) ON bypasses TO countersign_app;

-- Under which bypass a proposal beyond the agent's limit was made.
ALTER TABLE proposals ADD COLUMN bypass ident, ADD FOREIGN KEY (clinic, bypass) REFERENCES bypasses;
CREATE INDEX proposals_by_bypass ON proposals (clinic, bypass) WHERE bypass IS NOT NULL;
