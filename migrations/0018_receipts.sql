-- +goose Up
-- What the SMS gateway says of messages, as it was said: each event once, whichever order they come in. It comes before
-- anybody knows whose message it is, holds nothing of a patient, and so belongs to no clinic; the clinic whose message it
-- names takes it, under its own row-level security.
CREATE TABLE outbox_receipts (
  event       text PRIMARY KEY CHECK (event ~ '^[A-Za-z0-9._:-]+$' AND length(event) <= 200),
  message     ident NOT NULL, -- of the outbox, if there is one
  status      text NOT NULL CHECK (status IN ('accepted', 'sent', 'delivered', 'undelivered', 'failed')),
  at          timestamptz NOT NULL, -- by the gateway's clock
  received_at timestamptz NOT NULL DEFAULT app_now(),
  taken_at    timestamptz -- null = its message has not been found, or is just being sent
);
CREATE INDEX outbox_receipts_waiting ON outbox_receipts (received_at) WHERE taken_at IS NULL;
-- +goose StatementBegin
CREATE FUNCTION receipt_never_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'what a gateway said never changes' USING ERRCODE = 'integrity_constraint_violation';
END $$;
-- +goose StatementEnd
CREATE TRIGGER receipt_never_changes BEFORE UPDATE ON outbox_receipts FOR EACH ROW
  WHEN ((OLD.event, OLD.message, OLD.status, OLD.at, OLD.received_at) IS DISTINCT FROM (NEW.event, NEW.message, NEW.status, NEW.at, NEW.received_at)
    OR OLD.taken_at IS NOT NULL)
  EXECUTE FUNCTION receipt_never_changes();
GRANT SELECT, INSERT, UPDATE ON outbox_receipts TO countersign_app;

ALTER TABLE outbox ADD COLUMN receipt_at timestamptz; -- of the receipt that gave it its state, by the gateway's clock
