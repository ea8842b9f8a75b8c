package faulttest

import (
	"context"
	"errors"
	"testing"
	"time"

	"countersign/internal/ehr"
	"countersign/internal/ehr/ehrtest"
)

// Row 32: where an EHR cannot move a visit, the new one is booked and seen before the old one is ended. Whatever fails,
// the patient has at least one visit, and two are a person's matter.
func TestAMoveAsTwoBookings(t *testing.T) {
	t.Parallel()
	all := newWorlds(t)
	for _, c := range []struct {
		name        string
		script      []ehrtest.Rule
		before      func(*world)
		during      func(*world)
		state, code string
		live        int
		posts, puts int
	}{
		{name: "32 all well", state: ehr.Applied, live: 1, posts: 1, puts: 1},
		{name: "32 the new one is refused", script: []ehrtest.Rule{post(ehrtest.Status("taken", 409, "conflict", "slot-taken"))}, state: ehr.Refused, code: "slot_taken", live: 1, posts: 1},
		{name: "32 the end of the old one is refused", script: []ehrtest.Rule{put(ehrtest.Status("no", 422, "business-rule", ""))}, state: ehr.Manual, code: "two_bookings", live: 2, posts: 1, puts: 1},
		{name: "32 the answer to the end is lost", script: []ehrtest.Rule{put(ehrtest.Fault{Drop: true})}, state: ehr.Applied, live: 1, posts: 1, puts: 1},
		{name: "32 the end is lost", script: []ehrtest.Rule{put(ehrtest.Fault{Before: true, Drop: true})}, state: ehr.Applied, live: 1, posts: 1, puts: 2},
		{name: "32 the old one has a new version", script: []ehrtest.Rule{put(ehrtest.Status("stale", 412, "conflict", ""))}, state: ehr.Applied, live: 1, posts: 1, puts: 2},
		{name: "32 the answer to the new one is lost", script: []ehrtest.Rule{post(ehrtest.Fault{Drop: true})}, state: ehr.Applied, live: 1, posts: 1, puts: 1},
		{name: "32 the old one was moved by somebody", during: func(w *world) { w.ehr.Edit("e1", shiftHour) }, state: ehr.Manual, code: "two_bookings", live: 2, posts: 1},
		{name: "32 the old one was edited before", before: func(w *world) { w.ehr.Edit("e1", set("description", "x")) }, state: ehr.Refused, code: "resource_changed", live: 1},
		{name: "32 the new one is for another", script: []ehrtest.Rule{post(ehrtest.Fault{Stored: onTo("soren")})}, state: ehr.Manual, code: "wrong_patient", live: 2, posts: 1},
		{name: "32 the end never gets through", script: []ehrtest.Rule{{Method: "PUT", Path: "Appointment", Fault: ehrtest.Fault{Before: true, Drop: true}}}, state: ehr.Manual, code: "two_bookings", live: 2, posts: 1, puts: -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := all.take(t, ehrtest.Mode{NoUpdate: true, OpenConflicts: true})
			w.ehr.Script(c.script...)
			if c.before != nil {
				c.before(w)
			}
			o := w.confirm(w.Move(w.visit, w.At(0, 14, 0)))
			if c.during != nil {
				for w.Text(`SELECT phase FROM ehr_operations WHERE id = $1`, o.op) != ehr.PhaseCancelOld { // the new one is there
					if ops, err := w.lane.Store.Claim(ctx, "hav", 1, time.Minute); err != nil || len(ops) != 1 {
						t.Fatal(ops, err)
					} else if err := w.lane.Step(ctx, ops[0]); err != nil {
						t.Fatal(err)
					}
				}
				c.during(w)
			}
			w.run(o)
			w.common(o, c.state)
			if _, code := w.state(o); code != c.code && c.code != "" {
				t.Errorf("code %q, want %q\n%s", code, c.code, w.story(o))
			}
			live := 0
			for _, e := range w.ehr.All() {
				if e.Status == "booked" {
					live++
				}
			}
			if posts, puts := w.ehr.Count("POST", "Appointment"), w.ehr.Count("PUT", "Appointment"); live != c.live || posts != c.posts || puts != c.puts && c.puts >= 0 {
				t.Errorf("%d visits stand after %d POST and %d PUT; want %d, %d, %d\n%s", live, posts, puts, c.live, c.posts, c.puts, w.story(o))
			}
		})
	}
}

// lossy is a desk whose answers get lost.
type lossy struct {
	ehr.Desk
	before, after int // how many calls are lost before they are carried out, and after
}

var errLost = errors.New("the connection to the database ended")

func (l *lossy) Applied(c context.Context, op ehr.Operation, f ehr.Found) (bool, error) {
	if l.before > 0 {
		l.before--
		return false, errLost
	}
	mine, err := l.Desk.Applied(c, op, f)
	if l.after > 0 {
		l.after--
		return false, errLost
	}
	return mine, err
}

// Row 35: the database goes away at our own commit. What was done is done once, what was not is done again.
func TestTheAnswerOfOurOwnCommitIsLost(t *testing.T) {
	t.Parallel()
	for _, lost := range []*lossy{{before: 2}, {after: 1}} {
		w := newWorld(t, ehrtest.Mode{})
		lost.Desk = w.lane.Desk
		w.lane.Desk = lost
		o := w.confirm(w.booking(1, 13))
		for range 5 {
			if _, err := w.lane.Once(ctx); err != nil && !errors.Is(err, errLost) {
				t.Fatal(err)
			}
			w.pass(5 * time.Minute) // its lease runs out
		}
		w.common(o, ehr.Applied)
		if n := w.ehr.Count("POST", "Appointment"); n != 1 {
			t.Errorf("%d writes", n)
		}
	}
}

// What stands in the EHR and cannot be made here is a person's matter; nothing is undone there.
func TestAClashHereIsForAPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ehrtest.Mode{})
	o := w.confirm(w.Move(w.visit, w.At(0, 14, 0)))
	w.Exec(`UPDATE appointments SET changed_via = 'import' WHERE id = $1`, w.visit)
	w.run(o)
	w.common(o, ehr.Manual)
	if _, code := w.state(o); code != "clash" || w.ehr.Count("PUT", "") != 1 {
		t.Errorf("code %s, %d writes", code, w.ehr.Count("PUT", ""))
	}
}
