package assistant

import (
	"slices"
	"time"

	"countersign/internal/clinic"
)

// Work is the explicit state of what a conversation is about: what is known, what was asked for last, and nothing that
// must be read out of the transcript again. It is stored after every step.
type Work struct {
	Workflow string `json:"workflow,omitempty"`

	Patient *Who     `json:"patient,omitempty"`
	Query   string   `json:"query,omitempty"` // words by which a patient is looked for
	Born    *Born    `json:"born,omitempty"`
	Not     []string `json:"not,omitempty"` // ids that were said to be the wrong person

	Visit        *Booked     `json:"visit,omitempty"`
	Which        *When       `json:"which,omitempty"` // what was said of the visit to be changed
	Type         *clinic.Ref `json:"type,omitempty"`
	Practitioner *clinic.Ref `json:"practitioner,omitempty"`
	AnyDoctor    bool        `json:"any_doctor,omitempty"`
	Location     *clinic.Ref `json:"location,omitempty"`
	When         *When       `json:"when,omitempty"`  // where it should go
	Start        string      `json:"start,omitempty"` // an instant that was picked, RFC 3339

	ReasonCode string `json:"reason_code,omitempty"`
	Note       string `json:"note,omitempty"`
	Text       string `json:"text,omitempty"`
	Silent     bool   `json:"silent,omitempty"`

	Family    string `json:"family,omitempty"`
	Given     string `json:"given,omitempty"`
	BirthDate string `json:"birth_date,omitempty"`
	Phone     string `json:"phone,omitempty"`
	Email     string `json:"email,omitempty"`
	Contact   string `json:"contact,omitempty"`

	Asks    string `json:"asks,omitempty"`    // what was asked for last
	Halted  bool   `json:"halted,omitempty"`  // a card ended without being carried out: nothing is proposed until something new is said
	Restart bool   `json:"restart,omitempty"` // of a choice: forget all this
	Leave   bool   `json:"leave,omitempty"`   // of a choice: leave everything as it is
}

// When is a day, or several readings or a range of them, and a time of day. Minutes are of the day.
type When struct {
	Days    []clinic.Date `json:"days,omitempty"`
	DaysEnd clinic.Date   `json:"days_end"`
	Clock   *int          `json:"clock,omitempty"`
	From    *int          `json:"from,omitempty"`
	Until   *int          `json:"until,omitempty"`
}

func (w *When) exact() bool {
	return w != nil && len(w.Days) == 1 && w.DaysEnd.IsZero() && w.Clock != nil
}

// end is the last day of the range.
func (w *When) end() clinic.Date {
	if w.DaysEnd.IsZero() {
		return w.Days[0]
	}
	return w.DaysEnd
}

// fits reports whether a wall time lies in it; what was not said fits everything.
func (w *When) fits(at clinic.WallTime) bool {
	if w == nil {
		return true
	}
	day := len(w.Days) == 0 || slices.Contains(w.Days, at.Date) || !w.DaysEnd.IsZero() && !at.Date.Before(w.Days[0]) && !at.Date.After(w.DaysEnd)
	return day && w.fitsClock(at.Minute)
}

func (w *When) fitsClock(minute int) bool {
	return (w.Clock == nil || *w.Clock == minute) && (w.From == nil || minute >= *w.From) && (w.Until == nil || minute < *w.Until)
}

// Who is a patient as told from others of the same name.
type Who struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Family    string `json:"family"`
	Given     string `json:"given"`
	BirthDate string `json:"birth_date"` // YYYY-MM-DD
	MRN       string `json:"mrn"`
}

func whoOf(p clinic.Patient) *Who {
	return &Who{ID: p.ID, Name: p.Name(), Family: p.Family, Given: p.Given, BirthDate: p.BirthDate, MRN: p.MRN}
}

// Line is name, birth date and MRN.
func (w Who) Line() string { return w.Name + ", born " + w.BirthDate + ", MRN " + w.MRN }

// Booked is the visit that is to be changed.
type Booked struct {
	ID           string     `json:"id"`
	StartsAt     time.Time  `json:"starts_at"`
	EndsAt       time.Time  `json:"ends_at"`
	Zone         string     `json:"zone"`
	Practitioner clinic.Ref `json:"practitioner"`
	Location     clinic.Ref `json:"location"`
	Type         clinic.Ref `json:"type"`
}

func bookedOf(v clinic.Visit) *Booked {
	return &Booked{ID: v.ID, StartsAt: v.StartsAt, EndsAt: v.EndsAt, Zone: v.Location.Zone, Practitioner: clinic.Ref{ID: v.Practitioner.ID, Name: v.Practitioner.Name},
		Location: clinic.Ref{ID: v.Location.ID, Name: v.Location.Name}, Type: clinic.Ref{ID: v.Type.ID, Name: v.Type.Name}}
}

// merge lays what a choice says over what is known.
func (w *Work) merge(set Work) {
	if set.Workflow != "" {
		w.Workflow = set.Workflow
	}
	if set.Patient != nil {
		w.Patient, w.Query, w.Born, w.Not, w.Visit = set.Patient, "", nil, nil, nil
	}
	if set.Visit != nil {
		w.Visit, w.Which = set.Visit, nil
	}
	if set.Type != nil {
		w.Type = set.Type
	}
	if set.Practitioner != nil {
		w.Practitioner, w.AnyDoctor = set.Practitioner, false
	}
	if set.Location != nil {
		w.Location = set.Location
	}
	if set.When != nil {
		if w.When == nil {
			w.When = &When{}
		}
		w.When.Days, w.When.DaysEnd, w.Start = set.When.Days, set.When.DaysEnd, ""
		if set.When.Clock != nil {
			w.When.Clock, w.When.From, w.When.Until = set.When.Clock, nil, nil
		}
	}
	if set.Start != "" {
		w.Start = set.Start
	}
	if set.ReasonCode != "" {
		w.ReasonCode = set.ReasonCode
	}
	if set.Contact != "" {
		w.Contact = set.Contact
	}
	w.Halted = false
}
