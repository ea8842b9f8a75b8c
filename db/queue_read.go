package db

import (
	"context"
	"strconv"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// QueueRow is one waiting proposal, as it stands now, with what a reviewer must know of it before opening it.
type QueueRow struct {
	proposal.Record
	Rivals    int // other waiting proposals that want part of the same time
	Comments  int
	Escalated bool
	ClaimedBy clinic.Ref // zero = nobody
	Until     time.Time  // of the claim
}

// Queue is a page of what waits, first deadline first.
type Queue struct {
	Rows      []QueueRow
	Next      string // cursor of the page after, "" at the end
	Count     int    // all that the filter lets through
	Escalated int    // waiting in the clinic
	Failed    int    // decided proposals with a message that failed
	Since     string // the moment of the read, for NewSince
}

type queueRow struct {
	headRow
	Rivals    int
	Comments  int
	Escalated bool
	Claimer   string
	ClaimName string
	Until     *time.Time
}

// $1 is the transaction's clock.
const queueColumns = headColumns + `,
	(SELECT count(*) FROM proposals x WHERE x.state = 'proposed' AND x.expires_at > $1 AND x.practitioner = p.practitioner AND x.starts_at < p.ends_at
		AND x.starts_at > p.starts_at - interval '12 hours' AND x.ends_at > p.starts_at AND x.id <> p.id) AS rivals,
	(SELECT count(*) FROM comments c WHERE c.proposal = p.id) AS comments, coalesce(p.escalated_revision = p.revision, false) AS escalated,
	coalesce(l.person, '') AS claimer, coalesce(l.person_name, '') AS claimname, l.until AS until`

// Queue reads a page in three statements, whatever its size: the numbers, the rows, and what has moved under them. In one
// snapshot (InSnapshot) they agree with each other. Errors: validation_failed for a cursor that is none of ours.
func (t *Tx) Queue(ctx context.Context, f QueueFilter, cursor string, limit int) (Queue, error) {
	var q Queue
	w := f.waiting(t.now)
	err := t.get(ctx, &q, `SELECT (SELECT count(*) FROM proposals p`+w.String()+`) AS count,
		(SELECT count(*) FROM proposals p WHERE p.state = 'proposed' AND p.expires_at > $1 AND p.escalated_revision = p.revision) AS escalated,
		(SELECT count(DISTINCT proposal) FROM outbox WHERE state IN (`+notTold+`)) AS failed, pg_current_snapshot()::text AS since`, w.args...)
	if err != nil {
		return q, err
	}
	w = f.waiting(t.now)
	if cursor != "" {
		at, id, ok := ReadCursor(cursor)
		if !ok {
			return q, refusal.Invalid(refusal.Field{Name: "cursor", Message: "This is not the cursor of a list."})
		}
		w.and(`(p.expires_at, p.id) > (?, ?)`, at, id)
	}
	if q.Rows, err = t.queueRows(ctx, w, limit+1); err != nil {
		return q, err
	}
	if len(q.Rows) > limit {
		q.Rows = q.Rows[:limit]
		q.Next = MakeCursor(q.Rows[limit-1].ExpiresAt, q.Rows[limit-1].ID)
	}
	return q, nil
}

func (t *Tx) queueRows(ctx context.Context, w *where, limit int) ([]QueueRow, error) {
	var rows []queueRow
	// The page's ids first, so that nothing else is done for rows that are not on it. The limit is a number of ours in the
	// text: plans are generic, and for a parameter the planner would reckon with a tenth of all rows.
	err := t.sel(ctx, &rows, `WITH page AS MATERIALIZED (SELECT p.id FROM proposals p`+w.String()+` ORDER BY p.expires_at, p.id LIMIT `+strconv.Itoa(limit)+`)
		SELECT `+queueColumns+headTables+` JOIN page ON page.id = p.id LEFT JOIN LATERAL `+lease+` l ON l.until > $1 ORDER BY p.expires_at, p.id`, w.args...)
	if err != nil {
		return nil, err
	}
	out := make([]QueueRow, len(rows))
	refs := make([]*proposal.Record, len(rows))
	for i, r := range rows {
		out[i] = QueueRow{Rivals: r.Rivals, Comments: r.Comments, Escalated: r.Escalated, ClaimedBy: clinic.Ref{ID: r.Claimer, Name: r.ClaimName}}
		if out[i].Record, err = r.record(); err != nil {
			return nil, err
		}
		if r.Until != nil {
			out[i].Until = r.Until.UTC()
		}
		refs[i] = &out[i].Record
	}
	return out, proposal.Settle(ctx, proposalTx{t}, refs)
}

// QueueNow is how the rows of an open page stand: those of the ids that still wait, by id, and all of them as records.
// Three statements.
func (t *Tx) QueueNow(ctx context.Context, ids []string) (waiting map[string]QueueRow, all []proposal.Record, err error) {
	rows, err := t.queueRows(ctx, QueueFilter{IDs: ids}.waiting(t.now), len(ids))
	if err != nil {
		return nil, nil, err
	}
	waiting = map[string]QueueRow{}
	var over []string
	for _, r := range rows {
		waiting[r.ID] = r
	}
	for _, id := range ids {
		if _, ok := waiting[id]; !ok {
			over = append(over, id)
		}
	}
	if len(over) > 0 {
		if all, err = proposal.Select(ctx, proposalTx{t}, proposal.Filter{IDs: over, Limit: len(over)}); err != nil {
			return nil, nil, err
		}
	}
	return waiting, all, nil
}

// NewSince counts what the filter lets through and was proposed or revised after a moment that Queue named: exactly what
// that read could not see, however long its transaction took to commit. One statement.
func (t *Tx) NewSince(ctx context.Context, f QueueFilter, since string) (n int, err error) {
	w := f.waiting(t.now)
	w.and(`p.id IN (SELECT e.body::json ->> 'proposal_id' FROM events e WHERE e.xact >= pg_snapshot_xmin(?::text::pg_snapshot)
		AND e.kind IN ('proposal.proposed', 'proposal.revised') AND NOT pg_visible_in_snapshot(e.xact, ?::text::pg_snapshot))`, since, since)
	err = t.get(ctx, &n, `SELECT count(*) FROM proposals p`+w.String(), w.args...)
	return n, err
}

// NextInQueue is what the filter lets through next after a place, or the first of all; nil when nothing is left. One
// statement.
func (t *Tx) NextInQueue(ctx context.Context, f QueueFilter, after time.Time, id string) (*Waiting, error) {
	w := f.waiting(t.now)
	first := w.String()
	w.and(`(p.expires_at, p.id) > (?, ?)`, after, id)
	from := func(where string) string {
		return `(SELECT p.id, p.action, p.revision, p.expires_at AS expiresat, coalesce(q.id, '') AS "patient.id", coalesce(q.given || ' ' || q.family, '') AS "patient.name"
			FROM proposals p LEFT JOIN patients q ON q.clinic = p.clinic AND q.id = p.patient` + where + ` ORDER BY p.expires_at, p.id LIMIT 1)`
	}
	var found []Waiting
	err := t.sel(ctx, &found, from(w.String())+` UNION ALL `+from(first)+` LIMIT 1`, w.args...)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// ProposalsNow is how some proposals stand, by id; what is not there is left out. Two statements.
func (t *Tx) ProposalsNow(ctx context.Context, ids []string) (map[string]proposal.Record, error) {
	list, err := proposal.Select(ctx, proposalTx{t}, proposal.Filter{IDs: ids, Limit: len(ids)})
	found := make(map[string]proposal.Record, len(list))
	for _, r := range list {
		found[r.ID] = r
	}
	return found, err
}
