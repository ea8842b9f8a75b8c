package db

import (
	"context"
	"strconv"
	"time"

	"countersign/internal/refusal"
)

// notTold are the states in which somebody should tell the patient another way; the index outbox_failed is of these.
const notTold = `'failed', 'dead', 'unknown', 'undelivered'`

// OutboxRow is a message as the outbox page shows it.
type OutboxRow struct {
	ID, Appointment, Kind, Channel, Recipient, Body, State, Proposal string
	Subject                                                          *string
	Version                                                          int64
	Revision, Attempts, Unanswered                                   int
	LastCode                                                         *string    `db:"last_code"`
	PlanHash                                                         string     `db:"plan_hash"`
	CreatedAt                                                        time.Time  `db:"created_at"`
	SendAt                                                           *time.Time `db:"send_at"`
	SentAt                                                           *time.Time `db:"sent_at"`
	ReceiptAt                                                        *time.Time `db:"receipt_at"`
	NextAt                                                           time.Time  `db:"next_at"`
	Zone                                                             string
}

const outboxColumns = `o.id, coalesce(o.appointment, '') AS appointment, o.version, o.kind, o.channel, o.recipient, o.subject, o.body, o.state, o.attempts, o.unanswered, o.last_code, o.proposal, o.revision,
	o.plan_hash, o.created_at, o.send_at, o.sent_at, o.receipt_at, o.next_at, coalesce(l.zone, '') AS zone`

// A message about no visit has no zone.
const outboxTables = ` FROM outbox o
	LEFT JOIN appointments a ON a.clinic = o.clinic AND a.id = o.appointment LEFT JOIN locations l ON l.clinic = a.clinic AND l.id = a.location`

// MessageFilter narrows Messages; zero members do not.
type MessageFilter struct {
	State  string // internal/outbox, or attention: notTold
	Cursor string // of the page before
	Limit  int
}

// Messages lists the clinic's messages, newest first; next is the cursor of the page after, "" at the end. One
// statement. Errors: validation_failed for a cursor that is none of ours.
func (t *Tx) Messages(ctx context.Context, f MessageFilter) (rows []OutboxRow, next string, err error) {
	w := &where{}
	switch f.State {
	case "":
	case "attention":
		w.and(`o.state IN (` + notTold + `)`)
	default:
		w.and(`o.state = ?`, f.State)
	}
	if f.Cursor != "" {
		at, id, ok := ReadCursor(f.Cursor)
		if !ok {
			return nil, "", refusal.Invalid(refusal.Field{Name: "cursor", Message: "This is not the cursor of a list."})
		}
		w.and(`(o.created_at, o.id) < (?, ?)`, at, id)
	}
	err = t.sel(ctx, &rows, `SELECT `+outboxColumns+outboxTables+w.String()+` ORDER BY o.created_at DESC, o.id DESC LIMIT `+strconv.Itoa(f.Limit+1), w.args...)
	if err == nil && len(rows) > f.Limit {
		rows = rows[:f.Limit]
		next = MakeCursor(rows[f.Limit-1].CreatedAt, rows[f.Limit-1].ID)
	}
	return rows, next, err
}

// NotTold counts the clinic's messages of which somebody should see that the patient knows, on the index of these.
func (t *Tx) NotTold(ctx context.Context) (n int, err error) {
	err = t.get(ctx, &n, `SELECT count(*) FROM outbox o WHERE o.state IN (`+notTold+`)`)
	return n, err
}

// MessagesOf lists the messages of one proposal.
func (t *Tx) MessagesOf(ctx context.Context, proposalID string) ([]OutboxRow, error) {
	var out []OutboxRow
	err := t.sel(ctx, &out, `SELECT `+outboxColumns+outboxTables+` WHERE o.proposal = $1 ORDER BY o.created_at, o.id`, proposalID)
	return out, err
}
