package handlers

import (
	"net/http"
	"strings"
	"testing"
)

// A stored plan that is not the one that was hashed is not shown as a plan: its card says so, and offers nothing that
// would run it or build on it. It can be rejected.
func TestTheCardOfATamperedPlan(t *testing.T) {
	s := newDeskSite(t)
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	s.Exec(`ALTER TABLE revisions DISABLE TRIGGER never_changes; UPDATE revisions SET plan_bytes = plan_bytes || ' '; ALTER TABLE revisions ENABLE TRIGGER never_changes`)
	b := s.as("ana")
	for way, headers := range ways {
		for path, want := range map[string]int{"": http.StatusOK, "/edit": http.StatusSeeOther, "/edit?starts_at=2027-03-28T10:00": http.StatusSeeOther} {
			a := b.get(card(r)+path, headers...)
			if path != "" && way == "fragment" {
				want = http.StatusNoContent // and HTMX is led to the card
			}
			if a.status != want {
				t.Errorf("%s %q: %d", way, path, a.status)
			}
			if path != "" {
				continue
			}
			a.says(t, "The stored plan is not the one that was proposed", "There is no Confirm here")
			for _, no := range []string{"0001", "Nobody will be told", card(r) + "/edit", card(r) + "/revisions"} {
				if strings.Contains(a.body, no) {
					t.Errorf("%s: the card holds %q", way, no)
				}
			}
			if confirmable(t, a.body) {
				t.Errorf("%s: it can be confirmed", way)
			}
			mustForm(t, a.body, "/reject")
		}
		for path, f := range map[string]string{"/confirm": "a-" + way, "/revisions": ""} {
			fields := decision(r, f)
			if f == "" {
				fields.Del("idempotency_key")
			}
			if a := b.post(card(r)+path, fields, headers...); a.status != http.StatusConflict || confirmable(t, a.body) || strings.Contains(a.body, card(r)+"/revisions") {
				t.Errorf("%s %s: %d", way, path, a.status)
			}
		}
	}
	for _, page := range []string{"/queue", "/", "/appointments/apt_maria", "/audit"} {
		if a := b.get(page); a.status != http.StatusOK {
			t.Errorf("%s: %d", page, a.status)
		}
	}
	if a := b.post(card(r)+"/reject", decision(r, "no")); a.status != http.StatusSeeOther || s.state(r) != "rejected" {
		t.Errorf("rejecting: %d, %s", a.status, s.state(r))
	}
	if a := b.get(card(r)); a.status != http.StatusOK || strings.Contains(a.body, "0001") {
		t.Errorf("the rejected card: %d", a.status)
	}
}
