package faulttest

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"countersign/db/desktest"
	"countersign/internal/ehr"
	"countersign/internal/ehr/ehrtest"
)

// gate is a transport that stops before writes until it is opened, as a process that stands still does.
type gate struct {
	next    http.RoundTripper
	reached chan struct{}
	open    chan struct{}
}

func (g *gate) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		g.reached <- struct{}{}
		<-g.open
	}
	return g.next.RoundTrip(r)
}

// Row 15: of any number of workers one sends.
func TestTwoWorkersSendOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ehrtest.Mode{OpenConflicts: true}, inMemory) // the EHR itself would take two
	var orders []order
	for hour := 11; hour < 15; hour++ {
		orders = append(orders, w.confirm(w.booking(1, hour)))
	}
	var all sync.WaitGroup
	for range 4 {
		w.connect(t, inMemory)
		lane := w.lane
		all.Go(func() {
			if _, err := lane.Once(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, o := range orders {
		w.run(o)
		w.common(o, ehr.Applied)
	}
	if n := w.ehr.Count("POST", "Appointment"); n != len(orders) {
		t.Errorf("%d writes of %d operations", n, len(orders))
	}
}

// Row 15: a worker stands still past its lease between its attempt and the call. Another has taken over, looked, and sent
// again; the late one finds that it is too late to send, and that the operation is no longer its own.
func TestAPausedWorkerComesTooLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ehrtest.Mode{OpenConflicts: true}, inMemory)
	o := w.confirm(w.booking(1, 13))
	g := &gate{next: w.ehr, reached: make(chan struct{}), open: make(chan struct{})}
	var late time.Duration
	w.connect(t, func(_ *world, _ *ehr.Connection, transport *http.RoundTripper) { *transport = g })
	w.lane.Client.SetClock(func() time.Time { return time.Now().Add(late) })
	paused, done := w.lane, make(chan error)
	go func() { _, err := paused.Once(ctx); done <- err }()
	<-g.reached
	w.pass(4 * time.Minute) // past its lease
	w.connect(t, inMemory)
	w.run(o)
	if n := w.ehr.Count("POST", "Appointment"); n != 1 {
		t.Errorf("%d writes before the paused one goes on", n)
	}
	late = 4 * time.Minute
	close(g.open)
	if err := <-done; err != nil {
		t.Error(err)
	}
	w.common(o, ehr.Applied)
	if n := w.ehr.Count("POST", "Appointment"); n != 1 {
		t.Errorf("%d writes: the paused one still wrote\n%s", n, w.story(o))
	}
}

// G5: a person's "look again" and the program never both work on an operation: whoever comes second has no lease.
func TestOneOwnerAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ehrtest.Mode{}, inMemory)
	o := w.confirm(w.booking(1, 13))
	ops, err := w.lane.Store.Claim(ctx, "hav", 10, time.Minute)
	if err != nil || len(ops) != 1 {
		t.Fatal(ops, err)
	}
	if again, err := w.lane.Store.Claim(ctx, "hav", 10, time.Minute); err != nil || len(again) != 0 {
		t.Fatalf("claimed twice: %v %v", again, err)
	}
	w.pass(2 * time.Minute)
	w.run(o) // another owner, to the end
	if err := w.lane.Step(ctx, ops[0]); err != nil {
		t.Fatal(err)
	}
	w.common(o, ehr.Applied)
	if n := w.ehr.Count("POST", "Appointment"); n != 1 {
		t.Errorf("%d writes", n)
	}
}

// Row 20: an EHR that drips, hangs or is down holds up its own clinic only.
func TestOneClinicsEHRDoesNotHarmAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ehrtest.Mode{}, inMemory)
	w.ehr.Script(ehrtest.Rule{Fault: ehrtest.Fault{Before: true, Drop: true}})
	broken := w.confirm(w.booking(1, 13))
	for range 3 {
		if _, err := w.lane.Once(ctx); err != nil {
			t.Fatal(err)
		}
		w.pass(10 * time.Second)
	}
	ana := w.Actor("ana")
	ana.Clinic, ana.Person = "lake", "lake_ana"
	p := w.booking(1, 13)
	for name, id := range map[string]string{"patient": "lake_maria", "type": "lake_std", "practitioner": "lake_holm", "location": "lake_main"} {
		p.Parameters[name] = id
	}
	r := w.Propose(ana, p)
	if _, err := w.Desk.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k")); err != nil {
		t.Fatal(err)
	}
	other := ehrtest.New(ehrtest.Mode{}, w.clock)
	client, err := ehr.NewClient(ehr.Connection{Clinic: "lake", URL: "http://lake.test/fhir"}, other)
	if err != nil {
		t.Fatal(err)
	}
	lake := &ehr.Lane{Clinic: "lake", Client: client, Store: w.lane.Store, Desk: w.lane.Desk, IDs: desktest.ID, Log: w.lane.Log}
	if _, err := lake.Once(ctx); err != nil {
		t.Fatal(err)
	}
	if got := w.Text(`SELECT state FROM ehr_operations WHERE clinic = 'lake'`); got != ehr.Applied {
		t.Errorf("the other clinic's operation is %s", got)
	}
	if got := w.Text(`SELECT string_agg(clinic || ' ' || failures, ',') FROM ehr_lanes WHERE failures > 0`); got == "" || got[:3] != "hav" {
		t.Errorf("lanes: %s", got)
	}
	w.ehr.Heal()
	w.run(broken)
	w.common(broken, ehr.Applied)
}
