package db

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/lib/pq"

	"countersign/internal/clinic"
)

// batch is how many rows go into one statement.
const batch = 5000

// MakeSlots makes the slot rows of a schedule from today (at its location) until a local date, inclusive, as its
// template, exceptions and leave say. Doing it again changes nothing. A row whose meaning changed is updated, and so
// its version rises; one that the template no longer makes becomes closed, whoever holds it. Errors: sql.ErrNoRows.
func (t *Tx) MakeSlots(ctx context.Context, scheduleID string, until clinic.Date) error {
	found, err := t.templates(ctx, pq.StringArray{scheduleID}, nil)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return sql.ErrNoRows
	}
	if err := t.remake(ctx, found, clinic.DateOf(t.now, found[0].zone), until); err != nil {
		return err
	}
	return t.setMade(ctx, found, until)
}

// ExtendSlots makes the slots that are missing up to so many days after today, for every schedule of the clinic. It
// only looks at days that have none yet, so that doing it daily is cheap.
func (t *Tx) ExtendSlots(ctx context.Context, days int) error {
	all, err := t.templates(ctx, nil, nil)
	if err != nil {
		return err
	}
	// Schedules that have come equally far are made together: usually all of them.
	byStart := map[[2]clinic.Date][]template{}
	for _, s := range all {
		if s.foreign() {
			continue
		}
		today := clinic.DateOf(t.now, s.zone)
		until, from := today.AddDays(days), today
		if !s.madeUntil.IsZero() && !s.madeUntil.Before(today) {
			from = s.madeUntil.AddDays(1)
		}
		if !from.After(until) {
			key := [2]clinic.Date{from, until}
			byStart[key] = append(byStart[key], s)
		}
	}
	for _, key := range sortedKeys(byStart) {
		if err := t.MakeSlotsBetween(ctx, ids(byStart[key]), key[0], key[1]); err != nil {
			return err
		}
	}
	return nil
}

// MakeSlotsBetween adds the slots of the schedules that start on the local dates from..to, in the past too, and closes
// none: for days that have no slots yet.
func (t *Tx) MakeSlotsBetween(ctx context.Context, schedules []string, from, to clinic.Date) error {
	found, err := t.templates(ctx, schedules, nil)
	if err != nil {
		return err
	}
	specs, err := t.generate(ctx, found, from, to)
	if err != nil {
		return err
	}
	if err := t.putSlots(ctx, specs); err != nil {
		return err
	}
	return t.setMade(ctx, found, to)
}

// remake brings the slot rows of the local dates from..to in line with the templates.
func (t *Tx) remake(ctx context.Context, schedules []template, from, to clinic.Date) error {
	if to.Before(from) {
		return nil
	}
	specs, err := t.generate(ctx, schedules, from, to)
	if err != nil {
		return err
	}
	// Closing first lets another schedule of the practitioner take over the same start.
	if err := t.closeOthers(ctx, schedules, specs, from, to); err != nil {
		return err
	}
	return t.putSlots(ctx, specs)
}

func (t *Tx) generate(ctx context.Context, schedules []template, from, to clinic.Date) ([]clinic.SlotSpec, error) {
	practitioners := map[string]bool{}
	for _, s := range schedules {
		practitioners[s.Practitioner] = true
	}
	// A slot of the last day may reach into the day after it.
	leave, err := t.leaveOf(ctx, keys(practitioners), from, to.AddDays(1))
	if err != nil {
		return nil, err
	}
	leaveBy := map[string][]clinic.Leave{}
	for _, l := range leave {
		leaveBy[l.Practitioner] = append(leaveBy[l.Practitioner], l)
	}
	exceptions, err := t.exceptions(ctx, ids(schedules), from.AddDays(-1), to.AddDays(1))
	if err != nil {
		return nil, err
	}
	var specs []clinic.SlotSpec
	for _, s := range schedules {
		specs = append(specs, clinic.Generate(s.Schedule, s.zone, from, to, exceptions[s.ID], leaveBy[s.Practitioner])...)
	}
	return specs, nil
}

// putSlots inserts or updates. Where another schedule of the practitioner has an open slot at the same start, that one
// stays. An id follows from practitioner and start, for which there is one row ever.
func (t *Tx) putSlots(ctx context.Context, specs []clinic.SlotSpec) error {
	for part := range slices.Chunk(specs, batch) {
		var schedules, days, states pq.StringArray
		var starts, ends []time.Time
		for _, s := range part {
			state := "open"
			if s.OnLeave {
				state = "leave"
			}
			schedules, days, states = append(schedules, s.Schedule), append(days, s.Day.String()), append(states, state)
			starts, ends = append(starts, s.StartsAt), append(ends, s.EndsAt)
		}
		_, err := t.exec(ctx, `INSERT INTO slots AS o (clinic, id, practitioner, location, schedule, day, starts_at, ends_at, types, state)
			SELECT s.clinic, 'slot_' || left(encode(sha256(convert_to(s.practitioner || '@' || extract(epoch FROM x.starts_at)::bigint, 'UTF8')), 'hex'), 20),
				s.practitioner, s.location, s.id, x.day::date, x.starts_at, x.ends_at, s.types, x.state
			FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::text[]) AS x(schedule, day, starts_at, ends_at, state)
			JOIN schedules s ON s.id = x.schedule
			ORDER BY s.practitioner, x.starts_at
			ON CONFLICT ON CONSTRAINT slots_once DO UPDATE
			SET location = excluded.location, schedule = excluded.schedule, day = excluded.day, ends_at = excluded.ends_at,
				types = excluded.types, state = excluded.state
			WHERE (o.schedule = excluded.schedule OR o.state = 'closed')
				AND (o.location, o.schedule, o.day, o.ends_at, o.types, o.state)
				IS DISTINCT FROM (excluded.location, excluded.schedule, excluded.day, excluded.ends_at, excluded.types, excluded.state)`,
			schedules, days, pq.Array(starts), pq.Array(ends), states)
		if err != nil {
			return err
		}
	}
	return nil
}

// closeOthers closes the schedules' slots of the dates that specs does not have.
func (t *Tx) closeOthers(ctx context.Context, schedules []template, specs []clinic.SlotSpec, from, to clinic.Date) error {
	var made pq.StringArray
	var starts []time.Time
	for _, s := range specs {
		made, starts = append(made, s.Schedule), append(starts, s.StartsAt)
	}
	practitioners := map[string]bool{}
	for _, s := range schedules {
		practitioners[s.Practitioner] = true
	}
	// The bounds on the start are wide; they are there for the index.
	_, err := t.exec(ctx, `UPDATE slots s SET state = 'closed' WHERE s.schedule = ANY ($1) AND s.day BETWEEN $2 AND $3 AND s.state <> 'closed'
		AND s.practitioner = ANY ($6) AND s.starts_at > ($2::date - 1)::timestamptz AND s.starts_at < ($3::date + 2)::timestamptz
		AND NOT EXISTS (SELECT FROM unnest($4::text[], $5::timestamptz[]) AS x(schedule, starts_at)
			WHERE x.schedule = s.schedule AND x.starts_at = s.starts_at)`,
		ids(schedules), from.String(), to.String(), made, pq.Array(starts), keys(practitioners))
	return err
}

func (t *Tx) setMade(ctx context.Context, schedules []template, until clinic.Date) error {
	_, err := t.exec(ctx, `UPDATE schedules SET made_until = $2 WHERE id = ANY ($1) AND (made_until IS NULL OR made_until < $2)`,
		ids(schedules), until.String())
	return err
}

func ids(schedules []template) pq.StringArray {
	list := make(pq.StringArray, len(schedules))
	for i, s := range schedules {
		list[i] = s.ID
	}
	return list
}

func sortedKeys(m map[[2]clinic.Date][]template) [][2]clinic.Date {
	var list [][2]clinic.Date
	for k := range m {
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b [2]clinic.Date) int { return a[0].Compare(b[0]) })
	return list
}
