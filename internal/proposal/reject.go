package proposal

import (
	"context"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// Reject ends a proposal without executing anything: `rejected` by a person, `withdrawn` by the agent that made it. It
// needs the current revision and a key, and compares no pins. A "no" that comes after the deadline is still a no: it is
// written down, and the proposal stays expired, because terminal states never change.
func (s *Service) Reject(ctx context.Context, by clinic.Actor, d Decision) (Answer, error) {
	out, err := lookUpLost(func() (Answer, error) { return s.reject(ctx, by, d) })
	action := audit.Reject
	if by.Kind == clinic.KindAgent {
		action = audit.Withdraw
	}
	if err != nil {
		return Answer{}, s.refuseDecision(ctx, by, action, d.Proposal, err)
	}
	return out, nil
}

func (s *Service) reject(ctx context.Context, by clinic.Actor, d Decision) (Answer, error) {
	if !ValidKey(d.Key) {
		return Answer{}, refusal.New(refusal.IdempotencyKeyMissing)
	}
	note, wrong := readReason(d.Reason)
	if len(wrong) > 0 {
		return Answer{}, refusal.Invalid(wrong...)
	}
	print, err := decisionFingerprint("reject", d)
	if err != nil {
		return Answer{}, err
	}
	var out Answer
	req := ClaimRequest{Person: by.ID(), Account: by.Person, Key: d.Key, Fingerprint: print, Proposal: d.Proposal}
	err = s.Store.InClaim(ctx, by.Clinic, req, func(tx Tx, c Claim) error {
		if c.Known != nil {
			return c.Known.answer(print)
		}
		r := c.Record
		late := false
		if err := revisable(c, d.Revision, d.PlanHash); err != nil {
			late = refusal.Of(err).Code == refusal.ProposalExpired && d.Revision == r.Revision && d.PlanHash == r.PlanHash
			if !late {
				return err
			}
		}
		by.Role = c.Role
		if err := MayReject(by, r, r.Risk, c.SecondPerson); err != nil {
			return err
		}
		risk, _, _ := reassess(r, c.Now, false)
		if err := d.alone(risk); err != nil {
			return err
		}
		action := audit.Reject
		if by.Kind == clinic.KindAgent {
			action = audit.Withdraw
		}
		said := s.event(c.Now, by, action, audit.Success, r)
		e := Execution{Proposal: r.ID, Revision: r.Revision, PlanHash: r.PlanHash, Risk: r.Risk, By: by, Key: d.Key, Status: StatusOK, DecidedAt: c.Now}
		switch {
		case late:
			said.Code = refusal.ProposalExpired
		case by.Kind == clinic.KindAgent:
			e.State = StateWithdrawn
		default:
			e.State = StateRejected
		}
		if !late {
			at := wholeSecond(c.Now)
			r.State, r.Outcome, e.Outcome = e.State, OutcomeNotExecuted, OutcomeNotExecuted
			r.DecidedBy, r.DecidedAt = &clinic.Ref{ID: by.ID(), Name: by.Name()}, &at
			if note != nil {
				e.Note, r.DecidedNote = *note, *note
			}
		}
		finish(&r, c.Now)
		body, err := encode(notExecuted{r.Outcome, r})
		if err != nil {
			return err
		}
		e.Body, e.Audit = body, []audit.Event{said}
		out = Answer{Status: e.Status, Body: body, Record: r}
		_, err = tx.Execute(ctx, e)
		return err
	})
	if saved, ok := isReplay(err); ok {
		return s.replayed(ctx, by, saved)
	}
	return out, err
}
