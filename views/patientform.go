package views

import "strings"

// PatientFormPage is the form of what is about a patient and no visit, new or edited: GET /patients/new,
// /patients/{id}/contact, /patients/{id}/message, /proposals/{id}/edit. It posts the contract's fields to POST /proposals
// or to the proposal's revisions.
type PatientFormPage struct {
	Shell
	Action         string // ActionRegister, ActionContact, ActionMessage
	IdempotencyKey string // of POST /proposals; not used when editing

	// Editing, as in ProposePage.
	Proposal string
	Revision int
	PlanHash string

	Patient                        Person // zero for a registration
	PhoneNow, EmailNow, ContactNow string // what is on record

	// Values as typed.
	Family, Given, BirthDate, MRN string
	Phone, Email, Contact         string
	Channel, Message, Reason      string
	NotDuplicate                  bool

	Channels   []Option // ways in which this patient can be written to
	Candidates []Person // possible_duplicate: who may be the same
	Refusal    Refusal
}

// RegisterURL is the form of a registration.
const RegisterURL = "/patients/new"

// PatientFormURL is the form of an action on one patient.
func PatientFormURL(action, patient string) string {
	if action == ActionMessage {
		return patientURL(patient) + "/message"
	}
	return patientURL(patient) + "/contact"
}

func (p PatientFormPage) heading() string {
	switch p.Action {
	case ActionRegister:
		return "Register a new patient"
	case ActionContact:
		return "Change " + Possessive(p.Patient.Name) + " contact details"
	}
	return "Write to " + p.Patient.Name
}

func (p PatientFormPage) postURL() string {
	if p.Proposal != "" {
		return cardURL(p.Proposal) + "/revisions"
	}
	return "/proposals"
}

func (p PatientFormPage) back() Link {
	switch {
	case p.Proposal != "":
		return Link{cardURL(p.Proposal), "Back to the card"}
	case p.Patient.ID != "":
		return Link{patientURL(p.Patient.ID), "Back to the patient"}
	}
	return Link{"/", "Back to the day sheet"}
}

func (p PatientFormPage) sendText() string {
	if p.Proposal != "" {
		return "Show the new preview"
	}
	return "Show the preview"
}

// contactOptions are the contact preferences; keep is the first, empty one's label, "" = none.
func contactOptions(keep string) []Option {
	out := []Option{{Label: keep}}
	for _, code := range []string{"email", "sms", "phone", "none"} {
		out = append(out, Option{Value: code, Label: strings.ToUpper(ContactWord(code)[:1]) + ContactWord(code)[1:]})
	}
	return out
}
