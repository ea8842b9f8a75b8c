package db

import (
	"context"
	"database/sql"
	"time"

	"countersign/internal/clinic"
)

// NoteLeave implements proposal.Leaves.
func (t proposalTx) NoteLeave(ctx context.Context, id, reason string, by clinic.Actor) error {
	n, err := t.exec(ctx, `UPDATE leave SET reason_code = $2, created_by = $3, created_name = $4 WHERE id = $1`, id, reason, by.ID(), by.Name())
	return touched(n, 1, err)
}

// HitBy lists the booked visits to come that the leave touches, by start. Two statements.
func (t *Tx) HitBy(ctx context.Context, l clinic.Leave) ([]clinic.Visit, error) {
	// A day somewhere on earth begins and ends within 14 hours of UTC's; what is too much is sorted out below.
	from, _ := clinic.DayBounds(l.From.AddDays(-1), time.UTC)
	_, to := clinic.DayBounds(l.To.AddDays(1), time.UTC)
	if from.Before(t.now) {
		from = t.now
	}
	var found, hit []clinic.Visit
	err := t.sel(ctx, &found, `SELECT `+visitColumns+visitTables+` WHERE a.practitioner = $1 AND a.starts_at > $2 AND a.starts_at < $3 AND a.status = 'booked'
		ORDER BY a.starts_at, a.id`, l.Practitioner, from, to)
	if err != nil {
		return nil, err
	}
	for _, v := range found {
		zone, err := zoneOf(v.Location)
		if err != nil {
			return nil, err
		}
		if clinic.OnLeave([]clinic.Leave{l}, l.Practitioner, clinic.Interval{From: v.StartsAt, To: v.EndsAt}, zone) {
			hit = append(hit, v)
		}
	}
	return hit, t.addSlots(ctx, hit)
}

// LeaveRow is leave as a list shows it. By is "" for leave that was imported.
type LeaveRow struct {
	clinic.Leave
	Name, ReasonCode, By string // Name is the practitioner's
}

// LeaveList is the clinic's leave that ends on the day or later, by practitioner and first day; of one practitioner
// when given. One statement.
func (t *Tx) LeaveList(ctx context.Context, practitioner string, since clinic.Date) ([]LeaveRow, error) {
	var rows []struct {
		LeaveRow
		From, To string
	}
	err := t.sel(ctx, &rows, `SELECT l.id, l.practitioner, p.name, l.from_day::text AS "from", l.to_day::text AS "to", coalesce(l.opens, -1) AS opens,
		coalesce(l.closes, -1) AS closes, coalesce(l.reason_code, '') AS reasoncode, coalesce(l.created_name, '') AS by
		FROM leave l JOIN practitioners p ON p.clinic = l.clinic AND p.id = l.practitioner
		WHERE l.to_day >= $1 AND ($2 = '' OR l.practitioner = $2) ORDER BY p.name, l.from_day, l.id LIMIT 500`, since.String(), practitioner)
	if err != nil {
		return nil, err
	}
	out := make([]LeaveRow, len(rows))
	for i, r := range rows {
		out[i] = r.LeaveRow
		if out[i].From, err = clinic.ParseDate(r.From); err != nil {
			return nil, err
		}
		if out[i].To, err = clinic.ParseDate(r.To); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// LeaveOf is one leave. Errors: sql.ErrNoRows.
func (t *Tx) LeaveOf(ctx context.Context, id string) (clinic.Leave, error) {
	found, err := t.leaveByID(ctx, id)
	if err == nil && len(found) == 0 {
		err = sql.ErrNoRows
	}
	if err != nil {
		return clinic.Leave{}, err
	}
	return found[0], nil
}
