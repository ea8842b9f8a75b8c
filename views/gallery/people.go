package gallery

import (
	"time"

	"countersign/internal/clinic"
	"countersign/views"
)

func people() []Item {
	two := views.PatientsPage{Shell: shell(""), Search: views.PatientSearch{Query: "maria jensen"}, Found: []views.Person{maria84, maria91}}
	none := views.PatientsPage{Shell: shell(""), Search: views.PatientSearch{Query: "Zzyzx"}}
	many := views.PatientsPage{Shell: shell(""), Search: views.PatientSearch{Query: "a"}, More: true, Found: []views.Person{anna1, anna2, aoife, longest, soren}}
	part := two
	part.Shell = fragment(part.Shell)
	return []Item{
		{Name: "patients-two-marias", Component: views.Patients(two)},
		{Name: "patients-none", Component: views.Patients(none)},
		{Name: "patients-many", Component: views.Patients(many)},
		{Name: "patients-fragment", Component: views.Patients(part), Fragment: true},
		{Name: "patient", Component: views.Patient(patientPage())},
		{Name: "patient-new", Component: views.Patient(views.PatientPage{Shell: shell(""), Patient: longest, Contact: "phone", Phone: "+45 00 20 08 71", Unreachable: "prefers_phone"})},
		{Name: "patient-deceased", Component: views.Patient(views.PatientPage{Shell: shell(""), Patient: aoife, Deceased: true, Contact: "sms", Unreachable: "deceased", Past: patientPage().Past})},
		{Name: "appointment", Component: views.Appointment(appointment())},
		{Name: "appointment-waiting", Component: views.Appointment(waitingAppointment())},
		{Name: "appointment-arrived", Component: views.Appointment(arrived())},
		{Name: "appointment-changed", Refused: true, Component: views.Appointment(changedAppointment())},
		{Name: "appointment-fragment", Component: views.Appointment(fragmentAppointment()), Fragment: true},
	}
}

func row(id string, start time.Time, status string) views.VisitRow {
	return views.VisitRow{ID: id, StartsAt: start, EndsAt: start.Add(30 * time.Minute), Zone: copenhagen, Practitioner: "Dr Anna Holm", Location: "Havnegade 12", Type: "Standard", Status: status}
}

func patientPage() views.PatientPage {
	next := row("a1", at(22, 10, 30), "booked")
	next.Waiting = []views.DayAsk{{Proposal: "2231", Action: views.ActionMove, StartsAt: at(27, 14, 15)}}
	return views.PatientPage{Shell: shell(""), Patient: maria91, Phone: "+45 00 20 08 71", Contact: "sms",
		Upcoming: []views.VisitRow{next, row("a2", at(30, 8, 0), "booked")},
		Past:     []views.VisitRow{row("a3", at(7, 9, 0), "fulfilled"), row("a4", at(2, 9, 0), "cancelled"), row("a5", wall(copenhagen, 2026, 8, 3, 9, 0), "noshow")}, MorePast: true}
}

// booked is Maria Jensen's visit on 22 October.
func booked() clinic.Visit {
	return clinic.Visit{ID: "a1", Status: "booked", StartsAt: at(22, 10, 30), EndsAt: at(22, 11, 0), Version: 4,
		Patient:      clinic.Patient{ID: maria91.ID, Given: "Maria", Family: "Jensen", BirthDate: maria91.BirthDate, MRN: maria91.MRN, Phone: "+4500200871", Contact: "sms"},
		Practitioner: clinic.Practitioner{ID: "holm", Name: "Dr Anna Holm", Active: true},
		Location:     clinic.Location{ID: "h12", Name: "Havnegade 12", Address: "Havnegade 12, 1058 København K", Phone: "+45 00 33 10 10", Zone: copenhagen},
		Type:         clinic.Type{ID: "std", Name: "Standard", Minutes: 30}}
}

func appointment() views.AppointmentPage {
	return views.AppointmentPage{Shell: shell(""), Visit: booked(), MayMove: true,
		Statuses: []views.StatusAct{{Status: "arrived", Label: "Arrived"}, {Status: "noshow", Label: "No-show"}},
		History: []views.Entry{
			{At: at(12, 14, 2), Title: "Moved", By: "Emil Brandt, asked by the patient", Text: "Mon 19 Oct 2026, 09:00 → Thu 22 Oct 2026, 10:30", Proposal: "2107", Revision: 2, Hash: hashA, Mark: views.MarkDone},
			{At: at(5, 9, 30), Title: "Booked", By: "Ida Skov", Text: "Mon 19 Oct 2026, 09:00, Dr Anna Holm, Havnegade 12", Proposal: "2001", Revision: 1, Hash: hashB, Mark: views.MarkDone},
		}}
}

func waitingAppointment() views.AppointmentPage {
	p := appointment()
	p.Waiting = []views.DayAsk{{Proposal: "2231", Action: views.ActionMove, StartsAt: at(27, 14, 15)}, {Proposal: "2232", Action: views.ActionCancel}}
	return p
}

func arrived() views.AppointmentPage {
	p := appointment()
	p.Visit.Status, p.MayMove = "arrived", false
	p.Statuses = []views.StatusAct{{Status: "fulfilled", Label: "Fulfilled"}, {Status: "booked", Label: "Undo arrival"}}
	p.Shell = flashed(p.Shell, views.FlashDone, "Marked as arrived.")
	return p
}

func changedAppointment() views.AppointmentPage {
	p := appointment()
	p.Refusal = views.Refusal{Status: 409, Code: "resource_changed", Title: "This visit changed while you had it open", Words: "Somebody else changed it, so your button did nothing.", Next: "Look at it as it is now, below, and press again if it is still right."}
	return p
}

func fragmentAppointment() views.AppointmentPage {
	p := arrived()
	p.Shell = fragment(p.Shell)
	return p
}
