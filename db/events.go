package db

import (
	"cmp"
	"context"
	"regexp"
	"strings"
	"time"

	"countersign/internal/assistant"
)

var cursorShape = regexp.MustCompile(`^[0-9]{1,19}[.][0-9]{1,18}$`)

// EventCursor is the place after everything that has been committed: what comes later comes after it. One statement.
func (t *Tx) EventCursor(ctx context.Context) (cursor string, err error) {
	err = t.get(ctx, &cursor, `SELECT pg_snapshot_xmin(pg_current_snapshot())::text || '.0'`)
	return cursor, err
}

// ValidCursor reports whether a text has the shape of an event's id.
func ValidCursor(cursor string) bool { return cursorShape.MatchString(cursor) }

// CursorAfter reports whether an event's id comes after another.
func CursorAfter(id, than string) bool {
	x, n, _ := strings.Cut(id, ".")
	y, m, _ := strings.Cut(than, ".")
	if c := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); c != 0 {
		return c > 0
	}
	return cmp.Or(cmp.Compare(len(n), len(m)), strings.Compare(n, m)) > 0
}

// EventsAfter lists the clinic's events after a cursor, at most so many. Only what lies below the oldest transaction
// that still runs is taken, in the order of transactions and not of numbers, so that nothing is ever added before an
// event that was given. One statement.
func (t *Tx) EventsAfter(ctx context.Context, cursor string, most int) ([]assistant.Event, error) {
	xact, n, _ := strings.Cut(cursor, ".")
	var list []assistant.Event
	err := t.sel(ctx, &list, `SELECT xact::text || '.' || n AS id, kind, coalesce(person, '') AS person, body FROM events
		WHERE (xact, n) > ($1::text::xid8, $2::text::bigint) AND xact < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY xact, n LIMIT $3`, xact, n, most)
	return list, err
}

// SweepEvents forgets what is older than anybody may have been away.
func (t *Tx) SweepEvents(ctx context.Context, age time.Duration) error {
	_, err := t.exec(ctx, `DELETE FROM events WHERE at < $1`, t.now.Add(-age))
	return err
}
