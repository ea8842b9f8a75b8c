package faulttest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"countersign/db/desktest"
	"countersign/internal/ehr"
	"countersign/internal/ehr/ehrtest"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// outcome is what confirming again with the same key shows now.
func (w *world) outcome(o order) (status int, outcome string) {
	w.T.Helper()
	a, err := w.Desk.Desk.Confirm(ctx, w.Actor("ana"), desktest.Deciding(o.record, o.key))
	var body struct{ Outcome string }
	if err != nil || !a.Replayed || json.Unmarshal(a.Body, &body) != nil {
		w.T.Fatalf("confirming again: %v", err)
	}
	return a.Status, body.Outcome
}

// G6, X03: the EHR has it and its answer is lost. Nobody is told that it failed, nothing invites to try again, and when
// it is found it is completed, without having been sent twice.
func TestAnAnswerLostIsNeverAFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ehrtest.Mode{})
	w.ehr.Script(post(ehrtest.Fault{Drop: true, Lag: 30 * time.Second}))
	o := w.confirm(w.booking(1, 13))
	for range 4 {
		if _, err := w.lane.Once(ctx); err != nil {
			t.Fatal(err)
		}
		if status, outcome := w.outcome(o); status != 202 || outcome != proposal.OutcomeUnknown {
			t.Fatalf("%d %s while nobody knows", status, outcome)
		}
		if _, err := w.Desk.Desk.Confirm(ctx, w.Actor("ana"), desktest.Deciding(o.record, "another-key")); refusal.Of(err) == nil || refusal.Of(err).Code != refusal.AlreadyDecided {
			t.Fatalf("confirmed under another key: %v", err)
		}
		w.pass(5 * time.Second)
	}
	w.run(o)
	w.common(o, ehr.Applied)
	if n := w.ehr.Count("POST", "Appointment"); n != 1 {
		t.Errorf("%d writes", n)
	}
}

// X06: an EHR that says the time is taken ends the change as failed; one that does not answer leaves it waiting. The
// words are not the same.
func TestBusyAndDownAreNotTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ehrtest.Mode{}, inMemory)
	rival(w)
	busy := w.confirm(w.booking(1, 13))
	w.run(busy)
	w.common(busy, ehr.Refused)
	r, err := w.Desk.Desk.Get(ctx, w.Actor("ana"), busy.record.ID)
	if err != nil || r.State != proposal.StateFailed || !strings.Contains(string(r.Result), refusal.SlotTaken) || !strings.Contains(string(r.Result), "taken") {
		t.Errorf("%s %s %v", r.State, r.Result, err)
	}
	w.ehr.Script(ehrtest.Rule{Fault: ehrtest.Fault{Refuse: true}})
	down := w.confirm(w.booking(1, 14))
	for range 4 {
		if _, err := w.lane.Once(ctx); err != nil {
			t.Fatal(err)
		}
		if status, outcome := w.outcome(down); status != 202 || outcome != proposal.OutcomeUnknown {
			t.Fatalf("%d %s while the EHR is down", status, outcome)
		}
		w.pass(5 * time.Second)
	}
	if _, err := w.lane.Once(ctx); err != nil { // one more failure: the lane is closed, and nothing more is taken for it
		t.Fatal(err)
	}
	if err := w.lane.Store.Pause(ctx, "hav", time.Minute, "ehr_not_reached"); err != nil {
		t.Fatal(err)
	}
	_, err = w.Desk.Desk.Confirm(ctx, w.Actor("ana"), desktest.Deciding(w.Propose(w.Actor("ana"), w.booking(1, 15)), "k"))
	if x := refusal.Of(err); x == nil || x.Code != refusal.Busy || x.RetryAfter == 0 || !strings.Contains(x.Message, "not executed") {
		t.Errorf("confirmed while the lane is down: %v", err)
	}
	w.ehr.Heal()
	w.run(down)
	w.common(down, ehr.Applied)
}

// C8: the deadline is of the claim. What was confirmed in time is carried out after the deadline of its proposal, for as
// long as a confirmation holds; later nothing is sent any more.
func TestTheDeadlineIsOfTheClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ehrtest.Mode{}, inMemory)
	soon, late := w.confirm(w.booking(1, 13)), w.confirm(w.booking(1, 14))
	w.Exec(`UPDATE ehr_operations SET next_at = app_now() + interval '2 hours' WHERE id = $1`, late.op) // no worker for two hours
	w.pass(50 * time.Minute)                                                                            // past both proposals' 15 minutes
	w.run(soon)
	w.common(soon, ehr.Applied)
	w.pass(70 * time.Minute)
	w.run(late)
	w.common(late, ehr.Refused)
	if _, code := w.state(late); code != "ehr_not_reached" || w.ehr.Count("POST", "Appointment") != 1 {
		t.Errorf("code %s after %d writes", code, w.ehr.Count("POST", "Appointment"))
	}
}

// A move to another practitioner, where both have ids of the EHR's own.
func TestAMoveToAnotherPractitionerInTheEHRsIds(t *testing.T) {
	t.Parallel()
	all := newWorlds(t)
	for name, mode := range map[string]ehrtest.Mode{"native": {}, "as two bookings": {NoUpdate: true}} {
		t.Run(name, func(t *testing.T) {
			w := all.take(t, mode, inMemory)
			w.Exec(`INSERT INTO ehr_links (clinic, kind, id, remote_id) VALUES ('hav', 'Practitioner', 'holm', 'rh'), ('hav', 'Practitioner', 'okafor', 'ro'), ('hav', 'Patient', 'maria', 'rm'), ('hav', 'Location', 'main', 'rl')`)
			w.ehr.Edit("e1", func(a map[string]any) {
				for old, other := range map[string]string{"Practitioner/holm": "Practitioner/rh", "Patient/maria": "Patient/rm", "Location/main": "Location/rl"} {
					to(old, other)(a)
				}
			})
			w.Exec(`UPDATE ehr_links SET remote_version = '2' WHERE kind = 'Appointment'`)
			o := w.confirm(w.Move(w.visit, w.At(0, 14, 0), "practitioner", "okafor"))
			w.run(o)
			w.common(o, ehr.Applied)
			if live := w.ehr.Live(o.op); len(live) != 1 || live[0].Practitioner != "ro" || live[0].Patient != "rm" {
				t.Errorf("%+v\n%s", live, w.story(o))
			}
		})
	}
}
