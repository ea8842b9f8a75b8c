package seed_test

import (
	"encoding/json"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/seed"
	"countersign/internal/clinic"
)

func sheet(w world, clinicID, location, day string) (s db.DaySheet) {
	w.Helper()
	w.in(clinicID, func(tx *db.Tx) (err error) {
		s, err = tx.DaySheet(ctx, location, date(day))
		return err
	})
	return s
}

// Case T08: a day is the location's own, and a visit late in it is on that day's sheet alone.
func TestADayIsTheLocationsOwn(t *testing.T) {
	w := newWorld(t)
	ny, _ := time.LoadLocation("America/New_York")
	late := time.Date(2026, 1, 9, 23, 30, 0, 0, ny)
	w.in(seed.Lakeview, func(tx *db.Tx) error {
		v := db.NewVisit{ID: "appt_1755", Patient: w.text(`SELECT min(id) FROM patients WHERE clinic = 'lake'`), Practitioner: "prac_reyes", Location: "loc_lakeview",
			Type: "type_lake_standard", Status: clinic.StatusBooked, ChangedAt: now, StartsAt: time.Date(2026, 1, 9, 17, 55, 0, 0, ny)}
		v.EndsAt = v.StartsAt.Add(30 * time.Minute)
		over := v
		over.ID, over.StartsAt, over.EndsAt = "appt_over", late, late.Add(time.Hour) // past midnight
		return tx.AddVisits(ctx, "test", "import", []db.NewVisit{v, over})
	})
	s := sheet(w, seed.Lakeview, "loc_lakeview", "2026-01-09")
	if len(s.Visits) != 2 || local("America/New_York", s.Visits[0].StartsAt) != "01-09 17:55" || s.Location.Zone != "America/New_York" {
		t.Errorf("%+v", s.Visits)
	}
	if next := sheet(w, seed.Lakeview, "loc_lakeview", "2026-01-10"); len(next.Visits) != 1 || next.Visits[0].ID != "appt_over" || len(next.Practitioners) != 1 {
		t.Errorf("%+v", next)
	}
	if other := sheet(w, seed.Lakeview, "loc_kona", "2026-01-09"); len(other.Visits) != 0 {
		t.Errorf("%+v", other.Visits)
	}
	w.in(seed.Lakeview, func(tx *db.Tx) error {
		found, _, err := tx.Appointments(ctx, db.VisitFilter{Day: date("2026-01-09")})
		if err != nil || len(found) != 2 || found[0].ID != "appt_over" {
			t.Errorf("%+v %v", found, err)
		}
		found, _, err = tx.Appointments(ctx, db.VisitFilter{Day: date("2026-01-10")})
		if err != nil || len(found) != 0 {
			t.Errorf("a visit is listed on the day it starts only: %+v %v", found, err)
		}
		return nil
	})
	for day, hours := range map[string]int{"2026-03-28": 24, "2026-03-29": 23, "2026-10-25": 25} {
		if s := sheet(w, seed.Havnegade, "loc_hav12", day); s.To.Sub(s.From) != time.Duration(hours)*time.Hour {
			t.Error(day, s.To.Sub(s.From))
		}
	}
}

// Cases T09 and T01: slots are wall time of their own place.
func TestSlotsStandInTheirOwnZone(t *testing.T) {
	w := newWorld(t)
	if got := w.text(`SELECT min(starts_at) = '2026-05-22 18:00Z' FROM slots WHERE location = 'loc_kona' AND day = '2026-05-22'`); got != "true" {
		t.Error("Kona does not open at 18:00Z on 22 May")
	}
	w.in(seed.Lakeview, func(tx *db.Tx) error {
		if err := tx.MakeSlotsBetween(ctx, []string{"sched_reyes_lakeview"}, date("2026-10-29"), date("2026-11-02")); err != nil {
			return err
		}
		today, err := tx.Today(ctx)
		if err != nil || today["loc_lakeview"] != date("2026-06-03") || today["loc_kona"] != date("2026-06-02") {
			t.Error(today, err)
		}
		return nil
	})
	for day, opens := range map[string]string{"2026-10-29": "12:00", "2026-11-02": "13:00"} { // the clock changes on the 1st
		if got := w.text(`SELECT to_char(min(starts_at) AT TIME ZONE 'UTC', 'HH24:MI') FROM slots WHERE practitioner = 'prac_reyes' AND day = $1`, day); got != opens {
			t.Errorf("%s opens at %s UTC, not %s", day, got, opens)
		}
	}
}

func TestTheDaySheet(t *testing.T) {
	w := newWorld(t)
	w.exec(`INSERT INTO accounts (id, clinic, email, name, role, password_hash) VALUES ('a1', 'hav', 'a@example.test', 'A', 'staff', 'x')`)
	ask := func(id, state, outcome, expires, appointment, practitioner, location, starts string) {
		w.exec(`INSERT INTO proposals (clinic, id, action, state, outcome, expires_at, risk, created_by, created_kind, created_name, owner, owner_name, created_via, decided_by,
			patient, appointment, practitioner, location, starts_at, ends_at) VALUES ('hav', $1, 'reschedule_appointment@1', $2, $3, $4, 'low', 'a1', 'user', 'A', 'a1', 'A', 'page', 'a1',
			'pat_maria84', nullif($5, ''), nullif($6, ''), nullif($7, ''), nullif($8, '')::timestamptz, nullif($8, '')::timestamptz + interval '30 min')`,
			id, state, outcome, expires, appointment, practitioner, location, starts)
	}
	before := sheet(w, seed.Havnegade, "loc_hav12", "2026-06-05")
	if again := sheet(w, seed.Havnegade, "loc_hav12", "2026-06-05"); again.Revision != before.Revision {
		t.Error("the same sheet has another tag")
	}
	const open = "2026-06-03 12:00+02"
	ask("p1away", "proposed", "proposed", open, "appt_maria84", "prac_okafor", "loc_hav12", "2026-06-08 09:00+02") // leaves this day
	ask("p2here", "proposed", "proposed", open, "appt_maria91", "prac_holm", "loc_hav12", "2026-06-05 15:00+02")   // comes here
	ask("p3cancel", "proposed", "proposed", open, "appt_maria84", "", "", "")
	ask("p4late", "proposed", "proposed", "2026-06-03 09:00+02", "appt_maria84", "prac_holm", "loc_hav12", "2026-06-05 15:00+02") // its time is up
	ask("p5done", "completed", "completed", open, "appt_maria84", "prac_holm", "loc_hav12", "2026-06-05 15:00+02")
	ask("p6other", "proposed", "proposed", open, "appt_maria91", "prac_dahl", "loc_annex", "2026-06-05 15:00+02")
	s := sheet(w, seed.Havnegade, "loc_hav12", "2026-06-05")
	var ids []string
	for _, p := range s.Waiting {
		ids = append(ids, p.ID)
	}
	if got, _ := json.Marshal(ids); string(got) != `["p1away","p2here","p3cancel"]` {
		t.Error(string(got))
	}
	if p := s.Waiting[0]; p.Appointment != "appt_maria84" || p.Patient.Name != "Maria Jensen" || p.Practitioner != "prac_okafor" || local("Europe/Copenhagen", p.StartsAt) != "06-08 09:00" {
		t.Errorf("%+v", p)
	}
	if !s.Waiting[2].StartsAt.IsZero() {
		t.Errorf("a cancellation goes nowhere: %+v", s.Waiting[2])
	}
	if s.Revision == before.Revision {
		t.Error("three asks more and the same tag")
	}
	if len(s.Practitioners) != 3 || s.Practitioners[0].Name != "Dr Anna Holm" || len(s.Slots) != 90 {
		t.Errorf("%+v, %d slots", s.Practitioners, len(s.Slots))
	}
	var maria *db.DayVisit
	for i := range s.Visits {
		if s.Visits[i].ID == "appt_maria84" {
			maria = &s.Visits[i]
		}
	}
	if maria == nil || maria.Patient.Name != "Maria Jensen" || maria.BirthDate != "1984-03-11" || maria.MRN != "100234" || maria.Type.Name != "Standard" || maria.Version != 1 ||
		maria.StartsAt.Location() != time.UTC {
		t.Errorf("%+v", maria)
	}
	away := sheet(w, seed.Havnegade, "loc_hav12", "2026-06-19") // Dr Okafor's leave: the twelfth working day
	if len(away.Leave) != 1 || away.Leave[0].Practitioner != "prac_okafor" {
		t.Errorf("%+v", away.Leave)
	}
	for _, change := range []string{
		`UPDATE appointments SET status = 'arrived' WHERE id = 'appt_maria84'`,
		`UPDATE patients SET given = 'Mari' WHERE id = 'pat_maria84'`,
		`UPDATE slots SET state = 'leave' WHERE id = (SELECT min(id) FROM slots WHERE practitioner = 'prac_holm' AND day = '2026-06-05')`,
	} {
		old := s.Revision
		w.exec(change)
		if s = sheet(w, seed.Havnegade, "loc_hav12", "2026-06-05"); s.Revision == old {
			t.Error("unseen:", change)
		}
	}
}

// Every page of a list follows the one before, with no visit twice or left out.
func TestListsOfVisits(t *testing.T) {
	w := newWorld(t)
	for name, f := range map[string]db.VisitFilter{
		"all":             {Limit: 200},
		"a day":           {Limit: 7, Day: date("2026-06-02")},
		"a practitioner":  {Limit: 50, Practitioner: "prac_dahl"},
		"their day":       {Limit: 2, Practitioner: "prac_dahl", Day: date("2026-06-02")},
		"one of nobody's": {Limit: 2, Patient: "pat_nobody"},
	} {
		seen := map[string]bool{}
		last := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
		for {
			var items []clinic.Visit
			var next string
			w.in(seed.Havnegade, func(tx *db.Tx) (err error) {
				items, next, err = tx.Appointments(ctx, f)
				return err
			})
			for _, v := range items {
				if seen[v.ID] || v.StartsAt.After(last) {
					t.Error(name, "twice or out of order", v.ID)
				}
				seen[v.ID], last = true, v.StartsAt
			}
			if f.Cursor = next; next == "" {
				break
			}
		}
		want := w.text(`SELECT count(*) FROM appointments WHERE clinic = 'hav' AND ($1 = '' OR practitioner = $1) AND $2 = ''
			AND ($3 = '' OR (starts_at AT TIME ZONE 'Europe/Copenhagen')::date::text = $3)`, f.Practitioner, f.Patient, dayText(f.Day))
		if len(seen) != number(t, want) || name == "their day" && len(seen) < 3 {
			t.Error(name, len(seen), "of", want)
		}
	}
	w.in(seed.Havnegade, func(tx *db.Tx) error {
		for _, cursor := range []string{"x", "!", "MjAyNi0wMS0wMVQwMDowMDowMFo"} {
			if _, _, err := tx.Appointments(ctx, db.VisitFilter{Cursor: cursor}); err == nil {
				t.Error("a cursor of nobody's was taken:", cursor)
			}
		}
		return nil
	})
}

func dayText(d clinic.Date) string {
	if d.IsZero() {
		return ""
	}
	return d.String()
}
