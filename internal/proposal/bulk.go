package proposal

import (
	"context"
	"fmt"
	"slices"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// States of an item of a bulk. All but waiting and executing are final.
const (
	ItemWaiting   = "waiting"
	ItemExecuting = "executing" // given to the EHR, which has not answered
	ItemCompleted = "completed"
	ItemFailed    = "failed"
	ItemStopped   = "stopped"
)

// ItemResult is what has become of one item of a bulk, and its JSON form is the API's. Item counts from 1, in the
// plan's order; Version is the appointment's after it, null unless completed.
type ItemResult struct {
	Item        int     `json:"item"`
	Appointment string  `json:"appointment"`
	State       string  `json:"state"`
	Code        *string `json:"code"`
	Message     *string `json:"message"`
	Version     *int64  `json:"version"`
}

// open tells an item that is not over.
func (r ItemResult) open() bool { return r.State == ItemWaiting || r.State == ItemExecuting }

// Run is a bulk that was confirmed and is being carried out. By is who confirmed it: items run in that name.
type Run struct {
	Proposal string
	Lease    int64 // fencing token: rises with every claim of the run
	By       clinic.Actor
	Ended    bool
}

// Runs is what carrying out a bulk needs of a transaction. Whoever works on a run holds its row, so items run one after
// the other whoever runs them.
type Runs interface {
	// StartRun writes the run, leased for so long, and its items, all waiting.
	StartRun(ctx context.Context, r Run, appointments []string, lease time.Duration) error
	// TakeRun leases some run that nobody works on; Proposal "" when there is none.
	TakeRun(ctx context.Context, lease time.Duration) (Run, error)
	// HoldRun locks the run and renews its lease; found is false when another has taken it or it has ended.
	HoldRun(ctx context.Context, proposal string, lease int64, more time.Duration) (run Run, found bool, err error)
	// LockRun locks the run whoever has it. Errors: not_found for a proposal that was never begun.
	LockRun(ctx context.Context, proposal string) (Run, error)
	// WakeRun lets another go on at once, whoever has the lease.
	WakeRun(ctx context.Context, proposal string) error
	// LetGo gives the lease back, so that another goes on at once.
	LetGo(ctx context.Context, proposal string, lease int64) error
	// Items are the run's, in order.
	Items(ctx context.Context, proposal string) ([]ItemResult, error)
	// SetItem writes the next state of an item that is not over.
	SetItem(ctx context.Context, proposal string, r ItemResult) error
	// EndRun ends the run and its proposal, which is executing, in a terminal state.
	EndRun(ctx context.Context, proposal, state, outcome string, result []byte) error
}

// bulkResult is the result of a bulk, so far and in the end. Code, Message and Alternatives are those of a failure.
type bulkResult struct {
	Items []ItemResult `json:"items"`
}

type bulkFailure struct {
	bulkResult
	failure
}

// accepted is the answer to the confirmation of a bulk that is still being carried out.
type accepted struct {
	Outcome   string `json:"outcome"`
	Proposal  Record `json:"proposal"`
	StatusURL string `json:"status_url"`
}

// ItemResults reads what has become of each item from a record's result, nil when there is nothing.
func (r Record) ItemResults() []ItemResult { return readItemResults(r.Result) }

// soFar gives a bulk that is being carried out the results it has.
func soFar(ctx context.Context, tx Tx, r *Record) error {
	items, err := tx.Items(ctx, r.ID)
	if err != nil {
		return err
	}
	r.Result, err = encode(bulkResult{items})
	return err
}

// today is the answer to a confirmation of a bulk from what it is now.
func today(r Record) (Answer, error) {
	var body []byte
	var err error
	status := StatusOK
	if r.State == StateExecuting {
		status = StatusAccepted
		body, err = encode(accepted{r.Outcome, r, "/api/v1/proposals/" + r.ID})
	} else {
		body, err = encode(decided{r.Outcome, r, r.Result})
	}
	return Answer{Status: status, Body: body, Record: r}, err
}

// begin claims a bulk: it is decided, and executing from now on. No visit changes in this transaction.
func (s *Service) begin(ctx context.Context, tx Tx, by clinic.Actor, r Record, c Claim, d Decision) (Answer, error) {
	answer, err := s.accept(ctx, tx, by, r, c, d, OutcomeProposed)
	if err != nil {
		return Answer{}, err
	}
	appointments := make([]string, len(r.Plan.After.Items))
	for i, f := range r.Plan.After.Items {
		appointments[i] = f.Appointment
	}
	return answer, tx.StartRun(ctx, Run{Proposal: r.ID, Lease: firstLease, By: by}, appointments, leaseFor)
}

// accept writes a decision whose plan is not carried out in this transaction: the proposal is executing from now on.
func (s *Service) accept(ctx context.Context, tx Tx, by clinic.Actor, r Record, c Claim, d Decision, outcome string) (Answer, error) {
	at := wholeSecond(c.Now)
	r.State, r.Outcome = StateExecuting, outcome
	r.DecidedBy, r.DecidedAt = &clinic.Ref{ID: by.ID(), Name: by.Name()}, &at
	finish(&r, c.Now)
	answer, err := today(r)
	if err != nil {
		return Answer{}, err
	}
	_, err = tx.Execute(ctx, Execution{Proposal: r.ID, Revision: r.Revision, PlanHash: r.PlanHash, State: r.State, Outcome: r.Outcome, Risk: r.Risk, By: by, Key: d.Key,
		Status: StatusAccepted, Body: answer.Body, DecidedAt: c.Now, Approves: r.Deciders != nil, Given: r.Deciders, Audit: s.claimedEvents(c, by, r)})
	return answer, err
}

// Stop ends a bulk that is being carried out: items that have not begun stay as they are, and one that runs comes to
// its end first. Who asked and who may decide may stop. Refusals: not_found; not_awaiting_confirmation before it was
// confirmed; already_decided when it is over.
func (s *Service) Stop(ctx context.Context, by clinic.Actor, id string) (Record, error) {
	var out Record
	err := s.Store.InTx(ctx, by.Clinic, func(tx Tx) error {
		r, err := current(ctx, tx, id)
		if err != nil {
			return err
		}
		switch r.State {
		case StateExecuting:
		case StateProposed:
			return refusal.New(refusal.NotAwaitingConfirmation, "This has not been confirmed, so nothing is running. Reject it instead.")
		default:
			return refusal.New(refusal.AlreadyDecided, "This is over. There is nothing left to stop.")
		}
		if err := MayStop(by, r); err != nil {
			return err
		}
		run, err := tx.LockRun(ctx, id)
		if err != nil {
			return err
		}
		if run.Ended {
			return refusal.New(refusal.AlreadyDecided, "This is over. There is nothing left to stop.")
		}
		items, err := tx.Items(ctx, id)
		if err != nil {
			return err
		}
		for i, it := range items {
			if it.State != ItemWaiting {
				continue
			}
			items[i].State, items[i].Message = ItemStopped, value("Stopped before it began. This visit was not changed.")
			if err := tx.SetItem(ctx, id, items[i]); err != nil {
				return err
			}
		}
		if err := tx.Audit(ctx, s.stopEvent(tx.Now(), by, r)); err != nil {
			return err
		}
		if !slices.ContainsFunc(items, ItemResult.open) { // what the EHR has not answered ends it later
			if err := s.endRun(ctx, tx, run, r, items); err != nil {
				return err
			}
		}
		out, err = current(ctx, tx, id)
		return err
	})
	if err != nil {
		return Record{}, s.refuseStop(ctx, by, id, err)
	}
	return out, nil
}

// MayStop: who asked, who was asked for, and every reviewer; never an agent.
func MayStop(a clinic.Actor, r Record) error {
	switch {
	case a.Role == "":
		return nobody()
	case a.Kind == clinic.KindAgent:
		return refusal.New(refusal.ConfirmationNeedsPerson)
	case !a.MayDecide:
		return refusal.New(refusal.PermissionDenied, "This token may not decide, so it may not stop either.")
	case a.Role == clinic.RoleReviewer, a.Role == clinic.RoleStaff && r.Owner == a.Person, r.DecidedBy != nil && r.DecidedBy.ID == a.Person:
		return nil
	}
	return refusal.New(refusal.PermissionDenied, "Only the person who asked, or a reviewer, may stop this.")
}

// ended is the state of a bulk none of whose items waits.
func ended(items []ItemResult) (state, outcome string) {
	n := map[string]int{}
	for _, it := range items {
		n[it.State]++
	}
	switch {
	case n[ItemCompleted] == len(items):
		return StateCompleted, OutcomeCompleted
	case n[ItemCompleted] == 0:
		return StateFailed, OutcomeFailed
	}
	return StatePartial, OutcomePartial
}

// resultOf is the stored result: each item's, and for a failure its code and words.
func resultOf(state string, items []ItemResult) ([]byte, error) {
	if state != StateFailed {
		return encode(bulkResult{items})
	}
	code := "stopped"
	for _, it := range items {
		if it.Code != nil {
			code = *it.Code
			break
		}
	}
	return encode(bulkFailure{bulkResult{items}, failure{code, fmt.Sprintf("None of the %d visits was changed.", len(items)), []any{}}})
}
