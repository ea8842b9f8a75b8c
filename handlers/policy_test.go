package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/db/desktest"
	"countersign/internal/proposal"
)

// asks sets what clinic hav asks of an action, behind the app's back.
func (s *deskSite) asks(action string, least, people any) {
	s.T.Helper()
	s.Exec(`INSERT INTO policies (clinic, action, version, least_risk, people, set_by, set_name)
		SELECT 'hav', $1, coalesce(max(version), 0) + 1, $2, $3, 'ada', 'ada' FROM policies WHERE clinic = 'hav' AND action = $1`, action, least, people)
}

func policyFields(action, version, least, people string) url.Values {
	return url.Values{"action": {action}, "version": {version}, "least_risk": {least}, "people": {people}, "reason": {"Too slow."}, "idempotency_key": {"key-" + version + least + people}}
}

func TestThePolicyPage(t *testing.T) {
	for way, headers := range ways {
		t.Run(way, func(t *testing.T) {
			s := newDeskSite(t)
			ada := s.as("ada")
			a := ada.get("/policy")
			a.says(t, "Cancel appointment", "Risk as computed, people by risk", "Always critical; 2 people", "Nobody has changed the policy yet")
			if !strings.Contains(a.body, `href="/policy" aria-current="page"`) {
				t.Error("the navigation does not lead here")
			}
			// What tightens counts at once; the second click of a double click changes nothing more.
			for range 2 {
				a = ada.post("/policy", policyFields("cancel_appointment@1", "0", "high", "2"), headers...)
				if way == "page" && (a.status != http.StatusSeeOther || a.header.Get("Location") != "/policy") || way == "fragment" && (a.status != http.StatusOK || !fragment(a)) {
					t.Fatalf("%d %s", a.status, a.body)
				}
			}
			ada.get("/policy").says(t, "At least high, 2 people. Version 1", "directly")
			if n := s.Text(`SELECT count(*) FROM policies`) + s.Text(`SELECT code FROM audit WHERE action = 'policy.change' AND outcome = 'success'`); n != "1-,->high,2" {
				t.Error(n)
			}
			// Nothing new; a tab that is behind.
			if a := ada.post("/policy", policyFields("cancel_appointment@1", "1", "high", "2"), headers...); a.status != http.StatusUnprocessableEntity {
				t.Error(a.status)
			} else {
				a.says(t, "That is what this clinic asks already")
			}
			if a := ada.post("/policy", policyFields("cancel_appointment@1", "0", "critical", ""), headers...); a.status != http.StatusConflict {
				t.Error(a.status)
			} else {
				a.says(t, "Somebody has changed this policy since you looked")
			}
			// What loosens becomes a card.
			a = ada.post("/policy", policyFields("cancel_appointment@1", "1", "", ""), headers...)
			id := s.Text(`SELECT id FROM proposals WHERE action = 'change_policy@1'`)
			if way == "page" && (a.status != http.StatusSeeOther || a.header.Get("Location") != "/proposals/"+id) {
				t.Fatalf("%d to %s", a.status, a.header.Get("Location"))
			}
			a = ada.get("/proposals/" + id)
			a.says(t, "Change this clinic’s policy for cancel appointment", "At least high", "No floor", "0 of 2 approvals", "2 people must approve", "It asks for less than before", "Too slow.")
			if confirmable(t, a.body) {
				t.Error("the admin who asked may confirm")
			}
			ben, bea := s.as("ben"), s.as("bea")
			a = ben.sendForm(mustForm(t, ben.get("/proposals/"+id).body, "/confirm"), nil, headers...)
			if way == "page" {
				a = ben.get("/proposals/" + id)
			}
			a.says(t, "1 of 2 approvals: you, ", "Another person must approve", "You have approved this already; it needs another person", "Approved")
			if confirmable(t, a.body) || s.Text(`SELECT max(version) FROM policies`) != "1" {
				t.Error("one person is enough")
			}
			a = bea.get("/proposals/" + id)
			a.says(t, "1 of 2 approvals: ben, ")
			bea.sendForm(mustForm(t, a.body, "/confirm"), nil, headers...)
			bea.get("/proposals/"+id).says(t, "Completed", "2 of 2 approvals: ben, ", "Policy changed")
			ada.get("/policy").says(t, "Risk as computed, people by risk. Version 2", "Proposal "+id)
		})
	}
}

func TestWhoMaySeeAndSetThePolicy(t *testing.T) {
	s := newDeskSite(t)
	ben, ana := s.as("ben"), s.as("ana")
	a := ben.get("/policy")
	a.says(t, "Policy", "History")
	if a.status != http.StatusOK || strings.Contains(a.body, "<select") {
		t.Errorf("%d, or a form for a reviewer", a.status)
	}
	if a := ana.get("/policy"); a.status != http.StatusForbidden || strings.Contains(a.body, `href="/policy"`) {
		t.Errorf("staff: %d", a.status)
	}
	for _, b := range []*browser{ana, ben} {
		if a := b.post("/policy", policyFields("cancel_appointment@1", "0", "high", "")); a.status != http.StatusForbidden {
			t.Error(a.status)
		}
	}
	if a := s.as("ada").get("/proposals/new?action=change_policy%401"); a.header.Get("Location") != "/policy" {
		t.Errorf("%d to %s", a.status, a.header.Get("Location"))
	}
	if n := s.Text(`SELECT count(*) FROM policies`); n != "0" {
		t.Error(n)
	}
}

// A9 of a policy card: it is not edited as a visit is, and its fresh preview is its own.
func TestAPolicyCardHasNoVisitForm(t *testing.T) {
	s := newDeskSite(t)
	s.asks("cancel_appointment@1", "high", nil)
	r := s.Propose(s.Actor("ada"), proposal.Proposing{Action: "change_policy@1", Parameters: map[string]any{"action": "cancel_appointment@1"}})
	ada := s.as("ada")
	if a := ada.get(card(r) + "/edit"); a.status != http.StatusSeeOther || a.header.Get("Location") != card(r) {
		t.Errorf("%d", a.status)
	}
	s.asks("cancel_appointment@1", "critical", nil)
	a := ada.get(card(r))
	a.says(t, "The clinic’s policy", "version 1 is now 2", "Prepare a new preview")
	if a := ada.sendForm(mustForm(t, a.body, "/revisions"), nil); a.status != http.StatusSeeOther {
		t.Fatal(a.status)
	}
	ada.get(card(r)).says(t, "revision 2", "At least critical")
	if out, err := s.Desk.Desk.Reject(t.Context(), s.Actor("ada"), desktest.Deciding(mustRecord(t, s, r.ID), "r")); err != nil || out.Record.State != proposal.StateRejected {
		t.Error(err)
	}
}

func mustRecord(t *testing.T, s *deskSite, id string) proposal.Record {
	t.Helper()
	r, err := s.Desk.Desk.Get(t.Context(), s.Actor("ben"), id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
