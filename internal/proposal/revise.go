package proposal

import (
	"context"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// Revising is an edit of the revision it names. Parameters are laid over the last ones, null clears, {} asks for a
// fresh preview from today's facts.
type Revising struct {
	Proposal   string
	Revision   int
	PlanHash   string
	Parameters map[string]any
}

// Revise makes revision n+1, validated and pinned anew; revision n is never changed. It never takes another slot by
// itself: when the time is gone it refuses with slot_taken and the alternatives.
func (s *Service) Revise(ctx context.Context, by clinic.Actor, e Revising) (Answer, error) {
	var out Answer
	err := s.Store.InClaim(ctx, by.Clinic, ClaimRequest{Person: by.ID(), Account: by.Person, Proposal: e.Proposal}, func(tx Tx, c Claim) error {
		r := c.Record
		if err := revisable(c, e.Revision, e.PlanHash); err != nil {
			return err
		}
		if !Verify(c.Canonical, r.PlanHash) {
			return errTampered
		}
		by.Role = c.Role
		if err := MayRevise(by, r); err != nil {
			return err
		}
		a, err := actionNamed(r.Action)
		if err != nil {
			return err
		}
		params := merge(r.Plan.Parameters, e.Parameters)
		if a.subject != "" && text(r.Plan.Parameters, a.subject) != text(params, a.subject) {
			what := map[string]string{"appointment": "visit", "patient": "patient", "action": "action"}[a.subject]
			return refusal.Invalid(refusal.Field{Name: a.subject, Message: "A proposal stays with its " + what + ". Make a new proposal for another one."})
		}
		next, canonical, err := s.draft(ctx, tx, a, by, r.ID, r.Revision+1, params, &r.Plan, c.Now, r.Policy)
		if err != nil {
			return err
		}
		next.Reason, next.CreatedAt, next.CreatedBy, next.CreatedVia = r.Reason, r.CreatedAt, r.CreatedBy, r.CreatedVia
		next.Owner, next.OwnerName, next.Editors = r.Owner, r.OwnerName, append(r.Editors, by.ID())
		finish(&next, c.Now)
		if err := tx.AddRevision(ctx, next, by, canonical); err != nil {
			return err
		}
		if err := tx.Audit(ctx, s.event(c.Now, by, audit.Revise, audit.Success, next)); err != nil {
			return err
		}
		if err := s.showAnswer(ctx, tx, by, next); err != nil {
			return err
		}
		body, err := encode(next)
		out = Answer{Status: StatusCreated, Body: body, Record: next}
		return err
	})
	if err != nil {
		return Answer{}, s.refuseDecision(ctx, by, audit.Revise, e.Proposal, err)
	}
	return out, nil
}

// revisable is the head of the contract's order, the same for every door: it exists, nobody has decided, the deadline
// has not passed by the clock read after the lock, and it is the current revision with its hash.
func revisable(c Claim, revision int, hash string) error {
	switch {
	case !c.Found:
		return refusal.New(refusal.NotFound)
	case c.Record.State == StateExpired:
		return refusal.New(refusal.ProposalExpired)
	case c.Record.State != StateProposed:
		return refusal.New(refusal.AlreadyDecided)
	case !c.Now.Before(c.Record.ExpiresAt):
		return refusal.New(refusal.ProposalExpired)
	case revision != c.Record.Revision:
		return refusal.New(refusal.ResourceChanged).With("changed", []Change{{Kind: PinProposal, ID: c.Record.ID, Expected: int64(revision),
			Current: int64(c.Record.Revision), Label: "This proposal was edited"}})
	case hash != c.Record.PlanHash:
		return refusal.New(refusal.PlanHashMismatch)
	}
	return nil
}
