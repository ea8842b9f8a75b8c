package db_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/clinic"
	"countersign/internal/ehr"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// withEHR makes a desk whose clinic keeps its visits in an EHR too, with no connector at work.
func withEHR(t *testing.T) (*desktest.Desk, ehr.Store, ehr.Desk) {
	d := desktest.New(t)
	d.Desk.EHR = func(string) bool { return true }
	return d, db.Operations{DB: d.DB}, ehr.ProposalDesk{Service: d.Desk}
}

// confirmed proposes and confirms, and gives the answer.
func confirmed(t *testing.T, d *desktest.Desk, by clinic.Actor, p proposal.Proposing, key string) proposal.Answer {
	t.Helper()
	a, err := d.Desk.Confirm(context.Background(), by, desktest.Deciding(d.Propose(by, p), key))
	if err != nil {
		t.Fatalf("confirm: %v", err)
	}
	return a
}

func claimOne(t *testing.T, s ehr.Store) ehr.Operation {
	t.Helper()
	ops, err := s.Claim(context.Background(), "hav", 10, time.Minute)
	if err != nil || len(ops) != 1 {
		t.Fatalf("claimed %d operations: %v", len(ops), err)
	}
	return ops[0]
}

const visitRow = `SELECT status || ' ' || to_char(starts_at AT TIME ZONE 'UTC', 'HH24:MI') || ' v' || version FROM appointments WHERE id = 'apt_maria'`

// A confirmed change of a clinic with an EHR changes nothing here but that its time is held, until the EHR is known to
// have it; then the step runs, the messages are queued and the proposal is completed, at once and once.
func TestAChangeWaitsForTheEHR(t *testing.T) {
	d, store, desk := withEHR(t)
	ctx, ana := context.Background(), d.Actor("ana")
	d.Exec(`INSERT INTO ehr_links (clinic, kind, id, remote_id, remote_version) VALUES ('hav', 'Appointment', 'apt_maria', 'r1', '7'), ('hav', 'Patient', 'maria', 'rp', '1')`)
	a := confirmed(t, d, ana, d.Move("apt_maria", d.At(0, 11, 0)), "k1")
	var body struct {
		Outcome   string
		StatusURL string `json:"status_url"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil || a.Status != 202 || body.Outcome != "unknown" || body.StatusURL != "/api/v1/proposals/"+a.Record.ID {
		t.Fatalf("answered %d %s", a.Status, a.Body)
	}
	if a.Record.State != proposal.StateExecuting {
		t.Fatalf("state %s", a.Record.State)
	}
	if got := d.Text(visitRow); got != "booked 10:00 v1" {
		t.Errorf("the visit is %s while the EHR has not answered", got)
	}
	if n := d.Text(`SELECT count(*) FROM outbox`); n != "0" {
		t.Errorf("%s messages before the EHR has it", n)
	}
	// Nobody else gets that time, and nothing else happens to that visit.
	for name, p := range map[string]proposal.Proposing{"the held time": d.Move("apt_soren", d.At(0, 11, 0), "practitioner", "holm"), "the visit": d.Move("apt_maria", d.At(0, 14, 0))} {
		if _, err := d.Desk.Propose(ctx, ana, p); refusal.Of(err) == nil {
			t.Errorf("%s could be proposed: %v", name, err)
		}
	}
	op := claimOne(t, store)
	if op.Kind != ehr.Move || op.RemoteID != "r1" || op.RemoteVersion != "7" || op.Wanted.RemotePatient != "rp" || !op.Wanted.StartsAt.Equal(d.At(0, 11, 0)) ||
		op.Before == nil || !op.Before.StartsAt.Equal(d.At(0, 10, 0)) || op.Code != "" {
		t.Fatalf("claimed %+v", op)
	}
	stale := op
	stale.Lease += 7
	if mine, err := desk.Applied(ctx, stale, ehr.Found{RemoteID: "r1", RemoteVersion: "8"}); err != nil || mine {
		t.Fatalf("a lost lease ended the operation: %v", err)
	}
	if mine, err := desk.Applied(ctx, op, ehr.Found{RemoteID: "r1", RemoteVersion: "8"}); err != nil || !mine {
		t.Fatalf("applied: %v %v", mine, err)
	}
	if mine, err := desk.Applied(ctx, op, ehr.Found{RemoteID: "r1", RemoteVersion: "8"}); err != nil || mine {
		t.Fatalf("applied twice: %v %v", mine, err)
	}
	if got := d.Text(visitRow); got != "booked 11:00 v2" {
		t.Errorf("the visit is %s", got)
	}
	if got := d.Text(`SELECT string_agg(kind || ' v' || version, ',' ORDER BY kind) FROM outbox WHERE kind <> 'reminder'`); got != "change v2" {
		t.Errorf("messages: %s", got)
	}
	if got := d.Text(`SELECT remote_version FROM ehr_links WHERE kind = 'Appointment'`); got != "8" {
		t.Errorf("the link is at version %s", got)
	}
	if n := d.Text(`SELECT count(*) FROM slots WHERE held_by IS NOT NULL`); n != "0" {
		t.Errorf("%s slots are still held", n)
	}
	again, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(a.Record, "k1"))
	if err != nil || again.Status != 200 || !again.Replayed || again.Record.State != proposal.StateCompleted {
		t.Errorf("confirming again: %d %s %v", again.Status, again.Record.State, err)
	}
}

// A refusal gives the time back and says why, in one transaction, and tells nobody.
func TestARefusalOfTheEHRGivesTheTimeBack(t *testing.T) {
	d, store, desk := withEHR(t)
	ctx, ana := context.Background(), d.Actor("ana")
	book := proposal.Proposing{Action: "book_appointment@1", Parameters: map[string]any{"patient": "maria", "type": "std", "practitioner": "holm", "location": "main", "starts_at": d.At(0, 13, 0).Format(time.RFC3339)}}
	a := confirmed(t, d, ana, book, "k1")
	op := claimOne(t, store)
	if op.Kind != ehr.Book || op.RemoteID != "" || op.Before != nil {
		t.Fatalf("claimed %+v", op)
	}
	if mine, err := desk.Refused(ctx, op, refusal.SlotTaken); err != nil || !mine {
		t.Fatalf("refused: %v %v", mine, err)
	}
	r, err := d.Desk.Get(ctx, ana, a.Record.ID)
	var result struct {
		Code         string
		Alternatives []any
	}
	if err != nil || r.State != proposal.StateFailed || json.Unmarshal(r.Result, &result) != nil || result.Code != refusal.SlotTaken || len(result.Alternatives) == 0 {
		t.Fatalf("%s %s %v", r.State, r.Result, err)
	}
	if n := d.Text(`SELECT (SELECT count(*) FROM slots WHERE held_by IS NOT NULL) + (SELECT count(*) FROM outbox) + (SELECT count(*) FROM appointments WHERE patient = 'maria' AND clinic = 'hav') - 1`); n != "0" {
		t.Errorf("something is left: %s", n)
	}
	confirmed(t, d, ana, book, "k2") // the time is free again
}

// The plan says whether an EHR is written to. It does not run where that is no longer so, nor while the EHR is known
// not to answer.
func TestAPlanFitsTheConnection(t *testing.T) {
	d, store, _ := withEHR(t)
	ctx, ana := context.Background(), d.Actor("ana")
	r := d.Propose(ana, d.Move("apt_maria", d.At(0, 11, 0)))
	for range 3 {
		if err := store.Pause(ctx, "hav", time.Minute, "ehr_not_reached"); err != nil {
			t.Fatal(err)
		}
	}
	_, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k1"))
	if x := refusal.Of(err); x == nil || x.Code != refusal.Busy || x.RetryAfter == 0 {
		t.Fatalf("with the lane down: %v", err)
	}
	if err := store.Open(ctx, "hav"); err != nil {
		t.Fatal(err)
	}
	d.Desk.EHR = nil
	_, err = d.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k2"))
	if x := refusal.Of(err); x == nil || x.Code != refusal.ResourceChanged {
		t.Fatalf("without a connection: %v", err)
	}
	d.Desk.EHR = func(string) bool { return true }
	if a, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k3")); err != nil || a.Status != 202 {
		t.Fatalf("%v %v", a.Status, err)
	}
}

// Where something here stands in the way of what the EHR has, nothing is written and a person must look.
func TestAClashIsAPersonsMatter(t *testing.T) {
	d, store, desk := withEHR(t)
	ctx, ana := context.Background(), d.Actor("ana")
	a := confirmed(t, d, ana, d.Move("apt_maria", d.At(0, 11, 0)), "k1")
	op := claimOne(t, store)
	d.Exec(`UPDATE appointments SET changed_via = 'import' WHERE id = 'apt_maria'`) // its version is another now
	mine, err := desk.Applied(ctx, op, ehr.Found{RemoteID: "r9", RemoteVersion: "1"})
	if mine || !errors.Is(err, proposal.ErrClash) {
		t.Fatalf("%v %v", mine, err)
	}
	if r, err := d.Desk.Get(ctx, ana, a.Record.ID); err != nil || r.State != proposal.StateExecuting {
		t.Fatalf("%s %v", r.State, err)
	}
	if n := d.Text(`SELECT count(*) FROM ehr_operations WHERE ended_at IS NULL`); n != "1" {
		t.Errorf("the operation is over")
	}
}

// A visit that the EHR does not know is booked there when it moves. One that is another there by now than the plan knows
// is not moved at all.
func TestAPlanKnowsTheVisitInTheEHR(t *testing.T) {
	d, store, desk := withEHR(t)
	ctx, ana := context.Background(), d.Actor("ana")
	confirmed(t, d, ana, d.Move("apt_maria", d.At(0, 11, 0)), "k1")
	op := claimOne(t, store)
	if op.Kind != ehr.Book || op.RemoteID != "" {
		t.Fatalf("claimed %s %q", op.Kind, op.RemoteID)
	}
	if mine, err := desk.Applied(ctx, op, ehr.Found{RemoteID: "r1", RemoteVersion: "1"}); err != nil || !mine {
		t.Fatalf("%v %v", mine, err)
	}
	r := d.Propose(ana, d.Move("apt_maria", d.At(0, 14, 0)))
	d.Exec(`UPDATE ehr_links SET remote_version = '2'`)
	_, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k2"))
	if x := refusal.Of(err); x == nil || x.Code != refusal.ResourceChanged {
		t.Fatalf("%v", err)
	}
	confirmed(t, d, ana, d.Move("apt_maria", d.At(0, 14, 0)), "k3")
	if op := claimOne(t, store); op.Kind != ehr.Move || op.RemoteID != "r1" || op.RemoteVersion != "2" {
		t.Fatalf("claimed %+v", op)
	}
}
