package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/internal/proposal"
)

func grant(agent string, more ...string) url.Values {
	v := url.Values{"agent": {agent}, "reason": {"Dr Holm is ill"}, "minutes": {"15"}, "most": {"2"}}
	for i := 0; i+1 < len(more); i += 2 {
		v.Set(more[i], more[i+1])
	}
	return v
}

// Case D10, the whole way: an agent at its limit, an administrator who lets it make two more, and the end of that.
func TestAnAdministratorLetsAnAgentProposeMore(t *testing.T) {
	s := newAgentSite(t)
	s.deps.Desk.Limits = proposal.Limits{Agent: 1, Person: 1000, Clinic: 5000, Window: 10 * time.Minute}
	bot, hour := s.agent("bot"), 8
	ask := func(code string) {
		t.Helper()
		hour++
		a := args{"appointment": "apt_maria", "starts_at": s.At(1, hour, 0).Format(time.RFC3339)}
		if got := bot.call("propose_reschedule", a); got.code() != code {
			t.Fatalf("%q, want %q", got.words, code)
		}
	}
	ask("")
	id := s.Text(`SELECT created_by FROM proposals`)
	s.Exec(`UPDATE tokens SET name = 'Booking bot' WHERE id = $1`, id)
	ask("rate_limited")

	ada := s.as("ada")
	page := ada.get("/agents")
	page.says(t, "Booking bot", "1 proposal in 10 minutes")
	if !strings.Contains(page.body, `href="/agents" aria-current="page"`) {
		t.Error("the navigation does not lead here")
	}
	f := mustForm(t, page.body, "/agents/bypasses")
	if a := ada.sendForm(f, grant(id)); a.status != http.StatusSeeOther || a.header.Get("Location") != "/agents" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a := ada.sendForm(f, grant(id), htmx...); a.status != http.StatusOK || !fragment(a) || s.Text(`SELECT count(*) FROM bypasses`) != "1" {
		t.Errorf("a second click: %d", a.status)
	}
	if a := ada.sendForm(f, grant(id, "most", "3")); a.status != http.StatusUnprocessableEntity {
		t.Errorf("another one: %d", a.status)
	} else {
		a.says(t, "This agent may already propose more. End that first.")
	}
	ask("")
	ada.get("/agents").says(t, "1 of 2 used", "Dr Holm is ill", "Runs until")
	ask("")
	ask("rate_limited") // used up
	ada.get("/agents").says(t, "Ended: all used")
	if a := ada.sendForm(f, grant(id, "reason", "More")); a.status != http.StatusSeeOther {
		t.Fatalf("%d", a.status)
	}
	ask("")
	if a := ada.sendForm(mustForm(t, ada.get("/agents").body, "/end"), nil); a.status != http.StatusSeeOther {
		t.Fatalf("%d", a.status)
	}
	ask("rate_limited") // ended
	ada.get("/agents").says(t, "by ada")
	trail := s.Text(`SELECT string_agg(concat_ws(' ', action, outcome, code, object_kind, (object IN (SELECT id FROM bypasses))::text), '; ' ORDER BY at, id) FROM audit
		WHERE action LIKE 'bypass.%' OR action = 'proposal.propose' AND outcome = 'success'`)
	if want := "proposal.propose success proposal false; bypass.grant success bypass true; bypass.grant denied validation_failed; proposal.propose success bypass true; " +
		"proposal.propose success bypass true; bypass.grant success bypass true; proposal.propose success bypass true; bypass.end success bypass true"; trail != want {
		t.Errorf("the trail: %s", trail)
	}
	ada.get("/audit").says(t, "Let an agent propose more", "Ended an agent's bypass")
}

func TestWhoMayLookAfterAgents(t *testing.T) {
	s := newAgentSite(t)
	id := s.Text(`SELECT id FROM tokens WHERE account = 'ben'`)
	ada := s.as("ada")
	ada.post("/agents/bypasses", grant(id))
	bypass := s.Text(`SELECT id FROM bypasses`)
	for _, who := range []string{"ana", "ben"} {
		b := s.as(who)
		if strings.Contains(b.get("/queue").body, `href="/agents"`) {
			t.Errorf("%s is led to the agents", who)
		}
		for _, a := range []reply{b.get("/agents"), b.post("/agents/bypasses", grant(id)), b.post("/agents/bypasses/"+bypass+"/end", nil), b.post("/agents/bypasses", grant("nobody", "reason", ""))} {
			if a.status != http.StatusForbidden {
				t.Errorf("%s: %d", who, a.status)
			}
			a.says(t, "Only an administrator may look after the agents.", "permission_denied")
		}
	}
	for name, wrong := range map[string]url.Values{
		"agent": grant("ana"), "agent ": grant(s.Text(`SELECT id FROM tokens WHERE clinic = 'lake'`)), "agent  ": grant("no such id"), "agent   ": grant(s.Text(`SELECT id FROM tokens WHERE account = 'ana' AND kind = 'user'`)),
		"reason": grant(id, "reason", " "), "reason ": grant(id, "reason", strings.Repeat("x", 501)),
		"minutes": grant(id, "minutes", "0"), "minutes ": grant(id, "minutes", "61"), "minutes  ": grant(id, "minutes", "1.5"), "minutes   ": grant(id, "minutes", ""),
		"most": grant(id, "most", "201"), "most ": grant(id, "most", "-1"),
	} {
		a := ada.post("/agents/bypasses", wrong)
		if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, `id="`+strings.TrimSpace(name)+`-wrong"`) {
			t.Errorf("%s: %d", name, a.status)
		}
		for _, field := range []string{"minutes", "most"} {
			if !strings.Contains(a.body, `id="`+field+`" name="`+field+`" value="`+wrong.Get(field)+`"`) {
				t.Errorf("%s: what was typed is gone", name)
			}
		}
	}
	if a := ada.post("/agents/bypasses/byp_none/end", nil); a.status != http.StatusNotFound {
		t.Errorf("none: %d", a.status)
	}
	for range 2 { // the second changes nothing
		if a := ada.post("/agents/bypasses/"+bypass+"/end", nil); a.status != http.StatusSeeOther {
			t.Errorf("%d", a.status)
		}
	}
	if got := s.Text(`SELECT count(*) || ' ' || (SELECT count(*) FROM audit WHERE action = 'bypass.end' AND outcome = 'success') FROM bypasses`); got != "1 1" {
		t.Error(got)
	}
}
