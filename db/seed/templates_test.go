package seed_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/seed"
	"countersign/internal/clinic"
)

// slots is what the practitioner's slots of a local day are: "28 open 2 leave", and how high their versions stand.
func (w world) slots(practitioner, day string) (states, versions string) {
	w.Helper()
	states = w.text(`SELECT coalesce(string_agg(n || ' ' || state, ' ' ORDER BY state DESC), 'none') FROM
		(SELECT count(*) AS n, state FROM slots WHERE practitioner = $1 AND day = $2 GROUP BY state) x`, practitioner, day)
	return states, w.text(`SELECT coalesce(sum(version), 0) FROM slots WHERE practitioner = $1 AND day = $2`, practitioner, day)
}

func (w world) starts(clinicID string, f db.StartFilter) (list []clinic.Start) {
	w.Helper()
	w.in(clinicID, func(tx *db.Tx) (err error) {
		list, err = tx.FreeStarts(ctx, f)
		return err
	})
	return list
}

// day is a filter for one local day.
func day(zone, from string, days int, f db.StartFilter) db.StartFilter {
	l, err := time.LoadLocation(zone)
	if err != nil {
		panic(err)
	}
	f.From, _ = clinic.DayBounds(date(from), l)
	_, f.To = clinic.DayBounds(date(from).AddDays(days-1), l)
	return f
}

func times(zone string, starts []clinic.Start) string {
	var list []time.Time
	for _, s := range starts {
		list = append(list, s.StartsAt)
	}
	return local(zone, list...)
}

// Cases D05, D06, D09, X09: leave as a date blocks the whole local day and no other, and every slot says so by its version.
func TestLeaveBlocksTheWholeLocalDay(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ clinic, practitioner, before, day, after string }{
		{seed.Havnegade, "prac_holm", "2026-06-08", "2026-06-09", "2026-06-10"},
		{seed.Lakeview, "prac_reyes", "2026-06-10", "2026-06-11", "2026-06-12"}, // Lakeview, the day after at Kona
		{seed.Lakeview, "prac_reyes", "2026-06-18", "2026-06-19", "2026-06-20"}, // Kona
	} {
		type state struct{ states, versions string }
		read := func(day string) (s state) {
			s.states, s.versions = w.slots(c.practitioner, day)
			return s
		}
		before, that, after := read(c.before), read(c.day), read(c.after)
		if that.states != "30 open" {
			t.Fatal(c.day, that.states)
		}
		held := w.text(`SELECT count(appointment) FROM slots WHERE practitioner = $1 AND day = $2`, c.practitioner, c.day)
		l := clinic.Leave{ID: "away", Practitioner: c.practitioner, From: date(c.day), To: date(c.day), Opens: -1, Closes: -1}
		w.in(c.clinic, func(tx *db.Tx) error { return tx.SaveLeave(ctx, l) })
		if got := read(c.day); got.states != "30 leave" || number(t, got.versions) != number(t, that.versions)+30 {
			t.Error(c.day, that, "became", got)
		}
		if read(c.before) != before || read(c.after) != after {
			t.Error("the days around", c.day, "changed")
		}
		if got := w.text(`SELECT count(appointment) FROM slots WHERE practitioner = $1 AND day = $2`, c.practitioner, c.day); got != held {
			t.Error("visits lost their slots:", held, "became", got)
		}
		from := now
		if got := w.starts(c.clinic, db.StartFilter{Practitioner: c.practitioner, Type: w.text(`SELECT id FROM appointment_types WHERE clinic = $1 AND name = 'Standard'`, c.clinic),
			From: from, To: from.AddDate(0, 0, 30)}); len(got) == 0 || strings.Contains(times(w.text(`SELECT zone FROM locations WHERE id =
			(SELECT location FROM slots WHERE practitioner = $1 AND day = $2 LIMIT 1)`, c.practitioner, c.day), got), c.day[5:]+" ") {
			t.Error("a time on leave is offered")
		}
		w.in(c.clinic, func(tx *db.Tx) error { return tx.SaveLeave(ctx, l) })
		if got := read(c.day); number(t, got.versions) != number(t, that.versions)+30 {
			t.Error("saving the same leave again raised versions")
		}
		w.in(c.clinic, func(tx *db.Tx) error { return tx.RemoveLeave(ctx, l.ID) })
		if got := read(c.day); got.states != "30 open" || number(t, got.versions) != number(t, that.versions)+60 {
			t.Error(c.day, "after the leave was taken back:", got)
		}
	}
}

func TestLeaveOfSomeHoursAndLeaveThatMoves(t *testing.T) {
	w := newWorld(t)
	w.in(seed.Havnegade, func(tx *db.Tx) error {
		return tx.SaveLeave(ctx, clinic.Leave{ID: "am", Practitioner: "prac_holm", From: date("2026-06-09"), To: date("2026-06-10"), Opens: 0, Closes: 600})
	})
	for _, d := range []string{"2026-06-09", "2026-06-10"} {
		if got, _ := w.slots("prac_holm", d); got != "22 open 8 leave" {
			t.Error(d, got)
		}
	}
	w.in(seed.Havnegade, func(tx *db.Tx) error {
		return tx.SaveLeave(ctx, clinic.Leave{ID: "am", Practitioner: "prac_holm", From: date("2026-06-10"), To: date("2026-06-11"), Opens: 0, Closes: 1440})
	})
	for d, want := range map[string]string{"2026-06-09": "30 open", "2026-06-10": "30 leave", "2026-06-11": "30 leave", "2026-06-12": "30 open"} {
		if got, _ := w.slots("prac_holm", d); got != want {
			t.Error(d, got)
		}
	}
	w.in(seed.Havnegade, func(tx *db.Tx) error {
		found, err := tx.Leave(ctx, "prac_holm", date("2026-06-01"))
		if err != nil || len(found) != 1 || found[0].From != date("2026-06-10") || found[0].Opens != 0 || found[0].Closes != 1440 {
			t.Errorf("%+v %v", found, err)
		}
		return nil
	})
}

// Case D04: an override up to midnight opens nothing of the day after, which is closed.
func TestExceptionsReplaceTheHoursOfTheirDate(t *testing.T) {
	w := newWorld(t)
	const schedule = "sched_holm_hav12"
	w.in(seed.Havnegade, func(tx *db.Tx) error {
		if err := tx.SaveException(ctx, schedule, date("2026-06-12"), clinic.Exception{Opens: 600, Closes: 1440}); err != nil {
			return err
		}
		return tx.SaveException(ctx, schedule, date("2026-06-13"), clinic.Exception{Closed: true})
	})
	if got, _ := w.slots("prac_holm", "2026-06-12"); got != "56 open 8 closed" { // 08:00 to 10:00 closed; lunch works
		t.Error("12 June:", got)
	}
	if got, _ := w.slots("prac_holm", "2026-06-13"); got != "none" {
		t.Error("13 June:", got)
	}
	if got := w.text(`SELECT max(ends_at) AT TIME ZONE 'Europe/Copenhagen' FROM slots WHERE practitioner = 'prac_holm' AND day = '2026-06-12'`); !strings.HasPrefix(got, "2026-06-13T00:00") {
		t.Error(got)
	}
	if got := times("Europe/Copenhagen", w.starts(seed.Havnegade, day("Europe/Copenhagen", "2026-06-13", 1, db.StartFilter{Type: "type_standard"}))); got != "" {
		t.Error("offered on a closed day:", got)
	}
	w.in(seed.Havnegade, func(tx *db.Tx) error { return tx.SaveException(ctx, schedule, date("2026-06-12")) })
	if got, _ := w.slots("prac_holm", "2026-06-12"); got != "30 open 34 closed" {
		t.Error("12 June, weekly hours again:", got)
	}
}

// Case D01: a shift over midnight loses no start.
func TestANightClinic(t *testing.T) {
	w := newWorld(t)
	w.in(seed.Havnegade, func(tx *db.Tx) error {
		if err := tx.AddPractitioners(ctx, []clinic.Practitioner{{ID: "prac_night", Name: "Dr Night"}}); err != nil {
			return err
		}
		err := tx.AddSchedules(ctx, []clinic.Schedule{{ID: "sched_night", Practitioner: "prac_night", Location: "loc_annex", From: date("2026-06-05"), Grid: 30,
			Types: []string{"type_long"}, Hours: []clinic.Hours{{Weekday: time.Friday, Opens: 22 * 60, Closes: 26 * 60}}}})
		if err != nil {
			return err
		}
		return tx.MakeSlots(ctx, "sched_night", date("2026-06-06"))
	})
	got := times("Europe/Copenhagen", w.starts(seed.Havnegade, day("Europe/Copenhagen", "2026-06-05", 2, db.StartFilter{Type: "type_long", Practitioner: "prac_night"})))
	if got != "06-05 22:00, 06-05 22:30, 06-05 23:00, 06-05 23:30, 06-06 00:00, 06-06 00:30, 06-06 01:00" {
		t.Error(got)
	}
}

// Case S14: nothing is offered after the last day of a template; who has a slot there keeps it.
func TestATemplateThatEnds(t *testing.T) {
	w := newWorld(t)
	held := w.text(`SELECT count(*) FROM slots WHERE practitioner = 'prac_holm' AND day >= '2026-07-01' AND appointment IS NOT NULL`)
	if held == "0" {
		t.Fatal("no visit to lose")
	}
	w.in(seed.Havnegade, func(tx *db.Tx) error { return tx.EndSchedule(ctx, "sched_holm_hav12", date("2026-06-30")) })
	holm := db.StartFilter{Type: "type_standard", Practitioner: "prac_holm"}
	if got := w.starts(seed.Havnegade, day("Europe/Copenhagen", "2026-07-01", 90, holm)); len(got) != 0 {
		t.Error(len(got), "starts after the end")
	}
	if got := w.starts(seed.Havnegade, day("Europe/Copenhagen", "2026-06-30", 1, holm)); len(got) == 0 {
		t.Error("none on the last day")
	}
	if got := w.text(`SELECT count(*) FROM slots WHERE practitioner = 'prac_holm' AND day >= '2026-07-01' AND state = 'closed' AND appointment IS NOT NULL`); got != held {
		t.Error(held, "slots were held after the end, now", got)
	}
	w.in(seed.Havnegade, func(tx *db.Tx) error { return tx.ExtendSlots(ctx, 150) })
	if got := w.text(`SELECT count(*) FROM slots WHERE practitioner = 'prac_holm' AND day > '2026-06-30' AND state <> 'closed'`); got != "0" {
		t.Error("extending opened", got, "slots after the end")
	}
}

// Case S13: only those who offer a type are offered for it.
func TestOnlyWhoOffersTheType(t *testing.T) {
	w := newWorld(t)
	who := map[string]bool{}
	for _, s := range w.starts(seed.Havnegade, day("Europe/Copenhagen", "2026-06-08", 14, db.StartFilter{Type: "type_injection"})) {
		who[s.Practitioner] = true
	}
	if len(who) != 1 || !who["prac_dahl"] {
		t.Error(who)
	}
}

// Case S05 at the row: what a visit holds is free for itself and nobody else, and free for all once it is given back.
func TestAVisitsOwnSlotsAreFreeForItself(t *testing.T) {
	w := newWorld(t)
	friday := day("Europe/Copenhagen", "2026-06-05", 1, db.StartFilter{Type: "type_standard", Practitioner: "prac_holm"})
	has := func(f db.StartFilter) bool {
		return strings.Contains(times("Europe/Copenhagen", w.starts(seed.Havnegade, f)), "06-05 10:00")
	}
	own := friday
	own.Moving = "appt_maria84"
	if has(friday) || !has(own) {
		t.Error("held:", has(friday), has(own))
	}
	w.exec(`UPDATE slots SET appointment = NULL WHERE appointment = 'appt_maria84'`)
	if !has(friday) {
		t.Error("given back, and not free")
	}
}

// Making slots again is doing nothing; more days only add rows; a changed template changes what it must.
func TestMakingSlotsAgain(t *testing.T) {
	w := newWorld(t)
	sum := func() string { return w.text(`SELECT count(*) || ' ' || sum(version) FROM slots WHERE clinic = 'hav'`) }
	before := sum()
	w.in(seed.Havnegade, func(tx *db.Tx) error {
		if err := tx.MakeSlots(ctx, "sched_holm_hav12", date("2026-10-01")); err != nil {
			return err
		}
		return tx.ExtendSlots(ctx, 120)
	})
	if sum() != before {
		t.Error(before, "became", sum())
	}
	w.in(seed.Havnegade, func(tx *db.Tx) error { return tx.ExtendSlots(ctx, 122) }) // 2 and 3 October
	if got := w.text(`SELECT count(*) || ' ' || max(version) FROM slots WHERE clinic = 'hav' AND day > '2026-10-01'`); got != "90 1" {
		t.Error(got)
	}
	if got := w.text(`SELECT count(*) FROM schedules WHERE clinic = 'hav' AND made_until = '2026-10-03'`); got != "4" {
		t.Error(got, "schedules made until then")
	}
	_, monday := w.slots("prac_holm", "2026-06-08")
	_, tuesday := w.slots("prac_holm", "2026-06-09")
	var hours []clinic.Hours
	for d := time.Monday; d <= time.Friday; d++ {
		closes := 720
		if d == time.Tuesday {
			closes = 600
		}
		hours = append(hours, clinic.Hours{Weekday: d, Opens: 480, Closes: closes}, clinic.Hours{Weekday: d, Opens: 750, Closes: 960})
	}
	w.in(seed.Havnegade, func(tx *db.Tx) error { return tx.SaveHours(ctx, "sched_holm_hav12", hours) })
	if _, got := w.slots("prac_holm", "2026-06-08"); got != monday {
		t.Error("Monday's hours are the same, its versions are not")
	}
	if states, got := w.slots("prac_holm", "2026-06-09"); states != "22 open 8 closed" || number(t, got) != number(t, tuesday)+8 {
		t.Error("Tuesday:", states, tuesday, got)
	}
	if got, _ := w.slots("prac_holm", "2026-06-02"); got != "30 open" {
		t.Error("a day gone by changed:", got)
	}
}

// Slots that came with an import have no template; leave marks them all the same.
func TestLeaveMarksImportedSlots(t *testing.T) {
	w := newWorld(t)
	w.exec(`INSERT INTO practitioners (clinic, id, name) VALUES ('hav', 'prac_x', 'Dr X')`)
	w.exec(`INSERT INTO schedules (clinic, id, practitioner, location, valid_from, types) VALUES ('hav', 'sched_x', 'prac_x', 'loc_annex', '2026-01-01', '{type_long}')`)
	w.exec(`INSERT INTO slots (clinic, id, practitioner, location, schedule, day, starts_at, ends_at, types) SELECT 'hav', 'x' || n, 'prac_x', 'loc_annex', 'sched_x',
		'2026-06-09', '2026-06-09 10:00Z'::timestamptz + n * interval '20 min', '2026-06-09 10:20Z'::timestamptz + n * interval '20 min', '{type_long}' FROM generate_series(0, 3) n`)
	l := clinic.Leave{ID: "away", Practitioner: "prac_x", From: date("2026-06-09"), To: date("2026-06-09"), Opens: 12*60 + 30, Closes: 1440}
	w.in(seed.Havnegade, func(tx *db.Tx) error {
		if err := tx.ExtendSlots(ctx, 130); err != nil {
			return err
		}
		return tx.SaveLeave(ctx, l)
	})
	if got := w.text(`SELECT string_agg(state || ' ' || version, ', ' ORDER BY starts_at) FROM slots WHERE practitioner = 'prac_x'`); got != "open 1, leave 2, leave 2, leave 2" {
		t.Error(got)
	}
	w.in(seed.Havnegade, func(tx *db.Tx) error { return tx.RemoveLeave(ctx, "away") })
	if got, _ := w.slots("prac_x", "2026-06-09"); got != "4 open" {
		t.Error(got)
	}
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
