package proposal

import (
	"encoding/json"
	"fmt"
	"time"

	"countersign/internal/clinic"
)

// Risk levels, lightest first (contract section 7).
const (
	Low      = "low"
	Medium   = "medium"
	High     = "high"
	Critical = "critical"
)

// Step operations. What runs is read from steps and nowhere else.
const (
	OpMove   = "move_appointment"
	OpCreate = "create_appointment"
	OpCancel = "cancel_appointment"
	OpSend   = "send_message"

	OpRegister = "create_patient"
	OpContact  = "update_patient"

	OpPolicy = "set_policy"

	OpResolve = "resolve_operation"
)

// Plan is the canonical document of what will execute (contract section 3). Every member is always present, null or
// empty where it has no value; instants are UTC whole seconds. The card and the summary are drawn from it alone.
type Plan struct {
	V           int            `json:"v"` // 1
	Clinic      string         `json:"clinic"`
	Proposal    string         `json:"proposal"`
	Revision    int            `json:"revision"`
	Action      string         `json:"action"` // reschedule_appointment@1
	Parameters  map[string]any `json:"parameters"`
	Before      *Facts         `json:"before"` // null for a booking
	After       *Facts         `json:"after"`
	Steps       []Step         `json:"steps"`
	Resources   []Pin          `json:"resources"` // sorted by kind, id
	Messages    []Message      `json:"messages"`
	Risk        string         `json:"risk"`
	RiskReasons []string       `json:"risk_reasons"` // in words
	Warnings    []string       `json:"warnings"`     // codes: patient_double_booked, possible_duplicate; of a resolution see resolve_warn.go
	ExpiresAt   time.Time      `json:"expires_at"`
}

// Facts is what is shown of a visit as it stands or will stand. An action on a patient alone has only the patient line;
// Appointment is then "" and every other member is null in the document. A bulk has only Items, one for each of its
// visits, in order; nothing else has any. A change of policy has the policy alone. The resolution of an operation has the
// operation beside the patient line.
type Facts struct {
	Appointment   string       `json:"appointment"`
	Status        string       `json:"status"`
	Patient       PatientFacts `json:"patient"`
	Type          TypeFacts    `json:"type"`
	Practitioner  clinic.Ref   `json:"practitioner"`
	Location      PlaceFacts   `json:"location"`
	StartsAt      time.Time    `json:"starts_at"`
	EndsAt        time.Time    `json:"ends_at"`
	Zone          string       `json:"zone"` // IANA
	OffsetMinutes int          `json:"offset_minutes"`
	Slots         []SlotFacts  `json:"slots"`  // held by this visit; none once cancelled
	Items         []Facts      `json:"items"`  // of a bulk, else null
	Policy        *PolicyFacts `json:"policy"` // of a change of policy, else null

	Operation *OperationFacts `json:"operation"` // of the resolution of an operation, beside its patient; else null
}

// OfVisit tells a visit from a patient alone.
func (f *Facts) OfVisit() bool { return f != nil && f.Appointment != "" }

// MarshalJSON writes null for all that a patient alone, a bulk or a policy does not have.
func (f Facts) MarshalJSON() ([]byte, error) {
	type visit Facts // without this method
	alone := len(f.Items) > 0 || f.Policy != nil
	if !alone && (f.OfVisit() || f.Patient.ID == "") {
		return json.Marshal(visit(f))
	}
	patient := &f.Patient
	if alone {
		patient = nil
	}
	return json.Marshal(struct {
		visit
		Appointment   *string       `json:"appointment"`
		Status        *string       `json:"status"`
		Patient       *PatientFacts `json:"patient"`
		Type          *TypeFacts    `json:"type"`
		Practitioner  *clinic.Ref   `json:"practitioner"`
		Location      *PlaceFacts   `json:"location"`
		StartsAt      *time.Time    `json:"starts_at"`
		EndsAt        *time.Time    `json:"ends_at"`
		Zone          *string       `json:"zone"`
		OffsetMinutes *int          `json:"offset_minutes"`
		Slots         []SlotFacts   `json:"slots"`
	}{visit: visit(f), Patient: patient})
}

// PatientFacts is the patient line. Unreachable says why no message can go out: no_address, prefers_phone,
// prefers_none, deceased; null when the patient can be reached by Contact. Phone and Email are shown by actions on the
// patient alone, null = none; a visit shows neither, and has null.
type PatientFacts struct {
	ID          string  `json:"id"`
	Name        string  `json:"name"`
	BirthDate   string  `json:"birth_date"`
	MRN         string  `json:"mrn"`
	Contact     string  `json:"contact"`
	Unreachable *string `json:"unreachable"`
	WrittenIn   string  `json:"written_in"` // language of the standard texts: en, da; "" in plans of before there were several
	Phone       *string `json:"phone"`
	Email       *string `json:"email"`
}

// TypeFacts is an appointment type as shown.
type TypeFacts struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Minutes int    `json:"minutes"`
}

// PlaceFacts is a location as shown and as told to the patient.
type PlaceFacts struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Address string `json:"address"`
	Phone   string `json:"phone"`
}

// PolicyFacts is what a clinic asks of an action, before or after a change.
type PolicyFacts struct {
	Action    string  `json:"action"`
	LeastRisk *string `json:"least_risk"` // null = no floor
	People    *int    `json:"people"`     // null = by risk
}

func (f PolicyFacts) policy() Policy { return Policy{LeastRisk: f.LeastRisk, People: f.People} }

// SlotFacts is one slot row of a visit.
type SlotFacts struct {
	ID       string    `json:"id"`
	StartsAt time.Time `json:"starts_at"`
}

// Step is one typed, complete operation. Members that an operation does not use are null or empty.
type Step struct {
	Op            string         `json:"op"`
	Appointment   *string        `json:"appointment"`
	ExpectVersion *int64         `json:"expect_version"` // null only when the step creates
	Patient       *string        `json:"patient"`
	Practitioner  *string        `json:"practitioner"`
	Location      *string        `json:"location"`
	Type          *string        `json:"type"`
	StartsAt      *time.Time     `json:"starts_at"`
	EndsAt        *time.Time     `json:"ends_at"`
	ReasonCode    *string        `json:"reason_code"`
	FreeSlots     []string       `json:"free_slots"`
	TakeSlots     []string       `json:"take_slots"`
	Message       *int           `json:"message"` // index into messages
	Record        *PatientRecord `json:"record"`  // what a patient's row holds afterwards
	Policy        *PolicyFacts   `json:"policy"`  // what is asked of its action afterwards
	EHR           *EHRStep       `json:"ehr"`     // what is written in the clinic's EHR first; null = this desk's book alone

	Operation *ResolveStep `json:"operation"` // what is ended, and how
}

// PatientRecord is a patient's row as a step leaves it. A null phone or e-mail is none.
type PatientRecord struct {
	Family    string  `json:"family"`
	Given     string  `json:"given"`
	BirthDate string  `json:"birth_date"`
	MRN       string  `json:"mrn"`
	Phone     *string `json:"phone"`
	Email     *string `json:"email"`
	Contact   string  `json:"contact"`
}

// Patient is the row of that id.
func (r PatientRecord) Patient(id string) clinic.Patient {
	p := clinic.Patient{ID: id, Family: r.Family, Given: r.Given, BirthDate: r.BirthDate, MRN: r.MRN, Contact: r.Contact}
	if r.Phone != nil {
		p.Phone = *r.Phone
	}
	if r.Email != nil {
		p.Email = *r.Email
	}
	return p
}

// Pin kinds. KindProposal appears only in `changed`, for a revision that is not current.
const (
	PinAppointment  = "appointment"
	PinSlot         = "slot"
	PinPatient      = "patient"
	PinPractitioner = "practitioner"
	PinLocation     = "location"
	PinType         = "type"
	PinPolicy       = "policy" // of the action that is its id; version 0 = never set
	PinOperation    = "operation"
	PinProposal     = "proposal"
	PinEHR          = "ehr" // appears only in `changed`: whether the clinic's visits are kept in an EHR too
)

// Pin is a row and the version the plan was made from.
type Pin struct {
	Kind    string `json:"kind"`
	ID      string `json:"id"`
	Version int64  `json:"version"`
}

// Message is exactly what the patient will get.
type Message struct {
	Kind      string     `json:"kind"`    // confirmation, change, cancellation, reminder, message
	Channel   string     `json:"channel"` // email, sms
	Recipient string     `json:"recipient"`
	Subject   *string    `json:"subject"` // null for sms
	Text      string     `json:"text"`
	Calendar  *string    `json:"calendar"`
	SendAt    *time.Time `json:"send_at"` // null = when it has run
}

// Encode gives the plan's canonical bytes and its plan hash.
func (p Plan) Encode() (canonical []byte, hash string, err error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, "", fmt.Errorf("plan: %w", err)
	}
	tree, err := DecodeStrict(raw)
	if err != nil {
		return nil, "", fmt.Errorf("plan: %w", err)
	}
	canonical, err = Canonical(tree)
	if err != nil {
		return nil, "", fmt.Errorf("plan: %w", err)
	}
	return canonical, HashPlan(canonical), nil
}

// DecodePlan reads stored canonical bytes. It does not check the hash; Verify does.
func DecodePlan(canonical []byte) (Plan, error) {
	var p Plan
	if err := json.Unmarshal(canonical, &p); err != nil {
		return Plan{}, fmt.Errorf("stored plan: %w", err)
	}
	return p, nil
}

// Unreadable stands for a stored plan that does not have its hash: nothing of it is shown, and nothing of it can run.
func Unreadable() (Plan, json.RawMessage) {
	return Plan{After: &Facts{}, RiskReasons: []string{}, Warnings: []string{}}, json.RawMessage("null")
}

// Tampered reports that the record's stored plan does not have its hash; Plan stands for it and says nothing.
func (r Record) Tampered() bool { return string(r.PlanBytes) == "null" }

// Verify reports whether stored bytes are those that were hashed.
func Verify(canonical []byte, hash string) bool { return HashPlan(canonical) == hash }

// stay is when the patient will be at the visit of the plan; zero for a cancellation and without a visit.
func (p Plan) stay() Stay { return p.After.stay() }

func (f *Facts) stay() Stay {
	if !f.OfVisit() || f.Status == "cancelled" {
		return Stay{}
	}
	return Stay{f.Patient.ID, f.Appointment, f.StartsAt, f.EndsAt}
}

// Summary is made to be rendered: the same rows for the card, the API and a confirmation prompt.
type Summary struct {
	Title  string  `json:"title"`
	Fields []Field `json:"fields"`
}

// Field is one row of a summary: what stands now and what is proposed. Equal values mean unchanged.
type Field struct {
	Label string  `json:"label"`
	Old   *string `json:"old"`
	New   *string `json:"new"`
}
