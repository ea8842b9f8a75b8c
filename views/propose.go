package views

import (
	"time"

	"countersign/internal/clinic"
)

// ProposePage is /proposals/new in its three actions, and /proposals/{id}/edit (revision n+1 from n). One form posts
// the contract's fields; a second, GET, form finds times, so that no text of the first is ever in a URL.
type ProposePage struct {
	Shell
	Action         string // ActionMove, ActionBook, ActionCancel
	IdempotencyKey string // of POST /proposals; not used when editing

	// Editing: Proposal is set, the form posts to its revisions with Revision and PlanHash as they were read.
	Proposal string
	Revision int
	PlanHash string

	Visit   *clinic.Visit // the visit moved or cancelled; nil for a booking
	Patient Person        // of a booking; zero = the page asks for the patient first
	Search  PatientSearch // used while Patient is zero
	Found   []Person

	// Values as typed, ids where a thing is chosen.
	StartsAt     string // "" = none chosen; else equals a Slot.Value
	Practitioner string
	Location     string
	Type         string
	From         string // civil date YYYY-MM-DD the list of times starts on
	FromText     string // as typed when it was not understood
	Notify       bool
	Message      string // "" = the standard text
	ReasonCode   string
	Reason       string // why, for whoever decides; not shown when editing

	Practitioners, Locations, Types []Option // the page marks the chosen one
	Times                           SlotList
	Refusal                         Refusal // its Choices and Alternatives are below
	Choices                         []Slot  // time_is_ambiguous: the wall time as two instants
	Alternatives                    []Slot  // slot_taken: up to five, none chosen
}

// SlotList is what the picker shows: a week of free starts from From on.
type SlotList struct {
	Asked   bool   // practitioner, location and type are known; false = "choose first"
	Zone    string // IANA zone of the location; starts are drawn in it
	Days    []SlotDay
	Earlier string // civil date of the week before, "" = not before today
	Later   string // civil date of the week after
}

// SlotDay is one civil day of the location with its free starts; days without any are left out.
type SlotDay struct {
	Date  string // YYYY-MM-DD
	Slots []Slot
}

// Slot is one start to pick. Value is what the form sends: an instant, so that an hour that exists twice is no riddle.
type Slot struct {
	Value        string
	StartsAt     time.Time
	EndsAt       time.Time
	Zone         string // "" = that of the list
	Practitioner string // name, shown when it may differ; "" = not shown
}
