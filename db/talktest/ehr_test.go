package talktest

import (
	"context"
	"testing"
	"time"

	"countersign/db"
	"countersign/internal/assistant"
	"countersign/internal/ehr"
	"countersign/internal/refusal"
)

// A card that was confirmed and waits for the EHR is nobody's question any more: the conversation neither asks for it
// nor takes corrections, and tells the outcome when there is one.
func TestAConversationWaitsForTheEHR(t *testing.T) {
	k := newTalk(t)
	k.Desk.Desk.EHR = func(string) bool { return true }
	k.decide(k.approve(k.movesMaria91()))
	h := k.read()
	if h.Pending() != nil || h.State() != assistant.Running || !h.Executing() {
		t.Fatalf("pending %v, state %s", h.Pending(), h.State())
	}
	if _, err := k.service.Say(context.Background(), k.by, k.thread, assistant.Saying{Text: "make it 10:30 instead"}); code(err) != refusal.RunInProgress {
		t.Fatalf("a correction was taken: %v", err)
	}
	ops, err := db.Operations{DB: k.DB}.Claim(context.Background(), "hav", 5, time.Minute)
	if err != nil || len(ops) != 1 {
		t.Fatalf("%d operations: %v", len(ops), err)
	}
	if mine, err := (ehr.ProposalDesk{Service: k.Desk.Desk}).Applied(context.Background(), ops[0], ehr.Found{RemoteID: "r1", RemoteVersion: "1"}); err != nil || !mine {
		t.Fatalf("%v %v", mine, err)
	}
	k.says(k.last(), "Done, confirmed by ana")
}
