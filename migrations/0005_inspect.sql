-- +goose Up
-- For operators and checks; the app's role has no right here. Kept stable: contract section 1. Who reads does so with
-- rights of their own (superuser, or BYPASSRLS and pg_read_all_data): the owner of the tables is under their policies too.
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
-- +goose StatementBegin
DO $$
DECLARE v text;
BEGIN
  IF current_setting('server_version_num')::integer >= 150000 THEN -- 14 has no such views: there only a superuser's are whole
    FOREACH v IN ARRAY ARRAY['appointments', 'proposals', 'revisions', 'outbox', 'idempotency_keys', 'audit'] LOOP
      EXECUTE format('ALTER VIEW inspect.%I SET (security_invoker = true)', v);
    END LOOP;
  END IF;
END $$;
-- +goose StatementEnd
