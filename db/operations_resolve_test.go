package db_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"countersign/db/desktest"
	"countersign/internal/clinic"
	"countersign/internal/ehr"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

func resolving(op, resolution string, more ...string) proposal.Proposing {
	params := map[string]any{"operation": op, "resolution": resolution}
	for i := 0; i+1 < len(more); i += 2 {
		params[more[i]] = more[i+1]
	}
	return proposal.Proposing{Action: "resolve_operation@1", Parameters: params}
}

func refusedWith(t *testing.T, err error, code string) *refusal.Error {
	t.Helper()
	r := refusal.Of(err)
	if r == nil || r.Code != code {
		t.Fatalf("refused with %v, not with %s", err, code)
	}
	return r
}

// A reviewer says that the EHR has it, another confirms: the plan that was confirmed then runs here, whole and once.
func TestAnOperationIsResolvedAsBooked(t *testing.T) {
	d, _, desk := withEHR(t)
	ctx, ben, bea := context.Background(), d.Actor("ben"), d.Actor("bea")
	of, op := d.Strand(d.Move("apt_maria", d.At(0, 11, 0)), ehr.Manual, "several", desktest.Saw(2, "several"))
	r := d.Propose(ben, resolving(op.ID, proposal.Booked, "remote_id", "r7", "note", "Seen on their screen."))
	if r.Risk != proposal.High || len(r.Plan.Messages) != len(of.Plan.Messages) || len(of.Plan.Messages) == 0 || r.Plan.After.Patient.ID != "maria" {
		t.Fatalf("risk %s, %d messages of %d", r.Risk, len(r.Plan.Messages), len(of.Plan.Messages))
	}
	_, err := d.Desk.Confirm(ctx, ben, desktest.Deciding(r, "k1"))
	refusedWith(t, err, refusal.SelfApprovalForbidden)
	_, err = d.Desk.Confirm(ctx, d.Actor("emil"), desktest.Deciding(r, "k1"))
	refusedWith(t, err, refusal.PermissionDenied)
	a, err := d.Desk.Confirm(ctx, bea, desktest.Deciding(r, "k2"))
	if err != nil || a.Status != 200 || a.Record.State != proposal.StateCompleted {
		t.Fatalf("%d %s %v", a.Status, a.Record.State, err)
	}
	var body struct {
		Result struct{ Operation proposal.ResolutionAnswer }
	}
	if err := json.Unmarshal(a.Body, &body); err != nil || body.Result.Operation.Proposal != of.ID || *body.Result.Operation.RemoteID != "r7" {
		t.Fatalf("answered %s", a.Body)
	}
	if got := d.Text(visitRow); got != "booked 11:00 v2" {
		t.Errorf("the visit is %s", got)
	}
	if got := d.Text(`SELECT string_agg(DISTINCT proposal, ',') || ' ' || count(*) FILTER (WHERE kind = 'change') FROM outbox`); got != of.ID+" 1" {
		t.Errorf("messages: %s", got)
	}
	if got := d.Text(`SELECT remote_id FROM ehr_links WHERE kind = 'Appointment' AND id = 'apt_maria'`); got != "r7" {
		t.Errorf("linked to %s", got)
	}
	if now, err := d.Desk.Get(ctx, ben, of.ID); err != nil || now.State != proposal.StateCompleted || now.Outcome != proposal.OutcomeCompleted {
		t.Errorf("the change is %s %v", now.State, err)
	}
	if got := d.Text(`SELECT state FROM ehr_operations`); got != ehr.Applied {
		t.Errorf("the operation is %s", got)
	}
	if got := d.Text(`SELECT string_agg(action || ' ' || actor, ', ' ORDER BY action) FROM audit WHERE outcome = 'success' AND action IN ('operation.resolve', 'appointment.move')`); got != "appointment.move ana, operation.resolve bea" {
		t.Errorf("the trail says %s", got)
	}
	// The reconciler that comes back from a long pause ends nothing a second time.
	if mine, err := desk.Applied(ctx, op, ehr.Found{RemoteID: "r7"}); err != nil || mine {
		t.Errorf("%v %v", mine, err)
	}
	again, err := d.Desk.Confirm(ctx, bea, desktest.Deciding(r, "k2"))
	if err != nil || !again.Replayed || string(again.Body) != string(a.Body) {
		t.Errorf("confirming again: %v", err)
	}
}

// What is not there gives the time back, fails the change and tells nobody.
func TestAnOperationIsResolvedAsNotBooked(t *testing.T) {
	d := desktest.New(t).KeptInEHR()
	ctx, ben, bea := context.Background(), d.Actor("ben"), d.Actor("bea")
	book := proposal.Proposing{Action: "book_appointment@1", Parameters: map[string]any{"patient": "maria", "type": "std", "practitioner": "holm", "location": "main", "starts_at": d.At(0, 13, 0).Format(time.RFC3339)}}
	of, op := d.Strand(book, ehr.Unknown, "no_answer", desktest.Saw(0, "none"))
	_, err := d.Desk.Propose(ctx, ben, resolving(op.ID, proposal.Booked))
	refusedWith(t, err, refusal.ValidationFailed) // nobody knows which one it is there
	r := d.Propose(ben, resolving(op.ID, proposal.NotBooked))
	if len(r.Plan.Messages) != 0 {
		t.Errorf("%d messages", len(r.Plan.Messages))
	}
	if _, err = d.Desk.Confirm(ctx, bea, desktest.Deciding(r, "k2")); err != nil {
		t.Fatal(err)
	}
	now, err := d.Desk.Get(ctx, ben, of.ID)
	var result struct{ Code string }
	if err != nil || now.State != proposal.StateFailed || json.Unmarshal(now.Result, &result) != nil || result.Code != "ehr_not_booked" {
		t.Errorf("the change is %s %s %v", now.State, now.Result, err)
	}
	if n := d.Text(`SELECT (SELECT count(*) FROM slots WHERE held_by IS NOT NULL) + (SELECT count(*) FROM outbox)`); n != "0" {
		t.Errorf("something is left: %s", n)
	}
	confirmed(t, d, d.Actor("ana"), book, "again") // the time is free
}

// News about the operation makes a waiting resolution stale; the same seen again is no news.
func TestNewEvidenceMakesAResolutionStale(t *testing.T) {
	d, store, _ := withEHR(t)
	ctx, ben, bea := context.Background(), d.Actor("ben"), d.Actor("bea")
	look := desktest.Saw(0, "none")
	_, op := d.Strand(d.Move("apt_maria", d.At(0, 11, 0)), ehr.Unknown, "no_answer", look)
	r := d.Propose(ben, resolving(op.ID, proposal.NotBooked))
	see := func(n int, l ehr.Look) {
		t.Helper()
		d.Exec(`UPDATE ehr_operations SET next_at = app_now()`)
		op := claimOne(t, store)
		l.N = n
		if _, err := store.InOperation(ctx, op, func(tx ehr.Tx) error {
			if err := tx.AddLook(ctx, l); err != nil {
				return err
			}
			op.Looks++
			return tx.Set(ctx, op, tx.Now().Add(time.Hour), true)
		}); err != nil {
			t.Fatal(err)
		}
	}
	see(2, ehr.Look{How: "identifier", Verdict: "failed", Code: "http_500"})
	see(3, look)
	if now, err := d.Desk.Get(ctx, bea, r.ID); err != nil || now.Stale {
		t.Fatalf("the same seen again is news: %v %v", now.Changed, err)
	}
	news := desktest.Saw(1, "different")
	news.Code, news.RemoteID = "start", "r9"
	see(4, news)
	_, err := d.Desk.Confirm(ctx, bea, desktest.Deciding(r, "k1"))
	x := refusedWith(t, err, refusal.ResourceChanged)
	if c, _ := x.Details["changed"].([]proposal.Change); len(c) != 1 || c[0].Kind != proposal.PinOperation {
		t.Errorf("changed: %v", x.Details)
	}
	if n := d.Text(`SELECT count(*) FROM ehr_operations WHERE ended_at IS NULL`); n != "1" {
		t.Error("the operation is over")
	}
}

// Only what is not known is a person's to say, only a reviewer says it, and another clinic's is unknown.
func TestWhoSaysWhatOfAnOperation(t *testing.T) {
	d, store, desk := withEHR(t)
	ctx, ben := context.Background(), d.Actor("ben")
	a := confirmed(t, d, d.Actor("ana"), d.Move("apt_maria", d.At(0, 11, 0)), "k1")
	id := d.Text(`SELECT id FROM ehr_operations`)
	_, err := d.Desk.Propose(ctx, ben, resolving(id, proposal.NotBooked))
	refusedWith(t, err, refusal.ValidationFailed) // ready
	refusedWith(t, d.Desk.LookAgain(ctx, ben, id), refusal.ValidationFailed)
	op := claimOne(t, store)
	d.Leave(op, ehr.Manual, "several", desktest.Saw(2, "several"))
	agent := d.Actor("ben")
	agent.Kind, agent.Agent, agent.MayDecide = clinic.KindAgent, "bot", false
	for _, by := range []clinic.Actor{d.Actor("ana"), d.Actor("ada"), agent} {
		_, err := d.Desk.Propose(ctx, by, resolving(id, proposal.NotBooked))
		refusedWith(t, err, refusal.PermissionDenied)
		refusedWith(t, d.Desk.LookAgain(ctx, by, id), refusal.PermissionDenied)
	}
	lake := d.Actor("ben")
	lake.Clinic, lake.Person = "lake", "lake_ben"
	_, foreign := d.Desk.Propose(ctx, lake, resolving(id, proposal.NotBooked))
	_, unknown := d.Desk.Propose(ctx, lake, resolving("op_nothing", proposal.NotBooked))
	if refusedWith(t, foreign, refusal.ValidationFailed); foreign.Error() != unknown.Error() {
		t.Errorf("%v, and for one that is not there %v", foreign, unknown)
	}
	refusedWith(t, d.Desk.LookAgain(ctx, lake, id), refusal.NotFound)
	if mine, err := desk.Refused(ctx, op, refusal.SlotTaken); err != nil || !mine {
		t.Fatal(mine, err)
	}
	_, err = d.Desk.Propose(ctx, ben, resolving(id, proposal.NotBooked))
	refusedWith(t, err, refusal.ValidationFailed)
	refusedWith(t, d.Desk.LookAgain(ctx, ben, id), refusal.ValidationFailed)
	if now, err := d.Desk.Get(ctx, ben, a.Record.ID); err != nil || now.State != proposal.StateFailed {
		t.Errorf("%s %v", now.State, err)
	}
}

// While the program has the operation in hand nobody says that it is not there: it may be writing it.
func TestNothingIsResolvedWhileTheProgramMayBeSending(t *testing.T) {
	d, store, _ := withEHR(t)
	ctx, ben, bea := context.Background(), d.Actor("ben"), d.Actor("bea")
	_, op := d.Strand(d.Move("apt_maria", d.At(0, 11, 0)), ehr.Unknown, "no_answer", desktest.Saw(0, "none"))
	r := d.Propose(ben, resolving(op.ID, proposal.NotBooked))
	d.Exec(`UPDATE ehr_operations SET next_at = app_now()`)
	claimOne(t, store)
	_, err := d.Desk.Confirm(ctx, bea, desktest.Deciding(r, "k1"))
	if x := refusedWith(t, err, refusal.Busy); x.RetryAfter == 0 {
		t.Error("it does not say when")
	}
	d.Exec(`UPDATE ehr_operations SET leased_until = app_now() - interval '1 second'`)
	if a, err := d.Desk.Confirm(ctx, bea, desktest.Deciding(r, "k1")); err != nil || a.Record.State != proposal.StateCompleted {
		t.Errorf("%s %v", a.Record.State, err)
	}
}

// What the EHR has and cannot be made here stays open, and the answer says so.
func TestAClashLeavesTheOperationOpen(t *testing.T) {
	d := desktest.New(t).KeptInEHR()
	ctx, ben, bea := context.Background(), d.Actor("ben"), d.Actor("bea")
	of, op := d.Strand(d.Move("apt_maria", d.At(0, 11, 0)), ehr.Manual, "several", desktest.Saw(2, "several"))
	r := d.Propose(ben, resolving(op.ID, proposal.Booked, "remote_id", "r7"))
	d.Exec(`UPDATE slots SET held_by = NULL, appointment = 'apt_soren' WHERE held_by IS NOT NULL`) // somebody took it from under us
	_, err := d.Desk.Confirm(ctx, bea, desktest.Deciding(r, "k1"))
	refusedWith(t, err, refusal.ResourceChanged)
	now, err := d.Desk.Get(ctx, bea, r.ID)
	if err != nil || now.State != proposal.StateProposed {
		t.Errorf("the resolution is %s %v", now.State, err)
	}
	if now, err = d.Desk.Get(ctx, bea, of.ID); err != nil || now.State != proposal.StateExecuting {
		t.Errorf("the change is %s %v", now.State, err)
	}
	if n := d.Text(`SELECT count(*) FROM outbox`); n != "0" {
		t.Errorf("%s messages", n)
	}
	d.Exec(`UPDATE appointments SET changed_via = 'import' WHERE id = 'apt_maria'`)
	_, err = d.Desk.Propose(ctx, ben, resolving(op.ID, proposal.Booked, "remote_id", "r7"))
	refusedWith(t, err, refusal.ValidationFailed)
	d.Exec(`INSERT INTO ehr_links (clinic, kind, id, remote_id) VALUES ('hav', 'Appointment', 'apt_soren', 'r7')`)
	_, err = d.Desk.Propose(ctx, ben, resolving(op.ID, proposal.Booked, "remote_id", "r7"))
	refusedWith(t, err, refusal.ValidationFailed)
	if _, err = d.Desk.Confirm(ctx, bea, desktest.Deciding(d.Propose(ben, resolving(op.ID, proposal.NotBooked)), "k2")); err != nil {
		t.Error(err)
	}
}

// The reconciler's answer and a person's arrive at once: one ends it, and the other says so.
func TestOneOwnerEndsAnOperation(t *testing.T) {
	d, _, desk := withEHR(t)
	ctx, ben, bea := context.Background(), d.Actor("ben"), d.Actor("bea")
	for i := range 6 {
		to := d.At(1+i, 11, 0)
		of, op := d.Strand(d.Move("apt_maria", to), ehr.Unknown, "no_answer", desktest.Saw(0, "none"))
		r := d.Propose(ben, resolving(op.ID, proposal.NotBooked))
		op.Lease = 1 // its claim is over, and nobody took it since
		var wait sync.WaitGroup
		var mine bool
		var failed, refused error
		wait.Add(2)
		go func() {
			defer wait.Done()
			mine, failed = desk.Applied(ctx, op, ehr.Found{RemoteID: "r1", RemoteVersion: "2"})
		}()
		go func() {
			defer wait.Done()
			_, refused = d.Desk.Confirm(ctx, bea, desktest.Deciding(r, desktest.ID("k")))
		}()
		wait.Wait()
		if failed != nil {
			t.Fatal(failed)
		}
		now, err := d.Desk.Get(ctx, ben, of.ID)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case mine:
			refusedWith(t, refused, refusal.ResourceChanged)
			if now.State != proposal.StateCompleted {
				t.Errorf("the EHR has it and the change is %s", now.State)
			}
		case refused != nil:
			t.Errorf("nobody ended it: %v", errors.Join(failed, refused))
		case now.State != proposal.StateFailed:
			t.Errorf("released, and the change is %s", now.State)
		}
		if n := d.Text(`SELECT count(*) FROM slots WHERE held_by IS NOT NULL`); n != "0" {
			t.Errorf("%s slots are held", n)
		}
	}
}
