package handlers

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/internal/account"
	"countersign/internal/refusal"
)

func behindProxy(d *Deps) { d.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }

// fill puts an id into every parameter of a route's path.
func fill(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, ":") {
			parts[i] = "some-id"
		}
	}
	return strings.TrimSuffix(strings.Join(parts, "/"), "*")
}

func TestAnotherSiteReachesNoRouteThatChangesAnything(t *testing.T) {
	s := newSite(t, siteOptions{routes: desk})
	b := s.signedIn("staff@demo.test")
	cookie := []string{"Cookie", plainCookie + "=" + b.cookie()}
	app := newServer(s.deps)
	n := 0
	for _, r := range append(app.routes(), desk(app)...) {
		if r.method == http.MethodGet || r.method == http.MethodHead {
			continue
		}
		n++
		for _, foreign := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Site", "", "Origin", "https://evil.example"}, {"Sec-Fetch-Site", "", "Origin", "null"}} {
			a := s.browser().post(fill(r.path), url.Values{"email": {"staff@demo.test"}}, append(foreign, cookie...)...)
			if r.access == api {
				if a.status != http.StatusUnauthorized {
					t.Errorf("%s %s with a cookie only: %d", r.method, r.path, a.status)
				}
				continue
			}
			if r.access == signed {
				if a.status != http.StatusUnauthorized && a.status != http.StatusNotFound {
					t.Errorf("%s %s without a signature: %d", r.method, r.path, a.status)
				}
				continue
			}
			if a.status != http.StatusForbidden || !strings.Contains(a.body, "another site") {
				t.Errorf("%s %s from %v: %d", r.method, r.path, foreign, a.status)
			}
		}
	}
	if n < 4 {
		t.Errorf("only %d routes walked", n)
	}
	if a := b.get("/test/desk"); a.status != http.StatusOK {
		t.Error("another site has signed somebody out")
	}
}

func TestNobodyComesInWithoutASession(t *testing.T) {
	s := newSite(t, siteOptions{routes: desk})
	app := newServer(s.deps)
	for _, r := range append(app.routes(), desk(app)...) {
		a := s.browser().send(r.method, fill(r.path), nil, "Sec-Fetch-Site", "same-origin")
		switch r.access {
		case page:
			if a.status != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), "/signin") {
				t.Errorf("%s %s: %d", r.method, r.path, a.status)
			}
		case api:
			if a.status != http.StatusUnauthorized {
				t.Errorf("%s %s: %d", r.method, r.path, a.status)
			}
		}
	}
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	s := newSite(t, siteOptions{routes: desk})
	ids := map[string]bool{}
	for _, path := range []string{"/signin", "/nowhere", "/healthz", "/readyz", "/test/desk", "/api/v1/nowhere", "/api/v1/test/who", "/static/countersign.css"} {
		a := s.browser().get(path)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; " +
				"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options":       "nosniff",
			"Referrer-Policy":              "no-referrer",
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Vary":                         "HX-Request",
			"Strict-Transport-Security":    "",
			"Server":                       "",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if static := strings.HasPrefix(path, "/static/"); (a.header.Get("Cache-Control") == "no-store") == static {
			t.Errorf("%s: Cache-Control is %q", path, a.header.Get("Cache-Control"))
		}
		if id := a.header.Get("X-Request-Id"); len(id) != 32 || ids[id] || strings.Contains(a.body, id) {
			t.Errorf("%s: request id %q", path, id)
		} else {
			ids[id] = true
		}
	}
	if a := s.browser().get("/healthz", "X-Request-Id", "chosen"); a.header.Get("X-Request-Id") == "chosen" {
		t.Error("anybody may choose the request id")
	}
}

func TestWhatIsNotThere(t *testing.T) {
	s := newSite(t, siteOptions{routes: desk})
	b := s.signedIn("staff@demo.test")
	bearer := []string{"Authorization", "Bearer demo-staff"}
	for _, c := range []struct {
		name    string
		got     reply
		status  int
		code    string
		contain string
	}{
		{"page", b.get("/nowhere"), 404, "not_found", "<!doctype html>"},
		{"fragment", b.get("/nowhere", "HX-Request", "true"), 404, "not_found", `id="refused"`},
		{"API", b.get("/api/v1/nowhere", bearer...), 404, "not_found", `"retry":"never"`},
		{"method", b.send("DELETE", "/signin", nil), 405, "method_not_allowed", ""},
		{"method, API", b.send("PUT", "/api/v1/test/echo", nil, bearer...), 405, "method_not_allowed", ""},
		{"form as JSON", b.send("POST", "/signin", strings.NewReader(`{}`), "Content-Type", "application/json"), 415, "unsupported_media_type", ""},
		{"form as multipart", b.send("POST", "/signin", strings.NewReader(`x`), "Content-Type", "multipart/form-data; boundary=x"), 415, "unsupported_media_type", ""},
		{"JSON as a form", b.post("/api/v1/test/echo", url.Values{"a": {"b"}}, bearer...), 415, "unsupported_media_type", ""},
		{"JSON in latin1", b.send("POST", "/api/v1/test/echo", strings.NewReader(`{}`), append(bearer, "Content-Type", "application/json; charset=latin1")...), 415, "unsupported_media_type", ""},
		{"a field twice", b.post("/signin?", url.Values{"email": {"a", "b"}}), 400, "malformed_request", ""},
		{"a parameter twice", b.get("/signin?next=/a&next=/b"), 400, "malformed_request", ""},
		{"NUL", b.post("/signin", url.Values{"email": {"a\x00"}}), 400, "malformed_request", ""},
		{"bad UTF-8", b.post("/signin", url.Values{"email": {"\xff"}}), 400, "malformed_request", ""},
		{"bad escape", b.send("POST", "/signin", strings.NewReader("email=%zz"), "Content-Type", "application/x-www-form-urlencoded"), 400, "malformed_request", ""},
		{"too much", b.post("/signin", url.Values{"email": {strings.Repeat("x", maxBody)}}), 413, "body_too_large", ""},
		{"too much, API", b.send("POST", "/api/v1/test/echo", strings.NewReader(`{"a":"`+strings.Repeat("x", maxBody)+`"}`), append(bearer, "Content-Type", "application/json")...), 413, "body_too_large", ""},
		{"bad JSON", b.send("POST", "/api/v1/test/echo", strings.NewReader(`{"a":1,"a":2}`), append(bearer, "Content-Type", "application/json")...), 400, "malformed_request", `"status":"error"`},
		{"good JSON", b.send("POST", "/api/v1/test/echo", strings.NewReader(`{"a":"<&>"}`), append(bearer, "Content-Type", "application/json; charset=UTF-8")...), 200, "", `{"a":"<&>"}`},
	} {
		if c.got.status != c.status || !strings.Contains(c.got.body, c.code) || !strings.Contains(c.got.body, c.contain) {
			t.Errorf("%s: %d %s", c.name, c.got.status, c.got.body)
		}
		if c.status == 405 && c.got.header.Get("Allow") == "" {
			t.Errorf("%s: no Allow", c.name)
		}
	}
}

func TestNextLeadsNowhereElse(t *testing.T) {
	for in, want := range map[string]string{
		"/":                             "/",
		"/queue":                        "/queue",
		"/?location=hav&date=2026-1":    "/?location=hav&date=2026-1",
		"/proposals/p_1#x":              "/proposals/p_1",
		"":                              "/",
		"queue":                         "/",
		"//evil.example":                "/",
		"///evil.example":               "/",
		`/\evil.example`:                "/",
		`\/evil.example`:                "/",
		"/%5cevil.example":              "/",
		"/%2fevil.example":              "/",
		"/.//evil.example":              "/",
		"https://evil.example/":         "/",
		"javascript:alert(1)":           "/",
		"/\t/evil.example":              "/",
		"/\n/evil.example":              "/",
		"/queue\r\nX: y":                "/",
		"/\x00":                         "/",
		"/\u2028":                       "/",
		"/signin?next=/":                "/",
		"/signout":                      "/",
		"/./signout":                    "/",
		"/" + strings.Repeat("x", 3000): "/",
	} {
		if got := localPath(in); got != want {
			t.Errorf("%q leads to %q, want %q", in, got, want)
		}
	}
	s := newSite(t, siteOptions{})
	for _, evil := range []string{"//evil.example", `/\evil.example`, "https://evil.example"} {
		a := s.browser().post("/signin", url.Values{"email": {"staff@demo.test"}, "password": {account.DemoPassword}, "next": {evil}})
		if a.header.Get("Location") != "/" {
			t.Errorf("signing in leads to %q", a.header.Get("Location"))
		}
	}
}

// What somebody types, wherever they type it, is in no log: not in errors, not in panics.
func TestNothingTypedIsLogged(t *testing.T) {
	const canary = "Canary-Jensen"
	s := newSite(t, siteOptions{routes: func(app *Server) []route {
		return append(desk(app),
			route{method: "POST", path: "/test/panic", access: page, handle: func(c echo.Context) error { panic(form(c).Get("note")) }},
			route{method: "POST", path: "/test/index", access: page, handle: func(c echo.Context) error { return fmt.Errorf("no %v", []int{}[len(form(c))]) }},
			route{method: "POST", path: "/test/error", access: page, handle: func(c echo.Context) error {
				_, err := time.Parse(time.DateOnly, form(c).Get("note"))
				return fmt.Errorf("reading a date: %w", err)
			}},
			route{method: "GET", path: "/test/patients/:id", access: page, handle: func(c echo.Context) error { return refusal.New(refusal.NotFound) }},
		)
	}})
	b := s.signedIn("staff@demo.test")
	typed := url.Values{"note": {canary}, "email": {canary + "@demo.test"}, "password": {canary}, "next": {"/" + canary}}
	var all []reply
	for _, path := range []string{"/signin", "/test/panic", "/test/index", "/test/error", "/test/note", "/nowhere/" + canary, "/signin?q=" + canary} {
		all = append(all, b.post(path, typed, "User-Agent", canary, "HX-Current-URL", "http://x/"+canary, "X-Request-Id", canary))
	}
	all = append(all, b.get("/test/patients/"+canary+"?q="+canary), b.get("/"+canary), b.send(strings.ToUpper(canary), "/signin", nil),
		b.send("POST", "/api/v1/test/echo", strings.NewReader(`{"`+canary+`"`), "Authorization", "Bearer demo-staff", "Content-Type", "application/json"),
		b.get("/api/v1/test/who", "Authorization", "Bearer "+canary))
	log := s.log.String()
	if strings.Contains(strings.ToLower(log), "canary") {
		t.Errorf("typed text is in the log:\n%s", log)
	}
	for _, want := range []string{`"route":"/test/patients/:id"`, `"actor":"acc_staff-demo-test"`, `"clinic":"havnegade"`, `"stack":`, `index out of range`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s", want)
		}
	}
	for _, a := range all {
		if strings.Contains(a.body, "goroutine") || a.status >= 500 && strings.Contains(a.body, canary) {
			t.Errorf("an answer tells too much: %s", a.body)
		}
	}
}

func TestReadyWhenMigrated(t *testing.T) {
	s := newSite(t, siteOptions{})
	if a := s.browser().get("/readyz"); a.status != http.StatusOK {
		t.Errorf("migrated: %d", a.status)
	}
	s.sql(`DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)`)
	if a := s.browser().get("/readyz"); a.status != http.StatusServiceUnavailable {
		t.Errorf("a migration is missing: %d", a.status)
	}
	if a := s.browser().get("/healthz"); a.status != http.StatusOK {
		t.Errorf("healthz: %d", a.status)
	}
}
