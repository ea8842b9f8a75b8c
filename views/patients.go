package views

import (
	"net/url"
	"time"
)

// PatientSearch is the search box: POST /patients/search with query and, when somebody is chosen for a booking, the
// hidden fields of Booking. The query is in the body, never in a URL.
type PatientSearch struct {
	Query   string  // as typed
	Booking Booking // what the chosen patient is for; zero = open the patient page
	Error   string  // "" or why nothing was searched
}

// Booking is what is known of a visit before its patient is chosen. All are ids, StartsAt is an instant or "".
type Booking struct {
	Wanted                                 bool
	Trail                                  bool // no booking: the patient's trail is wanted
	Practitioner, Location, Type, StartsAt string
}

// BookURL is the propose form with what is known filled in.
func BookURL(patient string, b Booking) string {
	q := url.Values{"action": {ActionBook}}
	for _, p := range [][2]string{{"patient", patient}, {"practitioner", b.Practitioner}, {"location", b.Location}, {"type", b.Type}, {"starts_at", b.StartsAt}} {
		if p[1] != "" {
			q.Set(p[0], p[1])
		}
	}
	return "/proposals/new?" + q.Encode()
}

// PatientsPage is the answer of POST /patients/search: a page, or the fragment below the search box.
type PatientsPage struct {
	Shell
	Search PatientSearch
	Found  []Person
	More   bool // there are more than shown: type more
}

// PatientPage is GET /patients/{id}: each visit once, upcoming ascending, past descending, as the handler gives them.
type PatientPage struct {
	Shell
	Patient     Person
	Phone       string
	Email       string
	Contact     string // email, sms, phone, none
	Unreachable string // code of proposal.PatientFacts.Unreachable; "" = reachable
	Deceased    bool
	Writable    bool // a message can be written: some address, and messages are wanted
	Upcoming    []VisitRow
	Past        []VisitRow
	MorePast    bool
}

// VisitRow is one visit in a list. Zone is its location's.
type VisitRow struct {
	ID                           string
	StartsAt, EndsAt             time.Time
	Zone                         string
	Practitioner, Location, Type string // names
	Status                       string
	Waiting                      []DayAsk
}

func foundWords(p PatientsPage) string {
	switch {
	case p.Search.Error != "":
		return p.Search.Error
	case len(p.Found) == 0:
		return "Nobody found. Try fewer letters, the birth date, or the MRN."
	case p.More:
		return "The first " + Count(len(p.Found), "patient") + ". Type more to see others."
	}
	return Count(len(p.Found), "patient") + " found"
}

func personHref(p Person, b Booking) string {
	if b.Trail {
		return TrailOfPatientURL(p.ID)
	}
	if b.Wanted {
		return BookURL(p.ID, b)
	}
	return patientURL(p.ID)
}

// ContactWord is how a patient wants to be told; "" for none given.
func ContactWord(code string) string {
	return word(map[string]string{"email": "e-mail", "sms": "SMS", "phone": "a phone call", "none": "no messages"}, code)
}

func orNone(s string) string {
	if s == "" {
		return "Not provided"
	}
	return s
}
