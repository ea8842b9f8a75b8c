package views

import (
	"net/url"
	"strconv"
	"time"

	"countersign/internal/clinic"
)

// Freed is how many patients on the waiting list would like time that was given back, and where they are named.
type Freed struct {
	Count int
	Href  string
}

func (f Freed) words() string {
	if f.Count == 1 {
		return "1 patient wants an earlier time that is free now"
	}
	return strconv.Itoa(f.Count) + " patients want an earlier time that is free now"
}

// WaitingPage is GET /waiting-list: who would come earlier, the longest waiting first.
type WaitingPage struct {
	Shell
	Rows    []WaitingLine
	FreedBy string // a proposal: only whom the time that it gave back would suit
	MayAct  bool
}

// WaitingLine is one patient who waits. Free zero: no time that suits is free in the next weeks.
type WaitingLine struct {
	ID                           string
	Patient                      Person
	Type, Practitioner, Location string // names; "" = any
	Earliest, Latest             string // YYYY-MM-DD or ""
	Note, By, Appointment        string
	At                           time.Time
	Free                         time.Time
	FreeWith, Zone               string
	Propose                      string // the form, filled in
}

func (l WaitingLine) days() string {
	switch {
	case l.Earliest == "" && l.Latest == "":
		return "Any day"
	case l.Latest == "":
		return "From " + FieldDate(l.Earliest)
	case l.Earliest == "":
		return "Until " + FieldDate(l.Latest)
	}
	return FieldDate(l.Earliest) + " to " + FieldDate(l.Latest)
}

// WaitingFormPage is GET /waiting-list/new.
type WaitingFormPage struct {
	Shell
	Patient                         Person
	Booked                          *clinic.Visit // the visit that would be moved, nil for none
	Appointment                     string
	Types, Practitioners, Locations []Option
	Type, Practitioner, Location    string
	Earliest, Latest, Note          string
	Refusal                         Refusal
}

// RebookingPage is GET /rebooking: cancelled visits without a new date, and above them coming ones that nobody will come to.
type RebookingPage struct {
	Shell
	ToCancel []clinic.Visit // of patients who have died
	Rows     []RebookingLine
	Older    string
	MayAct   bool
}

// RebookingLine is one of them. At is when it was cancelled; Late: under 24 h before its start.
type RebookingLine struct {
	Visit clinic.Visit
	At    time.Time
	By    string
	Late  bool
}

// MoveURL is the form that moves a visit, with a time filled in.
func MoveURL(appointment string, b Booking) string {
	return "/proposals/new?" + url.Values{"action": {ActionMove}, "appointment": {appointment}, "practitioner": {b.Practitioner}, "location": {b.Location}, "starts_at": {b.StartsAt}}.Encode()
}

func waitingURL(patient, appointment string) string {
	q := url.Values{"patient": {patient}}
	if appointment != "" {
		q = url.Values{"appointment": {appointment}}
	}
	return "/waiting-list/new?" + q.Encode()
}

func again(v clinic.Visit) string {
	return BookURL(v.Patient.ID, Booking{Practitioner: v.Practitioner.ID, Location: v.Location.ID, Type: v.Type.ID})
}
