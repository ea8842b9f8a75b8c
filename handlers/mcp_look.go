package handlers

import (
	"fmt"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// toolFindPatient is find_patient: what POST /patients/search finds.
func (s *Server) toolFindPatient(c *call) (told, error) {
	query := c.text("query", true)
	if err := c.refuse(); err != nil {
		return told{}, err
	}
	terms, err := searchTerms(query)
	if err != nil {
		return told{}, err
	}
	var found []clinic.Patient
	more := false
	err = s.DB.InClinic(c, c.by.Clinic, func(t *db.Tx) error {
		found, more, err = s.search(c, t, c.by, terms)
		return err
	})
	items := make([]patientJSON, len(found))
	for i, p := range found {
		items[i] = patientAnswer(p)
	}
	words := fmt.Sprintf("%d patients fit. Ask which one is meant, by birth date and MRN.", len(items))
	switch {
	case len(items) == 0:
		words = "Nobody fits."
	case len(items) == 1:
		words = "1 patient fits."
	case more:
		words = fmt.Sprintf("More than %d patients fit; these are the first. Ask for more of the name, or the birth date.", len(items))
	}
	return told{words, map[string]any{"items": items, "more": more}}, err
}

// mostStarts is the most free times that one answer to an agent lists.
const mostStarts = 100

// toolFindSlots is find_slots: what GET /slots lists, and what a visit can be made of.
func (s *Server) toolFindSlots(c *call) (told, error) {
	f := db.StartFilter{Type: c.text("type", false), Practitioner: c.text("practitioner", false), Location: c.text("location", false)}
	from, to := c.text("from", false), c.text("to", false)
	if err := c.refuse(); err != nil {
		return told{}, err
	}
	var b bookable
	var items []startJSON
	err := s.DB.Read(c, c.by.Clinic, func(t *db.Tx) (err error) {
		if b, err = bookableIn(c, t); err != nil {
			return err
		}
		items, err = b.free(c, t, f, from, to)
		return err
	})
	offer := b.offer()
	if r := refusal.Of(err); r != nil && r.Code == refusal.ValidationFailed {
		for name, refs := range offer {
			r.With(name, refs)
		}
	}
	if err != nil {
		return told{}, err
	}
	more := len(items) > mostStarts
	words := fmt.Sprintf("%d free times.", len(items))
	if more {
		items = items[:mostStarts]
		words = fmt.Sprintf("More than %d free times; these are the earliest. Narrow the days, or name a practitioner or a location.", mostStarts)
	}
	offer["items"], offer["more"] = append([]startJSON{}, items...), more
	return told{words, offer}, nil
}

// offer names what a visit can be made of.
func (b bookable) offer() map[string]any {
	types, practitioners, locations := []clinic.Ref{}, []clinic.Ref{}, []clinic.Ref{}
	for _, y := range b.types {
		types = append(types, clinic.Ref{ID: y.ID, Name: y.Name})
	}
	for _, p := range b.practitioners {
		practitioners = append(practitioners, clinic.Ref{ID: p.ID, Name: p.Name})
	}
	for _, l := range b.locations {
		locations = append(locations, clinic.Ref{ID: l.ID, Name: l.Name})
	}
	return map[string]any{"types": types, "practitioners": practitioners, "locations": locations}
}

// mostVisits is the most coming appointments that one answer to an agent lists.
const mostVisits = 20

// toolAppointment is get_appointment: one by its id, or a patient's coming ones.
func (s *Server) toolAppointment(c *call) (told, error) {
	appointment, patient := c.text("appointment", false), c.text("patient", false)
	if (appointment == "") == (patient == "") {
		c.bad("appointment", "Give either the appointment or the patient.")
	}
	if err := c.refuse(); err != nil {
		return told{}, err
	}
	if !clinic.ValidID(appointment + patient) {
		return told{}, refusal.New(refusal.NotFound)
	}
	if appointment != "" {
		v, err := s.readVisit(c, c.by, appointment)
		return told{"The appointment as it stands now.", map[string]any{"appointment": visitAnswer(v)}}, err
	}
	var coming []clinic.Visit
	err := s.DB.InClinic(c, c.by.Clinic, func(t *db.Tx) error {
		if _, err := t.Patient(c, patient); err != nil {
			return err
		}
		var err error
		if coming, _, _, err = t.PatientVisits(c, patient, 0); err != nil {
			return err
		}
		return t.Audit(c, s.readEvent(t, c.by, audit.ListAppointments, "", "", 0, patient))
	})
	if err != nil {
		return told{}, err
	}
	items := []proposal.AppointmentAnswer{}
	for _, v := range coming[:min(len(coming), mostVisits)] {
		items = append(items, visitAnswer(v))
	}
	return told{fmt.Sprintf("%d coming appointments, the next one first.", len(coming)), map[string]any{"appointments": items, "more": len(coming) > mostVisits}}, nil
}
