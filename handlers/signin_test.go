package handlers

import (
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"countersign/internal/account"
)

func TestSigningInAndOut(t *testing.T) {
	s := newSite(t, siteOptions{routes: desk})
	b := s.browser()
	if a := b.get("/test/desk"); a.status != http.StatusSeeOther || a.header.Get("Location") != "/signin?next=%2Ftest%2Fdesk" {
		t.Fatalf("not signed in: %d to %q", a.status, a.header.Get("Location"))
	}
	if a := b.get("/test/desk", "HX-Request", "true"); a.status != http.StatusUnauthorized || a.header.Get("HX-Redirect") != "/signin?next=%2Ftest%2Fdesk" {
		t.Fatalf("not signed in, HTMX: %d to %q", a.status, a.header.Get("HX-Redirect"))
	}
	a := b.post("/signin", url.Values{"email": {" Staff@Demo.test "}, "password": {account.DemoPassword}, "next": {"/test/desk"}})
	if a.status != http.StatusSeeOther || a.header.Get("Location") != "/test/desk" {
		t.Fatalf("sign-in: %d to %q", a.status, a.header.Get("Location"))
	}
	set := a.header.Get("Set-Cookie")
	for _, want := range []string{"countersign=", "HttpOnly", "SameSite=Lax", "Path=/"} {
		if !strings.Contains(set, want) {
			t.Errorf("cookie %q lacks %s", set, want)
		}
	}
	if strings.Contains(set, "Max-Age") || strings.Contains(set, "Secure") || strings.Contains(set, "Domain") {
		t.Errorf("cookie %q: on loopback http it is plain, and it ends with the browser", set)
	}
	if a := b.get("/test/desk"); a.status != http.StatusOK || a.body != "Sofie Lind Havnegade" {
		t.Fatalf("signed in: %d %s", a.status, a.body)
	}
	if a := b.get("/signin?next=/test/desk"); a.status != http.StatusSeeOther || a.header.Get("Location") != "/test/desk" {
		t.Errorf("signed in already: %d to %q", a.status, a.header.Get("Location"))
	}
	old := b.cookie()
	a = b.post("/signout", nil)
	if a.status != http.StatusSeeOther || a.header.Get("Location") != "/signin" || !strings.Contains(a.header.Get("Clear-Site-Data"), `"storage"`) {
		t.Fatalf("sign-out: %d %v", a.status, a.header)
	}
	if b.cookie() != "" {
		t.Error("the cookie is still there")
	}
	replay := s.browser()
	for _, headers := range [][]string{{"Cookie", "countersign=" + old}, {"Cookie", "countersign=" + old, "HX-Request", "true"}} {
		if a := replay.get("/test/desk", headers...); a.status != http.StatusSeeOther && a.status != http.StatusUnauthorized {
			t.Errorf("a signed-out cookie still works: %d", a.status)
		}
	}
}

func TestWrongPasswordAndUnknownAddressAreAlike(t *testing.T) {
	s := newSite(t, siteOptions{})
	// argon2id takes 46 MiB; a clock would measure the machine.
	measure := func(email, password string) (reply, uint64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		a := s.browser().post("/signin", url.Values{"email": {email}, "password": {password}})
		runtime.ReadMemStats(&after)
		return a, after.TotalAlloc - before.TotalAlloc
	}
	wrong, wrongTook := measure("staff@demo.test", "not the password at all")
	unknown, unknownTook := measure("nobody@demo.test", "not the password at all")
	if wrong.status != http.StatusUnprocessableEntity || unknown.status != http.StatusUnprocessableEntity {
		t.Fatalf("status %d and %d, want 422", wrong.status, unknown.status)
	}
	if strings.Replace(wrong.body, `value="staff@demo.test"`, "", 1) != strings.Replace(unknown.body, `value="nobody@demo.test"`, "", 1) {
		t.Error("the answers differ")
	}
	if hash := uint64(46 << 20); wrongTook < hash || unknownTook < hash {
		t.Errorf("wrong password %d bytes of work, unknown address %d: one can tell", wrongTook, unknownTook)
	}
	if strings.Contains(wrong.body, "not the password") {
		t.Error("the password comes back")
	}
}

func TestGuessingIsSlowedPerAccountAndPerAddress(t *testing.T) {
	s := newSite(t, siteOptions{limits: account.Limits{Window: 15 * time.Minute, PerAccount: 3, PerAddress: 6}})
	try := func(email, password string) reply {
		return s.browser().post("/signin", url.Values{"email": {email}, "password": {password}})
	}
	for range 3 {
		if a := try("staff@demo.test", "wrong"); a.status != http.StatusUnprocessableEntity {
			t.Fatalf("within the limit: %d", a.status)
		}
	}
	a := try("staff@demo.test", account.DemoPassword)
	if a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" {
		t.Fatalf("beyond the account's limit, right password: %d, Retry-After %q", a.status, a.header.Get("Retry-After"))
	}
	if a := try("staff2@demo.test", account.DemoPassword); a.status != http.StatusSeeOther {
		t.Fatalf("another account: %d", a.status)
	}
	for range 3 {
		try("nobody@demo.test", "wrong")
	}
	if a := try("staff2@demo.test", account.DemoPassword); a.status != http.StatusTooManyRequests {
		t.Fatalf("beyond the address's limit: %d", a.status)
	}
	later := newSite(t, siteOptions{db: s.db, shift: 16 * time.Minute, limits: account.Limits{Window: 15 * time.Minute, PerAccount: 3, PerAddress: 6}})
	if a := later.browser().post("/signin", url.Values{"email": {"staff@demo.test"}, "password": {account.DemoPassword}}); a.status != http.StatusSeeOther {
		t.Fatalf("after the window: %d", a.status)
	}
}

// Twenty guesses at once must not all slip through between the look and the note.
func TestManyGuessesAtOnceStayWithinTheLimit(t *testing.T) {
	s := newSite(t, siteOptions{limits: account.Limits{Window: time.Hour, PerAccount: 3, PerAddress: 100}})
	looked := make(chan bool)
	for range 20 {
		go func() {
			a := s.browser().post("/signin", url.Values{"email": {"staff@demo.test"}, "password": {"wrong"}})
			looked <- a.status == http.StatusUnprocessableEntity
		}()
	}
	n := 0
	for range 20 {
		if <-looked {
			n++
		}
	}
	if n > 3 {
		t.Errorf("%d passwords were looked at, the limit is 3", n)
	}
}
