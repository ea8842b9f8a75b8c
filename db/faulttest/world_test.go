// Package faulttest holds the connector to what it promises when an EHR fails, with the real desk and database on one
// side and an EHR that fails by script on the other.
package faulttest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/ehr"
	"countersign/internal/ehr/ehrtest"
	"countersign/internal/proposal"
)

const settle = 2 * time.Minute

var ctx = context.Background()

// world is a desk, its EHR and the lane between them. Time passes only when a test says so.
type world struct {
	*desktest.Desk
	ehr   *ehrtest.Server
	web   *httptest.Server
	clock *ehrtest.Clock
	lane  *ehr.Lane
	log   *strings.Builder
	visit string        // maria's, here; e1 in the EHR
	start time.Duration // of it, from Day
	made  int
}

// option changes a connection before its lane is made.
type option func(w *world, c *ehr.Connection, transport *http.RoundTripper)

// newWorld makes a desk of its own; clinic hav's EHR holds maria's visit as e1.
func newWorld(t testing.TB, mode ehrtest.Mode, options ...option) *world {
	t.Helper()
	w := &world{Desk: desktest.New(t), visit: "apt_maria", start: 10 * time.Hour}
	w.begin(t, mode, options...)
	return w
}

// worlds are some desks for many tests, one after the other: making one takes longer than most tests.
type worlds chan *world

func newWorlds(t testing.TB) worlds { return someWorlds(t, 3) }

func someWorlds(t testing.TB, n int) worlds {
	all := make(worlds, n)
	for range cap(all) {
		all <- &world{Desk: desktest.New(t)}
	}
	return all
}

// take gives one in which nothing is left of the test before.
func (all worlds) take(t testing.TB, mode ehrtest.Mode, options ...option) *world {
	t.Helper()
	w := <-all
	t.Cleanup(func() { all <- w })
	w.Desk.T = t
	w.forget()
	w.begin(t, mode, options...)
	return w
}

// begin makes an EHR with maria's visit in it, and the lane to it.
func (w *world) begin(t testing.TB, mode ehrtest.Mode, options ...option) {
	t.Helper()
	w.Desk.Desk.EHR = func(string) bool { return true }
	w.clock, w.log = ehrtest.NewClock(time.Now()), &strings.Builder{}
	w.ehr = ehrtest.New(mode, w.clock)
	server, web := w.ehr, httptest.NewUnstartedServer(w.ehr)
	w.web = web
	web.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	web.Start()
	t.Cleanup(func() { server.Close(); web.CloseClientConnections(); web.Close() })
	id := w.ehr.Visit("maria", "holm", "main", w.Day.Add(w.start), w.Day.Add(w.start+30*time.Minute))
	w.Exec(`INSERT INTO ehr_links (clinic, kind, id, remote_id, remote_version) VALUES ('hav', 'Appointment', $1, $2, '1')`, w.visit, id)
	w.connect(t, options...)
}

// forget ends everything that the test before has left, and makes another visit of maria's.
func (w *world) forget() {
	w.Exec(`UPDATE ehr_operations SET state = 'refused', ended_at = app_now(), leased_until = NULL WHERE ended_at IS NULL`)
	w.Exec(`UPDATE slots SET appointment = NULL, held_by = NULL WHERE appointment IS NOT NULL OR held_by IS NOT NULL`)
	w.Exec(`UPDATE appointments SET status = 'cancelled' WHERE status = 'booked'`)
	w.Exec(`UPDATE ehr_lanes SET paused_until = NULL, failures = 0`)
	w.Exec(`DELETE FROM ehr_links`)
	w.made++
	w.visit, w.start = fmt.Sprint("apt_made", w.made), 31*24*time.Hour
	w.Exec(`INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, during, changed_by, changed_via) VALUES
		('hav', $1, 'maria', 'holm', 'main', 'std', 'booked', tstzrange($2, $2::timestamptz + interval '30 min'), 'seed', 'seed')`, w.visit, w.Day.Add(w.start))
}

// connect makes the lane, as another process would.
func (w *world) connect(t testing.TB, options ...option) {
	t.Helper()
	c := ehr.Connection{Clinic: "hav", URL: w.web.URL + "/fhir", Token: w.ehr.Mode.Token, Timeout: 150 * time.Millisecond}
	var transport http.RoundTripper
	for _, o := range options {
		o(w, &c, &transport)
	}
	client, err := ehr.NewClient(c, transport)
	if err != nil {
		t.Fatal(err)
	}
	w.lane = &ehr.Lane{Clinic: "hav", Client: client, Store: db.Operations{DB: w.DB}, Desk: ehr.ProposalDesk{Service: w.Desk.Desk}, Settle: settle,
		IDs: desktest.ID, Log: slog.New(slog.NewTextHandler(&locked{w: w.log}, nil))}
}

type locked struct {
	mu sync.Mutex
	w  *strings.Builder
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// inMemory has no network between the desk and the EHR: what takes time elsewhere ends at once.
func inMemory(w *world, _ *ehr.Connection, transport *http.RoundTripper) { *transport = w.ehr }

// pass lets time go by, for the operations and for the EHR.
func (w *world) pass(d time.Duration) {
	w.T.Helper()
	w.clock.Move(d)
	w.Exec(`UPDATE ehr_operations SET attempted_at = attempted_at - x.d, looked_at = looked_at - x.d, next_at = next_at - x.d, send_until = send_until - x.d, deadline = deadline - x.d,
		created_at = created_at - x.d, leased_until = leased_until - x.d FROM (SELECT make_interval(secs => $1) AS d) x WHERE ended_at IS NULL`, d.Seconds())
	w.Exec(`UPDATE ehr_lanes SET paused_until = paused_until - make_interval(secs => $1)`, d.Seconds())
}

// booking is a visit of maria's with holm at an hour of the n-th day.
func (w *world) booking(day, hour int) proposal.Proposing {
	return proposal.Proposing{Action: "book_appointment@1", Parameters: map[string]any{"patient": "maria", "type": "std", "practitioner": "holm", "location": "main",
		"starts_at": w.At(day, hour, 0).Format(time.RFC3339)}}
}

func (w *world) cancelling() proposal.Proposing {
	return proposal.Proposing{Action: "cancel_appointment@1", Parameters: map[string]any{"appointment": w.visit, "reason_code": "patient_request"}}
}

// order is one confirmed change and its operation.
type order struct {
	record proposal.Record
	key    string
	op     string
}

// confirm proposes and confirms.
func (w *world) confirm(p proposal.Proposing) order {
	w.T.Helper()
	ana := w.Actor("ana")
	o := order{record: w.Propose(ana, p)}
	o.key = "key-" + o.record.ID
	a, err := w.Desk.Desk.Confirm(ctx, ana, desktest.Deciding(o.record, o.key))
	if err != nil || a.Status != 202 {
		w.T.Fatalf("confirm: %d %v", a.Status, err)
	}
	o.op = w.Text(`SELECT id FROM ehr_operations WHERE proposal = $1`, o.record.ID)
	return o
}

// state is that of an operation, with its code.
func (w *world) state(o order) (state, code string) {
	w.T.Helper()
	state, code, _ = strings.Cut(w.Text(`SELECT state || ' ' || coalesce(code, '') FROM ehr_operations WHERE id = $1`, o.op), " ")
	return state, code
}

func over(state string) bool {
	return state == ehr.Applied || state == ehr.Refused || state == ehr.Manual
}

// run works until the operation is over, letting time pass to whatever is due next; before it is applied no message is
// queued. It fails after a day.
func (w *world) run(o order) {
	w.T.Helper()
	for waited := time.Duration(0); waited < 26*time.Hour; {
		if _, err := w.lane.Once(ctx); err != nil {
			w.T.Fatal(err)
		}
		state, _ := w.state(o)
		if n := w.Text(`SELECT count(*) FROM outbox WHERE proposal = $1`, o.record.ID); state != ehr.Applied && n != "0" {
			w.T.Fatalf("%s messages while the operation is %s", n, state)
		}
		if over(state) {
			return
		}
		var seconds float64
		if _, err := fmt.Sscan(w.Text(`SELECT extract(epoch FROM greatest(min(greatest(next_at, coalesce(leased_until, next_at))), (SELECT max(paused_until) FROM ehr_lanes)) - app_now())
			FROM ehr_operations WHERE ended_at IS NULL AND state <> 'manual'`), &seconds); err != nil {
			w.T.Fatal(err)
		}
		d := max(time.Duration(seconds*float64(time.Second)), 0) + 10*time.Millisecond
		w.pass(d)
		waited += d
	}
	state, code := w.state(o)
	w.T.Fatalf("after a day the operation is %s %s", state, code)
}

// common are the assertions of every row of the fault table that are not of one row alone.
func (w *world) common(o order, state string) {
	t := w.T
	t.Helper()
	if live := w.ehr.Live(o.op); len(live) > 1 { // (a)
		t.Errorf("%d bookings in the EHR under one identifier", len(live))
	}
	if got, code := w.state(o); got != state { // (b)
		t.Errorf("the operation is %s (%s), want %s\n%s", got, code, state, w.story(o))
	}
	want := "0"
	if state == ehr.Applied {
		want = "1"
	}
	if n := w.Text(`SELECT count(*) FROM outbox WHERE proposal = $1 AND kind <> 'reminder'`, o.record.ID); n != want { // (d)
		t.Errorf("%s messages, want %s", n, want)
	}
	for _, q := range []string{ // (e)
		`SELECT (SELECT count(*) FROM ehr_attempts WHERE operation = $1) - (SELECT count(*) FROM audit WHERE action = 'ehr.send' AND object = $1)`,
		`SELECT (SELECT count(*) FROM ehr_attempts WHERE operation = $1 AND outcome IS NOT NULL) - (SELECT count(*) FROM audit WHERE action = 'ehr.answer' AND object = $1)`,
		`SELECT (SELECT count(*) FROM ehr_looks WHERE operation = $1) - (SELECT count(*) FROM audit WHERE action = 'ehr.look' AND object = $1)`,
		`SELECT CASE WHEN state = 'applied' AND NOT EXISTS (SELECT FROM ehr_looks WHERE operation = $1 AND verdict = 'equal') THEN 1 ELSE 0 END FROM ehr_operations WHERE id = $1`,
	} {
		if n := w.Text(q, o.op); n != "0" {
			t.Errorf("%s gives %s", q, n)
		}
	}
	a, err := w.Desk.Desk.Confirm(ctx, w.Actor("ana"), desktest.Deciding(o.record, o.key)) // (f)
	var body struct{ Outcome string }
	if err != nil || !a.Replayed || json.Unmarshal(a.Body, &body) != nil {
		t.Fatalf("confirming again: %d %v", a.Status, err)
	}
	wanted := map[string]string{ehr.Applied: "200 completed", ehr.Refused: "200 failed"}[state]
	if wanted == "" {
		wanted = "202 unknown"
	}
	if got := fmt.Sprint(a.Status, " ", body.Outcome); got != wanted {
		t.Errorf("confirming again gives %s, want %s", got, wanted)
	}
	if held := w.Text(`SELECT count(*) FROM slots WHERE held_by = $1`, o.record.ID); (held != "0") == (state == ehr.Applied || state == ehr.Refused) && o.record.Action != "cancel_appointment@1" {
		t.Errorf("%s slots are held in state %s", held, state)
	}
}

// story is what the rows say happened.
func (w *world) story(o order) string {
	return w.Text(`SELECT string_agg(line, E'\n' ORDER BY at, line) FROM (
		SELECT started_at AS at, 'attempt ' || n || ' ' || method || ' ' || coalesce(http_status::text, '-') || ' ' || coalesce(outcome, '-') || ' ' || coalesce(code, '') AS line FROM ehr_attempts WHERE operation = $1
		UNION ALL SELECT at, 'look ' || n || ' ' || how || ' ' || coalesce(matches::text, '-') || ' ' || verdict || ' ' || coalesce(code, '') FROM ehr_looks WHERE operation = $1) x`, o.op)
}
