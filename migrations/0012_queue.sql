-- +goose Up
-- The queue. Who else wants that practitioner's time: no visit is longer than twelve hours, so a start bounds the search.
CREATE INDEX proposals_by_place ON proposals (clinic, practitioner, starts_at) WHERE state = 'proposed' AND practitioner IS NOT NULL;
CREATE INDEX proposals_ended ON proposals (clinic, coalesce(decided_at, expires_at) DESC, id DESC) WHERE state NOT IN ('proposed', 'executing');
CREATE INDEX proposals_grave ON proposals (clinic, expires_at) WHERE state = 'proposed' AND risk IN ('high', 'critical');
CREATE INDEX outbox_failed ON outbox (clinic, proposal) WHERE state = 'failed';

-- A revision that somebody, or the clock, asked to be decided soon. Another revision has another deadline and begins anew.
ALTER TABLE proposals ADD COLUMN escalated_revision integer;
CREATE INDEX proposals_escalated ON proposals (clinic, expires_at, id) WHERE state = 'proposed' AND escalated_revision = revision;
CREATE TABLE escalations (
  clinic      ident NOT NULL,
  proposal    ident NOT NULL,
  revision    integer NOT NULL,
  person      ident, -- null = the clock: a quarter of the time was left
  person_name text,
  reason      text CHECK (length(reason) BETWEEN 1 AND 500),
  at          timestamptz NOT NULL DEFAULT app_now(),
  PRIMARY KEY (clinic, proposal, revision),
  FOREIGN KEY (clinic, proposal, revision) REFERENCES revisions,
  CHECK ((person IS NULL) = (reason IS NULL) AND (person IS NULL) = (person_name IS NULL))
);
CREATE TRIGGER never_changes BEFORE UPDATE OR DELETE ON escalations FOR EACH ROW EXECUTE FUNCTION never_changes();

-- Who is looking at a proposal: a lease, not a lock. Opening the card renews it by its row in the trail (proposal.read),
-- so that looking still changes nothing else.
CREATE TABLE leases (
  clinic      ident NOT NULL,
  proposal    ident NOT NULL,
  person      ident NOT NULL REFERENCES accounts,
  person_name text NOT NULL,
  given_by    text, -- the name of who handed it over; null = taken
  until       timestamptz NOT NULL,
  PRIMARY KEY (clinic, proposal),
  FOREIGN KEY (clinic, proposal) REFERENCES proposals
);

CREATE TABLE comments (
  clinic      ident NOT NULL,
  id          ident NOT NULL,
  proposal    ident NOT NULL,
  revision    integer NOT NULL, -- the one that was looked at
  person      ident NOT NULL REFERENCES accounts,
  person_name text NOT NULL,
  text        text NOT NULL CHECK (length(text) BETWEEN 1 AND 500),
  at          timestamptz NOT NULL DEFAULT app_now(),
  PRIMARY KEY (clinic, id),
  FOREIGN KEY (clinic, proposal, revision) REFERENCES revisions
);
CREATE INDEX comments_by_proposal ON comments (clinic, proposal, at, id);
CREATE TRIGGER never_changes BEFORE UPDATE OR DELETE ON comments FOR EACH ROW EXECUTE FUNCTION never_changes();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON comments EXECUTE FUNCTION never_changes();

-- What a person set for themselves, and up to when they know what became of their proposals.
CREATE TABLE preferences (
  clinic     ident NOT NULL,
  person     ident NOT NULL REFERENCES accounts,
  keys_off   boolean NOT NULL DEFAULT false,
  told_until timestamptz,
  PRIMARY KEY (clinic, person)
);

ALTER TABLE events DROP CONSTRAINT events_kind_check;
ALTER TABLE events ADD CONSTRAINT events_kind_check CHECK (kind ~ '^(proposal|run)[.][a-z]+$' OR kind = 'confirmation_requested');
-- +goose StatementBegin
CREATE FUNCTION escalation_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO events (clinic, kind, body) SELECT NEW.clinic, 'proposal.escalated', json_build_object('proposal_id', p.id, 'revision', NEW.revision,
    'action', p.action, 'state', p.state, 'outcome', p.outcome)::text FROM proposals p WHERE p.clinic = NEW.clinic AND p.id = NEW.proposal;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER event_of_escalation AFTER INSERT ON escalations FOR EACH ROW EXECUTE FUNCTION escalation_event();

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['escalations', 'leases', 'comments', 'preferences']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_clinic ON %I USING (clinic = current_setting(''app.clinic'', true)) WITH CHECK (clinic = current_setting(''app.clinic'', true))', t);
  END LOOP;
END $$;
-- +goose StatementEnd
GRANT SELECT, INSERT ON escalations, comments TO countersign_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON leases TO countersign_app;
GRANT SELECT, INSERT, UPDATE ON preferences TO countersign_app;
