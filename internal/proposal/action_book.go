package proposal

import (
	"context"
	"time"

	"countersign/internal/audit"
)

// book makes one new visit. Its appointment id is chosen when it is first proposed and stays through its revisions.
var book = action{
	name: "book_appointment@1",
	parameters: []parameter{
		{name: "patient", kind: kindID, required: true},
		{name: "type", kind: kindID, required: true},
		{name: "practitioner", kind: kindID, required: true},
		{name: "location", kind: kindID, required: true},
		{name: "starts_at", kind: kindTime, required: true},
		{name: "notify", kind: kindBool, absent: true},
		{name: "message", kind: kindText},
	},
	draft: draftBook,
	title: func(p Plan) string { return "Book a " + p.After.Type.Name + " visit for " + p.After.Patient.Name },
	audit: audit.BookAppointment,
}

func draftBook(ctx context.Context, d *drafting) error {
	patient, err := d.tx.Patient(ctx, text(d.params, "patient"))
	if err := d.unknown("patient", err); err != nil {
		return err
	}
	var to place
	to.typ, err = d.tx.Type(ctx, text(d.params, "type"))
	if err := d.unknown("type", err); err != nil {
		return err
	}
	to.practitioner, err = d.tx.Practitioner(ctx, text(d.params, "practitioner"))
	if err := d.unknown("practitioner", err); err != nil {
		return err
	}
	to.location, err = d.tx.Location(ctx, text(d.params, "location"))
	if err := d.unknown("location", err); err != nil {
		return err
	}
	if err := d.idsKnown(); err != nil {
		return err
	}
	if patient.Deceased {
		return d.invalid("patient", "The record says that this patient has died. Nothing can be booked.")
	}
	if err := d.settle(ctx, &to, text(d.params, "starts_at"), ""); err != nil {
		return err
	}
	d.params["starts_at"] = to.starts.Format(time.RFC3339)

	appointment := ""
	if d.last != nil {
		appointment = d.last.After.Appointment
	} else {
		appointment = d.ids("apt")
	}
	p := d.plan
	p.After = to.facts(appointment, "booked", patient)
	p.Steps = []Step{{Op: OpCreate, Appointment: &appointment, Patient: &patient.ID, Practitioner: &to.practitioner.ID, Location: &to.location.ID,
		Type: &to.typ.ID, StartsAt: &to.starts, EndsAt: &to.ends, FreeSlots: []string{}, TakeSlots: slotIDs(to.slots)}}
	d.rows.add(PinPatient, patient.ID, patient.Version)
	d.rows.add(PinType, to.typ.ID, to.typ.Version)
	d.rows.add(PinPractitioner, to.practitioner.ID, to.practitioner.Version)
	d.rows.add(PinLocation, to.location.ID, to.location.Version)
	d.rows.slots(to.slots)
	d.tell(patient, KindConfirmation)
	if err := d.outside(ctx, "book"); err != nil {
		return err
	}
	return d.warnDoubleBooking(ctx)
}
