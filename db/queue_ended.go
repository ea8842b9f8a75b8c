package db

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// EndedFilter narrows what is over; zero members do not.
type EndedFilter struct {
	Owner         string        // who asked or was asked for
	MessageFailed bool          // a message of it failed
	Within        time.Duration // decided sooner than that after the card was first shown to who decided
	Cursor        string
	Limit         int
}

// Ended is one proposal that is over.
type Ended struct {
	proposal.Record
	EndedAt time.Time
	Took    *float64 // seconds from the first time the decided revision was shown to who decided it; nil = not known
	Failed  int      // messages that failed
}

// took is since when the one who decided had been shown the decided revision.
const took = `extract(epoch FROM p.decided_at - (SELECT min(s.at) FROM showings s WHERE s.clinic = p.clinic AND s.proposal = p.id AND s.person = p.decided_by
	AND s.revision = p.revision AND s.at <= p.decided_at))::float8`

// Ended lists what is over, newest first; next is the cursor of the page after, "" at the end. One statement. Errors:
// validation_failed for a cursor that is none of ours.
func (t *Tx) Ended(ctx context.Context, f EndedFilter) (list []Ended, next string, err error) {
	w := &where{}
	w.and(`p.state NOT IN ('proposed', 'executing')`)
	if f.Owner != "" {
		w.and(`(p.owner = ? OR p.created_by = ?)`, f.Owner, f.Owner)
	}
	if f.MessageFailed {
		w.and(`p.id IN (SELECT o.proposal FROM outbox o WHERE o.state IN (` + notTold + `))`)
	}
	if f.Within > 0 {
		w.and(took+` < ?`, f.Within.Seconds())
	}
	if f.Cursor != "" {
		at, id, ok := ReadCursor(f.Cursor)
		if !ok {
			return nil, "", refusal.Invalid(refusal.Field{Name: "cursor", Message: "This is not the cursor of a list."})
		}
		w.and(`(coalesce(p.decided_at, p.expires_at), p.id) < (?, ?)`, at, id)
	}
	w.args = append(w.args, f.Limit+1)
	var rows []struct {
		headRow
		Ended  time.Time
		Took   *float64
		Failed int
	}
	err = t.sel(ctx, &rows, `SELECT `+headColumns+`, coalesce(p.decided_at, p.expires_at) AS ended, `+took+` AS took,
		(SELECT count(*) FROM outbox o WHERE o.proposal = p.id AND o.state IN (`+notTold+`)) AS failed`+headTables+w.String()+
		` ORDER BY coalesce(p.decided_at, p.expires_at) DESC, p.id DESC LIMIT `+w.last(), w.args...)
	if err != nil {
		return nil, "", err
	}
	list = make([]Ended, len(rows))
	refs := make([]*proposal.Record, len(rows))
	for i, r := range rows {
		list[i] = Ended{EndedAt: r.Ended.UTC(), Took: r.Took, Failed: r.Failed}
		if list[i].Record, err = r.record(); err != nil {
			return nil, "", err
		}
		refs[i] = &list[i].Record
	}
	if len(list) > f.Limit {
		list = list[:f.Limit]
		next = MakeCursor(list[f.Limit-1].EndedAt, list[f.Limit-1].ID)
	}
	return list, next, proposal.Settle(ctx, proposalTx{t}, refs)
}

var momentShape = regexp.MustCompile(`^[0-9]{1,18}:[0-9]{1,18}:([0-9]{1,18}(,[0-9]{1,18})*)?$`)

// ValidMoment reports whether a text is one that PostgreSQL reads as the moment of a read (Queue.Since).
func ValidMoment(s string) bool {
	if !momentShape.MatchString(s) {
		return false
	}
	parts := strings.Split(s, ":")
	number := func(s string) uint64 { n, _ := strconv.ParseUint(s, 10, 64); return n } // at most 18 digits
	from, to := number(parts[0]), number(parts[1])
	if from == 0 || from > to {
		return false
	}
	last := uint64(0)
	for _, x := range strings.Split(parts[2], ",") {
		n := number(x)
		if parts[2] != "" && (n < from || n >= to || n <= last) {
			return false
		}
		last = n
	}
	return true
}
