package views

import (
	"strings"

	"countersign/internal/clinic"
)

// AppointmentPage is GET /appointments/{id}. Times are drawn in Visit.Location.Zone.
type AppointmentPage struct {
	Shell
	Visit    clinic.Visit
	Statuses []StatusAct // what POST /appointments/{id}/status may do now (fields status, version)
	MayMove  bool        // Move and Cancel links: booked and not before today
	History  []Entry     // newest first
	Waiting  []DayAsk
	Refusal  Refusal // of a status change: the version moved
}

// StatusAct is one button: the status it sets, and its words ("Arrived", "Undo arrival").
type StatusAct struct{ Status, Label string }

func personOf(v clinic.Visit) Person {
	return Person{ID: v.Patient.ID, Name: v.Patient.Name(), BirthDate: v.Patient.BirthDate, MRN: v.Patient.MRN}
}

// sheetOf is the day sheet that the visit is on.
func sheetOf(p AppointmentPage) string {
	day := p.Visit.StartsAt.In(zone(p.Visit.Location.Zone)).Format("2006-01-02")
	return DayPage{Location: p.Visit.Location.ID}.dayURL(day)
}

func waitTitle(n int) string {
	if n == 1 {
		return "1 proposal waits for this visit"
	}
	return Count(n, "proposal") + " wait for this visit"
}

// capital makes a sentence of our own words; never used on names.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
