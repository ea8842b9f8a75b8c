// Package casetest holds no product code. Its tests play cases of docs/cases.md to the letter: in the seeded world, on
// the case's own day, through the one service method and into the stored rows.
package casetest

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"testing"
	"time"

	_ "github.com/lib/pq" // the superuser's handle

	"countersign/db"
	"countersign/db/dbtest"
	"countersign/db/desktest"
	"countersign/db/seed"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

var ctx = context.Background()

// world is the seeded world at some moment: the database clock runs on from there.
type world struct {
	*testing.T
	url  string
	root *sql.DB // superuser, at the same moment
	db   *db.DB
	desk *proposal.Service
}

// usual is the cases' own now: Wednesday, 09:00 in Copenhagen.
const usual = "2026-06-03 09:00"

// prepare fills the template that tests of the usual day copy.
func prepare(ctx context.Context, url string) error {
	return fill(ctx, url, time.Date(2026, 6, 3, 7, 0, 0, 0, time.UTC))
}

func fill(ctx context.Context, url string, now time.Time) error {
	if err := db.Migrate(ctx, url); err != nil {
		return err
	}
	d, err := db.Open(ctx, url, db.Options{MaxConns: 4, ClockShift: time.Until(now)})
	if err != nil {
		return err
	}
	defer d.Close()
	_, err = seed.Run(ctx, d, seed.Options{Size: "small", Seed: 1, Now: now})
	return err
}

// worldAt is the seeded world at the wall time in Copenhagen: made there, or from the usual day a little earlier.
func worldAt(t *testing.T, wall string) *world {
	t.Helper()
	w := &world{T: t, url: dbtest.URL(t, prepare)}
	now := at(t, wall)
	if wall[:10] != usual[:10] {
		w.open(now)
		w.exec(`DROP SCHEMA public CASCADE; DROP SCHEMA inspect CASCADE; CREATE SCHEMA public`)
		if err := fill(ctx, w.url, now); err != nil {
			t.Fatal(err)
		}
	}
	w.open(now)
	for _, a := range [][3]string{{"ana", "staff", seed.Havnegade}, {"emil", "staff", seed.Havnegade}, {"ben", "reviewer", seed.Havnegade}, {"carla", "staff", seed.Lakeview}} {
		w.exec(`INSERT INTO accounts (id, clinic, email, name, role, password_hash) VALUES ($1, $2, $3, $4, $5, 'x')`, a[0], a[2], a[0]+"@example.test", a[0], a[1])
	}
	w.clear("2026-06-17")
	return w
}

// clear cancels every visit of Havnegade's day and gives their time back.
func (w *world) clear(day string) {
	w.Helper()
	w.exec(`UPDATE slots SET appointment = NULL WHERE clinic = 'hav' AND day = $1`, day)
	w.exec(`UPDATE appointments SET status = 'cancelled' WHERE clinic = 'hav' AND (starts_at AT TIME ZONE 'Europe/Copenhagen')::date = $1`, day)
}

// later is the same world at another moment.
func (w *world) later(wall string) *world {
	w.Helper()
	next := &world{T: w.T, url: w.url}
	next.open(at(w.T, wall))
	return next
}

func (w *world) open(now time.Time) {
	w.Helper()
	shift := time.Until(now)
	var err error
	if w.db, err = db.Open(ctx, w.url, db.Options{MaxConns: 4, ClockShift: shift}); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { w.db.Close() })
	if w.root, err = sql.Open("postgres", fmt.Sprintf("%s&options=-c%%20app.clock_shift%%3D%ds", w.url, int(shift.Seconds()))); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { w.root.Close() })
	w.desk = &proposal.Service{Store: db.Proposals{DB: w.db}, IDs: desktest.ID, Log: slog.New(slog.DiscardHandler)}
}

func copenhagen(t testing.TB) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Copenhagen")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func at(t testing.TB, wall string) time.Time {
	t.Helper()
	v, err := time.ParseInLocation("2006-01-02 15:04", wall, copenhagen(t))
	if err != nil {
		t.Fatal(err)
	}
	return v.UTC()
}

func (w *world) exec(query string, args ...any) {
	w.Helper()
	if _, err := w.root.Exec(query, args...); err != nil {
		w.Fatalf("%v: %s", err, query)
	}
}

func (w *world) text(query string, args ...any) string {
	w.Helper()
	var s sql.NullString
	if err := w.root.QueryRow(query, args...).Scan(&s); err != nil {
		w.Fatalf("%v: %s", err, query)
	}
	return s.String
}

// in runs fn in a transaction of Havnegade.
func (w *world) in(fn func(*db.Tx) error) {
	w.Helper()
	if err := w.db.InClinic(ctx, seed.Havnegade, fn); err != nil {
		w.Fatal(err)
	}
}

func person(name, role string) clinic.Actor {
	return clinic.Actor{Clinic: seed.Havnegade, ClinicName: "Havnegade", Person: name, PersonName: name, Role: role, Kind: clinic.KindUser,
		MayDecide: true, Via: "page", Request: "req_" + name}
}

var ana, emil, ben = person("ana", clinic.RoleStaff), person("emil", clinic.RoleStaff), person("ben", clinic.RoleReviewer)

func move(appointment, startsAt string, more ...string) proposal.Proposing {
	p := proposal.Proposing{Action: "reschedule_appointment@1", Parameters: map[string]any{"appointment": appointment, "starts_at": startsAt}}
	for i := 0; i+1 < len(more); i += 2 {
		p.Parameters[more[i]] = more[i+1]
	}
	return p
}

func book(patient, practitioner, location, startsAt string) proposal.Proposing {
	return proposal.Proposing{Action: "book_appointment@1", Parameters: map[string]any{"patient": patient, "type": "type_standard",
		"practitioner": practitioner, "location": location, "starts_at": startsAt}}
}

func (w *world) propose(by clinic.Actor, p proposal.Proposing) proposal.Record {
	w.Helper()
	a, err := w.desk.Propose(ctx, by, p)
	if err != nil {
		w.Fatalf("propose %v: %v", p.Parameters, err)
	}
	return a.Record
}

func (w *world) confirm(by clinic.Actor, r proposal.Record, key string) proposal.Record {
	w.Helper()
	a, err := w.desk.Confirm(ctx, by, desktest.Deciding(r, key))
	if err != nil {
		w.Fatalf("confirm: %v", err)
	}
	return a.Record
}

// refusedWith is the refusal of err, which must have that code.
func (w *world) refusedWith(code string, err error) *refusal.Error {
	w.Helper()
	r := refusal.Of(err)
	if r == nil || r.Code != code {
		w.Fatalf("got %v, want %s", err, code)
	}
	return r
}

// refusedPropose is the refusal of a wish; nothing is stored then.
func (w *world) refusedPropose(code string, p proposal.Proposing) *refusal.Error {
	w.Helper()
	before := w.text(`SELECT count(*) FROM proposals`)
	_, err := w.desk.Propose(ctx, ana, p)
	r := w.refusedWith(code, err)
	if w.text(`SELECT count(*) FROM proposals`) != before {
		w.Error("a refused wish is stored")
	}
	return r
}

// stands is where the visit stands: its start in Copenhagen and its status.
func (w *world) stands(appointment string) string {
	w.Helper()
	return w.text(`SELECT to_char(starts_at AT TIME ZONE 'Europe/Copenhagen', 'YYYY-MM-DD HH24:MI') || ' ' || status FROM appointments WHERE id = $1`, appointment)
}

// held is how many slots the visit holds, how many of them do not lie in its time.
func (w *world) held(appointment string) string {
	w.Helper()
	return w.text(`SELECT count(*) || '/' || count(*) FILTER (WHERE s.starts_at < a.starts_at OR s.ends_at > a.ends_at)
		FROM slots s JOIN appointments a ON a.clinic = s.clinic AND a.id = s.appointment WHERE a.id = $1`, appointment)
}
