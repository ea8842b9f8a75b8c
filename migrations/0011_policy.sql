-- +goose Up
-- What a clinic asks of an action beyond the contract's own rules. Append-only: the latest version counts, and none is
-- the contract's rules alone. No version can go below them: code takes the higher of the two.
CREATE TABLE policies (
  clinic     ident NOT NULL REFERENCES clinics,
  action     text NOT NULL CHECK (action <> ''),
  version    bigint NOT NULL CHECK (version >= 1),
  least_risk text CHECK (least_risk IN ('low', 'medium', 'high', 'critical')), -- null = no floor
  people     integer CHECK (people >= 1 AND people <= 3), -- null = by risk
  proposal   ident, -- null: tightened by an admin directly
  set_by     ident NOT NULL,
  set_name   text NOT NULL,
  set_at     timestamptz NOT NULL DEFAULT app_now(),
  PRIMARY KEY (clinic, action, version),
  FOREIGN KEY (clinic, proposal) REFERENCES proposals,
  CONSTRAINT policies_of_policy CHECK (action <> 'change_policy@1' OR coalesce(least_risk, 'critical') = 'critical' AND coalesce(people, 2) >= 2)
);
CREATE INDEX policies_newest ON policies (clinic, set_at DESC, action, version DESC);
CREATE TRIGGER never_changes BEFORE UPDATE OR DELETE ON policies FOR EACH ROW EXECUTE FUNCTION never_changes();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON policies EXECUTE FUNCTION never_changes();

-- Who approved one exact plan where more than one person must: a person counts once, whatever door they came through.
CREATE TABLE approvals (
  clinic    ident NOT NULL,
  proposal  ident NOT NULL,
  revision  integer NOT NULL,
  plan_hash text NOT NULL,
  person    ident NOT NULL,
  name      text NOT NULL,
  via       text NOT NULL,
  at        timestamptz NOT NULL DEFAULT app_now(),
  PRIMARY KEY (clinic, proposal, revision, person),
  FOREIGN KEY (clinic, proposal, revision) REFERENCES revisions
);
CREATE TRIGGER never_changes BEFORE UPDATE OR DELETE ON approvals FOR EACH ROW EXECUTE FUNCTION never_changes();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON approvals EXECUTE FUNCTION never_changes();

ALTER TABLE revisions ADD COLUMN people integer NOT NULL DEFAULT 1 CHECK (people >= 1); -- how many the card said must decide, by policy
ALTER TABLE proposals ADD COLUMN approved_by text; -- JSON [{id, name}]: whose approvals counted when it was decided by more than one

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['policies', 'approvals']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_clinic ON %I USING (clinic = current_setting(''app.clinic'', true)) WITH CHECK (clinic = current_setting(''app.clinic'', true))', t);
  END LOOP;
END $$;
-- +goose StatementEnd
GRANT SELECT, INSERT ON policies, approvals TO countersign_app;

-- claim_proposal as before, and in the same statement after the lock: the policy now, and the approvals of the current
-- revision with the role that each approver has now (null when the account is gone, disabled or another clinic's).
DROP FUNCTION claim_proposal;
-- +goose StatementBegin
CREATE FUNCTION claim_proposal(p_clinic text, p_person text, p_key text, p_fingerprint text, p_proposal text, p_account text)
RETURNS TABLE (key_new boolean, key_fingerprint text, key_status integer, key_body bytea, found boolean, id text,
  action text, state text, outcome text, revision integer, expires_at timestamptz, risk text, reason text, created_by text, created_kind text,
  created_name text, owner text, owner_name text, editors text[], created_via text, created_at timestamptz, decided_by text, decided_name text,
  decided_at timestamptz, decided_note text, result text, plan_hash text, plan_bytes bytea, people integer, approved_by text, approvals text, policy text,
  now timestamptz, role text, able boolean, second_person boolean)
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
      p.decided_at, p.decided_note, p.result, r.plan_hash, r.plan_bytes, r.people, p.approved_by,
      (SELECT json_agg(json_build_object('id', g.person, 'name', g.name, 'via', g.via, 'at', g.at, 'role', CASE WHEN ga.disabled_at IS NULL THEN ga.role END) ORDER BY g.at, g.person)
       FROM approvals g LEFT JOIN accounts ga ON ga.id = g.person AND ga.clinic = g.clinic
       WHERE g.clinic = p_clinic AND g.proposal = p.id AND g.revision = p.revision AND g.plan_hash = r.plan_hash)::text,
      (SELECT json_build_object('version', o.version, 'least_risk', o.least_risk, 'people', o.people) FROM policies o
       WHERE o.clinic = p_clinic AND o.action = p.action ORDER BY o.version DESC LIMIT 1)::text,
      app_now(), a.role, a.disabled_at IS NULL, c.second_person_decides_high
    FROM (SELECT 1) one
    LEFT JOIN idempotency_keys k ON k.clinic = p_clinic AND k.person = p_person AND k.key = p_key AND NOT key_new
    LEFT JOIN proposals p ON p.clinic = p_clinic AND p.id = p_proposal
    LEFT JOIN revisions r ON r.clinic = p_clinic AND r.proposal = p.id AND r.revision = p.revision
    LEFT JOIN accounts a ON a.id = p_account AND a.clinic = p_clinic
    LEFT JOIN clinics c ON c.id = p_clinic;
END $$;
-- +goose StatementEnd

-- The versions of policies, none being changed by anybody else until the transaction ends. An action without one is not
-- returned. The clinic's row is the lock: there may be no version to lock yet.
-- +goose StatementBegin
CREATE FUNCTION lock_policies(p_clinic text, p_actions text[]) RETURNS TABLE (kind text, id text, version bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  PERFORM 1 FROM clinics WHERE clinics.id = p_clinic FOR NO KEY UPDATE;
  RETURN QUERY SELECT 'policy', t.action, max(t.version) FROM policies t WHERE t.clinic = p_clinic AND t.action = ANY (p_actions) GROUP BY t.action;
END $$;
-- +goose StatementEnd
