package intake

import (
	"slices"

	"countersign/internal/clinic"
	"countersign/internal/ehr"
	"countersign/internal/ehr/fhir"
)

func appointment(r *fhir.Appointment, fullURL string) (Row, *Problem) {
	h, p := head(r.ID, r.Meta, fullURL)
	if p != nil {
		return nil, p
	}
	a := &Appointment{Head: h, Minutes: max(r.MinutesDuration, 0)}
	switch r.Status {
	case fhir.StatusBooked, fhir.StatusArrived, clinic.StatusCheckedIn, fhir.StatusFulfilled, fhir.StatusCancelled, fhir.StatusNoShow:
		a.Status = r.Status
	case fhir.StatusInError:
		a.Status = clinic.StatusCancelled
	case fhir.StatusProposed, fhir.StatusPending, clinic.StatusWaitlist:
		return nil, &Problem{CodeUnsupported, "it is not booked yet, and is left out", true}
	default:
		return nil, problem(CodeIncomplete, "its status is none of FHIR's")
	}
	if a.Status == clinic.StatusCancelled {
		a.ReasonCode = reasonOf(r)
	}
	if r.Start != nil || r.End != nil || a.Status != clinic.StatusCancelled {
		if a.StartsAt, a.EndsAt, p = times(r.Start, r.End); p != nil {
			return nil, p
		}
	}
	for kind, to := range map[string]*string{KindPatient: &a.Patient, KindPractitioner: &a.Practitioner, KindLocation: &a.Location} {
		ids := r.Actors(kind)
		if len(ids) > 1 {
			return nil, problem(CodeUnsupported, "it has several participants of one kind")
		}
		if len(ids) == 1 {
			*to = ids[0]
		}
		if p := invalid(kind, *to); p != nil {
			return nil, p
		}
	}
	if a.Patient == "" {
		return nil, Unknown(KindPatient, "")
	}
	if a.Practitioner == "" {
		return nil, Unknown(KindPractitioner, "")
	}
	if types := typesOf(r.ServiceType, r.AppointmentType); len(types) > 0 {
		a.Type = types[0]
	}
	for _, s := range r.Slot {
		if id := target(s, KindSlot); ValidRemote(id) {
			a.Slots = append(a.Slots, id)
		}
	}
	a.Operations = slices.DeleteFunc(ehr.Marks(r), func(id string) bool { return !clinic.ValidID(id) })
	return a, nil
}

// reasonOf gives our reason code for FHIR's (value set appointment-cancellation-reason) or our own, "" when nothing is said.
func reasonOf(r *fhir.Appointment) string {
	if r.Status == fhir.StatusInError {
		return "booked_in_error"
	}
	if r.CancelationReason == nil {
		return ""
	}
	for _, c := range r.CancelationReason.Coding {
		switch c.Code {
		case "patient_request", "practitioner_unavailable", "clinic_closed", "booked_in_error", "patient_deceased":
			return c.Code
		case "pat", "pat-crs", "pat-cpp", "pat-fb", "pat-lt", "pat-mt", "pat-mv", "pat-preg", "pat-swl", "pat-uwo":
			return "patient_request"
		case "pat-dec":
			return "patient_deceased"
		case "prov", "prov-pers", "prov-dch", "prov-edu", "prov-hosp", "prov-labs", "prov-mt":
			return "practitioner_unavailable"
		case "oth-err":
			return "booked_in_error"
		case "oth-weath", "maint", "meds-inc":
			return "clinic_closed"
		}
	}
	return "other"
}
