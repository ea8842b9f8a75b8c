package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestRegisterFromAnEmptySearch(t *testing.T) {
	s := newDeskSite(t)
	b := s.as("ana")
	for _, headers := range ways {
		found := b.post("/patients/search", url.Values{"query": {"Zzyzx"}}, headers...)
		found.says(t, "Nobody found", "Register a new patient")
		found.holds(t, `href="/patients/new"`)
	}
	page := b.get("/patients/new")
	page.says(t, "Register a new patient", "Nothing changes when you send this form")
	f := mustForm(t, page.body, "/proposals")
	typed := url.Values{"family": {"Łukasz-Groß"}, "given": {"Agnieszka"}, "birth_date": {"1991-12-24"}, "phone": {"20123456"}, "contact_preference": {"sms"}}
	a := b.sendForm(f, typed)
	if a.status != http.StatusUnprocessableEntity {
		t.Fatalf("%d", a.status)
	}
	a.says(t, "country code")
	a.holds(t, `value="Agnieszka"`, `id="phone-wrong"`)
	typed.Set("phone", "+4520123456")
	a = b.sendForm(mustForm(t, a.body, "/proposals"), typed)
	if a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.body)
	}
	card := b.get(a.header.Get("Location"))
	card.says(t, "Register Agnieszka Łukasz-Groß as a new patient", "To be registered", "+45 20 12 34 56", "1991-12-24", "SMS", "Confirm registration", "registers 1 patient", "A registration")
	if strings.Contains(card.body, "will be told") || strings.Contains(card.body, "0001") {
		t.Error("the card speaks of a visit")
	}
	// Edited, the id and the record number stay.
	edit := b.get(a.header.Get("Location") + "/edit")
	a = b.sendForm(mustForm(t, edit.body, "/revisions"), url.Values{"given": {"Aga"}})
	if a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.body)
	}
	card = b.get(a.header.Get("Location"))
	a = b.sendForm(mustForm(t, card.body, "/confirm"), nil)
	done := b.get(a.header.Get("Location"))
	id := s.Text(`SELECT id FROM patients WHERE clinic = 'hav' AND given = 'Aga'`)
	done.says(t, "Completed: Aga Łukasz-Groß is registered")
	done.holds(t, `href="/patients/`+id+`"`)
	b.get("/patients/"+id).says(t, "Aga Łukasz-Groß", "+45 20 12 34 56", "Write a message", "Change contact details")
	b.post("/patients/search", url.Values{"query": {"lukasz aga"}}).says(t, "Aga Łukasz-Groß", "Not among these?")
	if a := s.as("ada").get("/patients/new"); a.status != http.StatusForbidden {
		t.Errorf("an admin: %d", a.status)
	}
}

// holds fails when the source of the page lacks one of the pieces.
func (a reply) holds(t *testing.T, pieces ...string) {
	t.Helper()
	for _, p := range pieces {
		if !strings.Contains(a.body, p) {
			t.Errorf("the page does not hold %q", p)
		}
	}
}

func TestAPossibleDuplicateIsAskedAbout(t *testing.T) {
	for way, headers := range ways {
		t.Run(way, func(t *testing.T) {
			s := newDeskSite(t)
			b := s.as("ana")
			maria := url.Values{"family": {"Jensen"}, "given": {"Maria"}, "birth_date": {"1984-03-11"}, "contact_preference": {"none"}}
			a := b.sendForm(mustForm(t, b.get("/patients/new").body, "/proposals"), maria, headers...)
			if a.status != http.StatusUnprocessableEntity {
				t.Fatalf("%d %s", a.status, a.body)
			}
			a.says(t, "This patient may be here already", "It is this one", "100234", "register anyway")
			a.holds(t, `href="/patients/maria"`, `value="Jensen"`)
			maria.Set("confirm_not_duplicate", "true")
			a = b.sendForm(mustForm(t, a.body, "/proposals"), maria)
			if a.status != http.StatusSeeOther {
				t.Fatalf("%d %s", a.status, a.body)
			}
			card := b.get(a.header.Get("Location"))
			card.says(t, "Somebody very like this patient is on record already", "May be the same as Maria Jensen, born 1984-03-11, MRN 100234", "needs a reviewer")
			if confirmable(t, card.body) {
				t.Error("who asked can confirm a high risk")
			}
			mustForm(t, s.as("ben").get(a.header.Get("Location")).body, "/confirm")
		})
	}
}

// Somebody registers the same person while the card waits: the card says so, and a fresh preview asks.
func TestACardWhoseDuplicateAppeared(t *testing.T) {
	s := newDeskSite(t)
	b := s.as("ana")
	typed := url.Values{"family": {"Holt"}, "given": {"Ida"}, "birth_date": {"01-Jan-1999"}, "contact_preference": {"none"}}
	first := b.sendForm(mustForm(t, b.get("/patients/new").body, "/proposals"), typed)
	second := b.sendForm(mustForm(t, b.get("/patients/new").body, "/proposals"), typed)
	open := mustForm(t, b.get(second.header.Get("Location")).body, "/confirm")
	b.sendForm(mustForm(t, b.get(first.header.Get("Location")).body, "/confirm"), nil)
	a := b.sendForm(open, nil)
	if a.status != http.StatusConflict {
		t.Fatalf("%d", a.status)
	}
	a.says(t, "May be the same as Ida Holt", "Prepare a new preview")
	if confirmable(t, a.body) {
		t.Error("a live confirm in a 409")
	}
	a = b.sendForm(mustForm(t, a.body, "/revisions"), nil)
	if a.status != http.StatusUnprocessableEntity {
		t.Fatalf("%d", a.status)
	}
	a.says(t, "It is this one", "register anyway", "makes revision 2")
	a = b.sendForm(mustForm(t, a.body, "/revisions"), url.Values{"confirm_not_duplicate": {"true"}})
	b.get(a.header.Get("Location")).says(t, "Somebody very like this patient")
	if n := s.Text(`SELECT count(*) FROM patients WHERE family = 'Holt'`); n != "1" {
		t.Error(n, "patients")
	}
}

func TestChangeContactDetailsFromThePatient(t *testing.T) {
	s := newDeskSite(t)
	b := s.as("ana")
	shown := b.get("/patients/maria")
	shown.holds(t, `href="/patients/maria/contact"`, `href="/patients/maria/message"`)
	page := b.get("/patients/maria/contact")
	page.says(t, "Maria Jensen’s contact details", "maria.jensen.84@example.test", "stays as it is")
	f := mustForm(t, page.body, "/proposals")
	if a := b.sendForm(f, nil); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "nothing would change") {
		t.Errorf("%d", a.status)
	}
	f = mustForm(t, page.body, "/proposals")
	a := b.sendForm(f, url.Values{"phone": {"+4520123456"}, "contact_preference": {"sms"}})
	if a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.body)
	}
	card := b.get(a.header.Get("Location"))
	card.says(t, "Change Maria Jensen’s contact details", "Not provided", "+45 20 12 34 56", "e-mail", "SMS", "Confirm change", "Contact details change")
	done := b.get(b.sendForm(mustForm(t, card.body, "/confirm"), nil).header.Get("Location"))
	done.says(t, "Completed: Maria Jensen’s contact details are changed")
	b.get("/patients/maria").says(t, "+45 20 12 34 56")
	b.get("/queue?view=all&action=update_contact%401").says(t, "Nothing waiting")
	for _, path := range []string{"/patients/lake_maria/contact", "/patients/nobody/message"} {
		if a := b.get(path); a.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}

func TestWriteAMessageFromThePatient(t *testing.T) {
	s := newDeskSite(t)
	b := s.as("ana")
	page := b.get("/patients/maria/message")
	page.says(t, "Write to Maria Jensen", "E-mail to maria.jensen.84@example.test")
	f := mustForm(t, page.body, "/proposals")
	if len(f.radios["channel"]) != 1 || f.fields.Has("channel") {
		t.Error("a channel is chosen for somebody:", f.radios)
	}
	a := b.sendForm(f, url.Values{"message": {"Please bring your card."}})
	if a.status != http.StatusUnprocessableEntity {
		t.Fatal(a.status)
	}
	a.says(t, "Please bring your card.", "This is needed.")
	a = b.sendForm(mustForm(t, a.body, "/proposals"), url.Values{"channel": {"email"}})
	if a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.body)
	}
	card := b.get(a.header.Get("Location"))
	card.says(t, "Send Maria Jensen an e-mail", "Confirm and send e-mail", "The message is free text")
	card.holds(t, "<blockquote>Please bring your card.</blockquote>")
	done := b.get(b.sendForm(mustForm(t, card.body, "/confirm"), nil).header.Get("Location"))
	done.says(t, "Completed: the message to Maria Jensen is on its way")
	outbox := b.get("/outbox")
	outbox.says(t, "Please bring your card.", "maria.jensen.84@example.test")
	if strings.Contains(outbox.body, `href="/appointments/"`) {
		t.Error("a link to no visit")
	}
	s.Exec(`UPDATE patients SET contact = 'none' WHERE id = 'maria'`)
	if strings.Contains(b.get("/patients/maria").body, "Write a message") {
		t.Error("who wants no messages is offered one")
	}
	b.get("/patients/maria/message").says(t, "cannot be written to")
}
