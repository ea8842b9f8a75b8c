//go:build unix

// Package prooftest holds no product code. Its tests try to break the core on a real PostgreSQL: races, kills, lost
// answers, tampering, and every order in which a decision can meet another.
package prooftest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

var ctx = context.Background()

// TestMain is also the process that a test kills: see killprocess_test.go and killrun_test.go.
func TestMain(m *testing.M) {
	if os.Getenv(childTalks) != "" {
		childTalking()
		return
	}
	if os.Getenv(childRuns) != "" {
		childRunning()
		return
	}
	if at := os.Getenv(childPoint); at != "" {
		child(at)
		return
	}
	if url := os.Getenv(sealChild); url != "" {
		sealer(url)
	}
	os.Exit(m.Run())
}

// code names an error by the contract's code, or by its text where it has none.
func code(err error) string {
	if r := refusal.Of(err); r != nil {
		return r.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// tester is a *testing.T or a *rapid.T.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

func must(t tester, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantCode fails unless err is a refusal with that code.
func wantCode(t testing.TB, err error, want string) {
	t.Helper()
	if got := code(err); got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
}

// wide gives a test's pool more connections than it has clients.
func wide(n int) func(*db.Options) { return func(o *db.Options) { o.MaxConns = n } }

// reply is what one of many parallel calls got.
type reply struct {
	proposal.Answer
	err error
}

// atOnce starts n calls together and waits for all.
func atOnce(n int, call func(i int) (proposal.Answer, error)) []reply {
	out := make([]reply, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			out[i].Answer, out[i].err = call(i)
		})
	}
	close(start)
	all.Wait()
	return out
}

// tally counts replies by code; a success counts by its state, a replay as "replay".
func tally(replies []reply) map[string]int {
	got := map[string]int{}
	for _, r := range replies {
		switch {
		case r.err != nil:
			got[code(r.err)]++
		case r.Replayed:
			got["replay"]++
		default:
			got[r.Record.State]++
		}
	}
	return got
}

func wantTally(t testing.TB, replies []reply, want map[string]int) {
	t.Helper()
	if got := tally(replies); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

// booked makes a booked visit of 30 minutes behind the desk's back, as an import would.
func booked(d *desktest.Desk, patient, practitioner string, at time.Time) (id string) {
	d.T.Helper()
	id = desktest.ID("apt")
	d.Exec(`INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, during, changed_by, changed_via)
		VALUES ('hav', $1, $2, $3, 'main', 'std', 'booked', tstzrange($4, $5), 'seed', 'seed')`, id, patient, practitioner, at, at.Add(30*time.Minute))
	d.Exec(`UPDATE slots SET appointment = $1 WHERE clinic = 'hav' AND practitioner = $2 AND starts_at >= $3 AND starts_at < $4`,
		id, practitioner, at, at.Add(30*time.Minute))
	return id
}

// newPatient adds a patient who is told by e-mail.
func newPatient(d *desktest.Desk) (id string) {
	d.T.Helper()
	id = desktest.ID("pat")
	d.Exec(`INSERT INTO patients (clinic, id, family, given, birth_date, mrn, email, contact, search_text)
		VALUES ('hav', $1, 'Berg', 'Liv', '1990-01-01', $2, $3, 'email', 'liv berg')`, id, id, id+"@example.test")
	return id
}

// booking is a wish for a standard visit.
func booking(patient, practitioner string, at time.Time) proposal.Proposing {
	return proposal.Proposing{Action: "book_appointment@1", Parameters: map[string]any{"patient": patient, "type": "std", "practitioner": practitioner,
		"location": "main", "starts_at": at.UTC().Format(time.RFC3339)}}
}

// freeze replaces the database's clock by one that stands still until it is set. Every pool of this database reads it.
func freeze(d *desktest.Desk) (set func(time.Time)) {
	d.T.Helper()
	d.Exec(`CREATE TABLE frozen_clock (at timestamptz NOT NULL)`)
	d.Exec(`GRANT SELECT ON frozen_clock TO countersign_app`)
	d.Exec(`INSERT INTO frozen_clock VALUES (clock_timestamp())`)
	d.Exec(`CREATE OR REPLACE FUNCTION app_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT at FROM public.frozen_clock'`)
	return func(at time.Time) {
		d.T.Helper()
		d.Exec(`UPDATE frozen_clock SET at = $1`, at)
	}
}

// waitFor asks until the query gives the wanted text.
func waitFor(d *desktest.Desk, want, query string, args ...any) {
	d.T.Helper()
	for deadline := time.Now().Add(20 * time.Second); d.Text(query, args...) != want; time.Sleep(3 * time.Millisecond) {
		if time.Now().After(deadline) {
			d.T.Fatalf("never became %q: %s", want, query)
		}
	}
}

// blocked is how many sessions of this database wait for a lock.
const blocked = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`

// endSessions ends every session of the app in this database, as an operator's restart would.
func endSessions(d *desktest.Desk) {
	d.T.Helper()
	d.Exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name <> 'root'`)
}
