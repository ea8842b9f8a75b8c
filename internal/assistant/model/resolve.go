package model

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"countersign/internal/assistant"
	"countersign/internal/clinic"
)

// resolve adds to the plain reading what the model found and the grammar did not. Rules: names and numbers must stand in
// the request; days, times, births and the clinic's names go through the grammar once more; what the grammar read for
// itself stays; a different patient is a question; a different request is no answer.
func (i *Interpreter) resolve(ctx context.Context, answer json.RawMessage, request string, r assistant.Request, plain assistant.Meaning) (assistant.Meaning, error) {
	w, err := decode(answer)
	if err != nil {
		return plain, err
	}
	if !slices.Contains(workflows, w.Workflow) || !slices.Contains(contacts, w.Contact) {
		return plain, refused("a word that is not in the list")
	}
	written := clinic.Tokens(request)
	for _, name := range []string{w.Patient, w.Practitioner, w.Location, w.Type, w.Family, w.Given} {
		if tokens := clinic.Tokens(name); name != "" && len(tokens) == 0 || !within(tokens, written) {
			return plain, refused("a name that was not written")
		}
	}
	for _, numbers := range []string{w.When, w.VisitWhen, w.Born, w.BirthDate} {
		if !within(numbersOf(numbers), numbersOf(request)) {
			return plain, refused("a number that was not written")
		}
	}
	if w.Workflow != "" && plain.Workflow != "" && w.Workflow != plain.Workflow {
		return plain, refused("another request than was read")
	}
	s := second{i.inner, ctx, r}
	m := plain
	if r.Asks == "" && m.Workflow == "" { // an answer to a question does not change what is asked for
		m.Workflow = w.Workflow
	}
	m.Other, m.AnyDoctor, m.Silent = m.Other || w.Other, m.AnyDoctor || w.AnyDoctor, m.Silent || w.Silent
	s.patient(&m, w)
	if err := s.when(&m, w); err != nil {
		return plain, err
	}
	s.places(&m, w)
	s.registration(&m, w, request)
	if wanted := []string{assistant.Register, assistant.UpdateContact, assistant.Message}; m.Contact == "" &&
		(slices.Contains(wanted, m.Workflow) || r.Asks == assistant.AskContact || r.Asks == assistant.AskChannel) {
		m.Contact = w.Contact
	}
	if m.ReasonCode == "" && m.Workflow == assistant.Cancel {
		m.ReasonCode = s.read(w.Reason, assistant.AskReasonCode).ReasonCode
	}
	if m.Unsure == "" && w.Unclear != "" && within(clinic.Tokens(w.Unclear), written) {
		m.Unsure = "“" + w.Unclear + "”?"
	}
	return m, nil
}

// second is the grammar reading words of the model's.
type second struct {
	inner Reader
	ctx   context.Context
	r     assistant.Request
}

func (s second) read(text, asks string) assistant.Meaning {
	if text == "" {
		return assistant.Meaning{}
	}
	q := s.r
	q.Text, q.Asks = text, asks
	m, err := s.inner.Interpret(s.ctx, q)
	if err != nil {
		return assistant.Meaning{}
	}
	return m
}

func (s second) patient(m *assistant.Meaning, w words) {
	read, said := clinic.Tokens(m.Patient), clinic.Tokens(w.Patient)
	switch {
	case len(said) == 0 || m.Workflow == assistant.Register:
	case len(read) == 0 || within(said, read):
		m.Patient = w.Patient
	case !within(read, said):
		m.Unsure = joined(m.Unsure, "“"+m.Patient+"” or “"+w.Patient+"”?")
	}
	if m.Born == nil && w.Born != "" {
		m.Born = s.read("born "+w.Born, assistant.AskPatient).Born
	}
}

// when fills in days and times only where the grammar read none at all, and asks about none.
func (s second) when(m *assistant.Meaning, w words) error {
	if w.When != "" && !m.Lost && len(m.Days) == 0 && m.Clock == nil && m.From == nil && m.Until == nil && !m.First {
		t := s.read(w.When, "")
		if t.Workflow != "" || t.Patient != "" || t.Text != "" || len(t.Days) == 0 && t.Clock == nil && t.From == nil && t.Until == nil && !t.First && t.Unsure == "" {
			return refused("a time that cannot be read")
		}
		m.Days, m.DaysEnd, m.Clock, m.From, m.Until, m.First = t.Days, t.DaysEnd, t.Clock, t.From, t.Until, t.First
		m.Unsure, m.Lost = joined(m.Unsure, t.Unsure), m.Lost || t.Lost
	}
	if w.VisitWhen != "" && m.Workflow == assistant.Reschedule && !m.Lost && len(m.VisitDays) == 0 && m.VisitClock == nil {
		t := s.read(w.VisitWhen, "")
		m.VisitDays, m.VisitClock = t.Days, t.Clock
		m.Unsure, m.Lost = joined(m.Unsure, t.Unsure), m.Lost || t.Lost
	}
	return nil
}

func (s second) places(m *assistant.Meaning, w words) {
	if m.Practitioner == "" {
		t := s.read(w.Practitioner, assistant.AskPractitioner)
		m.Practitioner, m.Unsure = t.Practitioner, joined(m.Unsure, t.Unsure)
	}
	if m.Location == "" {
		t := s.read(w.Location, assistant.AskLocation)
		m.Location, m.Unsure = t.Location, joined(m.Unsure, t.Unsure)
	}
	if m.Type == "" {
		m.Type = s.read(w.Type, assistant.AskType).Type
	}
}

func (s second) registration(m *assistant.Meaning, w words, request string) {
	if m.Workflow == assistant.Register || s.r.Asks != "" {
		if m.Family == "" && m.Given == "" && m.Workflow == assistant.Register {
			m.Family, m.Given = w.Family, w.Given
		}
		if m.BirthDate == "" && w.BirthDate != "" {
			t := s.read(w.BirthDate, assistant.AskBirthDate)
			m.BirthDate, m.Unsure = t.BirthDate, joined(m.Unsure, t.Unsure)
		}
	}
	if m.Phone == "" && w.Phone != "" && strings.Contains(strings.Join(numbersOf(request), ""), strings.Join(numbersOf(w.Phone), "")) {
		m.Phone = s.read(w.Phone, assistant.AskContact).Phone
	}
	if m.Email == "" && w.Email != "" && strings.Contains(strings.ToLower(request), strings.ToLower(w.Email)) {
		m.Email = s.read(w.Email, assistant.AskContact).Email
	}
}

func within(some, all []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

// numbersOf are the stretches of digits of a text.
func numbersOf(s string) []string {
	return strings.FieldsFunc(s, func(c rune) bool { return c < '0' || c > '9' })
}

func joined(a, b string) string {
	switch {
	case b == "" || a == b:
		return a
	case a == "":
		return b
	}
	return a + "; " + b
}
