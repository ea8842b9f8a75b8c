package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/internal/account"
)

// works reports whether the session id opens a guarded page.
func (s *site) works(id string) bool {
	s.t.Helper()
	switch a := s.browser().get("/test/desk", "Cookie", plainCookie+"="+id); a.status {
	case http.StatusOK:
		return true
	case http.StatusSeeOther:
		return false
	default:
		s.t.Fatalf("status %d: %s", a.status, a.body)
		return false
	}
}

func TestSigningInAgainStartsANewSession(t *testing.T) {
	s := newSite(t, siteOptions{routes: desk})
	b := s.signedIn("staff@demo.test")
	first := b.cookie()
	if !s.works(first) {
		t.Fatal("the session does not work")
	}
	if a := b.post("/signin", url.Values{"email": {"staff2@demo.test"}, "password": {account.DemoPassword}}); a.status != http.StatusSeeOther {
		t.Fatalf("signing in again: %d", a.status)
	}
	if b.cookie() == first || s.works(first) {
		t.Error("the id from before signing in still works")
	}
	if !s.works(b.cookie()) {
		t.Error("the new id does not work")
	}
}

// An id that somebody planted in the browser before signing in must not become a session.
func TestAPlantedIDIsNotTakenOver(t *testing.T) {
	s := newSite(t, siteOptions{routes: desk})
	const planted = "planted-by-somebody-else"
	b := s.browser()
	a := b.post("/signin", url.Values{"email": {"staff@demo.test"}, "password": {account.DemoPassword}}, "Cookie", plainCookie+"="+planted)
	if a.status != http.StatusSeeOther || strings.Contains(a.header.Get("Set-Cookie"), planted) || s.works(planted) {
		t.Errorf("the planted id was taken over: %d %s", a.status, a.header.Get("Set-Cookie"))
	}
}

func TestADisabledPersonIsOutAtTheNextRequest(t *testing.T) {
	s := newSite(t, siteOptions{routes: desk})
	b := s.signedIn("staff@demo.test")
	tokenWorks := func() int { return s.browser().get("/api/v1/test/who", "Authorization", "Bearer demo-staff").status }
	if !s.works(b.cookie()) || tokenWorks() != http.StatusOK {
		t.Fatal("not in")
	}
	// By an operator's own statement: nothing in this process has been told.
	s.sql(`UPDATE accounts SET disabled_at = now() WHERE email = 'staff@demo.test'`)
	if s.works(b.cookie()) {
		t.Error("the session still works")
	}
	if got := tokenWorks(); got != http.StatusUnauthorized {
		t.Errorf("the token answers %d", got)
	}
	if a := b.post("/signin", url.Values{"email": {"staff@demo.test"}, "password": {account.DemoPassword}}); a.status != http.StatusUnprocessableEntity {
		t.Errorf("signing in answers %d", a.status)
	}
	other := s.signedIn("staff2@demo.test")
	if err := s.deps.Accounts.Disable(t.Context(), "Staff2@demo.test"); err != nil {
		t.Fatal(err)
	}
	if s.works(other.cookie()) {
		t.Error("the session of somebody disabled by command still works")
	}
}

func TestSessionsEndWhenIdleAndInAnyCase(t *testing.T) {
	s := newSite(t, siteOptions{routes: desk})
	id := s.signedIn("staff@demo.test").cookie()
	for _, c := range []struct {
		later time.Duration
		works bool
	}{{59 * time.Minute, true}, {59*time.Minute + 59*time.Minute, true}, {2*59*time.Minute + 61*time.Minute, false}} {
		if got := newSite(t, siteOptions{db: s.db, shift: c.later, routes: desk}).works(id); got != c.works {
			t.Errorf("%v after signing in, used in between: works = %v", c.later, got)
		}
	}
	id = s.signedIn("staff@demo.test").cookie()
	s.sql(`UPDATE sessions SET seen_at = now() + interval '12 hours'`)
	if newSite(t, siteOptions{db: s.db, shift: 12*time.Hour + time.Second, routes: desk}).works(id) {
		t.Error("a session outlives twelve hours")
	}
}

func TestSeenIsWrittenAtMostOnceAMinute(t *testing.T) {
	s := newSite(t, siteOptions{routes: desk})
	id := s.signedIn("staff@demo.test").cookie()
	writes := func(shift time.Duration) (changed bool) {
		before := s.text(`SELECT seen_at::text FROM sessions`)
		newSite(t, siteOptions{db: s.db, shift: shift, routes: desk}).works(id)
		return s.text(`SELECT seen_at::text FROM sessions`) != before
	}
	if writes(30 * time.Second) {
		t.Error("written after half a minute")
	}
	before := s.text(`SELECT seen_at::text FROM sessions`)
	later := newSite(t, siteOptions{db: s.db, shift: 30 * time.Minute, routes: desk})
	if a := later.browser().get(dayPoll, "Cookie", plainCookie+"="+id); a.status == http.StatusSeeOther || s.text(`SELECT seen_at::text FROM sessions`) != before {
		t.Errorf("an open page kept the session alive by itself, or was not let in: %d", a.status)
	}
	if !writes(61 * time.Second) {
		t.Error("not written after a minute")
	}
}

func TestOnlyAHashOfTheSessionIsStored(t *testing.T) {
	s := newSite(t, siteOptions{routes: desk})
	id := s.signedIn("staff@demo.test").cookie()
	if len(id) != 43 {
		t.Errorf("an id of %d characters is not 256 bits", len(id))
	}
	if n := s.text(`SELECT count(*)::text FROM sessions WHERE id_hash::text LIKE '%' || encode(convert_to($1, 'UTF8'), 'hex') || '%' OR convert_from(data, 'UTF8') LIKE '%' || $1 || '%'`, id); n != "0" {
		t.Error("the id itself is stored")
	}
}

func TestAHostCookieOnHTTPS(t *testing.T) {
	s := newSite(t, siteOptions{routes: desk, deps: behindProxy})
	a := s.browser().post("/signin", url.Values{"email": {"staff@demo.test"}, "password": {account.DemoPassword}}, "X-Forwarded-Proto", "https")
	set := a.header.Get("Set-Cookie")
	if !strings.HasPrefix(set, "__Host-countersign=") || !strings.Contains(set, "Secure") || !strings.Contains(set, "Path=/") || strings.Contains(set, "Domain") {
		t.Errorf("on https: %q", set)
	}
	if a.header.Get("Strict-Transport-Security") == "" {
		t.Error("on https: no Strict-Transport-Security")
	}
	direct := newSite(t, siteOptions{db: s.db, routes: desk})
	if a := direct.browser().get("/signin", "X-Forwarded-Proto", "https"); a.header.Get("Strict-Transport-Security") != "" {
		t.Error("anybody may say https")
	}
}

func TestDemoSecretsWorkOnlyInADemo(t *testing.T) {
	s := newSite(t, siteOptions{routes: desk})
	id := s.signedIn("staff@demo.test").cookie()
	bearer := []string{"Authorization", "Bearer demo-staff"}
	if s.browser().get("/api/v1/test/who", bearer...).status != http.StatusOK {
		t.Fatal("the demo token does not work in the demo")
	}
	later := newSite(t, siteOptions{db: s.db, rules: account.DefaultRules, routes: desk})
	if later.works(id) {
		t.Error("a demo session works outside the demo")
	}
	if a := later.browser().get("/api/v1/test/who", bearer...); a.status != http.StatusUnauthorized {
		t.Errorf("a demo token answers %d outside the demo", a.status)
	}
	a := later.browser().post("/signin", url.Values{"email": {"staff@demo.test"}, "password": {account.DemoPassword}})
	if a.status != http.StatusUnprocessableEntity {
		t.Errorf("a demo account answers %d outside the demo", a.status)
	}
	if strings.Contains(a.body, account.DemoPassword) {
		t.Error("the demo's password is shown outside the demo")
	}
	secret, err := s.deps.Accounts.AddToken(t.Context(), "staff@demo.test", account.Token{Kind: "user", Decide: true})
	if err != nil {
		t.Fatal(err)
	}
	if a := later.browser().get("/api/v1/test/who", "Authorization", "Bearer "+secret); a.status != http.StatusUnauthorized {
		t.Errorf("a token of a demo account answers %d outside the demo", a.status)
	}
	if !newSite(t, siteOptions{db: s.db, routes: desk}).works(id) {
		t.Error("the session is gone in the next demo")
	}
}
