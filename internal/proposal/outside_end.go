package proposal

import (
	"context"
	"errors"

	"countersign/internal/audit"
	"countersign/internal/refusal"
)

// ErrClash: the EHR has the change, and here something stands in its way. A person must look.
var ErrClash = errors.New("proposal: the EHR has it, and here something stands in its way")

// Applied ends an operation that the EHR is known to have carried out exactly as it was approved: the plan's step is
// executed here, its messages are queued and the proposal is completed, in one transaction. mine is false, and nothing
// was written, when the lease is another's or the operation is over. Errors: ErrClash.
func (s *Service) Applied(ctx context.Context, clinicID, proposalID string, e OperationEnd) (mine bool, err error) {
	e.State = operationApplied
	err = s.ending(ctx, clinicID, proposalID, &mine, func(tx Tx, c Claim) error {
		op, held, err := tx.EndOperation(ctx, e)
		if mine = held; err != nil || !held {
			return err
		}
		return s.finishApplied(ctx, tx, c, op)
	})
	if stands(err) || errors.Is(err, errTampered) {
		s.Log.ErrorContext(ctx, "ALARM: the EHR has a change that cannot be made here", "clinic", clinicID, "proposal", proposalID, "error", err.Error())
		err = ErrClash
	}
	return mine && err == nil, err
}

// stands: something here stands in the way of what the EHR has.
func stands(err error) bool {
	x := refusal.Of(err)
	return errors.Is(err, ErrOverlap) || x != nil && x.Code == refusal.Internal
}

// Refused ends an operation that is known to have had no effect in the EHR: what was held is free again and the proposal
// has failed, in one transaction. code says why: a code of refusals (slot_taken, resource_changed) or one of
// OutsideWords.
func (s *Service) Refused(ctx context.Context, clinicID, proposalID string, e OperationEnd) (mine bool, err error) {
	e.State = operationRefused
	err = s.ending(ctx, clinicID, proposalID, &mine, func(tx Tx, c Claim) error {
		op, held, err := tx.EndOperation(ctx, e)
		if mine = held; err != nil || !held {
			return err
		}
		return s.finishRefused(ctx, tx, c, op, e.Code)
	})
	return mine && err == nil, err
}

// ending opens the transaction with the proposal's row locked before the operation's.
func (s *Service) ending(ctx context.Context, clinicID, proposalID string, mine *bool, fn func(Tx, Claim) error) error {
	return s.Store.InClaim(ctx, clinicID, ClaimRequest{Proposal: proposalID}, func(tx Tx, c Claim) error {
		if *mine = false; !c.Found || c.Record.State != StateExecuting {
			return nil
		}
		return fn(tx, c)
	})
}

// finishApplied writes here what stands in the EHR now.
func (s *Service) finishApplied(ctx context.Context, tx Tx, c Claim, op Operation) error {
	r := c.Record
	if !Verify(c.Canonical, r.PlanHash) || op.PlanHash != r.PlanHash {
		return errTampered
	}
	p := r.Plan
	if op.Item > 0 {
		p = p.Item(op.Item - 1)
	}
	step, err := mainStep(p)
	if err != nil {
		return err
	}
	version := step.versionAfter()
	a, _ := actionNamed(p.Action)
	ran := s.event(c.Now, op.By, a.audit, audit.Success, r)
	ran.ObjectKind, ran.Object, ran.Version, ran.Patient, ran.Code = PinAppointment, *step.Appointment, version, p.After.Patient.ID, lateCode(p, c.Now)
	e := Execution{Proposal: r.ID, Revision: r.Revision, PlanHash: r.PlanHash, Risk: r.Risk, By: op.By, Steps: []Step{step}, DecidedAt: c.Now, Audit: []audit.Event{ran}}
	for _, m := range p.Messages {
		e.Messages = append(e.Messages, OutboxRow{ID: s.IDs("msg"), Appointment: *step.Appointment, Version: version, Message: m})
	}
	got, err := tx.Execute(ctx, e)
	if err != nil {
		return err
	}
	if got != version {
		return &refusal.Error{Code: refusal.Internal, Cause: errors.New("proposal: the row did not reach the planned version")}
	}
	if op.Item > 0 {
		return s.endItem(ctx, tx, r, ItemResult{Item: op.Item, Appointment: *step.Appointment, State: ItemCompleted, Version: &version})
	}
	out, err := encode(result(p, step, version, e.Messages))
	if err != nil {
		return err
	}
	return tx.EndProposal(ctx, r.ID, StateCompleted, OutcomeCompleted, out)
}

// finishRefused says why nothing was changed.
func (s *Service) finishRefused(ctx context.Context, tx Tx, c Claim, op Operation, code string) error {
	r := c.Record
	words := OutsideWords(code)
	action := audit.MoveAppointment
	switch op.Step.Op {
	case OpCreate:
		action = audit.BookAppointment
	case OpCancel:
		action = audit.CancelAppointment
	}
	e := s.event(c.Now, op.By, action, audit.Failed, r)
	e.ObjectKind, e.Object, e.Code = PinAppointment, *op.Step.Appointment, code
	if err := tx.Audit(ctx, e); err != nil {
		return err
	}
	if op.Item > 0 {
		return s.endItem(ctx, tx, r, ItemResult{Item: op.Item, Appointment: *op.Step.Appointment, State: ItemFailed, Code: &code, Message: &words})
	}
	var others any = []any{}
	if code == refusal.SlotTaken && op.Step.Op != OpCancel && !r.Tampered() {
		var err error
		if others, err = s.freeNear(ctx, tx, r.Plan, c); err != nil {
			return err
		}
	}
	out, err := encode(failure{code, words, others})
	if err != nil {
		return err
	}
	return tx.EndProposal(ctx, r.ID, StateFailed, OutcomeFailed, out)
}

// endItem ends an item of a bulk, and lets the bulk go on.
func (s *Service) endItem(ctx context.Context, tx Tx, r Record, it ItemResult) error {
	if err := tx.SetItem(ctx, r.ID, it); err != nil {
		return err
	}
	return tx.WakeRun(ctx, r.ID)
}

// OutsideWords say to the clinic's staff why a change was not made in the EHR. Codes that are not known get the last words.
func OutsideWords(code string) string {
	if words, ok := outsideWords[code]; ok {
		return words
	}
	return "The EHR refused this change. Nothing was changed, here or there."
}

var outsideWords = map[string]string{
	refusal.SlotTaken:        "The EHR says that this time is taken. Nothing was changed, here or there. Choose another time.",
	refusal.ResourceChanged:  "Somebody changed this visit in the EHR since it was proposed. Nothing was changed, here or there. Make a new proposal from what stands there now.",
	refusal.PermissionDenied: "The EHR does not let this program make the change. Nothing was changed, here or there. Tell whoever looks after the connection.",
	"ehr_not_reached":        "The EHR could not be reached in time, and nothing was sent after that. Nothing was changed, here or there. Propose it again.",
	"ehr_configuration":      "The EHR answered in a way that this connection is not set up for. Nothing was changed, here or there. Tell whoever looks after the connection.",
	"ehr_not_booked":         "A reviewer looked in the EHR and found that the change is not there. Nothing was changed.",
}
