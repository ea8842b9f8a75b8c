package db

import (
	"context"
	"time"

	"github.com/lib/pq"

	"countersign/internal/clinic"
)

const slotColumns = `s.id, s.practitioner, s.location, s.starts_at AS startsat, s.ends_at AS endsat, s.types, s.state,
	coalesce(s.appointment, '') AS appointment, s.version`

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
	// A slot lasts a day at most, so the index on the start has a lower bound too.
	w := &where{}
	w.and(`s.practitioner = ? AND s.starts_at < ? AND s.starts_at > ? AND s.ends_at > ?`, practitioner, to, from.Add(-24*time.Hour), from)
	w.and(`(s.state <> 'closed' OR s.appointment IS NOT NULL)`)
	if location != "" {
		w.and(`s.location = ?`, location)
	}
	var rows []slotRow
	err := t.sel(ctx, &rows, `SELECT `+slotColumns+` FROM slots s`+w.String()+` ORDER BY s.starts_at, s.id`, w.args...)
	return slotsOf(rows), err
}
