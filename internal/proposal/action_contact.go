package proposal

import (
	"context"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// updateContact changes how a patient is reached. What is not given stays as it is.
var updateContact = action{
	name:    "update_contact@1",
	subject: "patient",
	parameters: []parameter{
		{name: "patient", kind: kindID, required: true},
		{name: "phone", kind: kindPhone},
		{name: "email", kind: kindEmail},
		{name: "contact_preference", kind: kindCode, codes: clinic.ContactPreferences},
	},
	draft: draftContact,
	title: func(p Plan) string { return "Change " + possessive(p.After.Patient.Name) + " contact details" },
	audit: audit.UpdateContact,
}

func draftContact(ctx context.Context, d *drafting) error {
	was, err := d.tx.Patient(ctx, text(d.params, "patient"))
	if err := d.unknown("patient", err); err != nil {
		return err
	}
	if err := d.idsKnown(); err != nil {
		return err
	}
	is := was
	// A number that is only written in another way is the same one.
	if s := text(d.params, "phone"); s != "" && s != stored(clinic.ParsePhone, was.Phone) {
		is.Phone = s
	}
	if s := text(d.params, "email"); s != "" && s != stored(clinic.ParseEmail, was.Email) {
		is.Email = s
	}
	if s := text(d.params, "contact_preference"); s != "" {
		is.Contact = s
		if wrong := reachable(is.Contact, is.Phone, is.Email); wrong != nil {
			return refusal.Invalid(wrong...)
		}
	}
	if is == was {
		return d.nothingChanges()
	}
	d.plan.Before, d.plan.After = contactFacts(was), contactFacts(is)
	d.plan.Steps = []Step{{Op: OpContact, Patient: &was.ID, ExpectVersion: &was.Version, FreeSlots: []string{}, TakeSlots: []string{}, Record: recordOf(is)}}
	d.rows.add(PinPatient, was.ID, was.Version)
	return nil
}

// stored is a value on record as it would be stored today; one that would not be is itself.
func stored(read func(string) (string, error), s string) string {
	if clean, err := read(s); err == nil {
		return clean
	}
	return s
}

func (d *drafting) nothingChanges() error {
	var given []refusal.Field
	for _, name := range []string{"phone", "email", "contact_preference"} {
		if d.params[name] != nil {
			given = append(given, refusal.Field{Name: name, Message: "This is on record already, so nothing would change."})
		}
	}
	if given == nil {
		return d.invalid("phone", "Give a phone number, an e-mail address or how the patient wants to be told: nothing would change.")
	}
	return refusal.Invalid(given...)
}
