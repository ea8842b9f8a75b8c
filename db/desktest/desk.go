// Package desktest gives tests a small desk on a real PostgreSQL: one clinic with a few rows whose ids a test can name,
// and the proposal service on top of it.
package desktest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base32"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	_ "github.com/lib/pq" // the superuser's handle of a test

	"countersign/db"
	"countersign/db/dbtest"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// Desk is one test's world.
type Desk struct {
	T     testing.TB
	URL   string // superuser
	Root  *sql.DB
	DB    *db.DB
	Desk  *proposal.Service
	Day   time.Time // midnight UTC of the first bookable day; slots lie at 08:00-16:00 UTC for ten days
	Log   *strings.Builder
	Shift time.Duration
}

// New makes a desk. Its clock is the machine's plus shift.
func New(t testing.TB, options ...func(*db.Options)) *Desk {
	t.Helper()
	return On(t, dbtest.URL(t, db.Migrate), options...)
}

// On makes a desk in a migrated, empty database. The desk's pool is opened with the superuser's URL, as ours are.
func On(t testing.TB, url string, options ...func(*db.Options)) *Desk {
	t.Helper()
	ctx := context.Background()
	root, err := sql.Open("postgres", url)
	must(t, err)
	t.Cleanup(func() { root.Close() })
	opt := db.Options{MaxConns: 12}
	for _, o := range options {
		o(&opt)
	}
	pool, err := db.Open(ctx, url, opt)
	must(t, err)
	t.Cleanup(func() { pool.Close() })
	d := &Desk{T: t, URL: url, Root: root, DB: pool, Log: &strings.Builder{}, Shift: opt.ClockShift}
	d.Day = time.Now().Add(opt.ClockShift).UTC().Truncate(24*time.Hour).AddDate(0, 0, 3)
	d.Desk = &proposal.Service{Store: db.Proposals{DB: pool}, IDs: ID, Log: slog.New(slog.NewJSONHandler(d.Log, nil))}
	d.fill()
	return d
}

// ID is a random id.
func ID(prefix string) string {
	var b [15]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err)
	}
	return prefix + "_" + strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fill makes two clinics. In `hav`: practitioners holm and okafor, locations main and annex (UTC-like zone Atlantic/Reykjavik, so
// that wall time is UTC), types std (30 min) and long (60), patients maria (e-mail), soren (sms), aoife (none); visits
// apt_maria (holm, first day 10:00) and apt_soren (okafor, first day 10:00). In `lake` the same shape with other ids.
func (d *Desk) fill() {
	d.Exec(`INSERT INTO clinics (id, name) VALUES ('hav', 'Havnegade'), ('lake', 'Lakeview')`)
	for _, c := range []string{"hav", "lake"} {
		x := ""
		if c == "lake" {
			x = "lake_"
		}
		q := func(sql string) { d.Exec(strings.NewReplacer("CLINIC", c, "X_", x).Replace(sql)) }
		q(`INSERT INTO locations (clinic, id, name, address, phone, zone) VALUES
			('CLINIC', 'X_main', 'Havnegade 12', 'Havnegade 12, 1058 København', '+45 00 33 10 10', 'Atlantic/Reykjavik'),
			('CLINIC', 'X_annex', 'Havnegade Annex', 'Havnegade 14, 1058 København', '+45 00 33 10 14', 'Atlantic/Reykjavik')`)
		q(`INSERT INTO practitioners (clinic, id, name) VALUES ('CLINIC', 'X_holm', 'Dr Anna Holm'), ('CLINIC', 'X_okafor', 'Dr Ben Okafor')`)
		q(`INSERT INTO appointment_types (clinic, id, name, minutes) VALUES ('CLINIC', 'X_std', 'Standard', 30), ('CLINIC', 'X_long', 'Long', 60), ('CLINIC', 'X_inj', 'Injection', 15)`)
		for _, p := range []clinic.Patient{
			{ID: "maria", Family: "Jensen", Given: "Maria", BirthDate: "1984-03-11", MRN: "100234", Email: "maria.jensen.84@example.test", Contact: "email"},
			{ID: "soren", Family: "Groß", Given: "Søren Łukasz", BirthDate: "1970-02-28", MRN: "100300", Phone: "+45 00 20 03 00", Contact: "sms"},
			{ID: "aoife", Family: "O'Brien-Núñez", Given: "Aoife", BirthDate: "2008-02-29", MRN: "100411", Contact: "email"},
		} {
			d.Exec(`INSERT INTO patients (clinic, id, family, given, birth_date, mrn, phone, email, contact, search_text)
				VALUES ($1, $2, $3, $4, $5, $6, nullif($7, ''), nullif($8, ''), $9, $10)`,
				c, x+p.ID, p.Family, p.Given, p.BirthDate, p.MRN, p.Phone, p.Email, p.Contact, clinic.SearchText(p))
		}
		for _, p := range []string{"holm", "okafor"} {
			q(`INSERT INTO schedules (clinic, id, practitioner, location, valid_from, types) VALUES ('CLINIC', 'X_sch_` + p + `', 'X_` + p + `', 'X_main', '2020-01-01', '{X_std,X_long}')`)
			q(fmt.Sprintf(`INSERT INTO slots (clinic, id, practitioner, location, schedule, day, starts_at, ends_at, types)
				SELECT 'CLINIC', 'X_%[1]s_' || to_char(t AT TIME ZONE 'UTC', 'MMDD_HH24MI'), 'X_%[1]s', 'X_main', 'X_sch_%[1]s', (t AT TIME ZONE 'UTC')::date, t, t + interval '15 min', '{X_std,X_long}'
				FROM generate_series(timestamptz '%[2]s', timestamptz '%[2]s' + interval '10 days', interval '15 min') t
				WHERE (t AT TIME ZONE 'UTC')::time BETWEEN '08:00' AND '15:45'`, p, d.Day.Format(time.RFC3339)))
		}
		for _, v := range [][2]string{{"maria", "holm"}, {"soren", "okafor"}} {
			at := d.Day.Add(10 * time.Hour).Format(time.RFC3339)
			q(`INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, during, changed_by, changed_via) VALUES
				('CLINIC', 'X_apt_` + v[0] + `', 'X_` + v[0] + `', 'X_` + v[1] + `', 'X_main', 'X_std', 'booked', tstzrange('` + at + `', timestamptz '` + at + `' + interval '30 min'), 'seed', 'seed')`)
			q(`UPDATE slots SET appointment = 'X_apt_` + v[0] + `' WHERE clinic = 'CLINIC' AND practitioner = 'X_` + v[1] + `' AND starts_at >= '` + at + `' AND starts_at < timestamptz '` + at + `' + interval '30 min'`)
		}
		for _, a := range [][2]string{{"ana", "staff"}, {"emil", "staff"}, {"ben", "reviewer"}, {"bea", "reviewer"}, {"ada", "admin"}} {
			q(`INSERT INTO accounts (id, clinic, email, name, role, password_hash) VALUES ('X_` + a[0] + `', 'CLINIC', 'X_` + a[0] + `@example.test', 'X_` + a[0] + `', '` + a[1] + `', 'x')`)
		}
	}
}

// Exec runs SQL as superuser, behind the app's back.
func (d *Desk) Exec(query string, args ...any) {
	d.T.Helper()
	if _, err := d.Root.Exec(query, args...); err != nil {
		d.T.Fatalf("%v\n%s", err, query)
	}
}

// Text reads one value as text, as superuser.
func (d *Desk) Text(query string, args ...any) string {
	d.T.Helper()
	var s sql.NullString
	must(d.T, d.Root.QueryRow(query, args...).Scan(&s))
	return s.String
}

// Actor is a person of clinic hav in a browser: ana and emil (staff), ben and bea (reviewers), ada (admin).
func (d *Desk) Actor(name string) clinic.Actor {
	role := map[string]string{"ana": clinic.RoleStaff, "emil": clinic.RoleStaff, "ben": clinic.RoleReviewer, "bea": clinic.RoleReviewer, "ada": clinic.RoleAdmin}[name]
	return clinic.Actor{Clinic: "hav", ClinicName: "Havnegade", Person: name, PersonName: name, Role: role, Kind: clinic.KindUser, MayDecide: true, Via: "page", Request: "req_test"}
}

// Agent is an agent of ana's.
func (d *Desk) Agent() clinic.Actor {
	a := d.Actor("ana")
	a.Kind, a.Agent, a.AgentName, a.MayDecide, a.Via = clinic.KindAgent, "bot", "bot", false, "api"
	return a
}

// At is a time on the n-th bookable day, from 0.
func (d *Desk) At(day, hour, minute int) time.Time {
	return d.Day.AddDate(0, 0, day).Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
}

// Move is a reschedule of a visit to a time.
func (d *Desk) Move(appointment string, to time.Time, more ...any) proposal.Proposing {
	params := map[string]any{"appointment": appointment, "starts_at": to.UTC().Format(time.RFC3339)}
	for i := 0; i+1 < len(more); i += 2 {
		params[more[i].(string)] = more[i+1]
	}
	return proposal.Proposing{Action: "reschedule_appointment@1", Parameters: params}
}

// Propose proposes and fails the test when refused.
func (d *Desk) Propose(by clinic.Actor, p proposal.Proposing) proposal.Record {
	d.T.Helper()
	a, err := d.Desk.Propose(context.Background(), by, p)
	if err != nil {
		d.T.Fatalf("propose: %v", err)
	}
	return a.Record
}

// Deciding is a decision on a record as it was read.
func Deciding(r proposal.Record, key string) proposal.Decision {
	return proposal.Decision{Proposal: r.ID, Revision: r.Revision, PlanHash: r.PlanHash, Key: key}
}
