package handlers

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// picture is every row of every table but those that looking may write: the trail, and what a session holds.
func (s *deskSite) picture() string {
	s.T.Helper()
	all := ""
	for _, table := range strings.Split(s.Text(`SELECT string_agg(tablename, ' ' ORDER BY tablename) FROM pg_tables WHERE schemaname = 'public'
		AND tablename NOT IN ('audit', 'unsealed', 'cards', 'showings', 'sessions', 'signin_failures', 'goose_db_version')`), " ") {
		all += table + " " + s.Text(`SELECT coalesce(md5(string_agg(t::text, '|' ORDER BY t::text)), '') FROM `+table+` t`) + "\n"
	}
	return all
}

// Case A06: no address changes anything by being looked at, whatever id it names; what changes is a POST, and there is
// no second address for it.
func TestLookingChangesNothing(t *testing.T) {
	s := newDeskSite(t)
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	b := s.as("ana")
	before := s.picture()
	if strings.Count(before, "\n") < 15 {
		t.Fatalf("few tables:\n%s", before)
	}
	query := "?action=cancel&id=apt_maria&appointment=apt_maria&reason_code=other&status=cancelled&version=1&revision=1&plan_hash=" + r.PlanHash + "&idempotency_key=k"
	routes := newServer(s.deps).routes()
	look := func(path string, there bool) {
		t.Helper()
		if a := b.get(path+query, "Sec-Fetch-Site", "same-origin"); a.status >= 500 || !there && a.status != http.StatusNotFound && a.status != http.StatusMethodNotAllowed {
			t.Errorf("GET %s: %d", path, a.status)
		}
	}
	for _, each := range routes {
		if each.access != page || each.path == eventsPath { // a stream does not end, and only tells
			continue
		}
		read := slices.ContainsFunc(routes, func(other route) bool { return other.path == each.path && other.method == http.MethodGet })
		for _, id := range []string{r.ID, "apt_maria", "maria"} {
			look(strings.ReplaceAll(each.path, ":id", id), read)
		}
	}
	for _, path := range []string{"/cancel", "/appointments/apt_maria/cancel", "/appointments/apt_maria/delete"} {
		look(path, false)
	}
	if after := s.picture(); after != before {
		t.Errorf("looking changed\n%s\nto\n%s", before, after)
	}
	// The picture sees a change when there is one.
	if b.sendForm(mustForm(t, b.get(card(r)).body, "/confirm"), nil); s.picture() == before {
		t.Error("the picture does not see a confirmed move")
	}
}

// Case A07: the source of a card holds of the patient what the card shows, and nothing of anybody else.
func TestTheSourceOfACardHoldsOnlyWhatItShows(t *testing.T) {
	s := newDeskSite(t)
	s.Exec(`UPDATE patients SET phone = '+45 00 55 66 77', language = 'da-x-secret', search_text = 'folded canary' WHERE clinic = 'hav' AND id = 'maria'`)
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(0, 14, 0)))
	for way, headers := range ways {
		for _, path := range []string{card(r), card(r) + "/edit", "/appointments/apt_maria"} {
			a := s.as("ana").get(path, headers...)
			if a.status != http.StatusOK || !strings.Contains(a.body, "100234") {
				t.Fatalf("%s %s: %d", way, path, a.status)
			}
			for _, hidden := range []string{"55 66 77", "da-x-secret", "folded canary", "Groß", "100300", "20 03 00", "password", "search_text"} {
				if strings.Contains(a.body, hidden) {
					t.Errorf("%s %s: the source holds %q", way, path, hidden)
				}
			}
		}
	}
}
