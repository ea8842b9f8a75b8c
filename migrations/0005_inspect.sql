-- +goose Up
-- For operators and checks, who read as owner; the app's role has no right here. Kept stable: contract section 1.
CREATE SCHEMA inspect;
CREATE VIEW inspect.appointments AS
  SELECT id::text, clinic::text, patient::text, practitioner::text, location::text, status, lower(during) AS starts_at, upper(during) AS ends_at, version
  FROM public.appointments;
CREATE VIEW inspect.proposals AS
  SELECT id::text, clinic::text,
    CASE WHEN state = 'proposed' AND expires_at <= public.app_now() THEN 'expired' ELSE state END AS state, revision,
    CASE WHEN state = 'proposed' AND expires_at <= public.app_now() THEN 'not_executed' ELSE outcome END AS outcome
  FROM public.proposals;
CREATE VIEW inspect.revisions AS SELECT proposal::text, revision, plan_hash, plan_bytes FROM public.revisions;
CREATE VIEW inspect.outbox AS
  SELECT id::text, clinic::text, appointment::text, version, kind, channel, recipient, body, state FROM public.outbox;
CREATE VIEW inspect.idempotency_keys AS SELECT clinic::text, person::text, key, status FROM public.idempotency_keys;
CREATE VIEW inspect.audit AS SELECT id::text, clinic::text, action, outcome, proposal::text FROM public.audit;
