package handlers

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"countersign/internal/outbox"
)

// withDemo is the same world with a sender that only shows.
func (s *deskSite) withDemo() *deskSite {
	d := s.deps
	d.Demo = &outbox.DemoSender{}
	server := httptest.NewServer(New(d))
	s.t.Cleanup(server.Close)
	return &deskSite{&site{t: s.t, db: s.db, url: server.URL, deps: d, log: s.log}, s.Desk}
}

func TestMessagesAndTryingAgain(t *testing.T) {
	s := newDeskSite(t)
	r := s.confirmedMove(t)
	id := s.Text(`SELECT id FROM outbox WHERE proposal = $1 AND kind = 'change'`, r.ID)
	state := func() string { return s.Text(`SELECT state || ' ' || attempts FROM outbox WHERE id = $1`, id) }
	b := s.as("ana")
	a := b.get("/outbox")
	a.says(t, "E-mail to maria.jensen.84@example.test", "Your appointment has moved", "Waiting", "Proposal "+r.ID)
	if _, there := formTo(t, a.body, "/retry"); there {
		t.Error("a message that was not tried yet can be tried again")
	}
	if _, there := formTo(t, a.body, "/outbox/demo"); there {
		t.Error("the demo's switch is there without the demo")
	}
	s.Exec(`UPDATE outbox SET state = 'failed', attempts = 4, last_code = 'not_reachable' WHERE id = $1`, id)
	a = b.get("/outbox?state=failed")
	a.says(t, "Failed", "not reachable")
	f := mustForm(t, a.body, "/retry")
	for query, want := range map[string]bool{"?state=sent": false, "?state=failed": true, "?state=": true} {
		if there := strings.Contains(b.get("/outbox"+query).body, r.ID); there != want {
			t.Errorf("%s: there is %t", query, there)
		}
	}
	for _, who := range []string{"ada"} {
		a := s.as(who).sendForm(f, nil)
		if a.status != http.StatusForbidden || state() != "failed 4" {
			t.Errorf("%s: %d, and the message is %s", who, a.status, state())
		}
		a.says(t, "Your role does not send messages.")
	}
	if a := b.sendForm(f, nil); a.status != http.StatusSeeOther || a.header.Get("Location") != "/outbox" || state() != "queued 0" {
		t.Errorf("%d, and the message is %s", a.status, state())
	}
	if n := s.Text(`SELECT string_agg(concat_ws(' ', actor, outcome, code, object_kind, object = $1), '; ' ORDER BY at) FROM audit WHERE action = 'message.retry'`, id); n != "ada denied permission_denied message t; ana success message t" {
		t.Errorf("the trail: %s", n)
	}
	s.Exec(`UPDATE outbox SET state = 'sent', sent_at = now() WHERE id = $1`, id)
	for _, headers := range [][]string{nil, htmx} {
		a := b.sendForm(f, nil, headers...)
		if a.status != http.StatusUnprocessableEntity || headers != nil && !fragment(a) {
			t.Errorf("a sent message: %d", a.status)
		}
		a.says(t, "This message has been sent or is being sent.", "Sent")
	}
	s.Exec(`UPDATE outbox SET state = 'failed' WHERE id = $1`, id)
	if a := b.sendForm(f, nil, htmx...); a.status != http.StatusOK || !fragment(a) {
		t.Errorf("%d", a.status)
	}
}

// What a person may have sent again, what the button says of it, and why not in words; each is a filter.
func TestEveryStateOfAMessageHasItsWords(t *testing.T) {
	s := newDeskSite(t)
	s.confirmedMove(t)
	id := s.Text(`SELECT id FROM outbox WHERE kind = 'change'`)
	s.Exec(`DELETE FROM outbox WHERE id <> $1`, id)
	b, retry := s.as("ana"), "/outbox/"+id+"/retry"
	for _, c := range []struct {
		state, code string
		unanswered  int
		says        string
		button      string // "" = none
		refused     string // of pressing all the same
	}{
		{"failed", "no_such_mailbox", 0, "last answer: no such mailbox", "Try sending again", ""},
		{"dead", "not_reachable", 0, "Given up", "Try sending again", ""},
		{"dead", "plan_mismatch", 0, "it is not what stands in its plan", "", ""},
		{"unknown", "no_answer", 1, "the patient may have got it", "Send again: the patient may get it twice", ""},
		{"queued", "no_answer", 1, "tried again", "Send again: the patient may get it twice", ""},
		{"queued", "no_sender", 0, "no way out is set up for this channel", "", ""},
		{"queued", "quiet_hours", 0, "held back until", "", "waits for its first try"},
		{"superseded", "visit_changed", 0, "A later change of the same visit made it wrong", "", "A later change of the visit made this message wrong. It is not sent."},
		{"suppressed", "no_consent", 0, "the patient does not want messages this way", "", "The patient is not to get this message"},
		{"expired", "too_late", 0, "It would have come too late", "", "too late to be of use. It is not sent."},
		{"undelivered", "blocked", 0, "Not delivered", "", "could not deliver it. Tell the patient another way."},
		{"delivered", "", 0, "Delivered", "", "has been sent or is being sent"},
		{"sending", "", 0, "Being sent", "", "has been sent or is being sent"},
	} {
		attempts := 0
		if c.unanswered > 0 || c.state == "failed" {
			attempts = 1
		}
		set := func() {
			s.Exec(`UPDATE outbox SET state = $2, last_code = nullif($3, ''), unanswered = $4, attempts = $5 WHERE id = $1`, id, c.state, c.code, c.unanswered, attempts)
		}
		set()
		page := b.get("/outbox?state=" + c.state)
		page.says(t, c.says)
		f, there := formTo(t, page.body, retry)
		if there != (c.button != "") {
			t.Errorf("%s %s: a button is there: %t", c.state, c.code, there)
		}
		if there {
			page.says(t, c.button)
			if a := b.sendForm(f, nil); a.status != http.StatusSeeOther || s.Text(`SELECT state FROM outbox WHERE id = $1`, id) != "queued" {
				t.Errorf("%s %s: %d", c.state, c.code, a.status)
			}
		}
		if c.refused != "" {
			a := b.post(retry, nil)
			if a.status != http.StatusUnprocessableEntity || s.Text(`SELECT state FROM outbox WHERE id = $1`, id) != c.state {
				t.Errorf("%s %s all the same: %d", c.state, c.code, a.status)
			}
			a.says(t, c.refused)
		}
	}
	// A failed one that has become wrong meanwhile is not queued either.
	s.Exec(`UPDATE outbox SET state = 'failed', last_code = 'no_such_mailbox' WHERE id = $1`, id)
	s.Exec(`UPDATE patients SET email = 'other@example.test' WHERE clinic = 'hav' AND id = 'maria'`)
	if a := b.post(retry, nil); a.status != http.StatusUnprocessableEntity || s.Text(`SELECT state FROM outbox WHERE id = $1`, id) != "failed" {
		t.Errorf("to an address that is not the patient's: %d", a.status)
	}
	if got := b.get("/outbox?state=attention"); !strings.Contains(got.body, retry) {
		t.Error("what needs somebody is not found")
	}
	if a := b.get("/outbox?state=nothing"); a.status != http.StatusUnprocessableEntity {
		t.Errorf("a state that is none: %d", a.status)
	}
}

func TestMessagesHavePages(t *testing.T) {
	s := newDeskSite(t)
	r := s.confirmedMove(t)
	s.Exec(`INSERT INTO outbox (clinic, id, appointment, version, kind, channel, recipient, body, proposal, revision, plan_hash)
		SELECT 'hav', 'm' || i, 'apt_maria', 100 + i, 'change', 'email', 'a@example.test', 'x', $1, 1, $2 FROM generate_series(1, 60) i`, r.ID, r.PlanHash)
	b := s.as("ana")
	first := b.get("/outbox")
	older := attrOf(t, first.body, "/outbox?cursor=")
	count := func(a reply) int { return strings.Count(a.body, "<blockquote>") }
	if n, m := count(first), count(b.get(older)); n != 50 || m != 12 { // and the move and its reminder
		t.Errorf("%d and %d messages", n, m)
	}
}

// The page of all messages says how many need somebody, of this clinic alone, and leads to them without a script.
func TestMessagesThatNeedSomebody(t *testing.T) {
	s := newDeskSite(t)
	r := s.confirmedMove(t)
	s.Exec(`INSERT INTO proposals (clinic, id, action, state, outcome, expires_at, risk, created_by, created_kind, created_name, owner, owner_name, created_via, decided_by)
		SELECT 'lake', id, action, state, outcome, expires_at, risk, created_by, created_kind, created_name, owner, owner_name, created_via, decided_by FROM proposals WHERE id = $1`, r.ID)
	s.Exec(`INSERT INTO revisions (clinic, proposal, revision, plan_hash, plan_bytes, expires_at, created_by, created_name)
		SELECT 'lake', proposal, revision, plan_hash, plan_bytes, expires_at, created_by, created_name FROM revisions WHERE proposal = $1`, r.ID)
	b := s.as("ana")
	if a := b.get("/outbox"); strings.Contains(a.body, "not-told") {
		t.Error("nothing failed, and somebody is needed")
	}
	for i, state := range []string{"failed", "dead", "unknown", "undelivered", "superseded", "suppressed", "expired", "delivered", "queued"} {
		for _, clinic := range []string{"hav", "lake"} {
			s.Exec(`INSERT INTO outbox (clinic, id, appointment, version, kind, channel, recipient, body, proposal, revision, plan_hash, state)
				SELECT q.clinic, $2, a.id, $6, 'change', 'email', 'a@example.test', 'x', q.id, 1, $3, $5 FROM proposals q, appointments a
				WHERE q.clinic = $4 AND a.clinic = q.clinic AND q.id = $1 ORDER BY a.id LIMIT 1`, r.ID, "x"+strconv.Itoa(i), r.PlanHash, clinic, state, 100+i)
		}
		a, want := b.get("/outbox"), min(i+1, 4)
		a.says(t, map[bool]string{true: "1 message needs somebody.", false: strconv.Itoa(want) + " messages need somebody."}[want == 1])
		if n := strings.Count(b.get(attrOf(t, a.body, "/outbox?state=attention")).body, "<blockquote>"); n != want {
			t.Errorf("%d are shown, want %d", n, want)
		}
	}
	if got := s.Text(`SELECT count(*) FROM outbox WHERE clinic = 'lake'`); got != "9" {
		t.Error("planted elsewhere:", got)
	}
	for _, state := range []string{"attention", "queued"} {
		if a := b.get("/outbox?state=" + state); strings.Contains(a.body, "not-told") {
			t.Error("said again on", state)
		}
	}
}

func TestTheDemosSwitch(t *testing.T) {
	s := newDeskSite(t)
	if a := s.as("ana").post("/outbox/demo", url.Values{"fail": {"on"}}); a.status != http.StatusNotFound {
		t.Errorf("without the demo: %d", a.status)
	}
	s = s.withDemo()
	b := s.as("ana")
	f := mustForm(t, b.get("/outbox").body, "/outbox/demo")
	if a := b.sendForm(f, nil); a.status != http.StatusSeeOther || !s.deps.Demo.Failing() {
		t.Errorf("%d, failing %t", a.status, s.deps.Demo.Failing())
	}
	page := b.get("/outbox")
	page.says(t, "Sending fails now, on purpose.")
	a := b.sendForm(mustForm(t, page.body, "/outbox/demo"), nil, htmx...)
	if a.status != http.StatusOK || !fragment(a) || s.deps.Demo.Failing() {
		t.Errorf("%d, failing %t", a.status, s.deps.Demo.Failing())
	}
	if a := b.post("/outbox/demo", url.Values{"fail": {"maybe"}}); a.status != http.StatusUnprocessableEntity {
		t.Errorf("maybe: %d", a.status)
	}
}
