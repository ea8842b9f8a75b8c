-- +goose Up
CREATE TABLE proposals (
  clinic       ident NOT NULL REFERENCES clinics,
  id           ident NOT NULL,
  action       text NOT NULL,
  state        text NOT NULL DEFAULT 'proposed'
               CHECK (state IN ('proposed', 'executing', 'completed', 'failed', 'partial', 'rejected', 'withdrawn', 'expired')),
  outcome      text NOT NULL DEFAULT 'proposed'
               CHECK (outcome IN ('proposed', 'completed', 'failed', 'unknown', 'partial', 'not_executed')),
  revision     integer NOT NULL DEFAULT 1 CHECK (revision >= 1),
  expires_at   timestamptz NOT NULL, -- of the current revision
  risk         text NOT NULL CHECK (risk IN ('low', 'medium', 'high', 'critical')),
  reason       text, -- the asker's words
  created_by   ident NOT NULL, -- account or, for an agent, token
  created_kind text NOT NULL CHECK (created_kind IN ('user', 'agent')),
  created_name text NOT NULL,
  owner        ident NOT NULL REFERENCES accounts, -- the person who asked, or for whom an agent asked
  owner_name   text NOT NULL,
  editors      text[] NOT NULL DEFAULT '{}', -- accounts and tokens that made revision 2 or later
  created_via  text NOT NULL CHECK (created_via IN ('page', 'api', 'assistant', 'mcp', 'seed')),
  created_at   timestamptz NOT NULL DEFAULT app_now(),
  -- What the current revision touches, for lists and for marks on the day sheet. Copies of ids and times of the plan.
  patient      ident,
  appointment  ident,
  practitioner ident,
  location     ident,
  starts_at    timestamptz,
  ends_at      timestamptz,
  decided_by   ident,
  decided_name text,
  decided_at   timestamptz,
  decided_note text, -- the reason given with a rejection
  result       text, -- JSON, as answered
  PRIMARY KEY (clinic, id),
  CONSTRAINT proposals_outcome CHECK (CASE state
    WHEN 'proposed' THEN outcome = 'proposed'
    WHEN 'executing' THEN outcome IN ('proposed', 'unknown')
    WHEN 'completed' THEN outcome = 'completed'
    WHEN 'failed' THEN outcome = 'failed'
    WHEN 'partial' THEN outcome = 'partial'
    ELSE outcome = 'not_executed' END),
  CONSTRAINT proposals_decided CHECK (state IN ('proposed', 'expired') OR decided_by IS NOT NULL)
);
CREATE INDEX proposals_waiting ON proposals (clinic, expires_at, id) WHERE state = 'proposed';
CREATE INDEX proposals_newest ON proposals (clinic, created_at DESC, id DESC);
CREATE INDEX proposals_by_appointment ON proposals (clinic, appointment) WHERE state = 'proposed';
CREATE INDEX proposals_by_patient ON proposals (clinic, patient);

-- Terminal states never change: not by our code, not by anybody's.
-- +goose StatementBegin
CREATE FUNCTION proposal_is_over() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'proposal % is over' , OLD.id USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'proposals_one_outcome';
END $$;
-- +goose StatementEnd
CREATE TRIGGER one_outcome BEFORE UPDATE OR DELETE ON proposals FOR EACH ROW
  WHEN (OLD.state NOT IN ('proposed', 'executing')) EXECUTE FUNCTION proposal_is_over();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON proposals EXECUTE FUNCTION never_changes();

CREATE TABLE revisions (
  clinic       ident NOT NULL,
  proposal     ident NOT NULL,
  revision     integer NOT NULL CHECK (revision >= 1),
  plan_hash    text NOT NULL CHECK (plan_hash ~ '^[0-9a-f]+$' AND length(plan_hash) = 64),
  plan_bytes   bytea NOT NULL, -- stored as hashed
  expires_at   timestamptz NOT NULL,
  created_by   ident NOT NULL,
  created_name text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT app_now(),
  PRIMARY KEY (clinic, proposal, revision),
  FOREIGN KEY (clinic, proposal) REFERENCES proposals
);
CREATE TRIGGER never_changes BEFORE UPDATE OR DELETE ON revisions FOR EACH ROW EXECUTE FUNCTION never_changes();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON revisions EXECUTE FUNCTION never_changes();

CREATE TABLE idempotency_keys (
  clinic      ident NOT NULL,
  person      ident NOT NULL, -- account, or token of an agent
  key         text NOT NULL CHECK (key ~ '^[A-Za-z0-9._:-]+$' AND length(key) <= 200),
  fingerprint text NOT NULL, -- sha256 hex of route, proposal, revision, hash, decision
  proposal    ident,
  status      integer, -- as answered; null only while its transaction runs
  body        bytea,
  created_at  timestamptz NOT NULL DEFAULT app_now(),
  PRIMARY KEY (clinic, person, key),
  FOREIGN KEY (clinic, proposal) REFERENCES proposals
);

CREATE TABLE outbox (
  clinic       ident NOT NULL,
  id           ident NOT NULL,
  appointment  ident NOT NULL,
  version      bigint NOT NULL, -- of the appointment it speaks of
  kind         text NOT NULL CHECK (kind IN ('confirmation', 'change', 'cancellation', 'reminder', 'message')),
  channel      text NOT NULL CHECK (channel IN ('email', 'sms')),
  recipient    text NOT NULL,
  subject      text,
  body         text NOT NULL,
  calendar     text,
  send_at      timestamptz, -- null = at once
  proposal     ident NOT NULL,
  revision     integer NOT NULL,
  plan_hash    text NOT NULL,
  state        text NOT NULL DEFAULT 'queued'
               CHECK (state IN ('queued', 'sending', 'sent', 'failed', 'superseded')),
  attempts     integer NOT NULL DEFAULT 0,
  next_at      timestamptz NOT NULL DEFAULT app_now(),
  lease        bigint NOT NULL DEFAULT 0, -- fencing token: rises with every claim
  leased_until timestamptz,
  last_code    text, -- why it failed, a code, never a text that could name somebody
  sent_at      timestamptz,
  created_at   timestamptz NOT NULL DEFAULT app_now(),
  PRIMARY KEY (clinic, id),
  UNIQUE (clinic, appointment, version, kind, channel, recipient),
  FOREIGN KEY (clinic, appointment) REFERENCES appointments,
  FOREIGN KEY (clinic, proposal) REFERENCES proposals
);
CREATE INDEX outbox_due ON outbox (clinic, next_at) WHERE state IN ('queued', 'sending');
CREATE INDEX outbox_newest ON outbox (clinic, created_at DESC, id DESC);
-- +goose StatementBegin
CREATE FUNCTION message_never_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the message of a plan never changes' USING ERRCODE = 'integrity_constraint_violation';
END $$;
-- +goose StatementEnd
CREATE TRIGGER message_never_changes BEFORE UPDATE ON outbox FOR EACH ROW
  WHEN ((OLD.appointment, OLD.version, OLD.kind, OLD.channel, OLD.recipient, OLD.subject, OLD.body, OLD.calendar, OLD.send_at,
         OLD.proposal, OLD.revision, OLD.plan_hash)
    IS DISTINCT FROM (NEW.appointment, NEW.version, NEW.kind, NEW.channel, NEW.recipient, NEW.subject, NEW.body, NEW.calendar, NEW.send_at,
         NEW.proposal, NEW.revision, NEW.plan_hash))
  EXECUTE FUNCTION message_never_changes();

-- Ids, codes and salted hashes; no patient text. content is the canonical form that content_hash is of.
CREATE TABLE audit (
  clinic       ident NOT NULL REFERENCES clinics,
  id           ident NOT NULL,
  at           timestamptz NOT NULL DEFAULT app_now(),
  actor_kind   text NOT NULL CHECK (actor_kind IN ('user', 'agent', 'system')),
  actor        ident NOT NULL,
  on_behalf_of ident,
  via          text NOT NULL, -- page, api, assistant, mcp, cli, worker
  action       text NOT NULL, -- closed list, internal/audit
  outcome      text NOT NULL CHECK (outcome IN ('success', 'denied', 'failed', 'unknown', 'partial')),
  code         text, -- of the refusal or failure
  object_kind  text,
  object       text,
  version      bigint, -- of the object after
  patient      ident,
  proposal     ident,
  revision     integer,
  plan_hash    text,
  risk         text,
  request      text, -- request id
  content      bytea NOT NULL,
  content_hash text NOT NULL CHECK (content_hash ~ '^[0-9a-f]+$' AND length(content_hash) = 64),
  PRIMARY KEY (clinic, id)
);
CREATE INDEX audit_newest ON audit (clinic, at DESC, id DESC);
CREATE INDEX audit_by_proposal ON audit (clinic, proposal) WHERE proposal IS NOT NULL;
CREATE TRIGGER never_changes BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION never_changes();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON audit EXECUTE FUNCTION never_changes();

-- Claiming is lock, then look: the key waits for its twin, the row lock waits for a rival, and only the statement
-- after that reads the state and the clock. It decides nothing; internal/proposal does.
-- +goose StatementBegin
CREATE FUNCTION claim_proposal(p_clinic text, p_person text, p_key text, p_fingerprint text, p_proposal text, p_account text)
RETURNS TABLE (key_new boolean, key_fingerprint text, key_status integer, key_body bytea, found boolean, id text,
  action text, state text, outcome text, revision integer, expires_at timestamptz, risk text, reason text, created_by text, created_kind text,
  created_name text, owner text, owner_name text, editors text[], created_via text, created_at timestamptz, decided_by text, decided_name text,
  decided_at timestamptz, decided_note text, result text, plan_hash text, plan_bytes bytea, now timestamptz, role text, able boolean, second_person boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE n integer;
BEGIN
  key_new := true;
  IF p_key <> '' THEN
    INSERT INTO idempotency_keys (clinic, person, key, fingerprint) VALUES (p_clinic, p_person, p_key, p_fingerprint) ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS n = ROW_COUNT;
    key_new := n = 1;
  END IF;
  PERFORM 1 FROM proposals WHERE proposals.clinic = p_clinic AND proposals.id = p_proposal FOR NO KEY UPDATE;
  RETURN QUERY
    SELECT key_new, k.fingerprint, k.status, k.body, p.id IS NOT NULL, p.id::text,
      p.action, p.state, p.outcome, p.revision, p.expires_at, p.risk, p.reason, p.created_by::text, p.created_kind,
      p.created_name, p.owner::text, p.owner_name, p.editors, p.created_via, p.created_at, p.decided_by::text, p.decided_name,
      p.decided_at, p.decided_note, p.result, r.plan_hash, r.plan_bytes, app_now(), a.role, a.disabled_at IS NULL, c.second_person_decides_high
    FROM (SELECT 1) one
    LEFT JOIN idempotency_keys k ON k.clinic = p_clinic AND k.person = p_person AND k.key = p_key AND NOT key_new
    LEFT JOIN proposals p ON p.clinic = p_clinic AND p.id = p_proposal
    LEFT JOIN revisions r ON r.clinic = p_clinic AND r.proposal = p.id AND r.revision = p.revision
    LEFT JOIN accounts a ON a.id = p_account AND a.clinic = p_clinic
    LEFT JOIN clinics c ON c.id = p_clinic;
END $$;
-- +goose StatementEnd

-- Has the patient another active appointment in that time?
-- +goose StatementBegin
CREATE FUNCTION is_double_booked(p_clinic text, p_patient text, p_except text, p_from timestamptz, p_to timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM appointments WHERE clinic = p_clinic AND patient = p_patient AND id <> p_except
    AND starts_at < p_to AND ends_at > p_from AND status IN ('booked', 'arrived', 'checked-in'))
$$;
-- +goose StatementEnd

-- The pins of a plan, locked in one fixed order (kind by kind, id by id) and returned as they are now. A missing row
-- is not returned. Last, the patient being locked, comes a row of kind double_booked when there is such a visit.
-- +goose StatementBegin
CREATE FUNCTION lock_pins(p_clinic text, p_appointments text[], p_slots text[], p_patients text[], p_practitioners text[],
  p_locations text[], p_types text[], p_patient text, p_except text, p_from timestamptz, p_to timestamptz)
RETURNS TABLE (kind text, id text, version bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT 'appointment', t.id::text, t.version FROM appointments t WHERE t.clinic = p_clinic AND t.id = ANY (p_appointments) ORDER BY t.id FOR NO KEY UPDATE;
  RETURN QUERY SELECT 'slot', t.id::text, t.version FROM slots t WHERE t.clinic = p_clinic AND t.id = ANY (p_slots) ORDER BY t.id FOR NO KEY UPDATE;
  -- For update, so that two plans for one patient see each other.
  RETURN QUERY SELECT 'patient', t.id::text, t.version FROM patients t WHERE t.clinic = p_clinic AND t.id = ANY (p_patients) ORDER BY t.id FOR NO KEY UPDATE;
  RETURN QUERY SELECT 'practitioner', t.id::text, t.version FROM practitioners t WHERE t.clinic = p_clinic AND t.id = ANY (p_practitioners) ORDER BY t.id FOR SHARE;
  RETURN QUERY SELECT 'location', t.id::text, t.version FROM locations t WHERE t.clinic = p_clinic AND t.id = ANY (p_locations) ORDER BY t.id FOR SHARE;
  RETURN QUERY SELECT 'type', t.id::text, t.version FROM appointment_types t WHERE t.clinic = p_clinic AND t.id = ANY (p_types) ORDER BY t.id FOR SHARE;
  IF p_patient <> '' AND is_double_booked(p_clinic, p_patient, p_except, p_from, p_to) THEN
    RETURN QUERY SELECT 'double_booked', '', 1::bigint;
  END IF;
END $$;
-- +goose StatementEnd
