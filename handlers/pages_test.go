package handlers

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/dbtest"
	"countersign/db/desktest"
	"countersign/internal/proposal"
)

// day is the sheet of the first bookable day.
func (s *deskSite) day(n int) string { return s.Day.AddDate(0, 0, n).Format(time.DateOnly) }

func (s *deskSite) sheet(n int) string { return "/?location=main&date=" + s.day(n) }

// looked counts the rows of the trail for an action.
func (s *deskSite) looked(action string) string {
	return s.Text(`SELECT count(*) FROM audit WHERE clinic = 'hav' AND action = $1`, action)
}

// everyPage is one address of each page, for whoever may see it.
func (s *deskSite) everyPage() map[string]string {
	return map[string]string{"day.read": s.sheet(0), "patient.read": "/patients/maria", "appointment.read": "/appointments/apt_maria", "proposal.list": "/queue",
		"message.list": "/outbox", "audit.read": "/audit"}
}

func TestEveryPageIsThereWholeAndAsAFragmentAndLeavesATrace(t *testing.T) {
	s := newDeskSite(t)
	s.confirmedMove(t)
	for _, person := range []string{"ana", "ben", "ada"} {
		b := s.as(person)
		for action, path := range s.everyPage() {
			before := s.looked(action)
			whole := b.get(path)
			if whole.status != http.StatusOK || !strings.Contains(whole.body, "<html") || !strings.Contains(whole.body, `id="work"`) {
				t.Errorf("%s %s: %d", person, path, whole.status)
			}
			part := b.get(path, htmx...)
			if part.status != http.StatusOK || !fragment(part) {
				t.Errorf("%s %s as a fragment: %d", person, path, part.status)
			}
			if after := s.looked(action); fmt.Sprint(after) != plus(before, 2) {
				t.Errorf("%s %s: %s rows of %s before, %s after two looks", person, path, before, action, after)
			}
			for _, h := range []string{"Cache-Control", "Content-Security-Policy"} {
				if whole.header.Get(h) == "" {
					t.Errorf("%s: no %s", path, h)
				}
			}
		}
	}
	if log := s.log.String(); strings.Contains(log, "Jensen") || strings.Contains(log, "ERROR") {
		t.Errorf("the log: %s", log)
	}
}

func plus(number string, n int) string {
	var i int
	fmt.Sscan(number, &i)
	return fmt.Sprint(i + n)
}

// confirmedMove has maria's visit moved by ana and waits for nothing else.
func (s *deskSite) confirmedMove(t *testing.T) proposal.Record {
	t.Helper()
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(0, 11, 0)))
	if _, err := s.deps.Desk.Confirm(t.Context(), s.Actor("ana"), desktest.Deciding(r, desktest.ID("key"))); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestNobodySeesAnotherClinic(t *testing.T) {
	s := newDeskSite(t)
	b := s.as("ana")
	for _, c := range []struct{ method, path string }{
		{"GET", "/patients/%s"}, {"GET", "/appointments/%s"}, {"POST", "/appointments/%s/status"}, {"POST", "/outbox/%s/retry"}, {"GET", "/?location=%s"},
		{"GET", "/?practitioner=%s"}, {"GET", "/day/changed?location=%s"}, {"GET", "/day/changed?practitioner=%s"},
	} {
		for _, headers := range [][]string{nil, htmx} {
			ask := func(id string) reply {
				path := fmt.Sprintf(c.path, id)
				if c.method == "GET" {
					return b.get(path, headers...)
				}
				return b.post(path, url.Values{"status": {"arrived"}, "version": {"1"}}, headers...)
			}
			nobody := ask("nobody")
			if to := nobody.header.Get("HX-Retarget"); (to == "#alert") != (c.method == "POST" && headers != nil) {
				t.Errorf("%s %s: the refusal goes to %q", c.method, c.path, to)
			}
			if nobody.status != http.StatusNotFound {
				t.Errorf("%s %s: %d", c.method, c.path, nobody.status)
			}
			for _, id := range []string{"lake_maria", "lake_apt_maria", "lake_main", "lake_holm"} {
				if a := ask(id); a.status != nobody.status || a.body != nobody.body {
					t.Errorf("%s %s with %s: %d and another body", c.method, c.path, id, a.status)
				}
			}
		}
	}
	for _, name := range []string{"PUT", "DELETE", "PATCH"} {
		mine, other := b.send(name, "/patients/maria", nil), b.send(name, "/patients/lake_maria", nil)
		if mine.status != other.status || mine.body != other.body {
			t.Errorf("%s: %d for mine, %d for another clinic's", name, mine.status, other.status)
		}
	}
	if n := s.Text(`SELECT count(*) FROM audit WHERE clinic = 'hav' AND object LIKE 'lake%'`); n != "0" {
		t.Errorf("%s rows of the trail name another clinic's rows", n)
	}
	if n := s.Text(`SELECT count(*) FROM audit WHERE clinic = 'hav' AND action = 'appointment.status' AND outcome = 'denied' AND code = 'not_found'`); n == "0" {
		t.Error("a status of an unknown visit left no trace")
	}
}

func TestPagesNeedASession(t *testing.T) {
	s := newDeskSite(t)
	b := s.browser()
	for _, path := range s.everyPage() {
		if a := b.get(path); a.status != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), "/signin") {
			t.Errorf("%s: %d to %s", path, a.status, a.header.Get("Location"))
		}
	}
	if a := b.get("/"); a.header.Get("Location") != "/signin" {
		t.Errorf("the desk leads to %s", a.header.Get("Location"))
	}
}

func TestPagesAskTheSameNumberOfStatementsForTenAndTwoHundredVisits(t *testing.T) {
	s := newDeskSite(t)
	counting, statements := dbtest.Counting(t, s.URL)
	pool, err := db.Open(t.Context(), counting, db.Options{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	s = &deskSite{serveDesk(t, s.Desk, pool), s.Desk}
	b := s.as("ben")
	paths := []string{s.sheet(0), "/day/changed?location=main&date=" + s.day(0), "/patients/maria", "/appointments/apt_maria", "/queue", "/outbox", "/audit"}
	count := func() map[string]int {
		n := map[string]int{}
		for _, path := range paths {
			b.get(path) // prepares what this connection has not prepared
			statements()
			if a := b.get(path); a.status != http.StatusOK {
				t.Fatalf("%s: %d", path, a.status)
			}
			n[path] = statements()
		}
		return n
	}
	s.fillDay(10)
	few := count()
	s.fillDay(190)
	for path, many := range count() {
		if many != few[path] || many == 0 || many > 16 {
			t.Errorf("%s: %d statements for ten visits, %d for two hundred", path, few[path], many)
		}
	}
	body := b.get(s.sheet(0)).body
	if n := strings.Count(body, `href="/appointments/`); n < 200 {
		t.Errorf("the sheet shows %d of two hundred visits", n)
	}
}

// fillDay books maria n times on the first day and once a week before, with people of their own, with a waiting
// proposal for each of the first few.
func (s *deskSite) fillDay(n int) {
	s.T.Helper()
	tag := desktest.ID("x")[2:8]
	s.Exec(`INSERT INTO practitioners (clinic, id, name) SELECT 'hav', $1 || i, 'Dr ' || $1 || i FROM generate_series(1, $2::int) i`, tag, (n+9)/10)
	s.Exec(`INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, during, changed_by, changed_via)
		SELECT 'hav', $1 || '_' || i, 'maria', $1 || (i / 10 + 1), 'main', 'std', 'booked', tstzrange(t, t + interval '30 min'), 'seed', 'seed'
		FROM generate_series(0, $2::int - 1) i, LATERAL (SELECT $3::timestamptz + (i % 10) * interval '30 min') AS at(t)`, tag, n, s.At(0, 8, 0))
	s.Exec(`INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, during, changed_by, changed_via)
		SELECT 'hav', $1 || '_past_' || i, 'maria', $1 || (i / 10 + 1), 'main', 'std', 'fulfilled', tstzrange(t, t + interval '30 min'), 'seed', 'seed'
		FROM generate_series(0, $2::int - 1) i, LATERAL (SELECT $3::timestamptz - interval '14 days' + (i % 10) * interval '30 min') AS at(t)`, tag, n, s.At(0, 8, 0))
	for i := range min(n, 20) {
		s.Propose(s.Actor("ana"), s.Move("apt_soren", s.At(1, 8+i/4%7, i%4*15), "practitioner", "okafor"))
	}
}

func TestFormsThatAreReadWrongSayWhichField(t *testing.T) {
	s := newDeskSite(t)
	b := s.as("ana")
	long := strings.Repeat("x", 201)
	for _, c := range []struct {
		path   string
		fields url.Values
		says   []string
	}{
		{"/appointments/apt_maria/status", url.Values{"status": {"gone"}, "version": {"1"}}, []string{"Choose booked, arrived, noshow or fulfilled."}},
		{"/appointments/apt_maria/status", url.Values{"status": {"cancelled"}, "version": {"1"}}, []string{"Choose booked"}},
		{"/appointments/apt_maria/status", url.Values{}, []string{"Choose booked", "which version it shows"}},
		{"/appointments/apt_maria/status", url.Values{"status": {"arrived"}, "version": {"0"}}, []string{"which version it shows"}},
		{"/appointments/apt_maria/status", url.Values{"status": {"arrived"}, "version": {"one"}}, []string{"which version it shows"}},
		{"/patients/search", url.Values{"query": {""}}, []string{"Type a name, a birth date or an MRN."}},
		{"/patients/search", url.Values{"query": {" "}}, []string{"Type a name"}},
		{"/patients/search", url.Values{"query": {long}}, []string{"At most 200 characters."}},
		{"/patients/search", url.Values{"query": {"x"}, "action": {"book_appointment@1"}, "type": {"a b"}, "location": {"<"}, "starts_at": {"soon"}}, []string{"Type: There is none by that id.", "Location: There is none by that id.", "Start: Give a time"}},
		{"/audit?from=soon", nil, []string{"From date: Give a date"}},
		{"/audit?to=31-02", nil, []string{"Give a date"}},
		{"/audit?cursor=x", nil, []string{"cursor"}},
		{"/audit?limit=0", nil, []string{"limit"}},
		{"/audit?whose=mine", nil, []string{"whose"}},
		{"/outbox?state=lost", nil, []string{"state"}},
		{"/outbox?cursor=x", nil, []string{"cursor"}},
		{"/day/changed?date=soon", nil, []string{"date"}},
	} {
		a := b.get(c.path)
		if c.fields != nil {
			a = b.post(c.path, c.fields)
		}
		if a.status != http.StatusUnprocessableEntity {
			t.Errorf("%s %v: %d", c.path, c.fields, a.status)
		}
		a.says(t, c.says...)
	}
	if v := s.Text(`SELECT version FROM appointments WHERE id = 'apt_maria'`); v != "1" {
		t.Errorf("a refused form changed the visit to version %s", v)
	}
}

func TestNoNameStandsInAnyAddress(t *testing.T) {
	s := newDeskSite(t)
	s.confirmedMove(t)
	s.Propose(s.Actor("ana"), s.Move("apt_soren", s.At(0, 12, 0)))
	b := s.as("ben")
	pages := []string{b.post("/patients/search", url.Values{"query": {"maria"}}).body}
	for _, path := range s.everyPage() {
		pages = append(pages, b.get(path).body)
	}
	for _, body := range pages {
		for n := range parsed(t, body).Descendants() {
			for _, name := range []string{"href", "action", "src", "hx-get", "hx-post", "formaction"} {
				v, _ := attr(n, name)
				for _, word := range []string{"Jensen", "Maria", "Gro", "ukasz", "1984", "100234", "example.test", "4500"} {
					if strings.Contains(v, word) {
						t.Errorf("%s=%q", name, v)
					}
				}
			}
		}
	}
}
