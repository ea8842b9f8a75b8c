package db

import (
	"context"
	"database/sql"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// Unbooked is a cancelled visit without a new one. At is when it was cancelled.
type Unbooked struct {
	clinic.Visit
	At time.Time
	By string
}

// stillUnbooked says which cancelled visits need a new date: those that a plan cancelled, for a reason that leaves the
// patient in need of one, with no visit of that patient and type booked since, that nobody has closed.
const stillUnbooked = ` a.status = 'cancelled' AND a.changed_via = 'plan' AND a.reason_code NOT IN ('booked_in_error', 'patient_deceased') AND NOT p.deceased
	AND NOT EXISTS (SELECT FROM rebooking_closed c WHERE c.clinic = a.clinic AND c.appointment = a.id)
	AND NOT EXISTS (SELECT FROM appointments b JOIN appointment_history h ON h.clinic = b.clinic AND h.appointment = b.id AND h.version = 1
		WHERE b.clinic = a.clinic AND b.patient = a.patient AND b.type = a.type AND b.id <> a.id AND h.changed_at >= a.changed_at)`

// Rebooking lists visits that need a new date, the last cancelled first; next is the cursor of the page after. One statement.
func (t *Tx) Rebooking(ctx context.Context, cursor string, limit int) (items []Unbooked, next string, err error) {
	w := &where{}
	w.and(stillUnbooked)
	if cursor != "" {
		at, id, ok := ReadCursor(cursor)
		if !ok {
			return nil, "", refusal.Invalid(refusal.Field{Name: "cursor", Message: "This is not the cursor of a list."})
		}
		w.and(`(a.changed_at, a.id) < (?, ?)`, at, id)
	}
	w.args = append(w.args, limit+1)
	err = t.sel(ctx, &items, `SELECT `+visitColumns+`, a.changed_at AS at, coalesce(u.name, a.changed_by) AS by`+visitTables+`
		LEFT JOIN accounts u ON u.clinic = a.clinic AND u.id = a.changed_by`+w.String()+` ORDER BY a.changed_at DESC, a.id DESC LIMIT `+w.last(), w.args...)
	if len(items) > limit {
		items = items[:limit]
		next = MakeCursor(items[limit-1].At, items[limit-1].ID)
	}
	return items, next, err
}

// ToCancel lists the coming visits of patients who have died, the next first, a hundred at most. One statement.
func (t *Tx) ToCancel(ctx context.Context) (items []clinic.Visit, err error) {
	return items, t.sel(ctx, &items, `SELECT `+visitColumns+visitTables+` WHERE p.deceased AND a.starts_at > $1 AND a.status IN ('booked', 'arrived', 'checked-in')
		ORDER BY a.starts_at, a.id LIMIT 100`, t.now)
}

// CloseRebooking takes a cancelled visit off that list, with the reason. Errors: sql.ErrNoRows when it is not on it.
func (t *Tx) CloseRebooking(ctx context.Context, appointment, reason string, by clinic.Actor) error {
	n, err := t.exec(ctx, `INSERT INTO rebooking_closed (clinic, appointment, reason, closed_by, closed_name)
		SELECT a.clinic, a.id, $2, $3, $4 FROM appointments a JOIN patients p ON p.clinic = a.clinic AND p.id = a.patient WHERE a.id = $1 AND `+stillUnbooked+`
		ON CONFLICT DO NOTHING`, appointment, reason, by.ID(), by.Name())
	if err == nil && n == 0 {
		return sql.ErrNoRows
	}
	return err
}
