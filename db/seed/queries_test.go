package seed_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/dbtest"
	"countersign/db/seed"
	"countersign/internal/clinic"
)

// TestHowManyStatementsAReadTakes: as many for a long list as for a short one. BEGIN with the clock and COMMIT are two.
func TestHowManyStatementsAReadTakes(t *testing.T) {
	w := newWorld(t)
	url, count := dbtest.Counting(t, w.url)
	d, err := open(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	week := db.StartFilter{Type: "type_standard", From: now, To: now.AddDate(0, 0, 7)}
	month := week
	month.To = now.AddDate(0, 0, 31)
	for _, c := range []struct {
		name string
		most int // statements
		read func(tx *db.Tx) error
	}{
		{"an empty day", 6, func(tx *db.Tx) error { _, err := tx.DaySheet(ctx, "loc_hav12", date("2026-06-07")); return err }},
		{"a full day", 6, func(tx *db.Tx) error { _, err := tx.DaySheet(ctx, "loc_hav12", date("2026-06-03")); return err }},
		{"one visit", 2, func(tx *db.Tx) error { _, _, err := tx.Appointments(ctx, db.VisitFilter{Limit: 1}); return err }},
		{"200 visits", 2, func(tx *db.Tx) error { _, _, err := tx.Appointments(ctx, db.VisitFilter{Limit: 200}); return err }},
		{"a day's visits", 3, func(tx *db.Tx) error {
			_, _, err := tx.Appointments(ctx, db.VisitFilter{Limit: 200, Day: date("2026-06-03")})
			return err
		}},
		{"a visit", 2, func(tx *db.Tx) error { _, err := tx.Visit(ctx, "appt_maria84"); return err }},
		{"its history", 1, func(tx *db.Tx) error { _, err := tx.History(ctx, "appt_maria84"); return err }},
		{"its proposals", 1, func(tx *db.Tx) error { _, err := tx.WaitingFor(ctx, "appt_maria84"); return err }},
		{"one patient found", 1, func(tx *db.Tx) error { _, _, err := tx.SearchPatients(ctx, []string{"100234"}, 20); return err }},
		{"many found", 1, func(tx *db.Tx) error { _, _, err := tx.SearchPatients(ctx, []string{"sen"}, 20); return err }},
		{"a patient's visits", 2, func(tx *db.Tx) error { _, _, _, err := tx.PatientVisits(ctx, "pat_maria84", 20); return err }},
		{"free times of a week", 2, func(tx *db.Tx) error { _, err := tx.FreeStarts(ctx, week); return err }},
		{"free times of a month", 2, func(tx *db.Tx) error { _, err := tx.FreeStarts(ctx, month); return err }},
		{"slots", 1, func(tx *db.Tx) error {
			_, err := tx.SlotsOf(ctx, "prac_holm", "", now, now.AddDate(0, 1, 0))
			return err
		}},
		{"practitioners", 1, func(tx *db.Tx) error { _, err := tx.Practitioners(ctx); return err }},
	} {
		count()
		if err := d.Read(ctx, seed.Havnegade, c.read); err != nil {
			t.Fatal(c.name, err)
		}
		if got := count() - 2; got < 1 || got > c.most {
			t.Errorf("%s took %d statements, not %d", c.name, got, c.most)
		}
	}
}

// TestIndexesServeUnderRowSecurity: a condition that is not leakproof (lower(during) is not) is no index condition for the
// app's role, and on a large table the day sheet would read every visit there ever was.
func TestIndexesServeUnderRowSecurity(t *testing.T) {
	w := newWorld(t)
	tx, err := w.root.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.Exec(`SET ROLE countersign_app; SET app.clinic = 'hav'; SET enable_seqscan = off`); err != nil {
		t.Fatal(err)
	}
	const from, to = `'2026-06-05 00:00+02'`, `'2026-06-06 00:00+02'`
	for _, c := range []struct{ query, condition string }{
		{`appointments WHERE location = 'loc_hav12' AND starts_at < ` + to + ` AND starts_at > ` + from, "starts_at >"},
		{`appointments WHERE practitioner = 'prac_holm' AND starts_at < ` + to + ` AND starts_at > ` + from, "starts_at >"},
		{`appointments WHERE patient = 'pat_maria84' AND starts_at < ` + to + ` AND starts_at > ` + from, "starts_at >"},
		{`slots WHERE practitioner = 'prac_holm' AND starts_at < ` + to + ` AND starts_at > ` + from, "starts_at >"},
		{`slots WHERE location = 'loc_hav12' AND day = '2026-06-05'`, "day ="},
		{`slots WHERE appointment = 'appt_maria84'`, "appointment"},
		{`patients WHERE mrn = '100234'`, "mrn ="},
		{`patients WHERE birth_date = '1984-03-11'`, "birth_date ="},
	} {
		rows, err := tx.Query(`EXPLAIN SELECT 1 FROM ` + c.query)
		if err != nil {
			t.Fatal(err)
		}
		var plan []string
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, line)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		if !conditionOf(plan, c.condition) {
			t.Errorf("%s\nsearches no index with %q:\n%s", c.query, c.condition, strings.Join(plan, "\n"))
		}
	}
}

func conditionOf(plan []string, want string) bool {
	for _, line := range plan {
		if strings.Contains(line, "Index Cond:") && strings.Contains(line, want) {
			return true
		}
	}
	return false
}

// BenchmarkReads measures the three reads that people wait for, on the small world.
func BenchmarkReads(b *testing.B) {
	url := dbtest.URL(b, prepare)
	d, err := open(ctx, url)
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	for name, read := range map[string]func(tx *db.Tx) error{
		"day sheet": func(tx *db.Tx) error { _, err := tx.DaySheet(ctx, "loc_hav12", date("2026-06-03")); return err },
		"search": func(tx *db.Tx) error {
			_, _, err := tx.SearchPatients(ctx, clinic.SearchTerms("jensen ma"), 20)
			return err
		},
		"a week": func(tx *db.Tx) error {
			_, err := tx.FreeStarts(ctx, db.StartFilter{Type: "type_standard", From: now, To: now.Add(7 * 24 * time.Hour)})
			return err
		},
	} {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			for b.Loop() {
				if err := d.Read(ctx, seed.Havnegade, read); err != nil {
					b.Fatal(fmt.Errorf("%s: %w", name, err))
				}
			}
		})
	}
}
