package handlers

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"testing"
	"time"

	"countersign/internal/account"
)

// signInAgain follows a form that met an ended session to /signin, signs in, and gives the page it leads to.
func (s *deskSite) signInAgain(b *browser, sent reply) reply {
	s.t.Helper()
	if sent.status != http.StatusSeeOther {
		s.t.Fatalf("an ended session: %d", sent.status)
	}
	at, err := url.Parse(sent.header.Get("Location"))
	if err != nil || at.Path != "/signin" {
		s.t.Fatalf("an ended session leads to %q", sent.header.Get("Location"))
	}
	hash, err := account.DefaultHasher.Hash("a password of some length", rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Exec(`UPDATE accounts SET password_hash = $1 WHERE id = 'ana'`, hash)
	in := b.post("/signin", url.Values{"email": {"ana@example.test"}, "password": {"a password of some length"}, "next": {at.Query().Get("next")}})
	if in.status != http.StatusSeeOther {
		s.t.Fatalf("signing in again: %d %s", in.status, in.body)
	}
	return b.get(in.header.Get("Location"))
}

// afterLunch is the browser at the same site 70 minutes later: its session has ended.
func (s *deskSite) afterLunch(b *browser) (*deskSite, *browser) {
	later := s.later(70 * time.Minute)
	return later, b.carry(later.site)
}

func TestTheTypedReasonOfARejectionSurvivesSigningInAgain(t *testing.T) {
	s := newDeskSite(t)
	r := s.high() // four hours to decide
	b := s.as("ana")
	f := mustForm(t, b.get(card(r)).body, "/reject")
	later, b := s.afterLunch(b)
	page := later.signInAgain(b, b.sendForm(f, url.Values{"reason": {"The patient rang back"}}))
	again := mustForm(t, page.body, "/reject")
	if again.action != f.action || again.fields.Get("reason") != "The patient rang back" {
		t.Errorf("the form to %s holds %v", again.action, again.fields)
	}
	if s.state(r) != "proposed" {
		t.Error("it was sent by itself")
	}
}

func TestATypedProposalSurvivesSigningInAgain(t *testing.T) {
	s := newDeskSite(t)
	b := s.as("ana")
	f := mustForm(t, b.get("/proposals/new?action=reschedule&appointment=apt_maria").body, "/proposals")
	at := s.At(0, 11, 0).Format(time.RFC3339)
	later, b := s.afterLunch(b)
	page := later.signInAgain(b, b.sendForm(f, url.Values{"starts_at": {at}, "message": {"Please bring your glasses"}, "reason": {"She asked"}, "notify": nil}))
	again := mustForm(t, page.body, "/proposals")
	for name, want := range map[string]string{"appointment": "apt_maria", "starts_at": at, "message": "Please bring your glasses", "reason": "She asked", "notify": ""} {
		if again.fields.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, again.fields.Get(name), want)
		}
	}
	if s.Text(`SELECT count(*) FROM proposals`) != "0" {
		t.Error("it was sent by itself")
	}
	if a := b.sendForm(again, nil); a.status != http.StatusSeeOther {
		t.Errorf("sending it: %d", a.status)
	}
	if clean := mustForm(t, b.get("/proposals/new?action=reschedule&appointment=apt_maria").body, "/proposals"); clean.fields.Get("message") != "" {
		t.Error("sent, and still there")
	}
}

func TestATypedEditSurvivesSigningInAgain(t *testing.T) {
	s := newDeskSite(t)
	r := s.high()
	b := s.as("ana")
	f := mustForm(t, b.get(card(r)+"/edit").body, "/revisions")
	later, b := s.afterLunch(b)
	page := later.signInAgain(b, b.sendForm(f, url.Values{"message": {"Ring the bell twice"}}))
	again := mustForm(t, page.body, "/revisions")
	if again.fields.Get("message") != "Ring the bell twice" || again.fields.Get("revision") != "1" || again.fields.Get("plan_hash") != r.PlanHash {
		t.Errorf("the form holds %v", again.fields)
	}
}
