package ehr

import (
	"slices"
	"strings"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/ehr/fhir"
)

// TypeSystem is the system of our ids of appointment types in the EHR.
const TypeSystem = "https://countersign.invalid/appointment-type"

const (
	reasonSystem = "http://terminology.hl7.org/CodeSystem/appointment-cancellation-reason"
	marker       = "Countersign " // before the operation's id, in the comment, where an EHR keeps no identifiers
)

// reasons are ours in the words of FHIR's value set.
var reasons = map[string]string{"patient_request": "pat", "practitioner_unavailable": "prov", "clinic_closed": "other",
	"booked_in_error": "oth-err", "patient_deceased": "pat-dec", "other": "other"}

// remote is an id in the EHR; where a row has none there, ours.
func remote(id string, ours clinic.Ref) string {
	if id != "" {
		return id
	}
	return ours.ID
}

func (v Visit) patient() string      { return remote(v.RemotePatient, v.Patient) }
func (v Visit) practitioner() string { return remote(v.RemotePractitioner, v.Practitioner) }
func (v Visit) location() string     { return remote(v.RemoteLocation, v.Location) }

func (v Visit) minutes() int { return int(v.EndsAt.Sub(v.StartsAt) / time.Minute) }

func (v Visit) slots() (refs []fhir.Reference) {
	for _, id := range v.Slots {
		refs = append(refs, fhir.Reference{Reference: "Slot/" + id})
	}
	return refs
}

// booking is the body of a new appointment. The same operation makes the same bytes.
func booking(v Visit, operation string, c Capabilities) fhir.Appointment {
	a := fhir.Appointment{
		ResourceType: "Appointment", Status: fhir.StatusBooked,
		AppointmentType: &fhir.CodeableConcept{Coding: []fhir.Coding{{System: TypeSystem, Code: v.Type.ID, Display: v.Type.Name}}},
		Start:           fhir.At(v.StartsAt), End: fhir.At(v.EndsAt), MinutesDuration: v.minutes(), Slot: v.slots(),
		Participant: []fhir.Participant{
			takesPart("Patient/" + v.patient()), takesPart("Practitioner/" + v.practitioner()), takesPart("Location/" + v.location())},
	}
	mark(&a, operation, c)
	return a
}

func takesPart(reference string) fhir.Participant {
	return fhir.Participant{Actor: &fhir.Reference{Reference: reference}, Required: "required", Status: "accepted"}
}

// mark leaves the business identifier, by which it is found.
func mark(a *fhir.Appointment, operation string, c Capabilities) {
	switch {
	case marked(a, operation):
	case c.IdentifierWritable:
		a.Identifier = append(slices.Clone(a.Identifier), fhir.Identifier{System: IdentifierSystem, Value: operation})
	case a.Comment == "":
		a.Comment = marker + operation
	default:
		a.Comment += "\n" + marker + operation
	}
}

// marked reports whether an appointment is of the operation: exactly its identifier, or a whole line of its comment.
func marked(a *fhir.Appointment, operation string) bool {
	return a.Identified(IdentifierSystem, operation) || slices.Contains(strings.Split(a.Comment, "\n"), marker+operation)
}

// Marks are the operations whose mark an appointment carries: as an identifier of ours or, where an EHR keeps none, as a
// line of its comment.
func Marks(a *fhir.Appointment) (operations []string) {
	for _, i := range a.Identifier {
		if i.System == IdentifierSystem {
			operations = append(operations, i.Value)
		}
	}
	for line := range strings.SplitSeq(a.Comment, "\n") {
		if id, ours := strings.CutPrefix(line, marker); ours {
			operations = append(operations, id)
		}
	}
	return operations
}

// moved is the body that moves what was read: its time, practitioner, place and slots are changed, all else is as it was.
func moved(read fhir.Appointment, before, wanted Visit, operation string, c Capabilities) fhir.Appointment {
	a := read
	a.Start, a.End, a.Slot = fhir.At(wanted.StartsAt), fhir.At(wanted.EndsAt), wanted.slots()
	if a.MinutesDuration != 0 {
		a.MinutesDuration = wanted.minutes()
	}
	a.Participant = slices.Clone(read.Participant)
	a.Participant = replaced(a.Participant, "Practitioner", before.practitioner(), wanted.practitioner())
	a.Participant = replaced(a.Participant, "Location", before.location(), wanted.location())
	mark(&a, operation, c)
	return a
}

// replaced puts one actor in another's place, in the same seat.
func replaced(all []fhir.Participant, resourceType, old, wanted string) []fhir.Participant {
	if old == wanted {
		return all
	}
	for i, p := range all {
		if p.Actor == nil {
			continue
		}
		if t, id := p.Actor.Target(); t == resourceType && id == old {
			all[i].Actor = &fhir.Reference{Reference: resourceType + "/" + wanted}
			return all
		}
	}
	return append(all, takesPart(resourceType+"/"+wanted))
}

// cancelled is the body that cancels what was read.
func cancelled(read fhir.Appointment, reason, operation string, c Capabilities) fhir.Appointment {
	a := read
	a.Status = fhir.StatusCancelled
	code, known := reasons[reason]
	if !known {
		code = "other"
	}
	a.CancelationReason = &fhir.CodeableConcept{Coding: []fhir.Coding{{System: reasonSystem, Code: code}}}
	mark(&a, operation, c)
	return a
}

// Comparison says how an appointment in the EHR is other than what was approved.
type Comparison struct {
	WrongPatient bool
	Differs      []string // status, start, end, duration, practitioner, location, type, patient (none named); sorted
}

// Equal reports that it is what was approved.
func (c Comparison) Equal() bool { return !c.WrongPatient && len(c.Differs) == 0 }

// Compare holds found against what was approved, instant by instant. without is who and where it was before a move: not
// there any longer. A cancelled visit need only be cancelled, and the patient's.
func Compare(wanted Visit, without *Visit, found fhir.Appointment) Comparison {
	var c Comparison
	differs := func(name string, other bool) {
		if other {
			c.Differs = append(c.Differs, name)
		}
	}
	switch patients := found.Actors("Patient"); {
	case len(patients) == 0:
		differs("patient", true)
	case len(patients) > 1 || patients[0] != wanted.patient():
		c.WrongPatient = true
	}
	if wanted.Status == fhir.StatusCancelled {
		differs("status", found.Status != fhir.StatusCancelled)
		return c
	}
	differs("status", found.Status != fhir.StatusBooked)
	differs("start", found.Start == nil || !found.Start.Equal(wanted.StartsAt))
	differs("end", found.End == nil || !found.End.Equal(wanted.EndsAt))
	differs("duration", found.MinutesDuration != 0 && found.MinutesDuration != wanted.minutes())
	old := Visit{}
	if without != nil {
		old = *without
	}
	differs("practitioner", !seated(found.Actors("Practitioner"), wanted.practitioner(), old.practitioner()))
	differs("location", !seated(found.Actors("Location"), wanted.location(), old.location()))
	differs("type", otherType(found, wanted.Type.ID))
	slices.Sort(c.Differs)
	return c
}

// seated: the one is there, and the other, if it is another, is not.
func seated(actors []string, wanted, old string) bool {
	return slices.Contains(actors, wanted) && (old == "" || old == wanted || !slices.Contains(actors, old))
}

// otherType: a type in our system that is not the one. An EHR that keeps only its own codes proves nothing either way;
// the duration does.
func otherType(found fhir.Appointment, id string) bool {
	all := slices.Clone(found.ServiceType)
	if found.AppointmentType != nil {
		all = append(all, *found.AppointmentType)
	}
	other := false
	for _, concept := range all {
		for _, coding := range concept.Coding {
			if coding.System == TypeSystem {
				if coding.Code == id {
					return false
				}
				other = true
			}
		}
	}
	return other
}
