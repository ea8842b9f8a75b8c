package proposal

import (
	"context"
	"time"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// reschedule moves one booked visit to another time, practitioner or location; the type stays.
var reschedule = action{
	name:    "reschedule_appointment@1",
	subject: "appointment",
	parameters: []parameter{
		{name: "appointment", kind: kindID, required: true},
		{name: "starts_at", kind: kindTime, required: true},
		{name: "practitioner", kind: kindID},
		{name: "location", kind: kindID},
		{name: "notify", kind: kindBool, absent: true},
		{name: "message", kind: kindText},
	},
	draft: draftReschedule,
	title: func(p Plan) string {
		return "Move " + possessive(p.After.Patient.Name) + " " + p.After.Type.Name + " visit"
	},
	audit: audit.MoveAppointment,
}

func draftReschedule(ctx context.Context, d *drafting) error {
	visit, err := d.tx.Visit(ctx, text(d.params, "appointment"))
	if err := d.unknown("appointment", err); err != nil {
		return err
	}
	to := place{practitioner: visit.Practitioner, location: visit.Location, typ: visit.Type}
	if id := text(d.params, "practitioner"); id != "" && id != to.practitioner.ID {
		to.practitioner, err = d.tx.Practitioner(ctx, id)
		if err := d.unknown("practitioner", err); err != nil {
			return err
		}
	}
	if id := text(d.params, "location"); id != "" && id != to.location.ID {
		to.location, err = d.tx.Location(ctx, id)
		if err := d.unknown("location", err); err != nil {
			return err
		}
	}
	if err := d.idsKnown(); err != nil {
		return err
	}
	if err := d.stillAhead(visit); err != nil {
		return err
	}
	if visit.Patient.Deceased {
		return d.invalid("appointment", "The record says that this patient has died. Cancel the visit instead.")
	}
	if err := d.settle(ctx, &to, text(d.params, "starts_at"), visit.ID); err != nil {
		return err
	}
	if to.starts.Equal(visit.StartsAt) && to.practitioner.ID == visit.Practitioner.ID && to.location.ID == visit.Location.ID {
		return d.invalid("starts_at", "The visit already stands there. Choose another time, practitioner or location.")
	}
	d.params["starts_at"] = to.starts.Format(time.RFC3339)

	before, err := factsOf(visit)
	if err != nil {
		return err
	}
	p := d.plan
	p.Before, p.After = before, to.facts(visit.ID, visit.Status, visit.Patient)
	old, wanted := slotIDs(visit.Slots), slotIDs(to.slots)
	p.Steps = []Step{{Op: OpMove, Appointment: &visit.ID, ExpectVersion: &visit.Version, Patient: &visit.Patient.ID,
		Practitioner: &to.practitioner.ID, Location: &to.location.ID, Type: &to.typ.ID, StartsAt: &to.starts, EndsAt: &to.ends,
		FreeSlots: without(old, wanted), TakeSlots: without(wanted, old)}}
	d.rows.visit(visit)
	d.rows.add(PinPractitioner, to.practitioner.ID, to.practitioner.Version)
	d.rows.add(PinLocation, to.location.ID, to.location.Version)
	d.rows.slots(to.slots)
	d.tell(visit.Patient, KindChange)
	if err := d.outside(ctx, "move"); err != nil {
		return err
	}
	if err := d.contradiction(ctx, visit); err != nil {
		return err
	}
	return d.warnDoubleBooking(ctx)
}

// stillAhead refuses visits that are not booked any more, or stood on a day before today in their own zone.
func (d *drafting) stillAhead(v clinic.Visit) error {
	zone, err := clinic.LoadZone(v.Location.Zone)
	if err != nil {
		return err
	}
	if v.Waits != "" {
		return refusal.Invalid(refusal.Field{Name: "appointment", Message: waitsWords})
	}
	if v.Status != "booked" {
		return refusal.Invalid(refusal.Field{Name: "appointment", Message: "This visit is not booked any more: it is " + v.Status + ". Book a new one."})
	}
	if clinic.DateOf(v.StartsAt, zone).Before(clinic.DateOf(d.now, zone)) {
		return refusal.Invalid(refusal.Field{Name: "appointment", Message: "This visit was on a day before today. Book a new one."})
	}
	return nil
}

// WarnDoubleBooked is the warning for a patient with another visit at the same time.
const WarnDoubleBooked = "patient_double_booked"

func (d *drafting) warnDoubleBooking(ctx context.Context) error {
	twice, err := d.tx.DoubleBooked(ctx, d.plan.stay())
	if twice {
		d.plan.Warnings = append(d.plan.Warnings, WarnDoubleBooked)
	}
	return err
}
