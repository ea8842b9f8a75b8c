package proposal

import (
	"context"

	"countersign/internal/audit"
)

// ReasonCodes say why a visit is cancelled.
var ReasonCodes = []string{"patient_request", "practitioner_unavailable", "clinic_closed", "booked_in_error", reasonDeceased, "other"}

const reasonDeceased = "patient_deceased"

// cancel ends one booked visit and frees its time.
var cancel = action{
	name:    "cancel_appointment@1",
	subject: "appointment",
	parameters: []parameter{
		{name: "appointment", kind: kindID, required: true},
		{name: "reason_code", kind: kindCode, required: true, codes: ReasonCodes},
		{name: "notify", kind: kindBool, absent: true},
		{name: "message", kind: kindText},
	},
	draft: draftCancel,
	title: func(p Plan) string {
		return "Cancel " + possessive(p.After.Patient.Name) + " " + p.After.Type.Name + " visit"
	},
	audit: audit.CancelAppointment,
}

func draftCancel(ctx context.Context, d *drafting) error {
	visit, err := d.tx.Visit(ctx, text(d.params, "appointment"))
	if err := d.unknown("appointment", err); err != nil {
		return err
	}
	if err := d.idsKnown(); err != nil {
		return err
	}
	if err := d.stillAhead(visit); err != nil {
		return err
	}
	before, err := factsOf(visit)
	if err != nil {
		return err
	}
	after := *before
	after.Status, after.Slots = "cancelled", []SlotFacts{}
	reason := text(d.params, "reason_code")
	p := d.plan
	p.Before, p.After = before, &after
	p.Steps = []Step{{Op: OpCancel, Appointment: &visit.ID, ExpectVersion: &visit.Version, Patient: &visit.Patient.ID, ReasonCode: &reason,
		FreeSlots: slotIDs(visit.Slots), TakeSlots: []string{}}}
	d.rows.visit(visit)
	if reason == reasonDeceased { // the record may not say so yet
		why := deceased
		after.Patient.Unreachable = &why
	}
	d.tell(visit.Patient, KindCancellation)
	return d.outside(ctx, "cancel")
}
