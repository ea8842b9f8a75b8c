package db

import (
	"context"
	"time"

	"github.com/lib/pq"

	"countersign/internal/clinic"
)

const slotColumns = `s.id, s.practitioner, s.location, s.starts_at AS startsat, s.ends_at AS endsat, s.types, s.state,
	coalesce(s.appointment, s.held_by, '') AS appointment, s.version`

// longestSlot and longestVisit (the schema's limits) give an index on the start its lower bound in a search for
// overlaps. Where the bound comes from another row it is reckoned here and not in SQL: timestamptz - interval is not
// leakproof, so under row-level security no index would be searched with it.
const (
	longestSlot  = 24 * time.Hour
	longestVisit = 24 * time.Hour
)

// slotRow is a clinic.Slot as PostgreSQL gives it.
type slotRow struct {
	clinic.Slot
	Types pq.StringArray
}

func (r slotRow) slot() clinic.Slot {
	r.Slot.Types = r.Types
	return r.Slot
}

func slotsOf(rows []slotRow) []clinic.Slot {
	slots := make([]clinic.Slot, len(rows))
	for i, r := range rows {
		slots[i] = r.slot()
	}
	return slots
}

// SlotsOf is the practitioner's slot rows that overlap from..to, by start, at one location or, for "", at any: open
// ones, those on leave, and closed ones that a visit still holds. One statement.
func (t *Tx) SlotsOf(ctx context.Context, practitioner, location string, from, to time.Time) ([]clinic.Slot, error) {
	w := &where{}
	w.and(`s.practitioner = ? AND s.starts_at < ? AND s.starts_at > ? AND s.ends_at > ?`, practitioner, to, from.Add(-longestSlot), from)
	w.and(`(s.state <> 'closed' OR s.appointment IS NOT NULL OR s.held_by IS NOT NULL)`)
	if location != "" {
		w.and(`s.location = ?`, location)
	}
	var rows []slotRow
	err := t.sel(ctx, &rows, `SELECT `+slotColumns+` FROM slots s`+w.String()+` ORDER BY s.starts_at, s.id`, w.args...)
	return slotsOf(rows), err
}
