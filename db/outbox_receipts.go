package db

import (
	"context"
	"time"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/outbox"
)

// StoreReceipt writes a receipt down as it came; one that is known already changes nothing. It is outside every clinic:
// whose message it is about shows when that clinic looks.
func (d *DB) StoreReceipt(ctx context.Context, r outbox.Receipt) error {
	_, err := d.pool.ExecContext(ctx, `INSERT INTO outbox_receipts (event, message, status, at, of_clinic) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
		r.Event, r.Message, r.Status, r.At, orNull(r.Clinic))
	return translate(err)
}

// mostReceipts are taken in one transaction.
const mostReceipts = 100

type waitingReceipt struct {
	Event, Message, Status, State, Proposal string
	Revision                                int
	PlanHash                                string `db:"plan_hash"`
	Attempts, Unanswered                    int
	At                                      time.Time
}

// TakeReceipts gives the clinic's messages the states that waiting receipts say, and tells whether there may be more. A
// receipt for a message that is just being sent waits until that has ended; one whose message nobody knows, or that names
// another clinic's or no SMS, waits for two days and then only stays written down.
func (d *DB) TakeReceipts(ctx context.Context, clinicID string, ids func(prefix string) string) (more bool, err error) {
	err = d.InClinic(ctx, clinicID, func(t *Tx) error {
		var rows []waitingReceipt
		if err := t.sel(ctx, &rows, `SELECT r.event, r.message, r.status, r.at, o.state, o.attempts, o.unanswered, o.proposal, o.revision, o.plan_hash
			FROM outbox_receipts r JOIN outbox o ON o.id = r.message AND o.channel = 'sms' AND o.clinic = coalesce(r.of_clinic, o.clinic)
			WHERE r.taken_at IS NULL AND r.received_at > app_now() - interval '2 days' AND o.state <> 'sending'
			ORDER BY r.received_at, r.event LIMIT 100 FOR UPDATE OF r, o SKIP LOCKED`); err != nil {
			return err
		}
		more = len(rows) == mostReceipts
		states := map[string]string{}
		for _, r := range rows {
			if s, ok := states[r.Message]; ok {
				r.State = s
			}
			next, changes := outbox.Receive(r.State, r.Attempts, r.Unanswered, r.Status)
			if states[r.Message] = next; changes {
				if err := t.receive(ctx, r, next, ids); err != nil {
					return err
				}
			}
			n, err := t.exec(ctx, `UPDATE outbox_receipts SET taken_at = app_now() WHERE event = $1`, r.Event)
			if err := touched(n, 1, err); err != nil {
				return err
			}
		}
		return nil
	})
	return more, err
}

func (t *Tx) receive(ctx context.Context, r waitingReceipt, state string, ids func(prefix string) string) error {
	n, err := t.exec(ctx, `UPDATE outbox SET state = $2, receipt_at = $3, sent_at = coalesce(sent_at, $3), last_code = NULL WHERE id = $1`, r.Message, state, r.At)
	if err := touched(n, 1, err); err != nil {
		return err
	}
	return t.Audit(ctx, audit.Event{ID: ids("aud"), At: t.now, Actor: clinic.Actor{Clinic: t.clinic, Person: "gateway", Kind: clinic.KindSystem, Via: "worker"},
		Action: audit.ReceiveReceipt, Outcome: audit.Success, Code: r.Status, ObjectKind: "message", Object: r.Message,
		Proposal: r.Proposal, Revision: r.Revision, PlanHash: r.PlanHash})
}
