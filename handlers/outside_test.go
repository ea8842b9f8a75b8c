package handlers

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/ehr"
	"countersign/internal/evidence"
	"countersign/internal/refusal"
)

// operation claims the one operation that is due.
func (a *apiSite) operation(t *testing.T) ehr.Operation {
	t.Helper()
	ops, err := db.Operations{DB: a.DB}.Claim(context.Background(), "hav", 5, time.Minute)
	if err != nil || len(ops) != 1 {
		t.Fatalf("%d operations are due: %v", len(ops), err)
	}
	return ops[0]
}

// The API's answers, the evidence and the pages of a change that goes into the EHR: waiting, made, and refused.
func TestAChangeOnItsWayIntoTheEHR(t *testing.T) {
	a := newAPISite(t)
	a.Desk.Desk.EHR = func(string) bool { return true }
	desk, ctx := ehr.ProposalDesk{Service: a.Desk.Desk}, context.Background()
	ana := a.Actor("ana")
	r := a.Propose(ana, a.Move("apt_maria", a.At(1, 9, 0)))
	got := a.called("ana", http.MethodPost, "/proposals/"+r.ID+"/confirm", map[string]any{"revision": 1, "plan_hash": r.PlanHash, "idempotency_key": "k1"}).want(t, http.StatusAccepted, "")
	if got.text("outcome") != "unknown" || got.text("status_url") != "/api/v1/proposals/"+r.ID || got.text("proposal", "state") != "executing" {
		t.Fatalf("%s", got.body)
	}
	a.called("ana", http.MethodPost, "/proposals/"+r.ID+"/confirm", map[string]any{"revision": 1, "plan_hash": r.PlanHash, "idempotency_key": "k1"}).want(t, http.StatusAccepted, "")
	a.called("ana", http.MethodPost, "/proposals/"+r.ID+"/reject", map[string]any{"revision": 1, "plan_hash": r.PlanHash, "idempotency_key": "k2"}).want(t, http.StatusConflict, refusal.AlreadyDecided)
	if e := a.proofOf(t, r.ID); is(e, "executed") != evidence.Equal || !says(e, "It waits for the EHR") {
		t.Errorf("waiting: %v", e.Equalities)
	}
	sheet := a.as("ana").get("/?location=main&date=" + a.At(1, 0, 0).Format(time.DateOnly))
	sheet.says(t, "Held, waits for the EHR")
	visit := a.as("ana").get("/appointments/apt_maria")
	visit.says(t, "Confirmed, waits for the EHR")
	for _, f := range forms(t, visit.body) {
		if strings.HasSuffix(f.action, "/status") {
			t.Error("a status can be set while the EHR has not answered")
		}
	}
	op := a.operation(t)
	if mine, err := desk.Applied(ctx, op, ehr.Found{RemoteID: "r1", RemoteVersion: "1"}); err != nil || !mine {
		t.Fatalf("%v %v", mine, err)
	}
	a.called("ana", http.MethodPost, "/proposals/"+r.ID+"/confirm", map[string]any{"revision": 1, "plan_hash": r.PlanHash, "idempotency_key": "k1"}).want(t, http.StatusOK, "")
	a.Exec(`UPDATE outbox SET state = 'sent', sent_at = now() WHERE proposal = $1`, r.ID)
	if e := a.proofOf(t, r.ID); is(e, "executed") != evidence.Equal || is(e, "once") != evidence.Equal || is(e, "sent") == evidence.NotEqual {
		t.Errorf("made: %v", e.Equalities)
	}

	no := a.Propose(ana, a.Move("apt_maria", a.At(1, 10, 0)))
	if _, err := a.Desk.Desk.Confirm(ctx, ana, desktest.Deciding(no, "k3")); err != nil {
		t.Fatal(err)
	}
	if mine, err := desk.Refused(ctx, a.operation(t), refusal.SlotTaken); err != nil || !mine {
		t.Fatalf("%v %v", mine, err)
	}
	again := a.called("ana", http.MethodPost, "/proposals/"+no.ID+"/confirm", map[string]any{"revision": 1, "plan_hash": no.PlanHash, "idempotency_key": "k3"}).want(t, http.StatusOK, "")
	if again.text("outcome") != "failed" || again.text("result", "code") != refusal.SlotTaken {
		t.Errorf("%s", again.body)
	}
	if e := a.proofOf(t, no.ID); is(e, "executed") != evidence.Equal || !says(e, "It could not run") {
		t.Errorf("refused: %v", e.Equalities)
	}
	a.as("ana").get(card(no)).says(t, "Not done: the time is taken in the EHR", "Not carried out")
}
