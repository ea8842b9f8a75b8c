package views

import "countersign/internal/clinic"

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
