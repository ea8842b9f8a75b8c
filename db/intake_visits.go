package db

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/lib/pq"

	"countersign/internal/clinic"
	"countersign/internal/ehr/intake"
)

// visitRow is a visit as it is written.
type visitRow struct {
	ID, Patient, Practitioner, Location, Type, Status, Reason string
	Starts, Ends                                              time.Time
}

// visitHere is what is known here of a visit that comes in.
type visitHere struct {
	ID, Patient, Location, Type, Reason string
	Starts, Ends                        time.Time
}

// putVisits adds appointments, or brings them to what the EHR says: of what it says nothing, ours stays. What a change of
// our own is on its way to is left for the reconciler.
func (s *intakeTx) putVisits(ctx context.Context, items []*item[*intake.Appointment], problems []*intake.Problem) (int, error) {
	var patients, people, places []string
	var ids pq.StringArray
	for _, x := range items {
		patients, people, places = append(patients, x.R.Patient), append(people, x.R.Practitioner), append(places, x.R.Location)
		ids = append(ids, x.ID)
	}
	patientOf, err := s.local(ctx, intake.KindPatient, patients)
	if err != nil {
		return 0, err
	}
	practitionerOf, err := s.local(ctx, intake.KindPractitioner, people)
	if err != nil {
		return 0, err
	}
	var known []visitHere
	if err := s.t.sel(ctx, &known, `SELECT id, patient, location, type, coalesce(reason_code, '') AS reason, starts_at AS starts, ends_at AS ends
		FROM appointments WHERE id = ANY ($1) FOR UPDATE`, ids); err != nil {
		return 0, err
	}
	here := map[string]visitHere{}
	for _, k := range known {
		here[k.ID] = k
	}
	placeOf, err := s.placesOf(ctx, items, places, here)
	if err != nil {
		return 0, err
	}
	if err := s.checkOperations(ctx, items, problems); err != nil {
		return 0, err
	}
	if err := s.checkMarks(ctx, items, problems); err != nil {
		return 0, err
	}
	if _, err := s.t.exec(ctx, `SET CONSTRAINTS appointments_no_overlap DEFERRED`); err != nil {
		return 0, err
	}
	var rows []visitRow
	var written pq.StringArray
	for _, x := range items {
		a := x.R
		r := visitRow{x.ID, patientOf[a.Patient], practitionerOf[a.Practitioner], placeOf[x.n], s.typeID(a.Type), a.Status, a.ReasonCode, a.StartsAt, a.EndsAt}
		was, isHere := here[x.ID]
		switch {
		case problems[x.n] != nil:
			continue
		case r.Patient == "":
			problems[x.n] = intake.Unknown(intake.KindPatient, a.Patient)
		case r.Practitioner == "":
			problems[x.n] = intake.Unknown(intake.KindPractitioner, a.Practitioner)
		case r.Location == "":
			problems[x.n] = intake.Unknown(intake.KindLocation, a.Location)
		case isHere && was.Patient != r.Patient:
			problems[x.n] = &intake.Problem{Code: intake.CodeOtherPatient, Words: "it is another patient's here"}
		case a.StartsAt.IsZero() && !isHere:
			problems[x.n] = &intake.Problem{Code: intake.CodeUnsupported, Words: "it was cancelled and has no time, and is left out", Left: true}
		default:
			if a.StartsAt.IsZero() {
				r.Starts, r.Ends = was.Starts, was.Ends
			}
			if r.Type == "" {
				r.Type = was.Type
			}
			if r.Reason == "" && r.Status == clinic.StatusCancelled {
				r.Reason = cmp.Or(was.Reason, "other")
			}
			rows, written = append(rows, r), append(written, x.ID)
		}
	}
	if err := s.giveTypes(ctx, rows); err != nil {
		return 0, err
	}
	changed, err := s.put(ctx, rows, `INSERT INTO appointments AS o (clinic, id, patient, practitioner, location, type, status, reason_code, during, changed_by, changed_via, changed_at)
		SELECT $2, x."ID", x."Patient", x."Practitioner", x."Location", x."Type", x."Status", nullif(x."Reason", ''), tstzrange(x."Starts", x."Ends"), $3, $4, $5
		FROM json_to_recordset($1::json) AS x("ID" text, "Patient" text, "Practitioner" text, "Location" text, "Type" text, "Status" text, "Reason" text,
			"Starts" timestamptz, "Ends" timestamptz)
		ON CONFLICT (clinic, id) DO UPDATE SET practitioner = excluded.practitioner, location = excluded.location, type = excluded.type, status = excluded.status,
			reason_code = excluded.reason_code, during = excluded.during, changed_by = excluded.changed_by, changed_via = excluded.changed_via,
			changed_at = excluded.changed_at, proposal = NULL
		WHERE (o.practitioner, o.location, o.type, o.status, o.during) IS DISTINCT FROM (excluded.practitioner, excluded.location, excluded.type, excluded.status, excluded.during)`,
		s.By, s.Via, s.t.now)
	if err != nil || changed == 0 {
		return changed, err
	}
	if err := s.tell(ctx, written); err != nil {
		return 0, err
	}
	if s.all = s.all || len(s.touched)+len(written) > mostTouched; !s.all {
		s.touched = append(s.touched, written...)
	}
	return changed, s.t.settleVisits(ctx, written)
}

// placesOf gives the location of each visit, by its place in the batch: the one it names, else that of its slot, else the
// one it has here, else the clinic's only one.
func (s *intakeTx) placesOf(ctx context.Context, items []*item[*intake.Appointment], named []string, here map[string]visitHere) (map[int]string, error) {
	locations, err := s.local(ctx, intake.KindLocation, named)
	if err != nil {
		return nil, err
	}
	places := map[int]string{}
	var slots, at []string
	var missing []int
	for _, x := range items {
		switch {
		case x.R.Location != "":
			places[x.n] = locations[x.R.Location]
		case len(x.R.Slots) > 0:
			slots, missing = append(slots, x.R.Slots[0]), append(missing, x.n)
			at = append(at, x.ID)
		default:
			missing = append(missing, x.n)
			slots, at = append(slots, ""), append(at, x.ID)
		}
	}
	if len(missing) == 0 {
		return places, nil
	}
	only, err := s.onlyLocation(ctx)
	if err != nil {
		return nil, err
	}
	slotOf, err := s.local(ctx, intake.KindSlot, slots)
	if err != nil {
		return nil, err
	}
	var ids pq.StringArray
	for _, id := range slotOf {
		ids = append(ids, id)
	}
	var found []struct{ ID, Location string }
	if err := s.t.sel(ctx, &found, `SELECT id, location FROM slots WHERE id = ANY ($1)`, ids); err != nil {
		return nil, err
	}
	placeOf := map[string]string{}
	for _, f := range found {
		placeOf[f.ID] = f.Location
	}
	for i, n := range missing {
		places[n] = cmp.Or(placeOf[slotOf[slots[i]]], here[at[i]].Location, only)
	}
	return places, nil
}

// checkOperations leaves to the reconciler what a change of ours is on its way to.
func (s *intakeTx) checkOperations(ctx context.Context, items []*item[*intake.Appointment], problems []*intake.Problem) error {
	var operations, ids, remotes pq.StringArray
	for _, x := range items {
		operations, ids, remotes = append(operations, x.R.Operations...), append(ids, x.ID), append(remotes, x.R.Remote)
	}
	var found []struct{ ID, Appointment, Remote, Old string }
	err := s.t.sel(ctx, &found, `SELECT id, appointment, coalesce(remote_id, '') AS remote, coalesce(old_remote_id, '') AS old FROM ehr_operations
		WHERE ended_at IS NULL AND (id = ANY ($1) OR appointment = ANY ($2) OR remote_id = ANY ($3) OR old_remote_id = ANY ($3))`, operations, ids, remotes)
	busy := map[string]bool{}
	for _, f := range found {
		for _, key := range []string{"o" + f.ID, "a" + f.Appointment, "r" + f.Remote, "r" + f.Old} {
			busy[key] = true
		}
	}
	for _, x := range items {
		mine := busy["a"+x.ID] || busy["r"+x.R.Remote]
		for _, o := range x.R.Operations {
			mine = mine || busy["o"+o]
		}
		if mine {
			problems[x.n] = &intake.Problem{Code: intake.CodeOperation, Words: "a change of our own to it is on its way"}
		}
	}
	return err
}

// Settle implements intake.Store. Of many visits all the clinic's are put in their order, of a few each is looked up.
func (s *intakeTx) Settle(ctx context.Context) (remotes []string, err error) {
	const of = ` JOIN ehr_links k ON k.kind = 'Appointment' AND k.id = a.id ORDER BY a.starts_at, a.id`
	if s.all {
		err = s.t.sel(ctx, &remotes, `SELECT k.remote_id FROM (SELECT v.id, v.starts_at FROM (SELECT id, starts_at, ends_at, changed_at, changed_via, lead(starts_at) OVER line AS next,
				max(ends_at) OVER (line ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until
			FROM appointments WHERE status IN ('booked', 'arrived', 'checked-in') WINDOW line AS (PARTITION BY practitioner ORDER BY starts_at, id)) v
			WHERE v.changed_at = $1 AND v.changed_via = $2 AND (v.next < v.ends_at OR v.until > v.starts_at) OFFSET 0) a`+of, s.t.now, s.Via)
		return remotes, err
	}
	err = s.t.sel(ctx, &remotes, `SELECT k.remote_id FROM (SELECT a.id, a.starts_at FROM appointments a `+dayBefore("a")+`
		CROSS JOIN LATERAL (SELECT FROM (SELECT b.id, b.status FROM appointments b WHERE `+overlaps("b", "a")+` OFFSET 0) b
			WHERE b.id <> a.id AND b.status IN ('booked', 'arrived', 'checked-in') LIMIT 1) b
		WHERE a.id = ANY ($1) AND a.status IN ('booked', 'arrived', 'checked-in') OFFSET 0) a`+of, s.touched)
	return remotes, err
}

// dayBefore reckons w.after, the lower bound of what may reach into a row: no slot and no visit is longer than a day. It
// stands by itself because timestamptz - interval is not leakproof: in a comparison it would keep the index from serving.
func dayBefore(row string) string {
	return `CROSS JOIN LATERAL (SELECT ` + row + `.starts_at - interval '1 day' AS after OFFSET 0) w`
}

// overlaps holds for rows of one practitioner that overlap in time, with dayBefore(row). The status of a visit may not stand
// beside it but only outside of an OFFSET 0: as long as PostgreSQL has no statistics it would as soon take the index of the
// exclusion constraint, and read all visits of the practitioner.
func overlaps(other, row string) string {
	return strings.NewReplacer("o.", other+".", "r.", row+".").Replace(`o.practitioner = r.practitioner AND o.starts_at > w.after
				AND o.starts_at < r.ends_at AND o.ends_at > r.starts_at`)
}

// settleVisits gives visits the slots they cover, and takes from them those they left.
func (t *Tx) settleVisits(ctx context.Context, visits pq.StringArray) error {
	var ids []string
	err := t.sel(ctx, &ids, `SELECT s.id::text FROM slots s WHERE s.appointment = ANY ($1)
		UNION SELECT s.id::text FROM appointments a `+dayBefore("a")+`
			CROSS JOIN LATERAL (SELECT s.id FROM slots s WHERE `+overlaps("s", "a")+` OFFSET 0) s
		WHERE a.id = ANY ($1)`, visits)
	if err != nil {
		return err
	}
	return t.settleSlots(ctx, ids)
}

// settleSlots says of slots who has them and, of those that came from the EHR, whether they can be booked: free there, or
// busy with a visit that we know; nothing during leave. Slots that a confirmed change waits for stay as they are. Nothing
// is locked but what changes; what somebody else changed in between is looked at again.
func (t *Tx) settleSlots(ctx context.Context, ids []string) error {
	for len(ids) > 0 {
		again, err := t.settleOnce(ctx, ids)
		if err != nil {
			return err
		}
		ids = again
	}
	return nil
}

// settleOnce gives those that were changed by another between the look and the change.
func (t *Tx) settleOnce(ctx context.Context, ids []string) (again []string, err error) {
	var rows []struct {
		ID, Practitioner, State, Remote, Zone, Has, Taker string
		StartsAt, EndsAt                                  time.Time
		Version                                           int64
		Retyped                                           bool
	}
	err = t.sel(ctx, &rows, `SELECT s.id, s.practitioner, s.state, coalesce(s.remote_status, '') AS remote, l.zone, coalesce(s.appointment, '') AS has,
			coalesce(v.id, '') AS taker, s.starts_at AS startsat, s.ends_at AS endsat, s.version,
			s.remote_status IS NOT NULL AND s.types IS DISTINCT FROM coalesce(s.remote_types, c.types) AS retyped
		FROM slots s JOIN locations l ON l.clinic = s.clinic AND l.id = s.location JOIN schedules c ON c.clinic = s.clinic AND c.id = s.schedule
		`+dayBefore("s")+`
		LEFT JOIN LATERAL (SELECT a.id FROM (SELECT a.id, a.status, a.starts_at FROM appointments a WHERE `+overlaps("a", "s")+` OFFSET 0) a
			WHERE a.status IN ('booked', 'arrived', 'checked-in') ORDER BY a.starts_at LIMIT 1) v ON true
		WHERE s.id = ANY ($1) AND s.held_by IS NULL`, pq.StringArray(ids))
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	leave, err := t.leaveAround(ctx, len(rows), func(i int) (string, time.Time) { return rows[i].Practitioner, rows[i].StartsAt })
	if err != nil {
		return nil, err
	}
	var changed, states, takers pq.StringArray
	var versions pq.Int64Array
	for _, r := range rows {
		state, taker := r.State, r.Taker
		if r.Remote != "" {
			zone, err := zoneOf(clinic.Location{Zone: r.Zone})
			if err != nil {
				return nil, err
			}
			switch {
			case r.Remote != "free" && (taker == "" || r.Remote != "busy" && r.Remote != "busy-tentative"):
				state = "closed"
			case clinic.OnLeave(leave, r.Practitioner, clinic.Interval{From: r.StartsAt, To: r.EndsAt}, zone):
				state = "leave"
			default:
				state = "open"
			}
		} else if state == "closed" && r.Has != taker {
			taker = ""
		}
		if state != r.State || taker != r.Has || r.Retyped {
			changed, states, takers, versions = append(changed, r.ID), append(states, state), append(takers, taker), append(versions, r.Version)
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	err = t.sel(ctx, &again, `WITH settled AS (
			UPDATE slots s SET state = x.state, appointment = nullif(x.taker, ''), types = CASE WHEN s.remote_status IS NULL THEN s.types ELSE coalesce(s.remote_types, c.types) END
			FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) AS x(id, state, taker, version), schedules c
			WHERE s.id = x.id AND s.version = x.version AND s.held_by IS NULL AND c.clinic = s.clinic AND c.id = s.schedule RETURNING s.id)
		SELECT x.id FROM unnest($1::text[]) AS x(id) WHERE x.id NOT IN (SELECT id FROM settled)`, changed, states, takers, versions)
	return again, err
}

// leaveAround reads the leave of the practitioners on the days from the first of the times to the last.
func (t *Tx) leaveAround(ctx context.Context, n int, of func(int) (string, time.Time)) ([]clinic.Leave, error) {
	people := map[string]bool{}
	var first, last time.Time
	for i := range n {
		who, at := of(i)
		people[who] = true
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	return t.leaveOf(ctx, keys(people), clinic.DateOf(first, time.UTC).AddDays(-2), clinic.DateOf(last, time.UTC).AddDays(3))
}
