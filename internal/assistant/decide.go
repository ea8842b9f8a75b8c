package assistant

import (
	"context"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// Decisions of a run's confirm.
const (
	Approve = "approve"
	Reject  = "reject"
)

// Deciding is a person's decision on a waiting call. A rejection needs no more than the call.
type Deciding struct {
	Run, ToolCall string
	Decision      string
	Reason        any // of a rejection: text or nil
	Revision      int
	PlanHash      string
	Key           string
}

// Decide decides the call's proposal by the one service that every door uses, and lets the run go on. Refusals: those of
// the proposal's own route; unknown_confirmation for a call that is not of this run or is resolved (the same key replays
// instead); not_awaiting_confirmation where the run does not stand at a card.
func (s *Service) Decide(ctx context.Context, by clinic.Actor, d Deciding) (ref RunRef, replayed bool, err error) {
	if d.Decision != Approve && d.Decision != Reject {
		return ref, false, refusal.New(refusal.InvalidDecision)
	}
	if d.Decision == Approve && !proposal.ValidKey(d.Key) {
		return ref, false, refusal.New(refusal.IdempotencyKeyMissing)
	}
	if d.Decision == Approve && by.Kind == clinic.KindAgent {
		return ref, false, refusal.New(refusal.ConfirmationNeedsPerson)
	}
	call, rec, err := s.gate(ctx, by, d)
	if err != nil {
		return ref, false, err
	}
	resolved := call.Status != CallWaits
	if resolved && (d.Key == "" || call.Status == CallExpired) {
		return ref, false, refusal.New(refusal.UnknownConfirmation)
	}
	wish := proposal.Decision{Proposal: call.Proposal, Revision: d.Revision, PlanHash: d.PlanHash, Key: d.Key, Reason: d.Reason}
	var out proposal.Answer
	if d.Decision == Approve {
		out, err = s.Desk.Confirm(ctx, by, wish)
	} else {
		if d.PlanHash == "" && d.Revision == 0 {
			wish.Revision, wish.PlanHash = rec.Revision, rec.PlanHash
		}
		if wish.Key == "" {
			wish.Key = s.IDs("key")
		}
		out, err = s.Desk.Reject(ctx, by, wish)
	}
	if r := refusal.Of(err); r != nil && (r.Code == refusal.AlreadyDecided && !waitsOn(r) || resolved && r.Code == refusal.ProposalExpired) {
		return ref, false, refusal.New(refusal.UnknownConfirmation)
	}
	if err != nil {
		return ref, false, err
	}
	// The decision stands whether or not this succeeds: reads tell it, and the worker writes it down.
	if err := s.settleThread(ctx, by.Clinic, call.Thread); err != nil {
		s.Log.ErrorContext(ctx, "a run could not be told of its decision", "request", by.Request, "run", d.Run, "error", err.Error())
	}
	return RunRef{d.Run, Running}, out.Replayed, nil
}

// gate finds the call that is meant, as it stands now.
func (s *Service) gate(ctx context.Context, by clinic.Actor, d Deciding) (call ToolCall, rec proposal.Record, err error) {
	unknown := refusal.New(refusal.UnknownConfirmation)
	if !clinic.ValidID(d.Run) {
		return call, rec, unknown
	}
	err = s.Store.ReadTx(ctx, by.Clinic, func(tx Tx) error {
		run, err := tx.Run(ctx, d.Run)
		if err == nil {
			var t Thread
			if t, err = s.Read(ctx, tx, by, run.Thread); err == nil && t.Run.ID == run.ID {
				run.Calls = t.Calls
			}
		}
		if r := refusal.Of(err); r != nil && r.Code == refusal.NotFound {
			return unknown
		}
		if err != nil {
			return err
		}
		waits := false
		for _, c := range run.Calls {
			if c.ID == d.ToolCall {
				call = c
			}
			waits = waits || c.Status == CallWaits
		}
		switch {
		case call.ID != "":
			rec, err = tx.Proposal(ctx, call.Proposal)
			return err
		case waits || !clinic.ValidID(d.ToolCall):
			return unknown
		}
		person, _, err := tx.CallOwner(ctx, d.ToolCall)
		if r := refusal.Of(err); err != nil && (r == nil || r.Code != refusal.NotFound) {
			return err
		}
		if err == nil && person == by.Person {
			return unknown // it is another run's
		}
		return refusal.New(refusal.NotAwaitingConfirmation)
	})
	return call, rec, err
}

// waitsOn tells one person's second approval, under which the proposal waits on for another's, from a decided proposal.
func waitsOn(r *refusal.Error) bool {
	rec, ok := r.Record.(proposal.Record)
	return ok && rec.State == proposal.StateProposed
}
