package proposal

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// register makes one new patient. The id, and the record number when none is given, are chosen when it is first proposed
// and stay through its revisions.
var register = action{
	name: "register_patient@1",
	parameters: []parameter{
		{name: "family", kind: kindName, required: true},
		{name: "given", kind: kindName, required: true},
		{name: "birth_date", kind: kindBirthDate, required: true},
		{name: "mrn", kind: kindMRN},
		{name: "phone", kind: kindPhone},
		{name: "email", kind: kindEmail},
		{name: "contact_preference", kind: kindCode, required: true, codes: clinic.ContactPreferences},
		{name: "confirm_not_duplicate", kind: kindBool, absent: false},
	},
	check: func(params map[string]any) []refusal.Field {
		return reachable(text(params, "contact_preference"), text(params, "phone"), text(params, "email"))
	},
	draft: draftRegister,
	title: func(p Plan) string { return "Register " + p.After.Patient.Name + " as a new patient" },
	audit: audit.RegisterPatient,
}

// WarnDuplicate is the warning for a registration of somebody who may be a patient already.
const WarnDuplicate = refusal.PossibleDuplicate

// Candidate is a patient who may be the one to be registered.
type Candidate struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	BirthDate string `json:"birth_date"`
	MRN       string `json:"mrn"`
}

func draftRegister(ctx context.Context, d *drafting) error {
	if err := d.bornByToday(ctx); err != nil {
		return err
	}
	who := clinic.Patient{ID: d.ids("pat"), Family: text(d.params, "family"), Given: text(d.params, "given"), BirthDate: text(d.params, "birth_date"),
		MRN: text(d.params, "mrn"), Phone: text(d.params, "phone"), Email: text(d.params, "email"), Contact: text(d.params, "contact_preference")}
	if d.last != nil {
		who.ID = d.last.After.Patient.ID
	}
	same, err := d.samePerson(ctx, &who)
	if err != nil {
		return err
	}
	if len(same) > 0 {
		if d.params["confirm_not_duplicate"] != true {
			return refusal.New(refusal.PossibleDuplicate).With("candidates", candidates(same))
		}
		if slices.ContainsFunc(same, func(p clinic.Patient) bool { return p.MRN == who.MRN }) {
			return d.invalid("mrn", "Another patient has this record number.")
		}
		d.plan.Warnings = append(d.plan.Warnings, WarnDuplicate)
	}
	for _, p := range same {
		d.rows.add(PinPatient, p.ID, p.Version)
		d.why = append(d.why, looksLike(p))
	}
	d.plan.After = contactFacts(who)
	d.plan.Steps = []Step{{Op: OpRegister, Patient: &who.ID, FreeSlots: []string{}, TakeSlots: []string{}, Record: recordOf(who)}}
	return nil
}

// samePerson finds who may be this one, and gives the new patient a record number that is free when none was given.
func (d *drafting) samePerson(ctx context.Context, who *clinic.Patient) ([]clinic.Patient, error) {
	if who.MRN != "" {
		return d.tx.SamePerson(ctx, *who)
	}
	if d.last != nil && d.last.Parameters["mrn"] == nil {
		who.MRN = d.last.After.Patient.MRN
	}
	for {
		if who.MRN == "" {
			who.MRN = newMRN(d.ids("mrn"))
		}
		same, err := d.tx.SamePerson(ctx, *who)
		if err != nil || !slices.ContainsFunc(same, func(p clinic.Patient) bool { return p.MRN == who.MRN }) {
			return same, err
		}
		who.MRN = ""
	}
}

// newMRN is nine digits, to be read aloud: a 9, which shorter numbers given by hand do not reach, and eight of chance.
func newMRN(random string) string {
	sum := sha256.Sum256([]byte(random))
	return fmt.Sprintf("9%08d", binary.BigEndian.Uint64(sum[:])%100_000_000)
}

// oldest is the most years a patient can have lived.
const oldest = 150

// bornByToday refuses a birth date that is still to come wherever the clinic is, or too long ago.
func (d *drafting) bornByToday(ctx context.Context) error {
	born, err := clinic.ParseDate(text(d.params, "birth_date"))
	if err != nil {
		return err
	}
	zones, err := d.tx.Zones(ctx)
	if err != nil {
		return err
	}
	today := clinic.DateOf(d.now, time.UTC)
	for i, name := range zones {
		zone, err := clinic.LoadZone(name)
		if err != nil {
			return err
		}
		if day := clinic.DateOf(d.now, zone); i == 0 || day.After(today) {
			today = day
		}
	}
	switch {
	case born.After(today):
		return d.invalid("birth_date", "This day is still to come.")
	case clinic.Age(born, today) > oldest:
		return d.invalid("birth_date", fmt.Sprintf("This is more than %d years ago.", oldest))
	}
	return nil
}

// newcomers are patients who look like the one that a plan registers and whom the plan does not know: found again under
// the lock when it is confirmed, and whenever its card is read.
func newcomers(ctx context.Context, tx Tx, p Plan) ([]Change, error) {
	step, err := mainStep(p)
	if err != nil || step.Op != OpRegister {
		return nil, err
	}
	same, err := tx.SamePerson(ctx, step.Record.Patient(*step.Patient))
	if err != nil {
		return nil, err
	}
	var found []Change
	for _, s := range same {
		if s.ID != *step.Patient && !slices.ContainsFunc(p.Resources, func(pin Pin) bool { return pin.Kind == PinPatient && pin.ID == s.ID }) {
			found = append(found, Change{Kind: PinPatient, ID: s.ID, Current: s.Version, Label: looksLike(s)})
		}
	}
	return found, nil
}

func looksLike(p clinic.Patient) string {
	return fmt.Sprintf("May be the same as %s, born %s, MRN %s", p.Name(), p.BirthDate, p.MRN)
}

func candidates(same []clinic.Patient) []Candidate {
	out := make([]Candidate, len(same))
	for i, p := range same {
		out[i] = Candidate{p.ID, p.Name(), p.BirthDate, p.MRN}
	}
	return out
}

// reachable refuses a wish to be told in a way for which there is no address.
func reachable(preference, phone, email string) []refusal.Field {
	switch clinic.Reachable(preference, phone, email) {
	case clinic.ContactEmail:
		return []refusal.Field{{Name: "contact_preference", Message: "Messages by e-mail need an e-mail address."}}
	case clinic.ContactPhone:
		return []refusal.Field{{Name: "contact_preference", Message: "SMS and calls need a phone number."}}
	}
	return nil
}

// contactFacts is what is shown of a patient alone.
func contactFacts(p clinic.Patient) *Facts {
	f := patientFacts(p)
	f.Phone, f.Email = orNil(p.Phone), orNil(p.Email)
	return &Facts{Patient: f}
}

func recordOf(p clinic.Patient) *PatientRecord {
	return &PatientRecord{p.Family, p.Given, p.BirthDate, p.MRN, orNil(p.Phone), orNil(p.Email), p.Contact}
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
