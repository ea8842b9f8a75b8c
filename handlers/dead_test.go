package handlers

import (
	"net/http"
	"strings"
	"testing"
)

// N11: the card of a cancellation tells nobody of a patient who has died, and says why.
func TestACardTellsNobodyOfTheDead(t *testing.T) {
	s := newDeskSite(t)
	b := s.as("ana")
	s.Exec(`UPDATE patients SET deceased = true WHERE clinic = 'hav' AND id = 'maria'`)
	f := mustForm(t, b.get("/proposals/new?action=cancel_appointment@1&appointment=apt_maria").body, "/proposals")
	f.fields.Set("reason_code", "other")
	made := b.sendForm(f, nil)
	if made.status != http.StatusSeeOther {
		t.Fatal(made.status)
	}
	b.get(made.header.Get("Location")).says(t, "Nobody will be told", "The patient is recorded as deceased.")
	// Where only the reason says so, the card says it too, and it is no choice not to tell somebody.
	f = mustForm(t, b.get("/proposals/new?action=cancel_appointment@1&appointment=apt_soren").body, "/proposals")
	f.fields.Set("reason_code", "patient_deceased")
	card := b.get(b.sendForm(f, nil).header.Get("Location"))
	card.says(t, "Nobody will be told", "The reason given is that the patient has died.")
	if strings.Contains(card.body, "could be told") {
		t.Error("the risk says that the patient could be told")
	}
}

// The card shows the reminder with the time it goes out, the language of the texts, and that a calendar entry goes along.
func TestTheCardShowsWhatIsSentAndWhen(t *testing.T) {
	s := newDeskSite(t)
	s.Exec(`UPDATE patients SET language = 'da' WHERE clinic = 'hav' AND id = 'maria'`)
	b := s.as("ana")
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(3, 14, 0)))
	day := s.At(2, 14, 0)
	b.get(card(r)).says(t, "E-mail to Maria Jensen", "in Danish", "Din tid er flyttet", "With a calendar entry", "Reminder by e-mail to Maria Jensen",
		"Sent "+day.Format("Mon 2 Jan 2006")+", 14:00, exactly this text, in Danish", "Husk, at du har tid")
	own := s.Propose(s.Actor("ana"), s.Move("apt_soren", s.At(3, 14, 0), "message", "Come later."))
	b.get(card(own)).says(t, "SMS to Søren Łukasz Groß", "as it was typed", "Reminder by SMS", "in English")
}
