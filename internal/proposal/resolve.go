package proposal

import (
	"context"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// resolve ends the operation and the change that it is of in the transaction of the confirmation. LockPins has locked
// that change's proposal and then the operation, in the order of everybody who ends one.
func (s *Service) resolve(ctx context.Context, tx Tx, by clinic.Actor, r Record, c Claim, d Decision, step ResolveStep) (Answer, error) {
	now, err := tx.OperationNow(ctx, step.ID)
	if err != nil {
		return Answer{}, err
	}
	if now.Sending > 0 {
		return Answer{}, &refusal.Error{Code: refusal.Busy, RetryAfter: now.Sending,
			Message: "The program is looking in the EHR, or writing to it, at this moment. Nothing was done. Try again in a little while."}
	}
	of, err := tx.Get(ctx, step.Proposal)
	if err != nil {
		return Answer{}, err
	}
	if of.PlanHash != step.PlanHash || of.Tampered() {
		return Answer{}, errTampered
	}
	if err := s.endResolved(ctx, tx, c, of, now, step); err != nil {
		return Answer{}, err
	}
	at := wholeSecond(c.Now)
	r.State, r.Outcome, r.DecidedBy, r.DecidedAt = StateCompleted, OutcomeCompleted, &clinic.Ref{ID: by.ID(), Name: by.Name()}, &at
	if r.Result, err = encode(map[string]any{"operation": ResolutionAnswer{step.ID, step.Resolution, step.RemoteID, step.Proposal}}); err != nil {
		return Answer{}, err
	}
	ran := s.event(c.Now, by, audit.ResolveOperation, audit.Success, r)
	ran.ObjectKind, ran.Object, ran.Code = PinOperation, step.ID, step.Resolution
	e := Execution{Proposal: r.ID, Revision: r.Revision, PlanHash: r.PlanHash, State: r.State, Outcome: r.Outcome, Risk: r.Risk, By: by, Key: d.Key, Status: StatusOK,
		Result: r.Result, DecidedAt: c.Now, Approves: r.Deciders != nil, Given: r.Deciders, Audit: []audit.Event{s.event(c.Now, by, audit.Confirm, audit.Success, r), ran}}
	finish(&r, c.Now)
	if e.Body, err = encode(decided{r.Outcome, r, r.Result}); err != nil {
		return Answer{}, err
	}
	_, err = tx.Execute(ctx, e)
	return Answer{Status: e.Status, Body: e.Body, Record: r}, err
}

// endResolved ends the operation, and the change that it is of as if the EHR had answered. Refusals: resource_changed
// when something here stands in the way; then nothing is written and the operation stays open.
func (s *Service) endResolved(ctx context.Context, tx Tx, c Claim, of Record, now OperationNow, step ResolveStep) error {
	end := OperationEnd{ID: step.ID, State: operationRefused, Code: codeNotBooked}
	if step.Resolution == Booked {
		end = OperationEnd{ID: step.ID, State: operationApplied, RemoteID: *step.RemoteID}
		if step.RemoteVersion != nil {
			end.RemoteVersion = *step.RemoteVersion
		}
		other, err := tx.Linked(ctx, "Appointment", end.RemoteID)
		if err != nil {
			return err
		}
		if other != "" && other != now.Appointment {
			return clash("That appointment in the EHR is another visit of this clinic’s by now")
		}
	}
	op, mine, err := tx.EndOperation(ctx, end)
	switch {
	case err != nil:
		return err
	case !mine:
		return clash("What is known of the operation")
	}
	was := Claim{Found: true, Record: of, Canonical: of.PlanBytes, Now: c.Now}
	if step.Resolution == NotBooked {
		return s.finishRefused(ctx, tx, was, op, codeNotBooked)
	}
	err = s.finishApplied(ctx, tx, was, op)
	if stands(err) {
		return clash("Another visit, or a change of this one, stands in its way here")
	}
	return err
}

// clash: nothing was done, and the operation is still a person's matter.
func clash(label string) error {
	return refusal.New(refusal.ResourceChanged, "Something here stands in the way of what the EHR has. Nothing was done, and the operation stays open. "+
		"Make room for it here, or undo it in the EHR and say that it is not there.").With("changed", []Change{{Kind: PinOperation, Label: label}})
}

// ResolutionAnswer is the result of a resolution.
type ResolutionAnswer struct {
	ID         string  `json:"id"`
	Resolution string  `json:"resolution"`
	RemoteID   *string `json:"remote_id"`
	Proposal   string  `json:"proposal"` // that has its outcome now
}
