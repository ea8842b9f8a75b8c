package talktest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"countersign/db/desktest"
	"countersign/internal/assistant"
	"countersign/internal/refusal"
)

func TestRejectedTellsWhyAndAsksOn(t *testing.T) {
	k := newTalk(t)
	p := k.movesMaria91()
	ref, _, err := k.service.Decide(context.Background(), k.by, assistant.Deciding{Run: p.Run, ToolCall: p.ToolCall, Decision: assistant.Reject, Reason: "Wrong day"})
	if err != nil || ref.State != assistant.Running {
		t.Fatal(ref, err)
	}
	h := k.read()
	k.says(k.last(), "Rejected by ana", "“Wrong day”", "Not executed", "What should happen instead", "Something else", "with Dr Ben Okafor")
	if h.State() != assistant.AwaitingInput || h.Calls[0].Status != assistant.CallRejected || !strings.Contains(string(h.Calls[0].Result), "not_executed") {
		t.Errorf("%s %s %s", h.State(), h.Calls[0].Status, h.Calls[0].Result)
	}
	// Rejected and then approved stays rejected.
	if _, _, err := k.service.Decide(context.Background(), k.by, k.approve(p)); code(err) != refusal.UnknownConfirmation {
		t.Errorf("%v", err)
	}
	if s := k.Text(`SELECT state FROM proposals`); s != "rejected" || k.starts("apt_maria91") != k.At(1, 9, 0).Format(time.RFC3339) {
		t.Error(s)
	}
	// "yes" proposes nothing again; another time does.
	k.say("yes", assistant.Meaning{Yes: true})
	if k.Text(`SELECT count(*) FROM proposals`) != "1" {
		t.Error("words proposed a rejected plan again")
	}
	k.say("14:00 then", assistant.Meaning{Clock: minutes(14, 0)})
	if q := k.waits(); q.Run != p.Run || q.ToolCall == p.ToolCall {
		t.Errorf("%+v", q)
	}
}

// C4, C14 and the deadline: exactly reached is expired, with no sweeper; a fresh start is offered and revalidated.
func TestADeadlineReachedIsANo(t *testing.T) {
	k := newTalk(t)
	p := k.movesMaria91()
	k.Exec(`UPDATE proposals SET expires_at = app_now() WHERE id = $1`, p.Proposal)
	h := k.read()
	k.says(k.last(), "expired", "nothing was executed", "Propose it again")
	if h.Pending() != nil || h.Calls[0].Status != assistant.CallExpired || h.State() != assistant.AwaitingInput {
		t.Errorf("%v %s %s", h.Pending(), h.Calls[0].Status, h.State())
	}
	if k.Text(`SELECT status FROM tool_calls`) != assistant.CallWaits {
		t.Error("reading wrote")
	}
	if _, _, err := k.service.Decide(context.Background(), k.by, k.approve(p)); code(err) != refusal.UnknownConfirmation {
		t.Errorf("%v", err)
	}
	shown := k.last()
	if err := k.service.Settle(context.Background(), "hav"); err != nil {
		t.Fatal(err)
	}
	if k.Text(`SELECT status FROM tool_calls`) != assistant.CallExpired || k.last().ID != shown.ID || k.last().Text != shown.Text || k.last().Choices[0].ID != shown.Choices[0].ID {
		t.Error("what was read is not what was written")
	}
	k.restart()
	k.pick("Propose it again")
	if q := k.waits(); q.Proposal == p.Proposal {
		t.Error("the same proposal again")
	}
	k.decide(k.approve(k.waits()))
	if k.starts("apt_maria91") != k.At(2, 13, 0).Format(time.RFC3339) {
		t.Error("not moved")
	}
}

// A decision in the queue resumes the run; C14: nobody has to wait for it.
func TestDecidedElsewhereGoesOn(t *testing.T) {
	k := newTalk(t)
	p := k.movesMaria91()
	r, err := k.Desk.Desk.Get(context.Background(), k.by, p.Proposal)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Desk.Desk.Confirm(context.Background(), k.Actor("ben"), desktest.Deciding(r, "k1")); err != nil {
		t.Fatal(err)
	}
	k.restart()
	k.says(k.last(), "Done, confirmed by ben")
	for range 2 {
		if err := k.service.Settle(context.Background(), "hav"); err != nil {
			t.Fatal(err)
		}
	}
	if n := k.Text(`SELECT count(*) FROM messages WHERE text LIKE 'Done%'`); n != "1" {
		t.Errorf("told %s times", n)
	}
	if n := k.Text(`SELECT count(*) FROM events WHERE kind = 'run.completed'`); n != "1" {
		t.Errorf("%s events", n)
	}
}

func TestSnapshotsAreNotChangedFromOutside(t *testing.T) {
	k := newTalk(t)
	p := k.movesMaria91()
	for _, q := range []string{`UPDATE tool_calls SET arguments = '{}'`, `UPDATE tool_calls SET proposal = proposal, plan_hash = repeat('0', 64)`, `UPDATE messages SET choices = '[]'`} {
		if _, err := k.Root.Exec(q); err == nil {
			t.Errorf("%s went through", q)
		}
	}
	var got map[string]any
	if err := json.Unmarshal(k.read().Calls[0].Arguments, &got); err != nil || got["appointment"] != "apt_maria91" || got["starts_at"] != k.At(2, 13, 0).Format(time.RFC3339) {
		t.Errorf("%v %v", got, err)
	}
	k.decide(k.approve(p))
	if _, err := k.Root.Exec(`UPDATE tool_calls SET status = 'rejected'`); err == nil {
		t.Error("a resolved call was changed")
	}
}
