-- +goose Up
-- A message goes its own way after the commit that queued it. queued and sending are on the way; failed is a definite no,
-- dead has used up its tries or cannot be sent at all, unknown may have been taken by the receiver; superseded, suppressed
-- and expired were never sent (again) because that would have been wrong; delivered and undelivered are what receipts say.
ALTER TABLE outbox DROP CONSTRAINT outbox_state_check;
ALTER TABLE outbox ADD CONSTRAINT outbox_state_check CHECK (state IN ('queued', 'sending', 'sent', 'delivered', 'undelivered', 'failed', 'dead', 'unknown',
  'superseded', 'suppressed', 'expired'));
ALTER TABLE outbox ADD CONSTRAINT outbox_code_check CHECK (last_code ~ '^[a-z0-9_]+$' AND length(last_code) <= 64) NOT VALID;
ALTER TABLE outbox
  ADD COLUMN unanswered integer NOT NULL DEFAULT 0, -- tries without an answer: each may have reached the patient
  ADD COLUMN provider_id text, -- the receiver's name for it
  ADD COLUMN due timestamptz GENERATED ALWAYS AS (coalesce(send_at, created_at)) STORED; -- orders the messages of a visit; next_at is of the next try
DROP INDEX outbox_due;
CREATE INDEX outbox_due ON outbox (clinic, next_at, id) WHERE state IN ('queued', 'sending'); -- the order of a claim: it stops at the last it takes
CREATE INDEX outbox_by_provider ON outbox (clinic, provider_id) WHERE provider_id IS NOT NULL;
DROP INDEX outbox_failed;
CREATE INDEX outbox_failed ON outbox (clinic, proposal) WHERE state IN ('failed', 'dead', 'unknown', 'undelivered');

-- Where the patient lives, for the hours in which nobody is woken; null = where the visit is. No plan and no card shows it.
ALTER TABLE patients ADD COLUMN zone text CHECK (zone IS NULL OR is_zone(zone));
