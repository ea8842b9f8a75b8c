package db_test

import (
	"context"
	"testing"

	"countersign/db/desktest"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

var ctx = context.Background()

func code(err error) string {
	if r := refusal.Of(err); r != nil {
		return r.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestAMoveRunsExactlyAsConfirmed(t *testing.T) {
	d := desktest.New(t)
	ana := d.Actor("ana")
	r := d.Propose(ana, d.Move("apt_maria", d.At(1, 14, 0)))
	if r.State != proposal.StateProposed || r.Risk != proposal.Low {
		t.Fatalf("got %s %s %v", r.State, r.Risk, r.RiskReasons)
	}
	if got := d.Text(`SELECT version FROM appointments WHERE id = 'apt_maria' AND clinic = 'hav'`); got != "1" {
		t.Fatal("proposing changed the appointment")
	}
	out, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k1"))
	if err != nil {
		t.Fatal(err)
	}
	if out.Record.State != proposal.StateCompleted {
		t.Fatal(out.Record.State, string(out.Body))
	}
	if got := d.Text(`SELECT starts_at = $1 AND version = 2 FROM inspect.appointments WHERE id = 'apt_maria'`, d.At(1, 14, 0)); got != "true" {
		t.Fatal("the appointment did not move")
	}
	if got := d.Text(`SELECT count(*) FROM slots WHERE appointment = 'apt_maria'`); got != "2" {
		t.Fatal("slots held:", got)
	}
	if got := d.Text(`SELECT body = $1 FROM inspect.outbox WHERE appointment = 'apt_maria'`, r.Plan.Messages[0].Text); got != "true" {
		t.Fatal("the outbox does not hold the plan's bytes")
	}
	again, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k1"))
	if err != nil || !again.Replayed || string(again.Body) != string(out.Body) || again.Status != out.Status {
		t.Fatal("a replay must answer the same:", err, again.Replayed)
	}
	if _, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k2")); code(err) != refusal.AlreadyDecided {
		t.Fatal(err)
	}
	reused := desktest.Deciding(r, "k1")
	reused.Revision = 2
	if _, err := d.Desk.Confirm(ctx, ana, reused); code(err) != refusal.IdempotencyKeyReused {
		t.Fatal(err)
	}
	if got := d.Text(`SELECT count(*) FROM inspect.audit WHERE proposal = $1`, r.ID); got != "5" {
		t.Fatal("audit rows:", got)
	}
	// The old time is free at once (case S05).
	b := d.Propose(ana, proposal.Proposing{Action: "book_appointment@1", Parameters: map[string]any{"patient": "soren", "type": "std", "practitioner": "holm",
		"location": "main", "starts_at": d.At(0, 10, 0).Format("2006-01-02T15:04")}})
	if b.Risk != proposal.High { // soren has a visit with okafor at that time
		t.Fatal(b.Risk, b.RiskReasons)
	}
	if _, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(b, "k3")); code(err) != refusal.SelfApprovalForbidden {
		t.Fatal(err)
	}
	if _, err := d.Desk.Confirm(ctx, d.Actor("emil"), desktest.Deciding(b, "k3")); code(err) != refusal.PermissionDenied {
		t.Fatal(err)
	}
	if _, err := d.Desk.Confirm(ctx, d.Actor("ben"), desktest.Deciding(b, "k3")); err != nil {
		t.Fatal(err)
	}
	c := d.Propose(ana, proposal.Proposing{Action: "cancel_appointment@1", Parameters: map[string]any{"appointment": b.Plan.After.Appointment, "reason_code": "patient_request"}})
	if _, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(c, "k4")); err != nil {
		t.Fatal(err)
	}
	if got := d.Text(`SELECT status FROM inspect.appointments WHERE id = $1`, b.Plan.After.Appointment); got != "cancelled" {
		t.Fatal(got)
	}
}

func TestEveryPinNamesWhatChanged(t *testing.T) {
	for name, change := range map[string]string{
		"patient":      `UPDATE patients SET email = 'other@example.test' WHERE clinic = 'hav' AND id = 'maria'`,
		"practitioner": `UPDATE practitioners SET name = 'Dr A. Holm' WHERE clinic = 'hav' AND id = 'holm'`,
		"location":     `UPDATE locations SET address = 'Elsewhere 1' WHERE clinic = 'hav' AND id = 'main'`,
		"type":         `UPDATE appointment_types SET minutes = 45 WHERE clinic = 'hav' AND id = 'std'`,
		"appointment":  `UPDATE appointments SET status = 'arrived' WHERE clinic = 'hav' AND id = 'apt_maria'`,
		"slot":         `UPDATE slots SET state = 'leave' WHERE clinic = 'hav' AND practitioner = 'holm' AND starts_at = $1`,
	} {
		t.Run(name, func(t *testing.T) {
			d := desktest.New(t)
			ana := d.Actor("ana")
			r := d.Propose(ana, d.Move("apt_maria", d.At(1, 14, 0)))
			if name == "slot" {
				d.Exec(change, d.At(1, 14, 0))
			} else {
				d.Exec(change)
			}
			_, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k1"))
			if code(err) != refusal.ResourceChanged {
				t.Fatal(err)
			}
			changed := refusal.Of(err).Details["changed"].([]proposal.Change)
			found := false
			for _, c := range changed {
				found = found || c.Kind == name && c.Current != c.Expected && c.Label != ""
			}
			if !found {
				t.Fatalf("%s is not named in %v", name, changed)
			}
			if rec := refusal.Of(err).Record.(proposal.Record); !rec.Stale || rec.State != proposal.StateProposed {
				t.Fatal("the record must show it is stale and stays usable")
			}
			if got := d.Text(`SELECT count(*) FROM inspect.idempotency_keys`); got != "0" {
				t.Fatal("a refusal saved a key")
			}
		})
	}
}

func TestEditingVoidsOldRevisions(t *testing.T) {
	d := desktest.New(t)
	ana := d.Actor("ana")
	r := d.Propose(ana, d.Move("apt_maria", d.At(1, 14, 0)))
	out, err := d.Desk.Revise(ctx, ana, proposal.Revising{Proposal: r.ID, Revision: 1, PlanHash: r.PlanHash, Parameters: map[string]any{"starts_at": d.At(1, 14, 45).Format("2006-01-02T15:04")}})
	if err != nil {
		t.Fatal(err)
	}
	if out.Record.Revision != 2 || out.Record.PlanHash == r.PlanHash {
		t.Fatal("not a new revision")
	}
	_, err = d.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k1"))
	if code(err) != refusal.ResourceChanged || refusal.Of(err).Details["changed"].([]proposal.Change)[0].Kind != proposal.PinProposal {
		t.Fatal(err)
	}
	wrong := desktest.Deciding(out.Record, "k1")
	wrong.PlanHash = r.PlanHash
	if _, err = d.Desk.Confirm(ctx, ana, wrong); code(err) != refusal.PlanHashMismatch {
		t.Fatal(err)
	}
	if _, err = d.Desk.Confirm(ctx, ana, desktest.Deciding(out.Record, "k1")); err != nil {
		t.Fatal(err)
	}
	if got := d.Text(`SELECT starts_at = $1 FROM inspect.appointments WHERE id = 'apt_maria'`, d.At(1, 14, 45)); got != "true" {
		t.Fatal("revision 2 did not run")
	}
}

func TestAgentsNeverConfirmAndTakeBackTheirOwn(t *testing.T) {
	d := desktest.New(t)
	bot := d.Agent()
	r := d.Propose(bot, d.Move("apt_maria", d.At(1, 14, 0), "message", "Come at two."))
	if r.Risk != proposal.High || r.CreatedBy.Kind != clinic.KindAgent || r.CreatedBy.OnBehalfOf.ID != "ana" {
		t.Fatalf("%+v %s", r.CreatedBy, r.Risk)
	}
	if _, err := d.Desk.Confirm(ctx, bot, desktest.Deciding(r, "k")); code(err) != refusal.ConfirmationNeedsPerson {
		t.Fatal(err)
	}
	if _, err := d.Desk.Confirm(ctx, d.Actor("ana"), desktest.Deciding(r, "k")); code(err) != refusal.SelfApprovalForbidden {
		t.Fatal("an agent's owner decided its high risk:", err)
	}
	out, err := d.Desk.Reject(ctx, bot, desktest.Deciding(r, "k"))
	if err != nil || out.Record.State != proposal.StateWithdrawn {
		t.Fatal(err, out.Record.State)
	}
}

// TestRiskIsShownAsItWouldBeJudged: a visit booked meanwhile makes the waiting plan a double booking. Its card says so before
// anybody presses a button that would be refused.
func TestRiskIsShownAsItWouldBeJudged(t *testing.T) {
	d := desktest.New(t)
	ana := d.Actor("ana")
	book := func(practitioner string) proposal.Record {
		return d.Propose(ana, proposal.Proposing{Action: "book_appointment@1", Parameters: map[string]any{"patient": "aoife", "type": "std",
			"practitioner": practitioner, "location": "main", "starts_at": d.At(2, 9, 0).Format("2006-01-02T15:04")}})
	}
	first, second := book("holm"), book("okafor")
	if _, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(first, "k1")); err != nil {
		t.Fatal(err)
	}
	r, err := d.Desk.Get(ctx, ana, second.ID)
	if err != nil || r.Risk != proposal.High || len(r.RiskReasons) == 0 {
		t.Fatal(err, r.Risk, r.RiskReasons)
	}
	if _, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k2")); code(err) != refusal.SelfApprovalForbidden {
		t.Fatal(err)
	}
	if _, err := d.Desk.Confirm(ctx, d.Actor("ben"), desktest.Deciding(r, "k3")); err != nil {
		t.Fatal(err)
	}
}
