-- +goose Up
-- A conversation with the assistant. It belongs to one person; work is the workflow's explicit state, so that it goes on
-- after any pause, after a restart and on another server.
CREATE TABLE threads (
  clinic     ident NOT NULL REFERENCES clinics,
  id         ident NOT NULL,
  person     ident NOT NULL REFERENCES accounts,
  title      text NOT NULL DEFAULT '',
  work       jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT app_now(),
  updated_at timestamptz NOT NULL DEFAULT app_now(),
  PRIMARY KEY (clinic, id)
);
CREATE INDEX threads_newest ON threads (clinic, person, updated_at DESC, id DESC);

-- A run is one request from its first word to its end; it pauses in awaiting_input for a question and for a decision.
CREATE TABLE runs (
  clinic       ident NOT NULL,
  id           ident NOT NULL,
  thread       ident NOT NULL,
  n            integer NOT NULL, -- in the thread, from 1
  state        text NOT NULL CHECK (state IN ('running', 'awaiting_input', 'completed', 'failed')),
  turn         integer NOT NULL, -- rises with every message: fences work on an older one
  input        jsonb NOT NULL,   -- the message that is worked on, for whoever goes on after a crash
  leased_until timestamptz NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT app_now(),
  PRIMARY KEY (clinic, id),
  UNIQUE (clinic, thread, n),
  FOREIGN KEY (clinic, thread) REFERENCES threads
);
CREATE INDEX runs_working ON runs (clinic, leased_until) WHERE state = 'running';

CREATE TABLE messages (
  clinic     ident NOT NULL,
  thread     ident NOT NULL,
  n          integer NOT NULL, -- in the thread, from 1
  role       text NOT NULL CHECK (role IN ('user', 'assistant')),
  text       text NOT NULL,
  choices    jsonb NOT NULL DEFAULT '[]',
  proposal   ident,
  created_at timestamptz NOT NULL DEFAULT app_now(),
  PRIMARY KEY (clinic, thread, n),
  FOREIGN KEY (clinic, thread) REFERENCES threads
);
CREATE TRIGGER never_changes BEFORE UPDATE OR DELETE ON messages FOR EACH ROW EXECUTE FUNCTION never_changes();

-- What waits for a decision: bound to thread, run, action, the arguments as they were, and the proposal's revision.
CREATE TABLE tool_calls (
  clinic      ident NOT NULL,
  id          ident NOT NULL,
  thread      ident NOT NULL,
  run         ident NOT NULL,
  action      text NOT NULL,
  arguments   text NOT NULL, -- JSON, as validated
  proposal    ident NOT NULL,
  revision    integer NOT NULL,
  plan_hash   text NOT NULL,
  expires_at  timestamptz NOT NULL,
  status      text NOT NULL DEFAULT 'awaiting_confirmation'
              CHECK (status IN ('awaiting_confirmation', 'completed', 'failed', 'rejected', 'expired')),
  result      text, -- JSON
  created_at  timestamptz NOT NULL DEFAULT app_now(),
  resolved_at timestamptz,
  PRIMARY KEY (clinic, id),
  FOREIGN KEY (clinic, thread) REFERENCES threads,
  FOREIGN KEY (clinic, run) REFERENCES runs,
  FOREIGN KEY (clinic, proposal) REFERENCES proposals,
  CHECK ((status = 'awaiting_confirmation') = (resolved_at IS NULL))
);
CREATE UNIQUE INDEX tool_calls_one_waits ON tool_calls (clinic, thread) WHERE status = 'awaiting_confirmation';
CREATE INDEX tool_calls_by_run ON tool_calls (clinic, run);
CREATE INDEX tool_calls_by_proposal ON tool_calls (clinic, proposal);
-- +goose StatementBegin
CREATE FUNCTION tool_call_is_bound() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a tool call is bound and is resolved once' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'tool_calls_resolved_once';
END $$;
-- +goose StatementEnd
CREATE TRIGGER resolved_once BEFORE UPDATE ON tool_calls FOR EACH ROW
  WHEN (OLD.status <> 'awaiting_confirmation' OR
    (OLD.thread, OLD.run, OLD.action, OLD.arguments, OLD.proposal, OLD.revision, OLD.plan_hash, OLD.expires_at)
    IS DISTINCT FROM (NEW.thread, NEW.run, NEW.action, NEW.arguments, NEW.proposal, NEW.revision, NEW.plan_hash, NEW.expires_at))
  EXECUTE FUNCTION tool_call_is_bound();

-- What happened, for those who listen. Numbers are not commit order: a reader takes only what lies below the oldest
-- transaction that still runs, in the order of (xact, n), and so misses nothing that commits late.
CREATE TABLE events (
  clinic   ident NOT NULL REFERENCES clinics,
  n        bigint GENERATED ALWAYS AS IDENTITY,
  xact     xid8 NOT NULL DEFAULT pg_current_xact_id(),
  at       timestamptz NOT NULL DEFAULT app_now(),
  kind     text NOT NULL CHECK (kind IN ('proposal.proposed', 'proposal.revised', 'proposal.decided', 'confirmation_requested', 'run.completed')),
  person   ident, -- whose thread it is; null = everybody who reads the clinic
  body     text NOT NULL, -- JSON
  PRIMARY KEY (clinic, n)
);
CREATE INDEX events_in_order ON events (clinic, xact, n);
CREATE INDEX events_by_age ON events (clinic, at);

-- +goose StatementBegin
CREATE FUNCTION proposal_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE k text;
BEGIN
  k := CASE WHEN TG_OP = 'INSERT' THEN 'proposal.proposed' WHEN NEW.state = OLD.state THEN 'proposal.revised' ELSE 'proposal.decided' END;
  INSERT INTO events (clinic, kind, body) VALUES (NEW.clinic, k, json_build_object('proposal_id', NEW.id, 'revision', NEW.revision,
    'action', NEW.action, 'state', NEW.state, 'outcome', NEW.outcome)::text);
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER event_of_new AFTER INSERT ON proposals FOR EACH ROW WHEN (NEW.created_via <> 'seed') EXECUTE FUNCTION proposal_event();
CREATE TRIGGER event_of_change AFTER UPDATE ON proposals FOR EACH ROW
  WHEN (OLD.revision <> NEW.revision OR OLD.state <> NEW.state) EXECUTE FUNCTION proposal_event();

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['threads', 'runs', 'messages', 'tool_calls', 'events']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_clinic ON %I USING (clinic = current_setting(''app.clinic'', true)) WITH CHECK (clinic = current_setting(''app.clinic'', true))', t);
  END LOOP;
END $$;
-- +goose StatementEnd
GRANT SELECT, INSERT, UPDATE ON threads, runs, tool_calls TO countersign_app;
GRANT SELECT, INSERT ON messages TO countersign_app;
GRANT SELECT, INSERT, DELETE ON events TO countersign_app;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO countersign_app;
