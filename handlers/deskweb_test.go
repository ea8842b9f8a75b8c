package handlers

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/account"
	"countersign/internal/assistant"
	"countersign/internal/audit"
	"countersign/internal/proposal"
)

// deskSite is the application on desktest's small world.
type deskSite struct {
	*site
	*desktest.Desk
}

func newDeskSite(t *testing.T) *deskSite {
	t.Helper()
	d := desktest.New(t)
	return &deskSite{serveDesk(t, d, d.DB), d}
}

// later is the same world after some time: the database clock stands ahead.
func (s *deskSite) later(by time.Duration) *deskSite {
	s.T.Helper()
	pool, err := db.Open(context.Background(), s.URL, db.Options{ClockShift: s.Shift + by, MaxConns: 4})
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() { pool.Close() })
	return &deskSite{serveDesk(s.t, s.Desk, pool), s.Desk}
}

func serveDesk(t *testing.T, d *desktest.Desk, pool *db.DB) *site {
	s := &site{t: t, db: d.URL, log: &logBuffer{}}
	log := slog.New(slog.NewJSONHandler(s.log, nil))
	accounts, err := account.NewService(pool, rand.Reader, false, account.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	desk := &proposal.Service{Store: db.Proposals{DB: pool}, IDs: desktest.ID, TTL: d.Desk.TTL, Log: log,
		EHR: func(id string) bool { return d.Desk.EHR != nil && d.Desk.EHR(id) }}
	s.words = script{}
	talk := &assistant.Service{Store: db.Threads{DB: pool}, Desk: desk, Interpreter: s.words, IDs: desktest.ID, Log: log, Patience: 20 * time.Second}
	s.deps = Deps{AuditKey: audit.KeyOfProcess(rand.Reader), DB: pool, Desk: desk, Talk: talk, Accounts: accounts,
		Sessions: pool, Rules: account.DefaultRules, Ready: pool.Ready, Random: rand.Reader, Now: time.Now, Log: log, Closing: context.Background()}
	server := httptest.NewServer(New(s.deps))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// as is a browser in which somebody of desktest's is signed in.
func (s *deskSite) as(person string) *browser {
	s.t.Helper()
	secret, err := account.NewSecret(rand.Reader)
	if err == nil {
		err = s.deps.Sessions.StartSession(context.Background(), account.SecretHash(secret), nil, person, []byte(`{}`), 12*time.Hour)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	b := s.browser()
	u, _ := url.Parse(s.url)
	b.Jar.SetCookies(u, []*http.Cookie{{Name: plainCookie, Value: secret, Path: "/"}})
	return b
}

// slotsFor makes bookable slots of 15 minutes.
func (s *deskSite) slotsFor(practitioner, location string, from time.Time, n int) {
	s.T.Helper()
	schedule := desktest.ID("sch")
	s.Exec(`INSERT INTO schedules (clinic, id, practitioner, location, valid_from, types) VALUES ('hav', $1, $2, $3, '2020-01-01', '{std,long}')`,
		schedule, practitioner, location)
	s.Exec(`INSERT INTO slots (clinic, id, practitioner, location, schedule, day, starts_at, ends_at, types)
		SELECT 'hav', $1 || to_char(t AT TIME ZONE 'UTC', '_MMDDHH24MI'), $2, $3, $1, (t AT TIME ZONE 'UTC')::date, t, t + interval '15 min', '{std,long}'
		FROM generate_series($4::timestamptz, $5::timestamptz, interval '15 min') t`, schedule, practitioner, location, from, from.Add(time.Duration(n-1)*15*time.Minute))
}

// htmlForm is a form as a browser without JavaScript would send it.
type htmlForm struct {
	method, action string
	fields         url.Values // what is sent when nothing is touched
	radios         url.Values // every radio and what it would send
	button         string
}

func parsed(t testing.TB, body string) *html.Node {
	t.Helper()
	n, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func attr(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// forms reads every form of a page or fragment.
func forms(t testing.TB, body string) []htmlForm {
	t.Helper()
	var out []htmlForm
	for n := range parsed(t, body).Descendants() {
		if n.Type != html.ElementNode || n.Data != "form" {
			continue
		}
		f := htmlForm{fields: url.Values{}, radios: url.Values{}}
		f.method, _ = attr(n, "method")
		f.action, _ = attr(n, "action")
		for d := range n.Descendants() {
			name, _ := attr(d, "name")
			value, _ := attr(d, "value")
			kind, _ := attr(d, "type")
			_, checked := attr(d, "checked")
			switch {
			case d.Data == "button":
				f.button = textOf(d)
			case d.Type != html.ElementNode || name == "":
			case d.Data == "textarea":
				f.fields.Add(name, textOf(d))
			case d.Data == "select":
				for o := range d.Descendants() {
					if _, on := attr(o, "selected"); on {
						v, _ := attr(o, "value")
						f.fields.Set(name, v)
					}
				}
			case d.Data == "input" && kind == "radio":
				f.radios.Add(name, value)
				if checked {
					f.fields.Add(name, value)
				}
			case d.Data == "input" && kind == "checkbox":
				if checked {
					f.fields.Add(name, value)
				}
			case d.Data == "input":
				f.fields.Add(name, value)
			}
		}
		out = append(out, f)
	}
	return out
}

// formTo is the form that posts to a path ending so; ok is false when there is none.
func formTo(t testing.TB, body, end string) (htmlForm, bool) {
	t.Helper()
	for _, f := range forms(t, body) {
		if f.method == "post" && strings.HasSuffix(f.action, end) {
			return f, true
		}
	}
	return htmlForm{}, false
}

func mustForm(t testing.TB, body, end string) htmlForm {
	t.Helper()
	f, ok := formTo(t, body, end)
	if !ok {
		t.Fatalf("no form to …%s in:\n%s", end, textOf(parsed(t, body)))
	}
	return f
}

// confirmable reports whether anything on the page could confirm: a form, or a button or link with an address of its own.
func confirmable(t testing.TB, body string) bool {
	t.Helper()
	for n := range parsed(t, body).Descendants() {
		for _, name := range []string{"action", "formaction", "href", "hx-post", "hx-get", "hx-put"} {
			if v, _ := attr(n, name); strings.HasSuffix(v, "/confirm") {
				return true
			}
		}
	}
	return false
}

// send posts a form as it stands, with changed fields ("" = as it is).
func (b *browser) sendForm(f htmlForm, change url.Values, headers ...string) reply {
	fields := url.Values{}
	for name, v := range f.fields {
		fields[name] = v
	}
	for name, v := range change {
		if fields[name] = v; v == nil {
			delete(fields, name)
		}
	}
	return b.post(f.action, fields, headers...)
}

var htmx = []string{"HX-Request", "true"}

// fragment: the answer is one, and no page.
func fragment(a reply) bool {
	return !strings.Contains(a.body, "<html") && strings.Contains(a.body, `id="work"`)
}

// says fails when the visible text lacks one of the words.
func (a reply) says(t testing.TB, words ...string) {
	t.Helper()
	text := textOf(parsed(t, a.body))
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("the page does not say %q:\n%s", w, text)
		}
	}
}

// decision is a confirm or reject form typed by hand.
func decision(r proposal.Record, key string) url.Values {
	return url.Values{"revision": {fmt.Sprint(r.Revision)}, "plan_hash": {r.PlanHash}, "idempotency_key": {key}}
}

func card(r proposal.Record) string { return "/proposals/" + r.ID }

// starts is where a visit stands now, in UTC.
func (s *deskSite) starts(appointment string) string {
	return s.Text(`SELECT to_char(starts_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') FROM appointments WHERE id = $1`, appointment)
}

func (s *deskSite) state(r proposal.Record) string {
	return s.Text(`SELECT state FROM proposals WHERE id = $1`, r.ID)
}
