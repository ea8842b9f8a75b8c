package db

import (
	"context"
	"time"

	"github.com/lib/pq"

	"countersign/internal/ehr/intake"
)

func (s *intakeTx) putLocations(ctx context.Context, items []*item[*intake.Location], problems []*intake.Problem) (int, error) {
	var known []struct{ ID, Zone string }
	if err := s.t.sel(ctx, &known, `SELECT id, zone FROM locations`); err != nil {
		return 0, err
	}
	zones := map[string]string{}
	for _, l := range known {
		zones[l.ID] = l.Zone
	}
	type row struct{ ID, Name, Address, Phone, Zone string }
	var rows []row
	for _, x := range items {
		r := row{x.ID, x.R.Name, x.R.Address, x.R.Phone, x.R.Zone}
		if r.Zone == "" {
			r.Zone = zones[x.ID]
		}
		if r.Zone == "" {
			r.Zone = s.Zone
		}
		if r.Zone == "" {
			problems[x.n] = &intake.Problem{Code: intake.CodeNoZone, Words: "it has no time zone: give it FHIR's timezone extension, or say --zone"}
			continue
		}
		rows = append(rows, r)
	}
	return s.put(ctx, rows, `INSERT INTO locations AS o (clinic, id, name, address, phone, zone) SELECT $2, x."ID", x."Name", x."Address", x."Phone", x."Zone"
		FROM json_to_recordset($1::json) AS x("ID" text, "Name" text, "Address" text, "Phone" text, "Zone" text)
		ON CONFLICT (clinic, id) DO UPDATE SET name = excluded.name, address = excluded.address, phone = excluded.phone, zone = excluded.zone
		WHERE (o.name, o.address, o.phone, o.zone) IS DISTINCT FROM (excluded.name, excluded.address, excluded.phone, excluded.zone)`)
}

// beginning is the first day of a schedule that says none.
const beginning = "2000-01-01"

// putSchedules adds schedules without weekly hours: their slots come from the EHR.
func (s *intakeTx) putSchedules(ctx context.Context, items []*item[*intake.Schedule], problems []*intake.Problem) (int, error) {
	var people, places []string
	for _, x := range items {
		people, places = append(people, x.R.Practitioner), append(places, x.R.Location)
	}
	practitioners, err := s.local(ctx, intake.KindPractitioner, people)
	if err != nil {
		return 0, err
	}
	locations, err := s.local(ctx, intake.KindLocation, places)
	if err != nil {
		return 0, err
	}
	if locations[""], err = s.onlyLocation(ctx); err != nil {
		return 0, err
	}
	var known []struct{ ID, Practitioner string }
	var ids pq.StringArray
	for _, x := range items {
		ids = append(ids, x.ID)
	}
	if err := s.t.sel(ctx, &known, `SELECT id, practitioner FROM schedules WHERE id = ANY ($1)`, ids); err != nil {
		return 0, err
	}
	was := map[string]string{}
	for _, k := range known {
		was[k.ID] = k.Practitioner
	}
	type row struct {
		ID, Practitioner, Location, From, To string
		Types                                []string
	}
	var rows []row
	var touched pq.StringArray
	for _, x := range items {
		r := row{x.ID, practitioners[x.R.Practitioner], locations[x.R.Location], x.R.From, x.R.To, s.typeIDs(x.R.Types)}
		switch {
		case r.Practitioner == "":
			problems[x.n] = intake.Unknown(intake.KindPractitioner, x.R.Practitioner)
		case r.Location == "":
			problems[x.n] = intake.Unknown(intake.KindLocation, x.R.Location)
		case was[x.ID] != "" && was[x.ID] != r.Practitioner:
			problems[x.n] = &intake.Problem{Code: intake.CodeUnsupported, Words: "it went over to another practitioner"}
		default:
			if r.From == "" {
				r.From = beginning
			}
			if r.To != "" && r.To < r.From {
				r.From = r.To
			}
			if !x.R.Active {
				r.Types = []string{}
			}
			rows, touched = append(rows, r), append(touched, x.ID)
		}
	}
	changed, err := s.put(ctx, rows, `INSERT INTO schedules AS o (clinic, id, practitioner, location, valid_from, valid_to, types)
		SELECT $2, x."ID", x."Practitioner", x."Location", x."From"::date, nullif(x."To", '')::date, x."Types"
		FROM json_to_recordset($1::json) AS x("ID" text, "Practitioner" text, "Location" text, "From" text, "To" text, "Types" text[])
		ON CONFLICT (clinic, id) DO UPDATE SET location = excluded.location, valid_from = excluded.valid_from, valid_to = excluded.valid_to,
			types = excluded.types, version = o.version + 1
		WHERE (o.location, o.valid_from, o.valid_to, o.types) IS DISTINCT FROM (excluded.location, excluded.valid_from, excluded.valid_to, excluded.types)`)
	if err != nil || changed == 0 {
		return changed, err
	}
	return changed, s.moveSlots(ctx, touched)
}

// onlyLocation is the clinic's location if there is one alone, else "".
func (s *intakeTx) onlyLocation(ctx context.Context) (string, error) {
	var all []string
	if err := s.t.sel(ctx, &all, `SELECT id::text FROM locations LIMIT 2`); err != nil || len(all) != 1 {
		return "", err
	}
	return all[0], nil
}

// moveSlots brings the coming slots of schedules to what those say now.
func (s *intakeTx) moveSlots(ctx context.Context, schedules pq.StringArray) error {
	var ids []string
	err := s.t.sel(ctx, &ids, `UPDATE slots o SET location = c.location, day = (o.starts_at AT TIME ZONE l.zone)::date
		FROM schedules c JOIN locations l ON l.clinic = c.clinic AND l.id = c.location
		WHERE c.clinic = o.clinic AND c.id = o.schedule AND o.schedule = ANY ($1) AND o.remote_status IS NOT NULL AND o.starts_at > app_now() RETURNING o.id::text`, schedules)
	if err != nil {
		return err
	}
	return s.t.settleSlots(ctx, ids)
}

// putSlots adds slots to their schedules. A slot that our own template made, of the same practitioner and start, is this one.
func (s *intakeTx) putSlots(ctx context.Context, items []*item[*intake.Slot], problems []*intake.Problem) (int, error) {
	var remotes []string
	for _, x := range items {
		remotes = append(remotes, x.R.Schedule)
	}
	schedules, err := s.local(ctx, intake.KindSchedule, remotes)
	if err != nil {
		return 0, err
	}
	var known []*item[*intake.Slot]
	for _, x := range items {
		switch {
		case schedules[x.R.Schedule] == "":
			problems[x.n] = intake.Unknown(intake.KindSchedule, x.R.Schedule)
		case !x.Here && x.R.Status == "entered-in-error":
			problems[x.n] = &intake.Problem{Code: intake.CodeUnsupported, Words: "it was entered in error, and is left out", Left: true}
		default:
			known = append(known, x)
		}
	}
	if err := s.checkStarts(ctx, known, schedules, problems); err != nil {
		return 0, err
	}
	type row struct {
		ID, Schedule, Status string
		Starts, Ends         time.Time
		Types                []string
	}
	var rows []row
	var ids []string
	for _, x := range known {
		if problems[x.n] == nil {
			r := row{ID: x.ID, Schedule: schedules[x.R.Schedule], Status: x.R.Status, Starts: x.R.StartsAt, Ends: x.R.EndsAt}
			if len(x.R.Types) > 0 {
				r.Types = s.typeIDs(x.R.Types)
			}
			rows, ids = append(rows, r), append(ids, x.ID)
		}
	}
	changed, err := s.put(ctx, rows, `INSERT INTO slots AS o (clinic, id, practitioner, location, schedule, day, starts_at, ends_at, types, state, remote_status, remote_types)
		SELECT $2, x."ID", c.practitioner, c.location, c.id, (x."Starts" AT TIME ZONE l.zone)::date, x."Starts", x."Ends", coalesce(x."Types", c.types),
			CASE x."Status" WHEN 'free' THEN 'open' ELSE 'closed' END, x."Status", x."Types"
		FROM json_to_recordset($1::json) AS x("ID" text, "Schedule" text, "Status" text, "Starts" timestamptz, "Ends" timestamptz, "Types" text[])
		JOIN schedules c ON c.id = x."Schedule" JOIN locations l ON l.clinic = c.clinic AND l.id = c.location
		ON CONFLICT (clinic, id) DO UPDATE SET practitioner = excluded.practitioner, location = excluded.location, schedule = excluded.schedule, day = excluded.day,
			starts_at = excluded.starts_at, ends_at = excluded.ends_at, remote_status = excluded.remote_status, remote_types = excluded.remote_types
		WHERE (o.practitioner, o.location, o.schedule, o.starts_at, o.ends_at, o.remote_status, o.remote_types)
			IS DISTINCT FROM (excluded.practitioner, excluded.location, excluded.schedule, excluded.starts_at, excluded.ends_at, excluded.remote_status, excluded.remote_types)`)
	if err != nil || changed == 0 {
		return changed, err
	}
	return changed, s.t.settleSlots(ctx, ids)
}

// checkStarts refuses a second slot of one practitioner and start.
func (s *intakeTx) checkStarts(ctx context.Context, items []*item[*intake.Slot], schedules map[string]string, problems []*intake.Problem) error {
	var at pq.Int64Array
	var of pq.StringArray
	var starts []time.Time
	for i, x := range items {
		at, of, starts = append(at, int64(i)), append(of, schedules[x.R.Schedule]), append(starts, x.R.StartsAt)
	}
	var found []struct {
		At               int
		Practitioner, ID string
	}
	err := s.t.sel(ctx, &found, `SELECT x.at, c.practitioner, coalesce(o.id, '') AS id
		FROM unnest($1::bigint[], $2::text[], $3::timestamptz[]) AS x(at, schedule, starts_at) JOIN schedules c ON c.id = x.schedule
		LEFT JOIN LATERAL (SELECT o.id FROM slots o WHERE o.practitioner = c.practitioner AND o.starts_at = x.starts_at OFFSET 0) o ON true ORDER BY x.at`,
		at, of, pq.Array(starts))
	if err != nil {
		return err
	}
	var others pq.StringArray
	for _, f := range found {
		if f.ID != "" && f.ID != items[f.At].ID {
			others = append(others, f.ID)
		}
	}
	linked, err := s.linked(ctx, intake.KindSlot, others)
	type start struct {
		practitioner string
		at           time.Time
	}
	taken := map[start]bool{}
	for _, f := range found {
		x := items[f.At]
		key := start{f.Practitioner, x.R.StartsAt}
		switch {
		case taken[key], f.ID != "" && f.ID != x.ID && (linked[f.ID] || x.Here):
			problems[x.n] = &intake.Problem{Code: intake.CodeTwice, Words: "its practitioner has another slot of the same start"}
			continue
		case f.ID != "" && f.ID != x.ID:
			x.ID, x.Here = f.ID, true
		}
		taken[key] = true
	}
	return err
}
