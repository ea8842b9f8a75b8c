package db

import (
	"context"
	"database/sql"
	"time"

	"github.com/lib/pq"

	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// SaveLeave adds leave, or replaces the one with that id, and marks the slots it touches: their versions rise, whoever
// holds them keeps them. Errors: sql.ErrNoRows for an unknown practitioner;
// validation_failed for days in the wrong order.
func (t *Tx) SaveLeave(ctx context.Context, l clinic.Leave) error {
	if l.To.Before(l.From) {
		return refusal.Invalid(refusal.Field{Name: "to", Message: "Leave ends on its first day at the earliest."})
	}
	old, err := t.leaveByID(ctx, l.ID)
	if err != nil {
		return err
	}
	n, err := t.exec(ctx, `INSERT INTO leave (clinic, id, practitioner, from_day, to_day, opens, closes)
		SELECT clinic, $2, id, $3, $4, nullif($5::integer, -1), nullif($6::integer, -1) FROM practitioners WHERE id = $1
		ON CONFLICT (clinic, id) DO UPDATE SET practitioner = excluded.practitioner, from_day = excluded.from_day,
			to_day = excluded.to_day, opens = excluded.opens, closes = excluded.closes`,
		l.Practitioner, l.ID, l.From.String(), l.To.String(), l.Opens, l.Closes)
	if err != nil {
		return err
	}
	if n == 0 {
		return sql.ErrNoRows
	}
	return t.remarkLeave(ctx, append(old, l)...)
}

// RemoveLeave takes leave back; the slots it touched can be booked again. Errors: sql.ErrNoRows.
func (t *Tx) RemoveLeave(ctx context.Context, id string) error {
	old, err := t.leaveByID(ctx, id)
	if err != nil {
		return err
	}
	n, err := t.exec(ctx, `DELETE FROM leave WHERE id = $1`, id)
	if err == nil && n == 0 {
		return sql.ErrNoRows
	}
	if err != nil {
		return err
	}
	return t.remarkLeave(ctx, old...)
}

// SaveException replaces the hours of one date of a schedule: by the spans, by none at all for one that is Closed, or
// by the weekly hours again when there are none. Errors: sql.ErrNoRows for an unknown schedule.
func (t *Tx) SaveException(ctx context.Context, scheduleID string, day clinic.Date, spans ...clinic.Exception) error {
	if _, err := t.exec(ctx, `DELETE FROM schedule_exceptions WHERE schedule = $1 AND day = $2`, scheduleID, day.String()); err != nil {
		return err
	}
	var opens, closes []sql.NullInt64
	for _, x := range spans {
		opens = append(opens, sql.NullInt64{Int64: int64(x.Opens), Valid: !x.Closed})
		closes = append(closes, sql.NullInt64{Int64: int64(x.Closes), Valid: !x.Closed})
	}
	_, err := t.exec(ctx, `INSERT INTO schedule_exceptions (clinic, schedule, day, opens, closes)
		SELECT s.clinic, s.id, $2, x.opens, x.closes FROM schedules s, unnest($3::integer[], $4::integer[]) AS x(opens, closes) WHERE s.id = $1`,
		scheduleID, day.String(), pq.Array(opens), pq.Array(closes))
	if err != nil {
		return err
	}
	return t.remakeSchedule(ctx, scheduleID, day, day)
}

// SaveHours replaces the weekly hours of a schedule, from today on. Errors: sql.ErrNoRows.
func (t *Tx) SaveHours(ctx context.Context, scheduleID string, hours []clinic.Hours) error {
	if _, err := t.exec(ctx, `DELETE FROM schedule_hours WHERE schedule = $1`, scheduleID); err != nil {
		return err
	}
	if err := t.putHours(ctx, []clinic.Schedule{{ID: scheduleID, Hours: hours}}); err != nil {
		return err
	}
	return t.remakeSchedule(ctx, scheduleID, clinic.DateOf(t.now, time.UTC).AddDays(-1), distantDay)
}

// EndSchedule makes the date the last one of the schedule; slots after it close. Errors: sql.ErrNoRows for an unknown
// schedule; validation_failed for a date before its first.
func (t *Tx) EndSchedule(ctx context.Context, scheduleID string, last clinic.Date) error {
	n, err := t.exec(ctx, `UPDATE schedules SET valid_to = $2 WHERE id = $1 AND valid_from <= $2`, scheduleID, last.String())
	if err != nil {
		return err
	}
	if n == 0 {
		var known bool
		if err := t.get(ctx, &known, `SELECT true FROM schedules WHERE id = $1`, scheduleID); err != nil {
			return err
		}
		return refusal.Invalid(refusal.Field{Name: "date", Message: "A schedule ends on its first day at the earliest."})
	}
	return t.remakeSchedule(ctx, scheduleID, last, distantDay)
}

var distantDay = clinic.Date{Year: 9999, Month: 12, Day: 30}

func (t *Tx) remakeSchedule(ctx context.Context, id string, from, to clinic.Date) error {
	found, err := t.templates(ctx, pq.StringArray{id}, nil)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return sql.ErrNoRows
	}
	if _, err := t.exec(ctx, `UPDATE schedules SET version = version + 1 WHERE id = $1`, id); err != nil {
		return err
	}
	return t.remakeTouched(ctx, found[0], from, to)
}

// remakeTouched brings slots in line after a change of the hours of the dates from..to: a shift may begin on the day
// before or end on the day after. Days that have no slots yet, and days gone by, are left alone.
func (t *Tx) remakeTouched(ctx context.Context, s template, from, to clinic.Date) error {
	first, last := from.AddDays(-1), to.AddDays(1)
	if today := clinic.DateOf(t.now, s.zone); first.Before(today) {
		first = today
	}
	if s.foreign() {
		return t.remarkForeign(ctx, s, first, last)
	}
	if s.madeUntil.Before(last) {
		last = s.madeUntil
	}
	return t.remake(ctx, []template{s}, first, last)
}

// remarkLeave brings the slots on the days of leave in line, at every location of its practitioner.
func (t *Tx) remarkLeave(ctx context.Context, leave ...clinic.Leave) error {
	for _, l := range leave {
		found, err := t.templates(ctx, nil, pq.StringArray{l.Practitioner})
		if err != nil {
			return err
		}
		for _, s := range found {
			if err := t.remakeTouched(ctx, s, l.From, l.To); err != nil {
				return err
			}
		}
	}
	return nil
}

// remarkForeign sets open or leave on slots that no template makes.
func (t *Tx) remarkForeign(ctx context.Context, s template, from, to clinic.Date) error {
	leave, err := t.leaveOf(ctx, pq.StringArray{s.Practitioner}, from, to)
	if err != nil {
		return err
	}
	var rows []struct {
		ID               string
		StartsAt, EndsAt time.Time
	}
	err = t.sel(ctx, &rows, `SELECT id, starts_at AS startsat, ends_at AS endsat FROM slots
		WHERE schedule = $1 AND practitioner = $2 AND location = $3 AND day BETWEEN $4 AND $5 AND state <> 'closed'`,
		s.ID, s.Practitioner, s.Location, from.String(), to.String())
	if err != nil {
		return err
	}
	var ids, states pq.StringArray
	for _, r := range rows {
		state := "open"
		if clinic.OnLeave(leave, s.Practitioner, clinic.Interval{From: r.StartsAt, To: r.EndsAt}, s.zone) {
			state = "leave"
		}
		ids, states = append(ids, r.ID), append(states, state)
	}
	_, err = t.exec(ctx, `UPDATE slots s SET state = x.state FROM unnest($1::text[], $2::text[]) AS x(id, state)
		WHERE s.id = x.id AND s.state <> x.state`, ids, states)
	return err
}

func (t *Tx) leaveByID(ctx context.Context, id string) ([]clinic.Leave, error) {
	var practitioner string
	switch err := t.get(ctx, &practitioner, `SELECT practitioner FROM leave WHERE id = $1 FOR UPDATE`, id); err {
	case nil:
	case sql.ErrNoRows:
		return nil, nil
	default:
		return nil, err
	}
	all, err := t.leaveOf(ctx, pq.StringArray{practitioner}, clinic.Date{Year: 1, Month: 1, Day: 1}, distantDay)
	for _, l := range all {
		if l.ID == id {
			return []clinic.Leave{l}, err
		}
	}
	return nil, err
}
