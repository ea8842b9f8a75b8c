package handlers

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/internal/proposal"
)

// D1, A13: who may not decide gets 403 without a live Confirm, and the proposal waits on for somebody else.
func TestWhoMayNotDecideLeavesItToOthers(t *testing.T) {
	for way, headers := range ways {
		t.Run(way, func(t *testing.T) {
			s := newDeskSite(t)
			r := s.high()
			for who, words := range map[string]string{"ana": "Somebody else must decide this", "emil": "Only a reviewer", "ada": "Admins do not decide"} {
				a := s.as(who).post(card(r)+"/confirm", decision(r, "key-"+who), headers...)
				if a.status != http.StatusForbidden || confirmable(t, a.body) || fragment(a) != (way == "fragment") {
					t.Errorf("%s: %d", who, a.status)
				}
				a.says(t, words)
			}
			if s.state(r) != "proposed" {
				t.Fatal(s.state(r))
			}
			b := s.as("ben")
			if a := b.sendForm(mustForm(t, b.get(card(r)).body, "/confirm"), nil); a.status != http.StatusSeeOther || s.state(r) != "completed" {
				t.Errorf("ben: %d, %s", a.status, s.state(r))
			}
		})
	}
}

// D1: saying no to one's own stays allowed.
func TestTheAskerOfAHighRiskMayStillReject(t *testing.T) {
	s := newDeskSite(t)
	r := s.high()
	b := s.as("ana")
	refused := b.post(card(r)+"/confirm", decision(r, "k"))
	if a := b.sendForm(mustForm(t, refused.body, "/reject"), url.Values{"reason": {"asked in error"}}); a.status != http.StatusSeeOther || s.state(r) != "rejected" {
		t.Errorf("%d, %s", a.status, s.state(r))
	}
}

// D6: the role counts that one has at the click, not when the card was drawn.
func TestARoleLostAfterTheCardWasDrawn(t *testing.T) {
	s := newDeskSite(t)
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	b := s.as("ben")
	f := mustForm(t, b.get(card(r)).body, "/confirm")
	s.Exec(`UPDATE accounts SET role = 'staff' WHERE id = 'ben'`)
	if a := b.sendForm(f, nil); a.status != http.StatusForbidden || confirmable(t, a.body) || s.state(r) != "proposed" {
		t.Fatalf("%d, %s", a.status, s.state(r))
	}
	s.Exec(`UPDATE accounts SET role = 'reviewer' WHERE id = 'ben'`)
	if a := b.sendForm(f, nil); a.status != http.StatusSeeOther || s.state(r) != "completed" {
		t.Errorf("with the role again: %d, %s", a.status, s.state(r))
	}
}

// Forms that are not as the card made them. Nothing runs, nothing is consumed, nothing can be confirmed blindly.
// A19: what a form says beside the reference is refused by name; the plan comes from stored bytes.
func TestMalformedDecisions(t *testing.T) {
	s := newDeskSite(t)
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	other := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 11, 0)))
	b := s.as("ana")
	if a := b.post(card(other)+"/reject", decision(other, "used")); a.status != http.StatusSeeOther {
		t.Fatal(a.status)
	}
	for way, headers := range ways {
		for name, c := range map[string]struct {
			change url.Values
			status int
			code   string
		}{
			"revision in words":           {url.Values{"revision": {"one"}}, 422, "validation_failed"},
			"revision missing":            {url.Values{"revision": nil}, 422, "validation_failed"},
			"revision negative":           {url.Values{"revision": {"-1"}}, 422, "validation_failed"},
			"hash cut":                    {url.Values{"plan_hash": {r.PlanHash[:63]}}, 422, "validation_failed"},
			"hash missing":                {url.Values{"plan_hash": nil}, 422, "validation_failed"},
			"a copy of the parameters":    {url.Values{"starts_at": {s.At(1, 13, 0).Format(time.RFC3339)}}, 422, "validation_failed"},
			"another proposal's id":       {url.Values{"proposal_id": {other.ID}}, 422, "validation_failed"},
			"key missing":                 {url.Values{"idempotency_key": nil}, 400, "idempotency_key_missing"},
			"key with a blank":            {url.Values{"idempotency_key": {"a b"}}, 400, "idempotency_key_missing"},
			"key too long":                {url.Values{"idempotency_key": {strings.Repeat("k", 201)}}, 400, "idempotency_key_missing"},
			"key used for something else": {url.Values{"idempotency_key": {"used"}}, 422, "idempotency_key_reused"},
		} {
			for _, path := range []string{"/confirm", "/reject"} {
				f := decision(r, "fresh-"+way)
				for k, v := range c.change {
					if f[k] = v; v == nil {
						f.Del(k)
					}
				}
				a := b.post(card(r)+path, f, headers...)
				if a.status != c.status || !strings.Contains(a.body, c.code) || confirmable(t, a.body) || fragment(a) != (way == "fragment") {
					t.Errorf("%s %s, %s: %d, confirmable %v", way, path, name, a.status, confirmable(t, a.body))
				}
			}
		}
	}
	if s.state(r) != "proposed" || s.starts("apt_maria") != s.At(0, 10, 0).Format(time.RFC3339) {
		t.Fatalf("%s at %s", s.state(r), s.starts("apt_maria"))
	}
	if a := b.sendForm(mustForm(t, b.get(card(r)).body, "/confirm"), nil); a.status != http.StatusSeeOther || s.starts("apt_maria") != s.At(1, 9, 0).Format(time.RFC3339) {
		t.Errorf("as shown: %d, %s", a.status, s.starts("apt_maria"))
	}
}

// A1, A2, A3: only the stored plan that was approved runs. What an agent says afterwards, of the same visit, in other
// words or of another visit, is another proposal and waits for its own decision.
func TestAnApprovalIsOfOneStoredPlan(t *testing.T) {
	s := newDeskSite(t)
	bot := s.Agent()
	s.Exec(`INSERT INTO tokens (id, clinic, account, name, kind, decide, secret_hash) VALUES ('bot', 'hav', 'ana', 'bot', 'agent', false, decode(repeat('ab', 32), 'hex'))`)
	approved := s.Propose(bot, s.Move("apt_maria", s.At(1, 9, 0)))
	b := s.as("ana")
	page := b.get(card(approved))
	page.says(t, "Asked by the agent bot for you", "Agent bot on behalf of ana")
	before := s.Text(`SELECT encode(plan_bytes, 'hex') FROM revisions WHERE proposal = $1`, approved.ID)
	// The agent thinks again between the card and the click (A1), words it anew (A2), and asks for another visit (A3).
	again := s.Propose(bot, s.Move("apt_maria", s.At(1, 9, 30)))
	worded := s.Propose(bot, proposal.Proposing{Action: "reschedule_appointment@1", Reason: "maria  jensen, 9 o'clock",
		Parameters: map[string]any{"appointment": "apt_maria", "starts_at": s.At(1, 9, 0).Format("2006-01-02T15:04"), "notify": nil}})
	another := s.Propose(bot, s.Move("apt_soren", s.At(1, 11, 0)))
	if a := b.sendForm(mustForm(t, page.body, "/confirm"), nil); a.status != http.StatusSeeOther {
		t.Fatal(a.status)
	}
	if s.starts("apt_maria") != s.At(1, 9, 0).Format(time.RFC3339) || s.starts("apt_soren") != s.At(0, 10, 0).Format(time.RFC3339) {
		t.Errorf("maria at %s, soren at %s", s.starts("apt_maria"), s.starts("apt_soren"))
	}
	if after := s.Text(`SELECT encode(plan_bytes, 'hex') FROM revisions WHERE proposal = $1`, approved.ID); after != before {
		t.Error("the stored plan changed")
	}
	for _, r := range []proposal.Record{again, worded, another} {
		if s.state(r) != "proposed" {
			t.Errorf("%s is %s", r.ID, s.state(r))
		}
	}
	// What was approved for one visit's proposal does not approve the other's.
	f := mustForm(t, page.body, "/confirm")
	f.action = card(another) + "/confirm"
	if a := b.sendForm(f, nil); a.status != http.StatusUnprocessableEntity && a.status != http.StatusConflict || s.state(another) != "proposed" {
		t.Errorf("%d, %s", a.status, s.state(another))
	}
	if _, err := s.Desk.Desk.Get(context.Background(), bot, another.ID); err != nil {
		t.Error(err)
	}
}
