package assistant

import (
	"slices"
	"strings"

	"countersign/internal/clinic"
)

// absorb lays what was understood over what is known. Later words correct earlier ones. It reports whether anything new
// was said.
func (d *dialog) absorb(m Meaning, text string) (news bool, err error) {
	w := d.w
	if w.Workflow == Cancel && w.Halted && m.Workflow == "" && (len(m.Days) > 0 || m.Clock != nil || m.From != nil || m.Until != nil) {
		m.Workflow = Reschedule // "make it 10:30 instead", when the cancellation was rejected
	}
	if m.Workflow != "" && (m.Workflow != w.Workflow || w.Halted && m.Patient != "") {
		d.begin(m)
		news = true
	}
	if d.absorbPatient(m) {
		news = true
	}
	when, err := d.absorbPlace(m)
	if err != nil {
		return news, err
	}
	if d.absorbTime(m) || when {
		w.Start, news = "", true
	}
	set := func(to *string, v string) {
		if v != "" && v != *to {
			*to, news = v, true
		}
	}
	if m.Text == "" && w.Asks == AskText && m.Workflow == "" && !m.Other && m.Patient == "" && m.Contact == "" && m.Pick == 0 && !m.No {
		m.Text = text // asked for a text, and this is one
	}
	set(&w.ReasonCode, m.ReasonCode)
	set(&w.Note, cut(m.Note))
	set(&w.Text, m.Text)
	set(&w.Phone, m.Phone)
	set(&w.Email, m.Email)
	set(&w.Contact, m.Contact)
	if m.Silent && !w.Silent {
		w.Silent, news = true, true
	}
	if w.Workflow == Register {
		if m.Family == "" && m.Given == "" {
			if i := strings.LastIndexByte(m.Patient, ' '); i > 0 {
				m.Given, m.Family = m.Patient[:i], m.Patient[i+1:]
			}
		}
		set(&w.Family, m.Family)
		set(&w.Given, m.Given)
		if b := m.Born; m.BirthDate == "" && b != nil && b.Year > 0 && b.Month > 0 && b.Day > 0 {
			m.BirthDate = (clinic.Date{Year: b.Year, Month: monthOf(b.Month), Day: b.Day}).String()
		}
		set(&w.BirthDate, m.BirthDate)
	}
	if news {
		w.Halted = false
	}
	return news, nil
}

// begin is another wish: the patient and the visit stay, what should become of them does not. One that names somebody
// looks for them anew: which of two of a name was meant before says nothing of now.
func (d *dialog) begin(m Meaning) {
	was := *d.w
	*d.w = Work{Workflow: m.Workflow, Patient: was.Patient, Query: was.Query, Born: was.Born, Not: was.Not, Visit: was.Visit}
	if m.Patient != "" {
		d.w.Patient, d.w.Visit, d.w.Query, d.w.Born, d.w.Not = nil, nil, "", nil, nil
	}
	if m.Workflow == Book || m.Workflow == Register || was.Workflow == "" {
		d.w.Visit = nil
	}
}

// absorbPatient: "no, the other Maria", "the one born in 84", another name.
func (d *dialog) absorbPatient(m Meaning) (news bool) {
	w := d.w
	if w.Workflow == Register {
		return false
	}
	switch {
	case m.Other:
		if w.Patient != nil {
			w.Not = append(w.Not, w.Patient.ID)
			if w.Query == "" {
				w.Query = w.Patient.Name
			}
		}
		if m.Patient != "" && !within(m.Patient, w.Query) {
			w.Query = m.Patient
		}
		w.Patient, w.Visit, w.Born, news = nil, nil, nil, true
	case m.Patient != "" && (w.Patient == nil || !w.Patient.answers(m.Patient)):
		w.Query, w.Patient, w.Visit, w.Born, w.Not, news = m.Patient, nil, nil, nil, nil, true
	}
	if m.Born != nil {
		w.Born, news = m.Born, true
		if w.Patient != nil && !m.Born.fits(w.Patient.BirthDate) {
			if w.Query == "" {
				w.Query = w.Patient.Name
			}
			w.Patient, w.Visit = nil, nil
		}
	}
	return news
}

// within reports words that are all among those of a longer name: of two called Maria Jensen, "the other Maria" is one.
// A number in it names one person alone, so it is no name to look for another by.
func within(words, name string) bool {
	known := clinic.SearchTerms(name)
	return !strings.ContainsAny(name, "0123456789") &&
		!slices.ContainsFunc(clinic.SearchTerms(words), func(t string) bool { return !slices.Contains(known, t) })
}

// answers reports whether words by which somebody is called fit this patient.
func (w Who) answers(words string) bool {
	text := clinic.SearchText(clinic.Patient{Family: w.Family, Given: w.Given, BirthDate: w.BirthDate, MRN: w.MRN})
	terms := clinic.SearchTerms(words)
	return len(terms) > 0 && !slices.ContainsFunc(terms, func(t string) bool { return !strings.Contains(text, t) })
}

func (b *Born) fits(birthDate string) bool {
	d, err := clinic.ParseDate(birthDate)
	return b == nil || err == nil && (b.Year == 0 || b.Year == d.Year) && (b.Month == 0 || b.Month == int(d.Month)) && (b.Day == 0 || b.Day == d.Day)
}

// absorbPlace takes names of the clinic's own list; anything else was never offered to the interpreter.
func (d *dialog) absorbPlace(m Meaning) (news bool, err error) {
	if m.Practitioner == "" && m.Location == "" && m.Type == "" && !m.AnyDoctor {
		return false, nil
	}
	if err := d.readPlaces(); err != nil {
		return false, err
	}
	w := d.w
	for _, p := range d.doctors {
		if p.Name == m.Practitioner && p.Active && (w.Practitioner == nil || w.Practitioner.ID != p.ID) {
			w.Practitioner, w.AnyDoctor, news = &clinic.Ref{ID: p.ID, Name: p.Name}, false, true
		}
	}
	for _, l := range d.locations {
		if l.Name == m.Location && (w.Location == nil || w.Location.ID != l.ID) {
			w.Location, news = &clinic.Ref{ID: l.ID, Name: l.Name}, true
		}
	}
	for _, y := range d.types {
		if y.Name == m.Type && (w.Type == nil || w.Type.ID != y.ID) {
			w.Type, news = &clinic.Ref{ID: y.ID, Name: y.Name}, true
		}
	}
	if m.AnyDoctor && !w.AnyDoctor {
		w.AnyDoctor, w.Practitioner, news = true, nil, true
	}
	return news, nil
}

// absorbTime: of the visit that is meant when that was asked for, when it is to be cancelled, or where words say so; else
// of where it goes.
func (d *dialog) absorbTime(m Meaning) (news bool) {
	w := d.w
	which := &When{Days: m.VisitDays, Clock: m.VisitClock}
	to := &When{Days: m.Days, DaysEnd: m.DaysEnd, Clock: m.Clock, From: m.From, Until: m.Until}
	if w.Workflow == Cancel || w.Asks == AskAppointment && which.empty() {
		which, to = to, &When{}
	}
	if !which.empty() {
		w.Which, w.Visit, news = w.Which.corrected(which), nil, true
	}
	if !to.empty() {
		w.When, news = w.When.corrected(to), true
	}
	return news
}

func (w *When) empty() bool {
	return len(w.Days) == 0 && w.Clock == nil && w.From == nil && w.Until == nil
}

// corrected is what stands after more was said: a day replaces days, a time of day times of day.
func (w *When) corrected(said *When) *When {
	next := When{}
	if w != nil {
		next = *w
	}
	if len(said.Days) > 0 {
		next.Days, next.DaysEnd = said.Days, said.DaysEnd
	}
	if said.Clock != nil || said.From != nil || said.Until != nil {
		next.Clock, next.From, next.Until = said.Clock, said.From, said.Until
	}
	return &next
}
