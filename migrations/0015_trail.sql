-- +goose Up
-- What a person, or a program, was shown of a proposal: the facts of the card as they went out, kept once by their sha256.
-- Pieces of a page, or for programs the members of the JSON answer.
CREATE TABLE cards (
  clinic  ident NOT NULL REFERENCES clinics,
  hash    text NOT NULL CHECK (hash ~ '^[0-9a-f]+$' AND length(hash) = 64),
  content bytea NOT NULL,
  PRIMARY KEY (clinic, hash)
);
CREATE TRIGGER never_changes BEFORE UPDATE OR DELETE ON cards FOR EACH ROW EXECUTE FUNCTION never_changes();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON cards EXECUTE FUNCTION never_changes();

CREATE TABLE showings (
  clinic    ident NOT NULL,
  id        ident NOT NULL,
  proposal  ident NOT NULL,
  revision  integer NOT NULL,
  plan_hash text NOT NULL,
  card_hash text NOT NULL,
  person    ident NOT NULL, -- account, or token of an agent
  name      text NOT NULL,  -- as it was called then
  via       text NOT NULL CHECK (via IN ('page', 'api', 'assistant', 'mcp')),
  at        timestamptz NOT NULL DEFAULT app_now(),
  PRIMARY KEY (clinic, id),
  FOREIGN KEY (clinic, proposal, revision) REFERENCES revisions,
  FOREIGN KEY (clinic, card_hash) REFERENCES cards
);
CREATE INDEX showings_by_proposal ON showings (clinic, proposal, revision, person, at);
CREATE TRIGGER never_changes BEFORE UPDATE OR DELETE ON showings FOR EACH ROW EXECUTE FUNCTION never_changes();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON showings EXECUTE FUNCTION never_changes();

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['cards', 'showings']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_clinic ON %I USING (clinic = current_setting(''app.clinic'', true)) WITH CHECK (clinic = current_setting(''app.clinic'', true))', t);
  END LOOP;
END $$;
-- +goose StatementEnd
GRANT SELECT, INSERT ON cards, showings TO countersign_app;

-- Two entries of one transaction have one instant: n is the order in which they were written, so that a list has one
-- order only. Every filter of the trail walks an index in that order.
ALTER TABLE audit ADD COLUMN n bigint GENERATED ALWAYS AS IDENTITY;
CREATE INDEX audit_in_order ON audit (clinic, at DESC, n DESC);
CREATE INDEX audit_by_actor ON audit (clinic, actor, at DESC, n DESC);
CREATE INDEX audit_by_person ON audit (clinic, on_behalf_of, at DESC, n DESC) WHERE on_behalf_of IS NOT NULL;
CREATE INDEX audit_by_agents ON audit (clinic, at DESC, n DESC) WHERE actor_kind = 'agent';
CREATE INDEX audit_by_patient ON audit (clinic, patient, at DESC, n DESC) WHERE patient IS NOT NULL;
CREATE INDEX audit_by_appointment ON audit (clinic, object, at DESC, n DESC) WHERE object_kind = 'appointment';
CREATE INDEX audit_of_proposal ON audit (clinic, proposal, at DESC, n DESC) WHERE proposal IS NOT NULL;
CREATE INDEX audit_by_hash ON audit (clinic, plan_hash COLLATE "C") WHERE plan_hash IS NOT NULL;
CREATE INDEX audit_by_action ON audit (clinic, action, at DESC, n DESC);
CREATE INDEX audit_not_done ON audit (clinic, outcome, at DESC, n DESC) WHERE outcome <> 'success';
CREATE INDEX audit_by_risk ON audit (clinic, risk, at DESC, n DESC) WHERE risk IS NOT NULL;
CREATE INDEX audit_by_request ON audit (clinic, request) WHERE request IS NOT NULL;
DROP INDEX audit_newest, audit_by_proposal;
-- An appointment's trail holds that of the proposals for it.
CREATE INDEX proposals_of_appointment ON proposals (clinic, appointment, id) WHERE appointment IS NOT NULL;
