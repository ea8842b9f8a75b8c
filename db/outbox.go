package db

import (
	"context"
	"time"

	"countersign/internal/outbox"
	"countersign/internal/refusal"
)

// Outbox is the outbox.Store on a pool.
type Outbox struct{ DB *DB }

var _ outbox.Store = Outbox{}

// Clinics implements outbox.Store.
func (o Outbox) Clinics(ctx context.Context) ([]string, error) { return o.DB.Clinics(ctx) }

const messageColumns = `clinic, id, coalesce(appointment, '') AS appointment, version, kind, channel, recipient, coalesce(subject, '') AS subject, body AS text,
	coalesce(calendar, '') AS calendar, send_at AS sendat, proposal, revision, plan_hash AS planhash, attempts, lease`

// Claim implements outbox.Store.
func (o Outbox) Claim(ctx context.Context, clinicID string, most int, lease time.Duration) ([]outbox.Message, error) {
	var out []outbox.Message
	err := o.DB.InClinic(ctx, clinicID, func(t *Tx) error {
		out = nil
		return t.sel(ctx, &out, `UPDATE outbox SET state = 'sending', lease = lease + 1, attempts = attempts + 1, leased_until = app_now() + $1 * interval '1 second'
			WHERE id IN (SELECT id FROM outbox WHERE state IN ('queued', 'sending') AND next_at <= app_now() AND (leased_until IS NULL OR leased_until <= app_now())
				ORDER BY next_at, id LIMIT $2 FOR UPDATE SKIP LOCKED)
			RETURNING `+messageColumns, lease.Seconds(), most)
	})
	return out, err
}

// Settle implements outbox.Store.
func (o Outbox) Settle(ctx context.Context, m outbox.Message, r outbox.Result) (mine bool, err error) {
	err = o.DB.InClinic(ctx, m.Clinic, func(t *Tx) error {
		n, err := t.exec(ctx, `UPDATE outbox SET state = $3, last_code = $4, leased_until = NULL, next_at = app_now() + $5 * interval '1 second',
			sent_at = CASE WHEN $3 = 'sent' THEN app_now() END WHERE id = $1 AND lease = $2 AND state = 'sending'`,
			m.ID, m.Lease, r.State, orNull(r.Code), r.NextAt.Seconds())
		mine = n == 1
		return err
	})
	return mine, err
}

// OutboxRow is a message as the outbox page shows it.
type OutboxRow struct {
	ID, Appointment, Kind, Channel, Recipient, Body, State, Proposal string
	Subject                                                          *string
	Version                                                          int64
	Revision, Attempts                                               int
	LastCode                                                         *string    `db:"last_code"`
	PlanHash                                                         string     `db:"plan_hash"`
	CreatedAt                                                        time.Time  `db:"created_at"`
	SendAt                                                           *time.Time `db:"send_at"`
	SentAt                                                           *time.Time `db:"sent_at"`
	NextAt                                                           time.Time  `db:"next_at"`
	PatientName                                                      string     `db:"patient_name"`
	Zone                                                             string
}

const outboxColumns = `o.id, coalesce(o.appointment, '') AS appointment, o.version, o.kind, o.channel, o.recipient, o.subject, o.body, o.state, o.attempts, o.last_code, o.proposal, o.revision,
	o.plan_hash, o.created_at, o.send_at, o.sent_at, o.next_at, p.given || ' ' || p.family AS patient_name, coalesce(l.zone, '') AS zone`

// A message about no visit has no zone, and its patient is that of its proposal.
const outboxTables = ` FROM outbox o JOIN proposals q ON q.clinic = o.clinic AND q.id = o.proposal JOIN patients p ON p.clinic = q.clinic AND p.id = q.patient
	LEFT JOIN appointments a ON a.clinic = o.clinic AND a.id = o.appointment LEFT JOIN locations l ON l.clinic = a.clinic AND l.id = a.location`

// MessageFilter narrows Messages; zero members do not.
type MessageFilter struct {
	State  string
	Cursor string // of the page before
	Limit  int
}

// Messages lists the clinic's messages, newest first; next is the cursor of the page after, "" at the end. One
// statement. Errors: validation_failed for a cursor that is none of ours.
func (t *Tx) Messages(ctx context.Context, f MessageFilter) (rows []OutboxRow, next string, err error) {
	w := &where{}
	if f.State != "" {
		w.and(`o.state = ?`, f.State)
	}
	if f.Cursor != "" {
		at, id, ok := ReadCursor(f.Cursor)
		if !ok {
			return nil, "", refusal.Invalid(refusal.Field{Name: "cursor", Message: "This is not the cursor of a list."})
		}
		w.and(`(o.created_at, o.id) < (?, ?)`, at, id)
	}
	w.args = append(w.args, f.Limit+1)
	err = t.sel(ctx, &rows, `SELECT `+outboxColumns+outboxTables+w.String()+` ORDER BY o.created_at DESC, o.id DESC LIMIT `+w.last(), w.args...)
	if err == nil && len(rows) > f.Limit {
		rows = rows[:f.Limit]
		next = MakeCursor(rows[f.Limit-1].CreatedAt, rows[f.Limit-1].ID)
	}
	return rows, next, err
}

// MessagesOf lists the messages of one proposal.
func (t *Tx) MessagesOf(ctx context.Context, proposalID string) ([]OutboxRow, error) {
	var out []OutboxRow
	err := t.sel(ctx, &out, `SELECT `+outboxColumns+outboxTables+` WHERE o.proposal = $1 ORDER BY o.created_at, o.id`, proposalID)
	return out, err
}

// RetryMessage queues a message again that failed or waits for its next attempt. It touches no booking. It gives the
// message's appointment, "" for one about no visit. Errors: not_found; validation_failed when there is nothing to try again.
func (t *Tx) RetryMessage(ctx context.Context, id string) (appointment string, err error) {
	var rows []struct{ Appointment, State string }
	if err := t.sel(ctx, &rows, `SELECT coalesce(appointment, '') AS appointment, state FROM outbox WHERE id = $1 FOR UPDATE`, id); err != nil {
		return "", err
	}
	if len(rows) == 0 {
		return "", refusal.New(refusal.NotFound)
	}
	n, err := t.exec(ctx, `UPDATE outbox SET state = 'queued', next_at = app_now(), attempts = 0 WHERE id = $1 AND state IN ('queued', 'failed')`, id)
	if err == nil && n == 0 {
		return "", refusal.New(refusal.ValidationFailed, "This message has been sent or is being sent. There is nothing to try again.")
	}
	return rows[0].Appointment, err
}
