-- +goose Up
-- A gateway may say whose message it speaks of, as it was asked to send it; then no other clinic's message is meant.
ALTER TABLE outbox_receipts ADD COLUMN of_clinic ident; -- null = it did not say
DROP TRIGGER receipt_never_changes ON outbox_receipts;
CREATE TRIGGER receipt_never_changes BEFORE UPDATE ON outbox_receipts FOR EACH ROW
  WHEN ((OLD.event, OLD.message, OLD.status, OLD.at, OLD.received_at, OLD.of_clinic) IS DISTINCT FROM (NEW.event, NEW.message, NEW.status, NEW.at, NEW.received_at, NEW.of_clinic)
    OR OLD.taken_at IS NOT NULL)
  EXECUTE FUNCTION receipt_never_changes();
