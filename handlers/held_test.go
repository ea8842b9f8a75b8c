package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/internal/account"
)

// idle is a site as its users find it after lunch: the same database, an hour and more later.
func (s *site) idle() *site {
	return newSite(s.t, siteOptions{db: s.db, shift: 61 * time.Minute, routes: desk})
}

// carry is a browser of the other site with this one's cookie.
func (b *browser) carry(to *site) *browser {
	other := to.browser()
	u, _ := url.Parse(to.url)
	other.Jar.SetCookies(u, []*http.Cookie{{Name: plainCookie, Value: b.cookie(), Path: "/"}})
	return other
}

func TestTypedFieldsSurviveSigningInAgain(t *testing.T) {
	s := newSite(t, siteOptions{routes: desk})
	typed := url.Values{"note": {"Maria Canary asks for the afternoon"}}
	s.signedInStale(t, func(b *browser, later *site) {
		a := b.post("/test/note", typed)
		if a.status != http.StatusSeeOther || a.header.Get("Location") != "/signin?next=%2Ftest%2Fform" {
			t.Fatalf("idle too long: %d to %q", a.status, a.header.Get("Location"))
		}
		page := b.get(a.header.Get("Location"))
		if !strings.Contains(page.body, "What you typed is kept") || strings.Contains(page.body, "Canary") {
			t.Error("the sign-in page does not say that it is kept, or shows it")
		}
		a = b.post("/signin", url.Values{"email": {"staff@demo.test"}, "password": {account.DemoPassword}, "next": {"/"}})
		if a.header.Get("Location") != "/test/form" {
			t.Errorf("after signing in: to %q", a.header.Get("Location"))
		}
		for range 2 {
			if a := b.get("/test/form"); a.body != typed.Get("note") {
				t.Errorf("the form holds %q", a.body)
			}
		}
		if a := b.post("/test/note", typed); a.status != http.StatusSeeOther || a.header.Get("Location") != "/test/desk" {
			t.Errorf("sending it: %d", a.status)
		}
		if a := b.get("/test/form"); a.body != "" {
			t.Errorf("sent already, and still there: %q", a.body)
		}
	})
	// HTMX says which page the form was on.
	s.signedInStale(t, func(b *browser, later *site) {
		a := b.post("/test/note", typed, "HX-Request", "true", "HX-Current-URL", later.url+"/test/form?day=1")
		if a.status != http.StatusUnauthorized || a.header.Get("HX-Redirect") != "/signin?next=%2Ftest%2Fform%3Fday%3D1" {
			t.Errorf("HTMX: %d to %q", a.status, a.header.Get("HX-Redirect"))
		}
	})
	// Somebody else at the same desk does not get it.
	s.signedInStale(t, func(b *browser, later *site) {
		b.post("/test/note", typed)
		a := b.post("/signin", url.Values{"email": {"staff2@demo.test"}, "password": {account.DemoPassword}})
		if a.header.Get("Location") != "/" {
			t.Errorf("somebody else is led to %q", a.header.Get("Location"))
		}
		if a := b.get("/test/form"); a.status != http.StatusOK || a.body != "" {
			t.Errorf("somebody else sees %q", a.body)
		}
	})
	// It does not wait for ever.
	s.signedInStale(t, func(b *browser, later *site) {
		b.post("/test/note", typed)
		late := newSite(t, siteOptions{db: s.db, shift: 2 * time.Hour, routes: desk, deps: func(d *Deps) {
			d.Now = func() time.Time { return time.Now().Add(time.Hour) }
		}})
		b = b.carry(late)
		b.post("/signin", url.Values{"email": {"staff@demo.test"}, "password": {account.DemoPassword}})
		if a := b.get("/test/form"); a.status != http.StatusOK || a.body != "" {
			t.Errorf("an hour later: %q", a.body)
		}
	})
	if strings.Contains(s.log.String(), "Canary") {
		t.Error("what was typed is in the log")
	}
}

// signedInStale gives a browser whose session has just run out.
func (s *site) signedInStale(t *testing.T, do func(b *browser, later *site)) {
	t.Helper()
	later := s.idle()
	do(s.signedIn("staff@demo.test").carry(later), later)
}

// A stranger, or somebody signed out, must not fill the table.
func TestAStrangersFieldsAreNotKept(t *testing.T) {
	s := newSite(t, siteOptions{routes: desk})
	b := s.signedIn("staff@demo.test")
	id := b.cookie()
	b.post("/signout", nil)
	for _, headers := range [][]string{nil, {"Cookie", plainCookie + "=" + id}, {"Cookie", plainCookie + "=made-up"}} {
		if a := s.browser().post("/test/note", url.Values{"note": {"x"}}, headers...); a.status != http.StatusSeeOther || a.header.Get("Set-Cookie") != "" {
			t.Errorf("%d %s", a.status, a.header.Get("Set-Cookie"))
		}
	}
	if n := s.text(`SELECT count(*)::text FROM sessions`); n != "0" {
		t.Errorf("%s sessions", n)
	}
}
