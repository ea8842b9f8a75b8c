package views

import (
	"net/url"
	"strings"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/refusal"
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
	Choices                         []Slot  // time_is_ambiguous: the wall time as two instants; time_does_not_exist: those beside the gap
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

func (p ProposePage) heading() string {
	name := p.who().Name
	switch {
	case p.Action == ActionBook && name == "":
		return "Book a visit"
	case p.Action == ActionBook:
		return "Book a visit for " + name
	case p.Visit == nil:
		return ActionWord(p.Action)
	}
	return ActionWord(p.Action) + " " + Possessive(name) + " " + p.Visit.Type.Name + " visit"
}

func (p ProposePage) who() Person {
	if p.Visit != nil {
		return personOf(*p.Visit)
	}
	return p.Patient
}

func (p ProposePage) postURL() string {
	if p.Proposal != "" {
		return cardURL(p.Proposal) + "/revisions"
	}
	return "/proposals"
}

// formURL is the page itself, for the GET form that lists times.
func (p ProposePage) formURL() string {
	if p.Proposal != "" {
		return EditURL(p.Proposal)
	}
	return "/proposals/new"
}

// EditURL is the form that makes revision n+1 of a proposal.
func EditURL(proposal string) string { return cardURL(proposal) + "/edit" }

// weekURL lists another week for the same ids.
func (p ProposePage) weekURL(from string) string {
	q := url.Values{"practitioner": {p.Practitioner}, "location": {p.Location}, "from": {from}}
	if p.Type != "" {
		q.Set("type", p.Type)
	}
	if p.Proposal == "" {
		q.Set("action", p.Action)
		if p.Visit != nil {
			q.Set("appointment", p.Visit.ID)
		} else {
			q.Set("patient", p.Patient.ID)
		}
	}
	return p.formURL() + "?" + q.Encode()
}

func (p ProposePage) backURL() string {
	switch {
	case p.Proposal != "":
		return cardURL(p.Proposal)
	case p.Visit != nil:
		return visitURL(p.Visit.ID)
	case p.Patient.ID != "":
		return patientURL(p.Patient.ID)
	}
	return "/"
}

func (p ProposePage) backText() string {
	switch {
	case p.Proposal != "":
		return "Back to the card"
	case p.Visit != nil:
		return "Back to the appointment"
	case p.Patient.ID != "":
		return "Back to the patient"
	}
	return "Back to the day sheet"
}

func (p ProposePage) sendText() string {
	if p.Proposal != "" {
		return "Show the new preview"
	}
	return "Show the preview"
}

// choicesText heads the choices of a wall time that is no instant, or two.
func (p ProposePage) choicesText() string {
	if p.Refusal.Code == refusal.TimeDoesNotExist {
		return "That time is skipped on this day. One of these?"
	}
	return "That time exists twice on this day. Which one?"
}

// step numbers the last part of the form, which comes third where a time is picked.
func (p ProposePage) step() string {
	if p.Action == ActionCancel {
		return ""
	}
	return "3. "
}

func (p ProposePage) fromText() string {
	if p.FromText != "" {
		return p.FromText
	}
	return FieldDate(p.From)
}

// chosen: what the person had picked, unless that is what was refused. Nothing is ever picked for them.
func (p ProposePage) chosen(o Slot) bool {
	return o.Value == p.StartsAt && len(p.Choices)+len(p.Alternatives) == 0
}

func (p ProposePage) slotZone(o Slot) string {
	if o.Zone != "" {
		return o.Zone
	}
	return p.Times.Zone
}

// slotsFor names what the list is for: the selects above may have moved on.
func (p ProposePage) slotsFor() string {
	out := label(p.Practitioners, p.Practitioner) + ", " + label(p.Locations, p.Location)
	switch {
	case p.Action == ActionBook:
		out += ", " + label(p.Types, p.Type)
	case p.Visit != nil:
		out += ", " + p.Visit.Type.Name
	}
	return out
}

func label(list []Option, value string) string {
	for _, o := range list {
		if o.Value == value {
			return o.Label
		}
	}
	return "?"
}

// slotNote is what the clock time alone leaves open: the offset when the same time exists twice that day or the offer
// stands alone, a zone other than the list's, a practitioner.
func (p ProposePage) slotNote(o Slot, date string) string {
	at, notes := o.StartsAt.In(zone(p.slotZone(o))), []string{}
	if date == "" || p.twice(o, date) {
		notes = append(notes, ZoneText(at))
	}
	if o.Practitioner != "" {
		notes = append(notes, o.Practitioner)
	}
	return strings.Join(notes, ", ")
}

func (p ProposePage) twice(o Slot, date string) bool {
	loc := zone(p.slotZone(o))
	for _, d := range p.Times.Days {
		for _, x := range d.Slots {
			if d.Date == date && x.Value != o.Value && Clock(x.StartsAt.In(loc)) == Clock(o.StartsAt.In(loc)) {
				return true
			}
		}
	}
	return false
}
