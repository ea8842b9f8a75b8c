package assistant

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"countersign/internal/audit"
	"countersign/internal/clinic"
)

// dialog is one step of a conversation, on the facts of one transaction.
type dialog struct {
	ctx  context.Context
	tx   Tx
	w    *Work
	last []Entry

	doctors   []Doctor
	locations []clinic.Location
	types     []clinic.Type
	looked    bool     // patients were searched
	shown     []string // ids of patients of whom something was read to be shown
}

// note tells the trail that somebody looked for patients, and whose record was looked at.
func (d *dialog) note(by clinic.Actor, ids func(string) string) error {
	var out []audit.Event
	event := func(action, patient string) {
		e := audit.Event{ID: ids("aud"), At: d.tx.Now(), Actor: by, Action: action, Outcome: audit.Success, Patient: patient}
		if patient != "" {
			e.ObjectKind, e.Object = "patient", patient
		}
		out = append(out, e)
	}
	if d.looked {
		event(audit.SearchPatients, "")
	}
	for _, id := range d.shown {
		event(audit.ReadPatient, id)
	}
	if out == nil {
		return nil
	}
	return d.tx.Audit(d.ctx, out...)
}

// reply is what the assistant says next: a question, a card to be made, or the end.
type reply struct {
	text     string // with propose: what to say before the card
	choices  []Choice
	asks     string
	propose  *Action
	proposal string
	done     bool
}

const help = "Say what should change: move, book or cancel a visit, register a patient, correct a phone number or e-mail address, or send a message. " +
	"For example: “Move Maria Jensen to Tuesday at 10:30”, “Cancel Maria Jensen’s visit tomorrow”, or “Register Ida Holm, born 2 May 1990, prefers e-mail”."

// helpFor says what can be said next of somebody who is known already.
func helpFor(name string) string {
	return "For example: “Move " + name + " to Tuesday at 10:30”, “Cancel the visit tomorrow”, or “Change the phone number to +45 20 30 40 50”."
}

// turn takes in what was said and comes to the next question, or to the card.
func (d *dialog) turn(m Meaning, said Said) (reply, error) {
	chosen := said.Choice
	if chosen == nil {
		chosen = d.named(m)
	}
	if chosen != nil {
		return d.choose(*chosen)
	}
	if m.Pick < 0 {
		return d.again(m)
	}
	if m.StartOver {
		*d.w = Work{}
		if m.Workflow == "" {
			return reply{text: "Forgotten, and nothing was changed. " + help}, nil
		}
	}
	if m.Leave && m.Workflow == "" && m.Patient == "" && len(m.Days) == 0 && m.Clock == nil {
		return d.leave()
	}
	news, err := d.absorb(m, said.Text)
	if err != nil {
		return reply{}, err
	}
	if !news {
		return d.again(m)
	}
	r, err := d.next()
	if err != nil {
		return r, err
	}
	if c := d.zoned(m); c != nil {
		r = reply{asks: AskTime, choices: []Choice{*c}}
	} else if m.Lost && r.propose != nil {
		r = reply{text: "What is meant instead?", choices: []Choice{{Label: "Leave that out, and propose the rest", Action: r.propose}}}
	}
	if m.Unsure != "" { // beside a card too: whoever decides must see what was not read
		r.text = sentence(m.Unsure) + " " + r.text
	}
	return r, err
}

// sentence is a remark with a large letter and an end.
func sentence(remark string) string {
	first, size := utf8.DecodeRuneInString(remark)
	remark = string(unicode.ToUpper(first)) + remark[size:]
	if strings.HasSuffix(remark, ".") || strings.HasSuffix(remark, "?") {
		return remark
	}
	return remark + "."
}

// next is the state machine: the first thing that is missing is asked for; when nothing is, there is a card.
func (d *dialog) next() (reply, error) {
	switch d.w.Workflow {
	case Register:
		return d.register()
	case "":
		if d.w.Patient == nil && d.w.Query == "" && d.w.Born == nil {
			return reply{text: help}, nil
		}
	}
	if r, err := d.patient(); r != nil || err != nil {
		return deref(r), err
	}
	switch d.w.Workflow {
	case Reschedule:
		return d.reschedule()
	case Book:
		return d.book()
	case Cancel:
		return d.cancel()
	case UpdateContact:
		return d.contact()
	case Message:
		return d.message()
	}
	set := func(label, workflow string) Choice { return Choice{Label: label, Set: &Work{Workflow: workflow}} }
	return reply{text: "This is " + d.w.Patient.Line() + ". What should change?", choices: []Choice{set("Move a visit", Reschedule), set("Book a visit", Book),
		set("Cancel a visit", Cancel), set("Send a message", Message), set("Correct phone, e-mail or how to be told", UpdateContact)}}, nil
}

func deref(r *reply) reply {
	if r == nil {
		return reply{}
	}
	return *r
}

// mostPeople are shown to pick from.
const mostPeople = 8

// patient finds who is meant: nil when that is settled. More than one is always a question.
func (d *dialog) patient() (*reply, error) {
	w := d.w
	if w.Patient != nil {
		return nil, nil
	}
	terms := clinic.SearchTerms(w.Query)
	if len(terms) == 0 {
		return &reply{text: "Who is the patient? A name, a date of birth or an MRN will do.", asks: AskPatient}, nil
	}
	d.looked = true
	found, more, err := d.tx.SearchPatients(d.ctx, terms, 100)
	if err != nil {
		return nil, err
	}
	all := len(found)
	found = slices.DeleteFunc(found, func(p clinic.Patient) bool { return slices.Contains(w.Not, p.ID) || !w.Born.fits(p.BirthDate) })
	switch {
	case len(found) == 1 && !more:
		w.Patient = whoOf(found[0])
		return nil, nil
	case len(found) == 0 && all > 0:
		w.Born, w.Not = nil, nil
		return &reply{text: fmt.Sprintf("Nobody else called “%s” fits that. Who is the patient?", w.Query), asks: AskPatient}, nil
	case len(found) == 0:
		text := fmt.Sprintf("I found nobody by “%s”. Say the name another way, the date of birth or the MRN.", w.Query)
		w.Query = ""
		return &reply{text: text, asks: AskPatient}, nil
	}
	text := fmt.Sprintf("%s fit “%s”. Which one?", countPeople(len(found)), w.Query)
	if more || len(found) > mostPeople {
		text = fmt.Sprintf("More patients fit “%s” than can be shown. Which one? The date of birth or the MRN tells them apart.", w.Query)
		found = found[:min(len(found), mostPeople)]
	}
	r := reply{text: text, asks: AskPatient}
	for _, p := range found {
		note, err := d.nextVisit(p.ID)
		if err != nil {
			return nil, err
		}
		r.choices = append(r.choices, Choice{Label: whoOf(p).Line(), Who: whoOf(p), Note: note, Set: &Work{Patient: whoOf(p)}})
	}
	return &r, nil
}

// nextVisit helps to tell people apart.
func (d *dialog) nextVisit(patient string) (string, error) {
	d.shown = append(d.shown, patient)
	upcoming, _, _, err := d.tx.PatientVisits(d.ctx, patient, 0)
	for _, v := range upcoming {
		if v.Status == clinic.StatusBooked {
			return "Next visit: " + startWords(v.StartsAt, v.Location.Zone), err
		}
	}
	return "No visit ahead", err
}

// visit finds the visit that is meant: nil when that is settled. Only booked ones can be changed.
func (d *dialog) visit() (*reply, error) {
	w := d.w
	if w.Visit != nil {
		return nil, nil
	}
	d.shown = append(d.shown, w.Patient.ID)
	upcoming, _, _, err := d.tx.PatientVisits(d.ctx, w.Patient.ID, 0)
	if err != nil {
		return nil, err
	}
	var booked, fits []clinic.Visit
	cancelled := ""
	for _, v := range upcoming {
		zone, err := clinic.LoadZone(v.Location.Zone)
		if err != nil {
			return nil, err
		}
		meant := w.Which.fits(clinic.WallOf(v.StartsAt, zone))
		switch {
		case v.Status == clinic.StatusBooked:
			booked = append(booked, v)
			if meant && (w.Workflow != Cancel || w.Practitioner == nil || w.Practitioner.ID == v.Practitioner.ID) {
				fits = append(fits, v)
			}
		case v.Status == clinic.StatusCancelled && meant:
			cancelled = " The visit on " + startWords(v.StartsAt, v.Location.Zone) + " is cancelled, and a cancelled visit cannot be changed."
		}
	}
	if len(fits) == 1 {
		w.Visit = bookedOf(fits[0])
		return nil, nil
	}
	if len(booked) == 0 {
		w.Workflow = ""
		return &reply{text: w.Patient.Name + " has no booked visit ahead." + cancelled + " Book a new one?",
			choices: []Choice{{Label: "Book a visit for " + w.Patient.Name, Set: &Work{Workflow: Book}}}}, nil
	}
	text := "Which visit of " + w.Patient.Name + "?"
	if len(fits) == 0 {
		text = "No booked visit of " + w.Patient.Name + " is then." + cancelled + " Which one?"
		fits = booked
	}
	w.Which = nil
	r := reply{text: text, asks: AskAppointment}
	for _, v := range fits[:min(len(fits), mostPeople)] {
		r.choices = append(r.choices, Choice{Label: startWords(v.StartsAt, v.Location.Zone) + ", " + v.Type.Name + " with " + v.Practitioner.Name + ", " + v.Location.Name,
			Set: &Work{Visit: bookedOf(v)}})
	}
	return &r, nil
}

// lexicon is the clinic's names and the desk's clock.
func (d *dialog) lexicon() (Lexicon, time.Time, error) {
	var x Lexicon
	if err := d.readPlaces(); err != nil {
		return x, time.Time{}, err
	}
	now := d.tx.Now()
	zoneName := ""
	for _, p := range d.doctors {
		if p.Active {
			x.Practitioners = append(x.Practitioners, p.Name)
		}
	}
	for _, y := range d.types {
		x.Types = append(x.Types, y.Name)
	}
	for i, l := range d.locations {
		x.Locations = append(x.Locations, l.Name)
		if i == 0 || d.w.Location != nil && d.w.Location.ID == l.ID {
			zoneName = l.Zone
		}
	}
	if d.w.Visit != nil && d.w.Location == nil {
		zoneName = d.w.Visit.Zone
	}
	if zoneName == "" {
		return x, now, nil
	}
	zone, err := clinic.LoadZone(zoneName)
	if err != nil {
		return x, now, err
	}
	return x, now.In(zone), nil
}

func (d *dialog) readPlaces() (err error) {
	if d.locations != nil {
		return nil
	}
	if d.doctors, err = d.tx.Practitioners(d.ctx); err != nil {
		return err
	}
	if d.types, err = d.tx.Types(d.ctx); err != nil {
		return err
	}
	d.locations, err = d.tx.Locations(d.ctx)
	return err
}

// contradicts warns when this conversation has changed the same visit already.
func (d *dialog) contradicts(thread string, a Action) (string, error) {
	appointment, _ := a.Input["appointment"].(string)
	if appointment == "" {
		return "", nil
	}
	done, err := d.tx.Completed(d.ctx, thread, appointment)
	if err != nil || len(done) == 0 {
		return "", err
	}
	return "Take care: this visit was changed in this conversation already, by proposal " + strings.Join(done, ", ") + ", and this contradicts it. ", nil
}
