package casetest

import (
	"slices"
	"testing"

	"countersign/db/desktest"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// stored replaces the stored plan of a proposal, hash and all, as nobody but the database's owner could.
func (w *world) stored(r proposal.Record, change func(*proposal.Plan)) proposal.Record {
	w.Helper()
	change(&r.Plan)
	canonical, hash, err := r.Plan.Encode()
	if err != nil {
		w.Fatal(err)
	}
	w.exec(`ALTER TABLE revisions DISABLE TRIGGER never_changes`)
	w.exec(`UPDATE revisions SET plan_bytes = $2, plan_hash = $3 WHERE proposal = $1`, r.ID, canonical, hash)
	w.exec(`ALTER TABLE revisions ENABLE TRIGGER never_changes`)
	r.PlanHash = hash
	return r
}

// Approval cases A12 and A14: a plan without steps is never vacuously done, and a change without the version it was
// made from never runs; not even when somebody put such a plan, with its right hash, into the database.
func TestAnIncompletePlanNeverRuns(t *testing.T) {
	w := worldAt(t, "2026-06-03 09:00")
	before := w.stands("appt_maria84")
	for name, change := range map[string]func(*proposal.Plan){
		"no steps":            func(p *proposal.Plan) { p.Steps = []proposal.Step{} },
		"only a message":      func(p *proposal.Plan) { p.Steps = p.Steps[1:] },
		"no expected version": func(p *proposal.Plan) { p.Steps[0].ExpectVersion = nil },
		"no appointment":      func(p *proposal.Plan) { p.Steps[0].Appointment = nil },
		"two changes":         func(p *proposal.Plan) { p.Steps = append(p.Steps, p.Steps[0]) },
	} {
		r := w.stored(w.propose(ana, move("appt_maria84", "2026-06-17T14:00")), change)
		if _, err := w.desk.Confirm(ctx, ana, desktest.Deciding(r, "k-"+r.ID)); err == nil {
			t.Errorf("%s: it ran", name)
		}
		if w.text(`SELECT state FROM proposals WHERE id = $1`, r.ID) != "proposed" || w.text(`SELECT count(*) FROM idempotency_keys`) != "0" {
			t.Errorf("%s: it was decided", name)
		}
	}
	if w.stands("appt_maria84") != before || w.text(`SELECT count(*) FROM outbox`) != "0" {
		t.Error("something ran:", w.stands("appt_maria84"))
	}
}

// Approval case A14: whatever a plan writes to, it has pinned, and every change names the version it was made from.
func TestEveryRowOfAPlanIsPinned(t *testing.T) {
	w := worldAt(t, "2026-06-03 09:00")
	for _, wish := range []proposal.Proposing{
		move("appt_maria84", "2026-06-17T14:00", "practitioner", "prac_okafor"),
		book("pat_aoife", "prac_holm", "loc_hav12", "2026-06-17T14:00"),
		{Action: "cancel_appointment@1", Parameters: map[string]any{"appointment": "appt_maria91", "reason_code": "other"}},
	} {
		p := w.propose(ana, wish).Plan
		pinned := func(kind, id string) bool {
			return slices.ContainsFunc(p.Resources, func(r proposal.Pin) bool { return r.Kind == kind && r.ID == id && r.Version > 0 })
		}
		step := p.Steps[0]
		if creates := step.Op == proposal.OpCreate; creates != (step.ExpectVersion == nil) || !creates && !pinned(proposal.PinAppointment, *step.Appointment) {
			t.Errorf("%s: %+v", p.Action, step)
		}
		for _, id := range append(slices.Clone(step.FreeSlots), step.TakeSlots...) {
			if !pinned(proposal.PinSlot, id) {
				t.Errorf("%s: slot %s is not pinned", p.Action, id)
			}
		}
		for _, f := range []*proposal.Facts{p.Before, p.After} {
			if f != nil && (!pinned(proposal.PinPatient, f.Patient.ID) || !pinned(proposal.PinPractitioner, f.Practitioner.ID) || !pinned(proposal.PinLocation, f.Location.ID) || !pinned(proposal.PinType, f.Type.ID)) {
				t.Errorf("%s: shows what it has not pinned", p.Action)
			}
		}
		if len(step.FreeSlots)+len(step.TakeSlots) == 0 {
			t.Errorf("%s touches no slot", p.Action)
		}
	}
}

// Approval case A11: a booking has no version to compare. Two keys still make one visit.
func TestABookingConfirmedUnderTwoKeysIsOneVisit(t *testing.T) {
	w := worldAt(t, "2026-06-03 09:00")
	r := w.propose(ana, book("pat_aoife", "prac_holm", "loc_hav12", "2026-06-17T14:00"))
	if r.Plan.Steps[0].ExpectVersion != nil {
		t.Fatal("a booking expects a version")
	}
	before := w.text(`SELECT count(*) FROM appointments`)
	w.confirm(ana, r, "k1")
	_, err := w.desk.Confirm(ctx, ana, desktest.Deciding(r, "k2"))
	w.refusedWith(refusal.AlreadyDecided, err)
	if w.text(`SELECT count(*) - $1::int FROM appointments`, before) != "1" {
		t.Error("not one visit")
	}
}

// C6: a proposal without a deadline, or with one that cannot be read, cannot be stored. C17: what expired stays, and
// can be listed, before and after it is written down.
func TestADeadlineIsThereAndWhatExpiredStays(t *testing.T) {
	w := worldAt(t, "2026-06-03 09:00")
	r := w.propose(ana, move("appt_maria84", "2026-06-17T14:00"))
	for _, value := range []string{"NULL", "''"} {
		if _, err := w.root.Exec(`UPDATE proposals SET expires_at = ` + value + ` WHERE id = '` + r.ID + `'`); err == nil {
			t.Errorf("expires_at may be %s", value)
		}
	}
	after := w.later("2026-07-03 09:00")
	for _, swept := range []bool{false, true} {
		if swept {
			if _, err := after.desk.Expire(ctx, ana.Clinic); err != nil {
				t.Fatal(err)
			}
		}
		list, err := after.desk.List(ctx, ana, proposal.Filter{State: proposal.StateExpired, Limit: 10})
		if err != nil || len(list) != 1 || list[0].ID != r.ID || list[0].State != proposal.StateExpired || list[0].Outcome != proposal.OutcomeNotExecuted {
			t.Errorf("swept %v: %+v %v", swept, list, err)
		}
		if waiting, err := after.desk.List(ctx, ana, proposal.Filter{State: proposal.StateProposed, Limit: 10}); err != nil || len(waiting) != 0 {
			t.Errorf("swept %v: %d wait, %v", swept, len(waiting), err)
		}
	}
}
