package handlers

import (
	"fmt"
	"slices"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/assistant"
	"countersign/internal/proposal"
	"countersign/views"
)

// assistantPage reads a conversation, id "" for a new one, the card that waits, and the person's conversations. One that
// stands as it was seen is read no further.
func (s *Server) assistantPage(c echo.Context, t *db.Tx, id, seen string) (views.AssistantPage, error) {
	var p views.AssistantPage
	if id != "" {
		if err := s.readTalk(c, t, id, &p); err != nil || p.Thread.Seen == seen {
			return p, err
		}
	}
	var err error
	if p.Shell, err = s.shell(c, t, views.NavAssistant, ""); err != nil {
		return p, err
	}
	return p, s.readThreads(c, t, &p)
}

// readThreads is the list of the person's conversations, from the page's cursor on.
func (s *Server) readThreads(c echo.Context, t *db.Tx, p *views.AssistantPage) error {
	p.Cursor = c.QueryParam("cursor")
	before, err := proposalCursor(p.Cursor)
	if err != nil {
		return err
	}
	list, err := s.Talk.List(c.Request().Context(), t.Assistant(), actor(c), assistant.ThreadFilter{Before: before, Limit: threadsListed + 1})
	if err != nil {
		return err
	}
	if len(list) > threadsListed {
		list = list[:threadsListed]
		last := list[threadsListed-1]
		p.Older = db.MakeCursor(last.SortedAt, last.ID)
	}
	// What a deadline has done since is newer than the row.
	slices.SortStableFunc(list, func(a, b assistant.Thread) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	for _, h := range list {
		if len(h.Messages) > 0 {
			p.Threads = append(p.Threads, threadLine(h))
		}
	}
	return nil
}

func (s *Server) readTalk(c echo.Context, t *db.Tx, id string, p *views.AssistantPage) error {
	by := actor(c)
	h, err := s.Talk.Read(c.Request().Context(), t.Assistant(), by, id)
	if err != nil {
		return err
	}
	working := h.State() == assistant.Running && !h.Executing()
	p.Thread = views.Talk{ID: h.ID, Title: h.Title, Working: working, Live: working}
	p.Thread.Seen = fmt.Sprint(h.State(), "-", len(h.Messages))
	for _, m := range h.Messages[max(0, len(h.Messages)-linesShown):] {
		p.Thread.Said = append(p.Thread.Said, talkLine(m, by.PersonName))
	}
	on := ""
	if waits := h.Pending(); waits != nil {
		on = waits.Proposal
	} else if h.Executing() {
		on = h.OnCard()
	}
	if on == "" {
		if h.Work.Workflow != "" && h.State() == assistant.AwaitingInput {
			p.Thread.Known, p.Thread.Missing = knownFacts(h.Work), missingFacts(h.Work)
		}
		return nil
	}
	card, err := s.cardPage(c, t, on, pressed{})
	if err != nil {
		return err
	}
	card.Thread = h.ID
	p.Card, p.Thread.Live = &card, true
	p.Thread.Seen += fmt.Sprint("-", card.Progress(), "-", card.Record.Revision, "-", card.Record.Stale)
	return nil
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
	l := views.ThreadLine{ID: h.ID, Title: h.Title, At: h.UpdatedAt, State: "Waiting for an answer", Mark: views.MarkPlain}
	switch waits := h.Pending(); {
	case waits != nil && (waits.Risk == proposal.High || waits.Risk == proposal.Critical):
		l.State = "Waiting for a reviewer"
	case waits != nil:
		l.State, l.Mark = "Waiting for your decision", views.MarkSign
	case h.Executing():
		l.State = "Confirmed, waiting for the EHR"
	case h.State() == assistant.Completed && h.Messages[len(h.Messages)-1].Proposal != "":
		l.State, l.Mark = "Done", views.MarkDone
	case h.State() == assistant.Completed:
		l.State = "Ended"
	case h.State() == assistant.Failed:
		l.State, l.Mark = "Ended", views.MarkStop
	case h.State() == assistant.Running:
		l.State = "Working on it"
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
	w = w.Settled()
	out := []views.Fact{{Label: "Action", Value: workflowWords[w.Workflow]}}
	add := func(label, value string) {
		if value != "" {
			out = append(out, views.Fact{Label: label, Value: value})
		}
	}
	if w.Patient != nil {
		add("Patient", w.Patient.Name+", born "+views.Birth(w.Patient.BirthDate)+", MRN "+w.Patient.MRN)
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
	add("Born", views.Birth(w.BirthDate))
	add("Phone", w.Phone)
	add("E-mail", w.Email)
	add("How to be told", views.ContactWord(w.Contact))
	add("Message", w.Text)
	if w.ReasonCode != "" {
		add("Why it is cancelled", views.ReasonWord(w.ReasonCode))
	}
	return out
}

// missingFacts are what is missing, and why, in words.
func missingFacts(w assistant.Work) []views.Fact {
	var out []views.Fact
	for _, m := range w.Missing() {
		out = append(out, views.Fact{Label: askWords[m], Value: w.Lack(m)})
	}
	return out
}
