package handlers

import (
	"fmt"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/assistant"
	"countersign/internal/proposal"
	"countersign/views"
)

// assistantPage reads a conversation, id "" for a new one, the list of the person's others, and the card that waits.
func (s *Server) assistantPage(c echo.Context, t *db.Tx, id string) (views.AssistantPage, error) {
	by, ctx := actor(c), c.Request().Context()
	var p views.AssistantPage
	list, err := s.Talk.List(ctx, t.Assistant(), by, assistant.ThreadFilter{Limit: threadsListed})
	if err != nil {
		return p, err
	}
	if p.Shell, err = s.shell(c, t, views.NavAssistant, ""); err != nil {
		return p, err
	}
	for _, h := range list {
		if len(h.Messages) > 0 {
			p.Threads = append(p.Threads, threadLine(h))
		}
	}
	if id == "" {
		return p, nil
	}
	h, err := s.Talk.Read(ctx, t.Assistant(), by, id)
	if err != nil {
		return p, err
	}
	p.Thread = views.Talk{ID: h.ID, Title: h.Title, Live: h.State() == assistant.Running}
	p.Thread.Seen = fmt.Sprint(h.State(), "-", len(h.Messages))
	for _, m := range h.Messages[max(0, len(h.Messages)-linesShown):] {
		p.Thread.Said = append(p.Thread.Said, talkLine(m, by.PersonName))
	}
	waits := h.Pending()
	if waits == nil {
		if h.Work.Workflow != "" && h.State() == assistant.AwaitingInput {
			p.Thread.Known, p.Thread.Missing = knownFacts(h.Work), missingWords(h.Work)
		}
		return p, nil
	}
	card, err := s.cardPage(c, t, waits.Proposal, pressed{})
	if err != nil {
		return p, err
	}
	card.Thread = h.ID
	p.Card, p.Thread.Live = &card, true
	p.Thread.Seen += fmt.Sprint("-", waits.Revision, "-", card.Record.Stale)
	return p, nil
}

func talkLine(m assistant.Entry, person string) views.TalkLine {
	l := views.TalkLine{Mine: m.Role == assistant.RoleUser, By: "Countersign", At: m.CreatedAt, Text: m.Text, Proposal: m.Proposal}
	if l.Mine {
		l.By = person
	}
	for _, c := range m.Choices {
		v := views.TalkChoice{ID: c.ID, Label: c.Label, Note: c.Note}
		if c.Who != nil {
			v.Who = views.Person{ID: c.Who.ID, Name: c.Who.Name, BirthDate: c.Who.BirthDate, MRN: c.Who.MRN}
		}
		l.Choices = append(l.Choices, v)
	}
	return l
}

func threadLine(h assistant.Thread) views.ThreadLine {
	l := views.ThreadLine{ID: h.ID, Title: h.Title, State: "Asks you", Mark: views.MarkPlain}
	switch waits := h.Pending(); {
	case waits != nil && (waits.Risk == proposal.High || waits.Risk == proposal.Critical):
		l.State = "Waits for a reviewer"
	case waits != nil:
		l.State, l.Mark = "Waits for you", views.MarkSign
	case h.State() == assistant.Completed:
		l.State, l.Mark = "Completed", views.MarkDone
	case h.State() == assistant.Failed:
		l.State, l.Mark = "Stopped", views.MarkStop
	case h.State() == assistant.Running:
		l.State = "At work"
	}
	return l
}

var workflowWords = map[string]string{assistant.Reschedule: "Move a visit", assistant.Book: "Book a visit", assistant.Cancel: "Cancel a visit",
	assistant.Register: "Register a patient", assistant.UpdateContact: "Correct how to reach a patient", assistant.Message: "Send a message"}

var askWords = map[string]string{assistant.AskPatient: "Patient", assistant.AskAppointment: "Which visit", assistant.AskType: "Type of visit",
	assistant.AskPractitioner: "Practitioner", assistant.AskLocation: "Location", assistant.AskDay: "Day", assistant.AskTime: "Time",
	assistant.AskReasonCode: "Why it is cancelled", assistant.AskFamily: "Family name", assistant.AskGiven: "Given name", assistant.AskBirthDate: "Date of birth",
	assistant.AskContact: "How to be told", assistant.AskChannel: "E-mail or SMS", assistant.AskText: "Text of the message"}

// knownFacts are what a conversation has settled, in words.
func knownFacts(w assistant.Work) []views.Fact {
	out := []views.Fact{{Label: "Action", Value: workflowWords[w.Workflow]}}
	add := func(label, value string) {
		if value != "" {
			out = append(out, views.Fact{Label: label, Value: value})
		}
	}
	if w.Patient != nil {
		add("Patient", w.Patient.Name+", "+w.Patient.MRN)
	}
	if w.Visit != nil {
		add("Visit", w.Visit.Line())
	}
	if w.Type != nil {
		add("Type", w.Type.Name)
	}
	if w.Practitioner != nil {
		add("Practitioner", w.Practitioner.Name)
	}
	if w.AnyDoctor {
		add("Practitioner", "does not matter")
	}
	if w.Location != nil {
		add("Location", w.Location.Name)
	}
	add("When", w.When.Words())
	add("Given name", w.Given)
	add("Family name", w.Family)
	add("Born", w.BirthDate)
	add("Phone", w.Phone)
	add("E-mail", w.Email)
	add("How to be told", views.ContactWord(w.Contact))
	add("Message", w.Text)
	return out
}

func missingWords(w assistant.Work) []string {
	var out []string
	for _, m := range w.Missing() {
		out = append(out, askWords[m])
	}
	return out
}
