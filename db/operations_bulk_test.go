package db_test

import (
	"context"
	"testing"
	"time"

	"countersign/db/desktest"
	"countersign/internal/ehr"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// The visits of a bulk go into the EHR one by one, each with an operation of its own. A visit that takes time which
// another gives back waits for the EHR's answer about that one; the bulk ends with the last answer.
func TestABulkGoesIntoTheEHRVisitByVisit(t *testing.T) {
	d, store, desk := withEHR(t)
	d.Desk.Inline = -1
	ctx, ana := context.Background(), d.Actor("ana")
	items := []any{
		map[string]any{"appointment": "apt_maria", "starts_at": d.At(0, 14, 0).Format(time.RFC3339)},
		map[string]any{"appointment": "apt_soren", "starts_at": d.At(0, 10, 0).Format(time.RFC3339), "practitioner": "holm"},
	}
	r := d.Propose(ana, proposal.Proposing{Action: "bulk_change@1", Parameters: map[string]any{"items": items}})
	a, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k1"))
	if err != nil || a.Status != 202 {
		t.Fatalf("%d %v", a.Status, err)
	}
	carryOn(t, d)
	first := claimOne(t, store)
	if first.Item != 1 || first.Kind != ehr.Book || first.Appointment != "apt_maria" {
		t.Fatalf("claimed %+v", first)
	}
	carryOn(t, d)
	if n := d.Text(`SELECT count(*) FROM ehr_operations`); n != "1" {
		t.Fatalf("%s operations while the first has no answer", n)
	}
	if _, err := d.Desk.Propose(ctx, ana, d.Move("apt_maria", d.At(1, 14, 0))); refusal.Of(err) == nil {
		t.Errorf("a visit that waits for the EHR could be moved: %v", err)
	}
	if mine, err := desk.Applied(ctx, first, ehr.Found{RemoteID: "r1", RemoteVersion: "2"}); err != nil || !mine {
		t.Fatalf("%v %v", mine, err)
	}
	carryOn(t, d)
	second := claimOne(t, store)
	if second.Item != 2 || second.Appointment != "apt_soren" {
		t.Fatalf("claimed %+v", second)
	}
	if mine, err := desk.Refused(ctx, second, refusal.SlotTaken); err != nil || !mine {
		t.Fatalf("%v %v", mine, err)
	}
	carryOn(t, d)
	got, err := d.Desk.Get(ctx, ana, r.ID)
	if err != nil || got.State != proposal.StatePartial {
		t.Fatalf("%s %v", got.State, err)
	}
	if list := got.ItemResults(); list[0].State != proposal.ItemCompleted || list[1].State != proposal.ItemFailed || *list[1].Code != refusal.SlotTaken {
		t.Errorf("%+v", list)
	}
	if got := d.Text(visitRow); got != "booked 14:00 v2" {
		t.Errorf("the visit is %s", got)
	}
	if n := d.Text(`SELECT count(*) FROM slots WHERE held_by IS NOT NULL`); n != "0" {
		t.Errorf("%s slots are held", n)
	}
	if got := d.Text(`SELECT string_agg(DISTINCT appointment, ',') FROM outbox`); got != "apt_maria" {
		t.Errorf("told: %s", got)
	}
}

// carryOn is what the worker does, once.
func carryOn(t *testing.T, d *desktest.Desk) {
	t.Helper()
	for found := true; found; {
		var err error
		if found, err = d.Desk.CarryOn(context.Background(), "hav"); err != nil {
			t.Fatal(err)
		}
	}
}
