package db

import (
	"context"
	"time"

	"github.com/lib/pq"

	"countersign/internal/clinic"
)

// template is a schedule with all that its slots are made from.
type template struct {
	clinic.Schedule
	zone      *time.Location
	madeUntil clinic.Date // zero: none made yet
}

// foreign tells that the slots of the schedule came with it (an import), and no template made them.
func (s template) foreign() bool { return len(s.Hours) == 0 && s.madeUntil.IsZero() }

// templates reads the schedules that have one of the ids or are of one of the practitioners, by id; for neither, all
// of the clinic. Two statements.
func (t *Tx) templates(ctx context.Context, ids, practitioners pq.StringArray) ([]template, error) {
	w := &where{}
	if ids != nil {
		w.and(`s.id = ANY (?)`, ids)
	}
	if practitioners != nil {
		w.and(`s.practitioner = ANY (?)`, practitioners)
	}
	var rows []struct {
		ID, Practitioner, Location, From, To, Made, Zone string
		Grid                                             int
		Types                                            pq.StringArray
	}
	err := t.sel(ctx, &rows, `SELECT s.id, s.practitioner, s.location, s.valid_from::text AS "from", coalesce(s.valid_to::text, '') AS "to",
		coalesce(s.made_until::text, '') AS made, l.zone, s.grid_minutes AS grid, s.types
		FROM schedules s JOIN locations l ON l.clinic = s.clinic AND l.id = s.location`+w.String()+` ORDER BY s.id`, w.args...)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	found := make([]template, len(rows))
	place := map[string]int{}
	list := pq.StringArray{}
	for i, r := range rows {
		p := template{Schedule: clinic.Schedule{ID: r.ID, Practitioner: r.Practitioner, Location: r.Location, Grid: r.Grid, Types: r.Types}}
		if p.zone, err = zoneOf(clinic.Location{ID: r.Location, Zone: r.Zone}); err != nil {
			return nil, err
		}
		if p.From, err = clinic.ParseDate(r.From); err != nil {
			return nil, err
		}
		if r.To != "" {
			to, err := clinic.ParseDate(r.To)
			if err != nil {
				return nil, err
			}
			p.To = &to
		}
		if r.Made != "" {
			if p.madeUntil, err = clinic.ParseDate(r.Made); err != nil {
				return nil, err
			}
		}
		found[i], place[r.ID], list = p, i, append(list, r.ID)
	}
	var hours []struct {
		Schedule      string
		Weekday       int
		Opens, Closes int
	}
	err = t.sel(ctx, &hours, `SELECT schedule, weekday, opens, closes FROM schedule_hours WHERE schedule = ANY ($1) ORDER BY schedule, weekday, opens`, list)
	for _, h := range hours {
		s := &found[place[h.Schedule]]
		s.Hours = append(s.Hours, clinic.Hours{Weekday: time.Weekday(h.Weekday), Opens: h.Opens, Closes: h.Closes})
	}
	return found, err
}

// exceptions reads those of the schedules whose date lies in from..to, by schedule. One statement.
func (t *Tx) exceptions(ctx context.Context, schedules pq.StringArray, from, to clinic.Date) (map[string][]clinic.Exception, error) {
	var rows []struct {
		Schedule, Day string
		Closed        bool
		Opens, Closes int
	}
	err := t.sel(ctx, &rows, `SELECT schedule, day::text, opens IS NULL AS closed, coalesce(opens, 0) AS opens, coalesce(closes, 0) AS closes
		FROM schedule_exceptions WHERE schedule = ANY ($1) AND day BETWEEN $2 AND $3 ORDER BY schedule, day, opens`,
		schedules, from.String(), to.String())
	found := map[string][]clinic.Exception{}
	for _, r := range rows {
		day, err := clinic.ParseDate(r.Day)
		if err != nil {
			return nil, err
		}
		found[r.Schedule] = append(found[r.Schedule], clinic.Exception{Schedule: r.Schedule, Date: day, Closed: r.Closed, Opens: r.Opens, Closes: r.Closes})
	}
	return found, err
}
