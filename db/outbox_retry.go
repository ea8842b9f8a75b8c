package db

import (
	"context"

	"countersign/internal/outbox"
	"countersign/internal/refusal"
)

// RetryMessage queues a message again that did not go out, waits for its next try, or may or may not have been taken. It
// touches no booking. Errors: not_found;
// validation_failed, with the reason in words, when there is nothing to try again or it would be wrong by now.
func (t *Tx) RetryMessage(ctx context.Context, id string) error {
	var rows []outboxState
	if err := t.sel(ctx, &rows, `SELECT `+messageColumns+`, o.state FROM outbox o WHERE o.id = $1 FOR UPDATE`, id); err != nil {
		return err
	}
	if len(rows) == 0 {
		return refusal.New(refusal.NotFound)
	}
	m := rows[0]
	f, err := t.messageFacts(ctx, id, "")
	if err != nil {
		return err
	}
	if why := outbox.Retry(m.State, m.Message, f); why != "" {
		return refusal.New(refusal.ValidationFailed, why)
	}
	n, err := t.exec(ctx, `UPDATE outbox SET state = 'queued', next_at = app_now(), attempts = 0 WHERE id = $1`, id)
	return touched(n, 1, err)
}

type outboxState struct {
	outbox.Message
	State string
}
