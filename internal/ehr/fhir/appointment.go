package fhir

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Appointment statuses that we write or decide by.
const (
	StatusProposed  = "proposed"
	StatusPending   = "pending"
	StatusBooked    = "booked"
	StatusArrived   = "arrived"
	StatusFulfilled = "fulfilled"
	StatusCancelled = "cancelled"
	StatusNoShow    = "noshow"
	StatusInError   = "entered-in-error"
)

// Appointment is a visit. More keeps every member that is not here, so that writing one back loses nothing.
type Appointment struct {
	ResourceType      string            `json:"resourceType"`
	ID                string            `json:"id,omitzero"`
	Meta              *Meta             `json:"meta,omitzero"`
	Identifier        []Identifier      `json:"identifier,omitempty"`
	Status            string            `json:"status"`
	CancelationReason *CodeableConcept  `json:"cancelationReason,omitzero"`
	ServiceType       []CodeableConcept `json:"serviceType,omitempty"`
	AppointmentType   *CodeableConcept  `json:"appointmentType,omitzero"`
	Description       string            `json:"description,omitzero"`
	Start             *Instant          `json:"start,omitzero"` // absent only for proposed, cancelled and waitlist
	End               *Instant          `json:"end,omitzero"`
	MinutesDuration   int               `json:"minutesDuration,omitzero"`
	Slot              []Reference       `json:"slot,omitempty"`
	Comment           string            `json:"comment,omitzero"`
	Participant       []Participant     `json:"participant,omitempty"`
	More              jsontext.Value    `json:",unknown"`
}

// Participant is a person, a place or a thing of a visit.
type Participant struct {
	Actor    *Reference     `json:"actor,omitzero"`
	Required string         `json:"required,omitzero"`
	Status   string         `json:"status"` // accepted, declined, tentative, needs-action
	More     jsontext.Value `json:",unknown"`
}

// Version is the version of the resource as its meta has it, "" when it has none.
func (a *Appointment) Version() string {
	if a.Meta == nil {
		return ""
	}
	return a.Meta.VersionID
}

// Actors lists the ids of the participants of one resource type ("Patient"), in order. A participant who declined is
// none. A reference may be relative or absolute, and with a version.
func (a *Appointment) Actors(resourceType string) (ids []string) {
	for _, p := range a.Participant {
		if p.Actor != nil && p.Status != "declined" {
			if t, id := p.Actor.Target(); t == resourceType {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// Identified reports whether the appointment has exactly that identifier, system and value.
func (a *Appointment) Identified(system, value string) bool {
	for _, i := range a.Identifier {
		if i.System == system && i.Value == value {
			return true
		}
	}
	return false
}

// Target takes a literal reference apart; both are "" when it is none ("#contained", "urn:uuid:…").
func (r Reference) Target() (resourceType, id string) {
	parts := strings.Split(r.Reference, "/")
	if n := len(parts); n >= 4 && parts[n-2] == "_history" {
		parts = parts[:n-2]
	}
	if len(parts) < 2 || parts[len(parts)-1] == "" {
		return "", ""
	}
	return parts[len(parts)-2], parts[len(parts)-1]
}
