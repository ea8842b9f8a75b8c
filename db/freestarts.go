package db

import (
	"context"
	"time"

	"github.com/lib/pq"

	"countersign/internal/clinic"
)

// StartFilter says where a visit is looked for. Practitioner, Location and Moving may be "".
type StartFilter struct {
	Practitioner, Location string    // ids
	Type                   string    // id
	From, To               time.Time // the visit starts at From or later and before To
	Moving                 string    // id of the appointment that is to be moved: its own slots count as free
}

// FreeStarts lists each time at which a visit of the type could be booked, none in the past, by start. Two statements.
// Errors: sql.ErrNoRows for an unknown type.
func (t *Tx) FreeStarts(ctx context.Context, f StartFilter) ([]clinic.Start, error) {
	var minutes int
	if err := t.get(ctx, &minutes, `SELECT minutes FROM appointment_types WHERE id = $1`, f.Type); err != nil {
		return nil, err
	}
	slots, err := t.FreeSlots(ctx, f, minutes)
	if err != nil {
		return nil, err
	}
	starts := clinic.FreeStarts(slots, minutes, f.Type)
	for i, s := range starts { // by start: what is past To comes last
		if !s.StartsAt.Before(f.To) {
			return starts[:i], nil
		}
	}
	return starts, nil
}

// FreeSlots is the bookable slot rows that a visit of so many minutes could cover if it started at From or later and
// before To; rows that have begun are left out, and so are those of practitioners who no longer work here. In no
// particular order, for clinic.FreeStarts. One statement.
func (t *Tx) FreeSlots(ctx context.Context, f StartFilter, minutes int) ([]clinic.FreeSlot, error) {
	from := f.From
	if from.Before(t.now) {
		from = t.now
	}
	w := &where{}
	w.and(`s.starts_at >= ? AND s.starts_at < ?`, from, f.To.Add(time.Duration(minutes)*time.Minute))
	w.and(`s.state = 'open' AND ? = ANY (s.types)`, f.Type)
	if f.Moving == "" {
		w.and(`s.appointment IS NULL AND s.held_by IS NULL`)
	} else {
		w.and(`(s.appointment IS NULL AND s.held_by IS NULL OR s.appointment = ?)`, f.Moving)
	}
	if f.Practitioner != "" {
		w.and(`s.practitioner = ?`, f.Practitioner)
	}
	if f.Location != "" {
		w.and(`s.location = ?`, f.Location)
	}
	var rows []struct {
		clinic.FreeSlot
		Types pq.StringArray
	}
	err := t.sel(ctx, &rows, `SELECT s.id, s.practitioner, s.location, s.starts_at AS startsat, s.ends_at AS endsat, s.types, true AS free, s.version
		FROM slots s JOIN practitioners r ON r.clinic = s.clinic AND r.id = s.practitioner AND r.active`+w.String(), w.args...)
	slots := make([]clinic.FreeSlot, len(rows))
	for i, r := range rows {
		slots[i] = r.FreeSlot
		slots[i].Types = r.Types
	}
	return slots, err
}
