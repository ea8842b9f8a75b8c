package db

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"countersign/internal/clinic"
	"countersign/internal/ehr/intake"
)

// giveTypes gives a type to visits that say none and are new here: the only one of their schedule, else the one of their
// length, else one that is called by it.
func (s *intakeTx) giveTypes(ctx context.Context, rows []visitRow) error {
	var at pq.Int64Array
	var people, places pq.StringArray
	var starts []time.Time
	for i, r := range rows {
		if r.Type == "" {
			at, people, places, starts = append(at, int64(i)), append(people, r.Practitioner), append(places, r.Location), append(starts, r.Starts)
		}
	}
	if len(at) == 0 {
		return nil
	}
	var offered []struct {
		At, Minutes int
		Type        string
	}
	err := s.t.sel(ctx, &offered, `SELECT DISTINCT x.at, y.id AS type, y.minutes FROM unnest($1::bigint[], $2::text[], $3::text[], $4::timestamptz[]) AS x(at, practitioner, location, starts)
		JOIN schedules c ON c.practitioner = x.practitioner AND c.location = x.location JOIN locations l ON l.clinic = c.clinic AND l.id = c.location
		JOIN appointment_types y ON y.clinic = c.clinic AND y.id = ANY (c.types)
		WHERE (x.starts AT TIME ZONE l.zone)::date BETWEEN c.valid_from AND coalesce(c.valid_to, 'infinity') ORDER BY x.at, y.id`, at, people, places, pq.Array(starts))
	if err != nil {
		return err
	}
	of, fits := map[int][]string{}, map[int]string{}
	for _, o := range offered {
		of[o.At] = append(of[o.At], o.Type)
		if fits[o.At] == "" && o.Minutes == minutesOf(rows[o.At]) {
			fits[o.At] = o.Type
		}
	}
	wished, wishes := map[intake.TypeWish]bool{}, []intake.TypeWish(nil)
	for _, i := range at {
		if r := &rows[i]; len(of[int(i)]) == 1 {
			r.Type = of[int(i)][0]
		} else if r.Type = fits[int(i)]; r.Type == "" {
			if w := byLength(*r); !wished[w] {
				wished[w], wishes = true, append(wishes, w)
			}
		}
	}
	if err := s.TakeTypes(ctx, wishes); err != nil {
		return err
	}
	for _, i := range at {
		if r := &rows[i]; r.Type == "" {
			r.Type = s.typeID(byLength(*r).TypeCode)
		}
	}
	return nil
}

func minutesOf(r visitRow) int { return int(r.Ends.Sub(r.Starts) / time.Minute) }

// byLength is the type of a visit of which nothing is known but how long it is, within what a type may last.
func byLength(r visitRow) intake.TypeWish {
	minutes := min(max(minutesOf(r), 5), 720)
	name := fmt.Sprintf("%d minutes", minutes)
	return intake.TypeWish{TypeCode: intake.TypeCode{Code: name, Name: name}, Minutes: minutes}
}

// checkMarks finds second copies of what a change of ours made: they bear its mark, and its visit is another one there. Of
// two that are in force somebody must see to one; a copy that is cancelled is what a move left behind.
func (s *intakeTx) checkMarks(ctx context.Context, items []*item[*intake.Appointment], problems []*intake.Problem) error {
	var marks, remotes pq.StringArray
	var at pq.Int64Array
	for i, x := range items {
		if !s.Echo || x.Linked || problems[x.n] != nil {
			continue
		}
		for _, o := range x.R.Operations {
			at, marks, remotes = append(at, int64(i)), append(marks, o), append(remotes, x.R.Remote)
		}
	}
	if len(at) == 0 {
		return nil
	}
	var copies []int
	err := s.t.sel(ctx, &copies, `SELECT DISTINCT x.at FROM unnest($1::bigint[], $2::text[], $3::text[]) AS x(at, operation, remote)
		JOIN ehr_operations o ON o.id = x.operation JOIN ehr_links l ON l.kind = 'Appointment' AND l.id = o.appointment WHERE l.remote_id <> x.remote`, at, marks, remotes)
	for _, i := range copies {
		x := items[i]
		problems[x.n] = &intake.Problem{Code: intake.CodeDuplicate, Words: "a change of our own made another visit of it"}
		if !clinic.HoldsTime(x.R.Status) {
			problems[x.n].Left = true
		}
	}
	return err
}
