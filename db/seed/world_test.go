package seed_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"

	"countersign/db"
	"countersign/db/dbtest"
	"countersign/db/seed"
	"countersign/internal/clinic"
)

var (
	ctx = context.Background()
	// now is the cases' own: Wednesday 2026-06-03 09:00 in Copenhagen.
	now = time.Date(2026, 6, 3, 7, 0, 0, 0, time.UTC)
)

func prepare(ctx context.Context, url string) error {
	if err := db.Migrate(ctx, url); err != nil {
		return err
	}
	d, err := open(ctx, url)
	if err != nil {
		return err
	}
	defer d.Close()
	_, err = seed.Run(ctx, d, seed.Options{Size: "small", Seed: 1, Now: now})
	return err
}

func open(ctx context.Context, url string) (*db.DB, error) {
	return db.Open(ctx, url, db.Options{MaxConns: 4, ClockShift: time.Until(now)})
}

// world is the small seed in a database of the test's own.
type world struct {
	*testing.T
	db   *db.DB
	root *sql.DB // superuser
	url  string  // superuser's
}

func newWorld(t *testing.T) world {
	t.Helper()
	w := world{T: t, url: dbtest.URL(t, prepare)}
	var err error
	if w.db, err = open(ctx, w.url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.db.Close() })
	shifted := fmt.Sprintf("%s&options=-c%%20app.clock_shift%%3D%ds", w.url, int(time.Until(now).Seconds()))
	if w.root, err = sql.Open("postgres", shifted); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.root.Close() })
	return w
}

// in runs fn in a transaction of the clinic.
func (w world) in(clinicID string, fn func(*db.Tx) error) {
	w.Helper()
	if err := w.db.InClinic(ctx, clinicID, fn); err != nil {
		w.Fatal(err)
	}
}

// text is one value, read as superuser.
func (w world) text(query string, args ...any) string {
	w.Helper()
	var s sql.NullString
	if err := w.root.QueryRow(query, args...).Scan(&s); err != nil {
		w.Fatalf("%v: %s", err, query)
	}
	return s.String
}

func (w world) exec(query string, args ...any) {
	w.Helper()
	if _, err := w.root.Exec(query, args...); err != nil {
		w.Fatalf("%v: %s", err, query)
	}
}

// refused is the SQLSTATE with which the database refuses a statement of the superuser, "" when it does not.
func (w world) refused(query string, args ...any) string {
	w.Helper()
	_, err := w.root.Exec(query, args...)
	var pe *pq.Error
	if errors.As(err, &pe) {
		return string(pe.Code)
	}
	if err != nil {
		w.Fatal(err)
	}
	return ""
}

func date(s string) clinic.Date {
	d, err := clinic.ParseDate(s)
	if err != nil {
		panic(err)
	}
	return d
}

// local are the wall times of the starts in the zone, "06-09 10:00", in a row.
func local(zone string, starts ...time.Time) string {
	l, err := time.LoadLocation(zone)
	if err != nil {
		panic(err)
	}
	var list []string
	for _, s := range starts {
		list = append(list, s.In(l).Format("01-02 15:04"))
	}
	return strings.Join(list, ", ")
}

func TestTheSameSeedMakesTheSameRows(t *testing.T) {
	sums := map[string]string{}
	for _, run := range []struct {
		name string
		seed uint64
		now  time.Time
	}{{"one", 7, now}, {"two", 7, now.Add(20 * time.Minute)}, {"three", 8, now}} {
		url := dbtest.URL(t, prepare)
		root, err := sql.Open("postgres", url)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		if _, err := root.Exec(`DROP SCHEMA public CASCADE; DROP SCHEMA inspect CASCADE; CREATE SCHEMA public`); err != nil {
			t.Fatal(err)
		}
		if err := db.Migrate(ctx, url); err != nil {
			t.Fatal(err)
		}
		d, err := open(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		made, err := seed.Run(ctx, d, seed.Options{Size: "small", Seed: run.seed, Now: run.now})
		if err != nil || !made {
			t.Fatal(made, err)
		}
		sums[run.name] = checksum(t, root)
		if made, err := seed.Run(ctx, d, seed.Options{Size: "medium", Seed: 9, Now: now}); err != nil || made {
			t.Fatal("a filled database was seeded again:", made, err)
		}
		if again := checksum(t, root); again != sums[run.name] {
			t.Fatal("seeding a filled database changed it")
		}
	}
	if sums["one"] != sums["two"] {
		t.Error("the same seed made other rows")
	}
	if sums["one"] == sums["three"] {
		t.Error("another seed made the same rows")
	}
}

// checksum leaves out when a row was written.
func checksum(t *testing.T, root *sql.DB) string {
	t.Helper()
	var all []string
	for _, table := range []string{"locations", "practitioners", "appointment_types", "schedules", "schedule_hours", "leave", "patients",
		"appointments", "appointment_history", "slots"} {
		var sum string
		if err := root.QueryRow(`SELECT count(*) || ' ' || md5(string_agg(x::text, '|' ORDER BY x::text)) FROM (SELECT to_jsonb(r) - 'created_at' AS x FROM ` + table + ` r) q`).Scan(&sum); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(sum, "0 ") {
			t.Error("no rows in", table)
		}
		all = append(all, table+" "+sum)
	}
	return strings.Join(all, "\n")
}

func TestTheNamedPeople(t *testing.T) {
	w := newWorld(t)
	if got := w.text(`SELECT string_agg(concat_ws(' ', given, family, birth_date, mrn, coalesce(phone, '-'), coalesce(email, '-'), contact), '; ' ORDER BY mrn)
		FROM patients WHERE mrn IN ('100234', '100871', '100300', '100411', '200001', '200002')`); got !=
		"Maria Jensen 1984-03-11 100234 +4500100234 maria.jensen.84@example.test email; "+
			"Søren Łukasz Groß 1970-02-28 100300 +4500100300 - sms; Aoife O'Brien-Núñez 2008-02-29 100411 - - none; "+
			"Maria Jensen 1991-07-02 100871 +4500100871 maria.jensen.91@example.test sms; "+
			"Anna Nielsen 1990-01-01 200001 +4500200001 anna.nielsen.1@example.test email; "+
			"Anna Nielsen 1990-01-01 200002 +4500200002 anna.nielsen.2@example.test sms" {
		t.Error(got)
	}
	for _, maria := range []string{"pat_maria84", "pat_maria91"} {
		w.in(seed.Havnegade, func(tx *db.Tx) error {
			coming, _, _, err := tx.PatientVisits(ctx, maria, 5)
			if err != nil || len(coming) != 1 {
				t.Fatal(coming, err)
			}
			v, err := tx.Visit(ctx, coming[0].ID)
			if err != nil {
				return err
			}
			if v.Status != "booked" || v.Type.Name != "Standard" || v.StartsAt.Before(now.Add(24*time.Hour)) || v.StartsAt.After(now.AddDate(0, 0, 7)) {
				t.Errorf("%+v", v)
			}
			if len(v.Slots) != 2 || v.Slots[0].Appointment != v.ID || !v.Slots[1].EndsAt.Equal(v.EndsAt) {
				t.Errorf("%+v", v.Slots)
			}
			return nil
		})
	}
	if got := w.text(`SELECT count(*) FROM patients WHERE phone !~ '^(\+4500\d{6}|\+1\d{3}55501\d\d)$' OR email !~ '@example\.test$'`); got != "0" {
		t.Error(got, "phones or addresses that could be somebody's")
	}
}

func TestTheMix(t *testing.T) {
	w := newWorld(t)
	share := func(name, condition, of string, low, high float64) {
		t.Helper()
		var got float64
		if err := w.root.QueryRow(`SELECT 100.0 * count(*) FILTER (WHERE ` + condition + `) / count(*) FROM ` + of).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got < low || got > high {
			t.Errorf("%s: %.1f %%, not %g to %g", name, got, low, high)
		}
	}
	past := `appointments a WHERE starts_at < '2026-06-03'`
	share("done", "status = 'fulfilled'", past, 76, 84)
	share("cancelled", "status = 'cancelled'", past, 7, 13)
	share("missed", "status = 'noshow'", past, 3, 8)
	share("moved", `EXISTS (SELECT FROM appointment_history h WHERE h.appointment = a.id AND h.during <> a.during)`, past, 9, 15)
	share("cancelled late", `changed_at > starts_at - interval '24 hours'`, past+` AND status = 'cancelled'`, 15, 50)
	share("free next month", "appointment IS NULL", `slots WHERE day > '2026-07-01'`, 85, 100)
	if got := w.text(`SELECT count(*) / count(DISTINCT (starts_at AT TIME ZONE 'America/New_York')::date) BETWEEN 37 AND 43 FROM ` + past); got != "true" {
		t.Error("not about 40 visits a day")
	}
	if got := w.text(`SELECT count(*) FROM slots s JOIN appointments a ON a.id = s.appointment
		WHERE a.status IN ('cancelled', 'noshow', 'fulfilled') OR s.starts_at < a.starts_at OR s.ends_at > a.ends_at`); got != "0" {
		t.Error(got, "slots held by visits that do not hold them")
	}
	if got := w.text(`SELECT count(*) FROM appointments a WHERE status IN ('booked', 'arrived')
		AND (SELECT sum(s.ends_at - s.starts_at) FROM slots s WHERE s.appointment = a.id) IS DISTINCT FROM a.ends_at - a.starts_at`); got != "0" {
		t.Error(got, "visits that do not hold all of their slots")
	}
	if got := w.text(`SELECT count(*) FROM appointment_history h WHERE changed_at > '2026-06-03 07:00Z'`); got != "0" {
		t.Error(got, "versions from the future")
	}
}
