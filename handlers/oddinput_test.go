package handlers

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// A list asked with what no row can match is empty or refused, and never our mistake: ids that are none, and cursors that
// Go reads as a time and PostgreSQL would not.
func TestListsReadOddFiltersAndCursors(t *testing.T) {
	a := newAPISite(t)
	for _, id := range []string{"a/b", "1.5", " ", "'", "\u202e", strings.Repeat("x", 65)} {
		s := a.called("ana", http.MethodGet, "/appointments?patient="+url.QueryEscape(id), nil).want(t, 200, "")
		if items := s.object["items"].([]any); len(items) != 0 {
			t.Errorf("%q has visits: %s", id, s.body)
		}
	}
	b := a.as("ada")
	for _, at := range []string{"9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59"} {
		cursor := base64.RawURLEncoding.EncodeToString([]byte(at + " some-id"))
		for _, list := range []string{"/appointments", "/proposals", "/audit"} {
			a.called("ada", http.MethodGet, list+"?cursor="+cursor, nil).want(t, 200, "")
		}
		for _, page := range []string{"/audit", "/outbox"} {
			if got := b.get(page + "?cursor=" + cursor); got.status != http.StatusOK {
				t.Errorf("%s: %d", page, got.status)
			}
		}
	}
}

// A decision's proposal_id may be left out and must otherwise be the path's: an empty one is another one.
func TestADecisionNamesNoOtherProposal(t *testing.T) {
	a := newAPISite(t)
	r := a.Propose(a.Actor("ana"), a.Move("apt_maria", a.At(1, 9, 0)))
	for i, id := range []any{"", "another", 7, true, []any{r.ID}} {
		body := members{"revision": 1, "plan_hash": r.PlanHash, "idempotency_key": "odd-1", "proposal_id": id}
		for _, verb := range []string{"/confirm", "/reject"} {
			if s := a.called("ana", http.MethodPost, card(r)+verb, body).want(t, 422, "validation_failed"); !strings.Contains(s.body, `"proposal_id"`) {
				t.Errorf("%d: %s", i, s.body)
			}
		}
	}
	if a.state(r) != "proposed" {
		t.Fatal(a.state(r))
	}
	a.called("ana", http.MethodPost, card(r)+"/confirm", members{"revision": 1, "plan_hash": r.PlanHash, "idempotency_key": "odd-1", "proposal_id": r.ID}).want(t, 200, "")
}

// Whoever tries a decision on what cannot be an id leaves a row in the trail like any other refusal.
func TestARefusalOnWhatIsNoIDIsWrittenDown(t *testing.T) {
	a := newAPISite(t)
	body := members{"revision": 1, "plan_hash": strings.Repeat("0", 64), "idempotency_key": "odd-2"}
	for _, id := range []string{"%00", "%ff", "a.b"} {
		for _, verb := range []string{"/confirm", "/reject"} {
			a.called("ana", http.MethodPost, "/proposals/"+id+verb, body).want(t, 404, "not_found")
		}
	}
	if n := a.Text(`SELECT count(*) FROM audit WHERE outcome = 'denied' AND code = 'not_found' AND proposal IS NULL`); n != "6" {
		t.Errorf("%s rows for 6 refusals", n)
	}
	if strings.Contains(a.log.String(), "could not be audited") {
		t.Error("a refusal could not be audited")
	}
}

// Case A02: asking for what is another clinic's, or nobody's, looks the same and is written down the same.
func TestAskingForAnothersIsWrittenDown(t *testing.T) {
	a := newAPISite(t)
	theirs := a.Propose(a.Actor("ana"), a.Move("apt_maria", a.At(1, 9, 0)))
	b := a.as("lake_ana")
	rows := func() string {
		return a.Text(`SELECT count(*) FROM audit WHERE clinic = 'lake' AND outcome = 'denied' AND code = 'not_found' AND object IS NULL AND action LIKE '%.read'`)
	}
	n := 0
	for kind, id := range map[string]string{"proposals": theirs.ID, "appointments": "apt_maria", "patients": "maria"} {
		said := map[string]bool{}
		for _, asked := range []string{id, "nobodys", "a.b"} {
			said[a.called("lake_ana", http.MethodGet, "/"+kind+"/"+asked, nil).want(t, 404, "not_found").body] = true
			if got := b.get("/" + kind + "/" + asked); got.status != http.StatusNotFound {
				t.Errorf("%s %s: %d", kind, asked, got.status)
			}
			if n += 2; rows() != strconv.Itoa(n) {
				t.Fatalf("%s %s: %s rows, want %d", kind, asked, rows(), n)
			}
		}
		if len(said) != 1 {
			t.Errorf("%s: the answers differ", kind)
		}
	}
}
