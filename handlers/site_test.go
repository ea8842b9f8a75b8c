package handlers

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/db/dbtest"
	"countersign/db/desktest"
	"countersign/internal/account"
	"countersign/internal/audit"
	"countersign/internal/proposal"
)

// site is a running application on a database of its own, with the demo's accounts in two clinics.
type site struct {
	t    *testing.T
	url  string
	db   string // superuser's URL
	deps Deps
	log  *logBuffer
	// words are the sentences that the assistant of a desk site understands.
	words script
}

type siteOptions struct {
	rules  account.Rules // zero = demo with the product's limits
	limits account.Limits
	shift  time.Duration         // of the database clock
	db     string                // an existing database; "" = a new one
	routes func(*Server) []route // further routes
	deps   func(*Deps)           // changes
}

// newSite starts the application.
func newSite(t *testing.T, o siteOptions) *site {
	t.Helper()
	ctx := context.Background()
	s := &site{t: t, db: o.db, log: &logBuffer{}}
	if s.db == "" {
		s.db = dbtest.URL(t, db.Migrate)
		s.sql(`INSERT INTO clinics (id, name) VALUES ('havnegade', 'Havnegade'), ('lakeview', 'Lakeview')`)
	}
	d, err := db.Open(ctx, s.db, db.Options{ClockShift: o.shift, MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if o.rules == (account.Rules{}) {
		o.rules = account.DefaultRules
		o.rules.Demo = true
	}
	if o.limits == (account.Limits{}) {
		o.limits = account.DefaultLimits
	}
	accounts, err := account.NewService(d, rand.Reader, o.rules.Demo, o.limits)
	if err != nil {
		t.Fatal(err)
	}
	if err := accounts.AddDemo(ctx, "havnegade", "lakeview"); err != nil {
		t.Fatal(err)
	}
	s.deps = Deps{DB: d, AuditKey: audit.KeyOfProcess(rand.Reader), Desk: &proposal.Service{Store: db.Proposals{DB: d}, IDs: desktest.ID}, Accounts: accounts, Sessions: d, Rules: o.rules, Ready: d.Ready, Random: rand.Reader, Now: time.Now,
		Log: slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Closing: ctx}
	if o.deps != nil {
		o.deps(&s.deps)
	}
	app := newServer(s.deps)
	routes := app.routes()
	if o.routes != nil {
		routes = append(routes, o.routes(app)...)
	}
	server := httptest.NewServer(app.echo(routes))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// sql runs statements as the superuser.
func (s *site) sql(query string, args ...any) {
	s.t.Helper()
	pool, err := sql.Open("postgres", s.db)
	if err != nil {
		s.t.Fatal(err)
	}
	defer pool.Close()
	if _, err := pool.Exec(query, args...); err != nil {
		s.t.Fatal(err)
	}
}

// text is the one value of a query, as the superuser.
func (s *site) text(query string, args ...any) (value string) {
	s.t.Helper()
	pool, err := sql.Open("postgres", s.db)
	if err != nil {
		s.t.Fatal(err)
	}
	defer pool.Close()
	if err := pool.QueryRow(query, args...).Scan(&value); err != nil {
		s.t.Fatal(err)
	}
	return value
}

// newSiteless is the application without a database, for what needs none.
func newSiteless() *Server {
	return newServer(Deps{Random: rand.Reader, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
}

// browser has cookies and follows no redirect.
type browser struct {
	*http.Client
	site *site
}

func (s *site) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return &browser{site: s, Client: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// signedIn is a browser in which a demo account has signed in.
func (s *site) signedIn(email string) *browser {
	s.t.Helper()
	b := s.browser()
	if a := b.post("/signin", url.Values{"email": {email}, "password": {account.DemoPassword}}); a.status != http.StatusSeeOther {
		s.t.Fatalf("signing in as %s: %d %s", email, a.status, a.body)
	}
	return b
}

type reply struct {
	status int
	header http.Header
	body   string
}

func (b *browser) get(path string, headers ...string) reply {
	return b.send("GET", path, nil, headers...)
}

func (b *browser) post(path string, fields url.Values, headers ...string) reply {
	headers = append([]string{"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin"}, headers...)
	return b.send("POST", path, strings.NewReader(fields.Encode()), headers...)
}

// send sends headers given as name, value, name, value; a later one of a name replaces an earlier one.
func (b *browser) send(method, path string, body io.Reader, headers ...string) reply {
	b.site.t.Helper()
	req, err := http.NewRequest(method, b.site.url+path, body)
	if err != nil {
		b.site.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := b.Do(req)
	if err != nil {
		b.site.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.site.t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, string(text)}
}

// cookie is the session id that the browser holds.
func (b *browser) cookie() string {
	u, _ := url.Parse(b.site.url)
	for _, c := range b.Jar.Cookies(u) {
		if c.Name == plainCookie {
			return c.Value
		}
	}
	return ""
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// desk is a guarded page, a form of it and an API call, so that the shell can be tested by itself.
func desk(s *Server) []route {
	who := func(c echo.Context) error {
		return c.String(http.StatusOK, actor(c).PersonName+" "+actor(c).ClinicName)
	}
	return []route{
		{method: "GET", path: "/test/desk", access: page, handle: who},
		{method: "GET", path: "/test/form", access: page, handle: func(c echo.Context) error {
			fields, err := s.heldFields(c, "/test/note")
			if err != nil {
				return err
			}
			return c.String(http.StatusOK, fields.Get("note"))
		}},
		{method: "POST", path: "/test/note", access: page, form: func(echo.Context) string { return "/test/form" },
			handle: func(c echo.Context) error { return redirect(c, "/test/desk") }},
		{method: "GET", path: "/api/v1/test/who", access: api, handle: func(c echo.Context) error {
			a := actor(c)
			return s.json(c, http.StatusOK, map[string]any{"id": a.ID(), "kind": a.Kind, "decides": a.MayDecide, "for": a.OnBehalfOf(), "clinic": a.ClinicName, "role": a.Role})
		}},
		{method: "POST", path: "/api/v1/test/echo", access: api, handle: func(c echo.Context) error {
			object, err := jsonBody(c)
			if err != nil {
				return err
			}
			return s.json(c, http.StatusOK, object)
		}},
	}
}
