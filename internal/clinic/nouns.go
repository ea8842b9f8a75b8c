// Package clinic holds the nouns of scheduling (FHIR R4's words), wall time, and the rules of slots and statuses.
package clinic

import (
	"regexp"
	"strings"
	"time"
)

// Ref names a row for a person: its opaque id and the name shown.
type Ref struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

var idShape = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// ValidID reports whether s has the shape of an id: 1 to 64 URL-safe characters. Anything else cannot exist.
func ValidID(s string) bool { return idShape.MatchString(s) }

// Patient is one person of one clinic. BirthDate is YYYY-MM-DD; an absent phone or e-mail is "".
type Patient struct {
	ID, Family, Given, BirthDate, MRN string
	Phone, Email                      string
	Contact                           string // email, sms, phone, none: how the patient wants to be told
	Language                          string // BCP 47
	Deceased                          bool
	Version                           int64
}

// Name is the patient's name as shown: given names, then family name.
func (p Patient) Name() string { return strings.TrimSpace(p.Given + " " + p.Family) }

// Practitioner gives care; its time can be booked once only.
type Practitioner struct {
	ID, Name string
	Active   bool
	Version  int64
}

// Location is where care is given. Zone is an IANA name and never empty.
type Location struct {
	ID, Name, Address, Phone, Zone string
	Version                        int64
}

// Type is an appointment type with its length.
type Type struct {
	ID, Name string
	Minutes  int
	Version  int64
}

// Slot is a row that can be booked. Instants are UTC; Appointment is "" when nobody holds it.
type Slot struct {
	ID, Practitioner, Location string
	StartsAt, EndsAt           time.Time
	Types                      []string // ids of the types it may hold
	State                      string   // open, leave, closed
	Appointment                string   // whose it is; of one that is held, the proposal that holds it
	Version                    int64
}

// Visit is an appointment with every row that a plan or card shows of it.
type Visit struct {
	ID, Status       string
	StartsAt, EndsAt time.Time // UTC
	Version          int64
	ReasonCode       string
	Patient          Patient
	Practitioner     Practitioner
	Location         Location
	Type             Type
	Slots            []Slot // those it covers, by start; none for visits older than the slot rows
	Waits            string // the proposal, confirmed, whose change of this visit the EHR has not answered; "" = none
}
