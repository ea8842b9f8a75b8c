package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/internal/assistant"
)

// pickable are the choices of a page: what the buttons send, by their words.
func pickable(t testing.TB, body string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for n := range parsed(t, body).Descendants() {
		if name, _ := attr(n, "name"); n.Data == "button" && name == "choice" {
			id, _ := attr(n, "value")
			out[textOf(n)] = id
		}
	}
	return out
}

func pick(t testing.TB, body, words string) string {
	t.Helper()
	for label, id := range pickable(t, body) {
		if strings.Contains(label, words) {
			return id
		}
	}
	t.Fatalf("no choice with %q: %v", words, pickable(t, body))
	return ""
}

// The whole way without JavaScript: words, choices, card, confirm, and back to what was stored.
func TestAConversationWithoutScripts(t *testing.T) {
	s := newDeskSite(t)
	s.taught()
	ana := s.as("ana")
	ana.get("/").says(t, "Say what should change", "Assistant")
	ana.get("/assistant").says(t, "New request", "Nothing changes before you confirm")
	a := ana.post("/assistant/new/messages", url.Values{"text": {"Book Aoife on day five"}})
	thread := a.header.Get("Location")
	if a.status != http.StatusSeeOther || !strings.HasPrefix(thread, "/assistant/thr_") {
		t.Fatalf("%d %s", a.status, thread)
	}
	page := ana.get(thread)
	page.says(t, "Book Aoife on day five", "free on", "Which one?", "Known", "Missing", "Aoife")
	a = ana.post(thread+"/messages", url.Values{"choice": {pick(t, page.body, "08:00")}})
	if a.status != http.StatusSeeOther || a.header.Get("Location") != thread {
		t.Fatalf("%d %s", a.status, a.body)
	}
	page = ana.get(thread)
	page.says(t, "Nothing has changed yet", "Waiting for your decision", "Book a Standard visit for Aoife")
	if len(pickable(t, page.body)) != 0 || page.header.Get("Cache-Control") != "no-store" {
		t.Error("old choices can still be picked")
	}
	// Words decide nothing, and what was typed is kept.
	said := ana.post(thread+"/messages", url.Values{"text": {"yes"}})
	if said.status != http.StatusUnprocessableEntity || !strings.Contains(said.body, `value="yes"`) {
		t.Errorf("%d", said.status)
	}
	said.says(t, "words decide nothing")
	if n := s.Text(`SELECT count(*) FROM appointments WHERE patient = 'aoife' AND clinic = 'hav'`); n != "0" {
		t.Fatal("booked before anybody confirmed")
	}
	confirm := mustForm(t, page.body, "/confirm")
	done := ana.sendForm(confirm, nil)
	if done.status != http.StatusSeeOther {
		t.Fatalf("%d %s", done.status, done.body)
	}
	ana.get(done.header.Get("Location")).says(t, "Back to the conversation")
	page = ana.get(thread)
	page.says(t, "Done, confirmed by ana", "08:00", s.At(4, 0, 0).Format("Monday 2 January 2006"))
	if n := s.Text(`SELECT count(*) FROM appointments WHERE patient = 'aoife' AND clinic = 'hav' AND starts_at = $1`, s.At(4, 8, 0)); n != "1" {
		t.Errorf("%s visits", n)
	}
	for _, who := range []string{"emil", "ben", "ada"} {
		if b := s.as(who).get(thread); b.status != http.StatusNotFound {
			t.Errorf("%s sees it: %d", who, b.status)
		}
	}
	if strings.Contains(s.log.String(), "Aoife") {
		t.Error("a name in the log")
	}
}

// With HTMX: a fragment, the poll that is silent until something happened, and a decision that leads back.
func TestAConversationLive(t *testing.T) {
	s := newDeskSite(t)
	s.taught()
	ana := s.as("ana")
	thread := ana.post("/assistant/new/messages", url.Values{"text": {"Cancel Søren's visit"}}, htmx...).header.Get("HX-Redirect")
	a := ana.get(thread)
	a = ana.post(thread+"/messages", url.Values{"choice": {pick(t, a.body, "patient asked")}}, htmx...)
	if a.status != http.StatusOK || !fragment(a) {
		t.Fatalf("%d %s", a.status, a.body)
	}
	a.says(t, "Nothing has changed yet", "Reject")
	poll := ""
	for n := range parsed(t, a.body).Descendants() {
		if id, _ := attr(n, "id"); id == "changed" {
			poll, _ = attr(n, "hx-get")
		}
	}
	if b := ana.get(poll, htmx...); b.status != http.StatusNoContent {
		t.Fatalf("%s: %d", poll, b.status)
	}
	// A reviewer says no in the queue.
	id := s.Text(`SELECT id FROM proposals`)
	r, err := s.Desk.Desk.Get(t.Context(), s.Actor("ben"), id)
	if err != nil {
		t.Fatal(err)
	}
	no := decision(r, "no-1")
	no.Set("reason", "He called back")
	if b := s.as("ben").post(card(r)+"/reject", no); b.status != http.StatusSeeOther {
		t.Fatal(b.status)
	}
	part := ana.get(poll, htmx...)
	if part.status != http.StatusOK || strings.Contains(part.body, "<html") || confirmable(t, part.body) {
		t.Errorf("%d %s", part.status, part.body)
	}
	part.says(t, "Rejected by ben", "He called back", "What should happen instead")
	// Decided beside the conversation, one is led back to it.
	thread = ana.post("/assistant/new/messages", url.Values{"text": {"Cancel Maria's visit"}}).header.Get("Location")
	a = ana.get(thread)
	a = ana.post(thread+"/messages", url.Values{"choice": {pick(t, a.body, "in error")}}, htmx...)
	b := ana.sendForm(mustForm(t, a.body, "/confirm"), nil, "HX-Request", "true", "HX-Current-URL", s.url+thread)
	if b.header.Get("HX-Redirect") != thread {
		t.Errorf("%d %v", b.status, b.header)
	}
	ana.get(thread).says(t, "Done", "cancelled")
	if b := ana.post(thread+"/messages", url.Values{"text": {" "}}); b.status != http.StatusUnprocessableEntity {
		t.Error(b.status)
	}
	if b := ana.post("/assistant/new/messages", url.Values{"text": {strings.Repeat("x", 2001)}}); b.status != http.StatusUnprocessableEntity {
		t.Error(b.status)
	}
}

// A possible duplicate is a choice that says what picking it means, beside all that was said.
func TestAPossibleDuplicateIsAChoice(t *testing.T) {
	s := newDeskSite(t)
	s.words.knows(script{"Register Maria": {Workflow: assistant.Register, Given: "Maria", Family: "Jensen", BirthDate: "1984-03-11", Phone: "+45 20 30 40 50", Contact: "sms"}})
	ana := s.as("ana")
	thread := ana.post("/assistant/new/messages", url.Values{"text": {"Register Maria"}}).header.Get("Location")
	page := ana.get(thread)
	page.says(t, "looks the same", "How to be told SMS")
	if id := pick(t, page.body, "100234 The same person"); id == pick(t, page.body, "Somebody else") {
		t.Error("one choice for both")
	}
}

// A week later: the card ran out, nothing is lost, a fresh start is offered.
func TestAConversationLeftForAWeek(t *testing.T) {
	s := newDeskSite(t)
	s.taught()
	thread := s.as("ana").post("/assistant/new/messages", url.Values{"text": {"Move Maria Jensen to the fifth day at 11:00"}}).header.Get("Location")
	s.as("ana").get(thread).says(t, "Waiting for your decision")
	later := s.later(24 * time.Hour)
	later.as("ana").get(thread).says(t, "The time to decide passed", "nothing was executed", "Propose it again", "Move Maria Jensen to the fifth day at 11:00")
}
