// Package intake turns FHIR R4 resources into rows of a clinic: Practitioner, Location, Patient, Schedule, Slot and
// Appointment, from a file or from the clinic's EHR. A resource is taken as a whole or not at all, and the reason never
// repeats what it holds.
package intake

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/ehr"
)

// Kinds of resource, in the order in which they can be taken: each refers to those before it only.
const (
	KindLocation     = "Location"
	KindPractitioner = "Practitioner"
	KindPatient      = "Patient"
	KindSchedule     = "Schedule"
	KindSlot         = "Slot"
	KindAppointment  = "Appointment"
)

// Kinds lists them in that order.
func Kinds() []string {
	return []string{KindLocation, KindPractitioner, KindPatient, KindSchedule, KindSlot, KindAppointment}
}

// Head is what every row has. RemoteID is the resource's id in the EHR; references of rows are such ids too. Hash is of
// all that the row says: what has the same hash says the same.
type Head struct {
	Place   int `json:"-"` // line or entry of a file, from 1
	Remote  string
	Version string    `json:"-"` // meta.versionId, "" = none
	Updated time.Time `json:"-"` // meta.lastUpdated, zero = none
	Hash    string    `json:"-"`
}

// Row is a *Location, *Practitioner, *Patient, *Schedule, *Slot or *Appointment.
type Row interface {
	Kind() string
	Header() *Head
}

// Header implements Row.
func (h *Head) Header() *Head { return h }

// Location as a file has it. Zone may be "": then it is the one known already, or the import's.
type Location struct {
	Head
	Name, Address, Phone, Zone string
}

// Practitioner as a file has it.
type Practitioner struct {
	Head
	Name   string
	Active bool
}

// Patient as a file has it. BirthDate is YYYY-MM-DD. Contact is how a patient who is new here is told: who is here keeps
// what was agreed with them, as long as the address for it is there. Language and Zone are "" where nothing is said.
type Patient struct {
	Head
	Family, Given, BirthDate, MRN string
	Phone, Email                  string
	Contact                       string
	Language, Zone                string
	Deceased                      bool
}

// TypeCode is an appointment type as the EHR calls it: equal by System and Code.
type TypeCode struct {
	System, Code string
	Name         string
}

// Schedule as a file has it. From and To are YYYY-MM-DD or "". Location may be "": the clinic's only one.
type Schedule struct {
	Head
	Practitioner, Location string
	From, To               string
	Active                 bool
	Types                  []TypeCode
}

// Slot as a file has it. Without Types those of its schedule count.
type Slot struct {
	Head
	Schedule         string
	Status           string // of FHIR
	StartsAt, EndsAt time.Time
	Types            []TypeCode
}

// Appointment as a file has it. Status is one of ours. StartsAt and EndsAt are both zero where a visit that was cancelled
// has no time. Type, Location and ReasonCode may be empty: nothing is said of them, and what is here stays. A visit that is
// new here then has a type that its schedule offers, and the location of Slots' schedule or the clinic's only one.
type Appointment struct {
	Head
	Status                          string
	Patient, Practitioner, Location string
	Type                            TypeCode
	StartsAt, EndsAt                time.Time
	Minutes                         int // minutesDuration, 0 = not said
	Slots                           []string
	ReasonCode                      string
	Operations                      []string // our own business identifiers
}

// Kind implements Row.
func (*Location) Kind() string { return KindLocation }

// Kind implements Row.
func (*Practitioner) Kind() string { return KindPractitioner }

// Kind implements Row.
func (*Patient) Kind() string { return KindPatient }

// Kind implements Row.
func (*Schedule) Kind() string { return KindSchedule }

// Kind implements Row.
func (*Slot) Kind() string { return KindSlot }

// Kind implements Row.
func (*Appointment) Kind() string { return KindAppointment }

// Codes of problems: why a resource is not taken.
const (
	CodeMalformed    = "malformed"
	CodeNoOffset     = "no_offset"
	CodeEndsTooEarly = "ends_before_start"
	CodeIncomplete   = "incomplete" // a member that we need is missing or cannot be used
	CodeNoZone       = "no_zone"
	CodeTwice        = "twice" // the same resource twice in a file, or two slots of one start
	CodeUnknown      = "unknown_reference"
	CodeOverlap      = "overlap"
	CodeMRNTaken     = "mrn_taken"
	CodeOtherPatient = "other_patient"
	CodeOperation    = "operation_open" // our own change is on its way: the reconciler's
	CodeHeld         = "slot_held"      // taken there, and waited for here
	CodeMerged       = "merged"
	CodeUnsupported  = "unsupported"
	CodeBadID        = "bad_id"        // its id, or that of its version, is none
	CodeDuplicate    = "duplicate"     // it bears the mark of a change of ours that made another visit, or is in a visit's way
	CodeGone         = "gone"          // linked, and not there any more
	CodeUnknownThere = "unknown_there" // a visit of ours that the EHR does not have
)

// Problem is why a resource is not taken. Words hold ids of the file's other resources at most, and nothing of a patient.
// Left is for what is left out by intention: it is no fault of the file.
type Problem struct {
	Code, Words string
	Left        bool
}

func problem(code, words string) *Problem { return &Problem{Code: code, Words: words} }

// Unknown is the problem of a reference to what is neither in the file nor here.
func Unknown(kind, remote string) *Problem {
	if remote == "" {
		return problem(CodeUnknown, "it names no "+strings.ToLower(kind))
	}
	return problem(CodeUnknown, "it refers to "+kind+"/"+shownID(remote)+", which is neither in the file nor here")
}

// LocalID is our id for a resource of the EHR: its own where that has the shape of ours, else one that follows from it.
func LocalID(kind, remote string) string {
	if clinic.ValidID(remote) {
		return remote
	}
	return derived(strings.ToLower(kind), remote)
}

// OtherID is our id for it where the one of LocalID belongs to another row.
func OtherID(kind, remote string) string { return derived(strings.ToLower(kind), remote) }

// TypeID is our id for an appointment type of the EHR: what we wrote there ourselves is our own id.
func TypeID(t TypeCode) string {
	if t.System == ehr.TypeSystem && clinic.ValidID(t.Code) {
		return t.Code
	}
	return derived("type", t.System+"|"+t.Code)
}

func derived(prefix, from string) string {
	sum := sha256.Sum256([]byte(prefix + "\n" + from))
	return prefix + "_" + hex.EncodeToString(sum[:10])
}

// hashed fills in the hash.
func hashed(r Row) Row {
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // strings, times and flags only: cannot happen
	}
	sum := sha256.Sum256(b)
	r.Header().Hash = hex.EncodeToString(sum[:16])
	return r
}
