package proposal

import (
	"context"
	"errors"
	"slices"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// Decision is a person's word on one exact revision, under one idempotency key.
type Decision struct {
	Proposal string
	Revision int
	PlanHash string
	Key      string
	Reason   any  // of a rejection: text or nil
	Together bool // one of a list: low and medium risk only
}

// errTampered: the stored bytes are not the ones that were hashed.
var errTampered = errors.New("proposal: the stored plan does not have its hash")

// Confirm decides and executes in one transaction, in the order of contract section 4, for every door. The plan that
// runs is the stored one; nothing of the request but the reference is read. Under a known key the saved answer is
// replayed. A connection lost while committing is looked up by the key.
func (s *Service) Confirm(ctx context.Context, by clinic.Actor, d Decision) (Answer, error) {
	out, err := lookUpLost(func() (Answer, error) { return s.confirm(ctx, by, d) })
	if err != nil {
		return Answer{}, s.refuseDecision(ctx, by, audit.Confirm, d.Proposal, err)
	}
	return out, nil
}

// lookUpLost decides, and decides again when the connection was lost while committing: the second claim waits for
// whatever became of the first, and its key row says what that was.
func lookUpLost(decide func() (Answer, error)) (Answer, error) {
	out, err := decide()
	if !errors.Is(err, ErrCommitUnknown) {
		return out, err
	}
	out, err = decide()
	if r := refusal.Of(err); r != nil && r.Code == refusal.Busy {
		return Answer{}, &refusal.Error{Code: refusal.Busy, RetryAfter: r.RetryAfter, Cause: err,
			Message: "The database went away while this was being saved, so it is not certain whether it was executed. Press again: the same request is answered with what happened, and runs at most once."}
	}
	return out, err
}

func (s *Service) confirm(ctx context.Context, by clinic.Actor, d Decision) (Answer, error) {
	if !ValidKey(d.Key) {
		return Answer{}, refusal.New(refusal.IdempotencyKeyMissing)
	}
	if by.Kind == clinic.KindAgent {
		return Answer{}, refusal.New(refusal.ConfirmationNeedsPerson)
	}
	out, err := s.claimAndRun(ctx, by, d, false)
	if errors.Is(err, ErrOverlap) {
		// No pin could show it: the transaction is gone, so the outcome is stored in a new one.
		out, err = s.claimAndRun(ctx, by, d, true)
	} else if errors.Is(err, ErrMRNTaken) {
		// Now the search under the lock finds who has it.
		out, err = s.claimAndRun(ctx, by, d, false)
	}
	if saved, ok := isReplay(err); ok {
		return s.replayed(ctx, by, saved)
	}
	if err == nil && out.Status == StatusAccepted && out.Record.Plan.IsBulk() {
		return s.carryOut(ctx, by, out)
	}
	return out, err
}

// claimAndRun is the transaction. With collided it stores the outcome failed / slot_taken instead of the writes.
func (s *Service) claimAndRun(ctx context.Context, by clinic.Actor, d Decision, collided bool) (Answer, error) {
	print, err := decisionFingerprint("confirm", d)
	if err != nil {
		return Answer{}, err
	}
	var out Answer
	req := ClaimRequest{Person: by.ID(), Account: by.Person, Key: d.Key, Fingerprint: print, Proposal: d.Proposal}
	err = s.Store.InClaim(ctx, by.Clinic, req, func(tx Tx, c Claim) error {
		if c.Known != nil {
			return c.Known.answer(print)
		}
		if err := revisable(c, d.Revision, d.PlanHash); err != nil {
			return err
		}
		r := c.Record
		if !Verify(c.Canonical, r.PlanHash) {
			return errTampered
		}
		by.Role = c.Role
		if err := onceEach(by, r); err != nil {
			return err
		}
		if err := MayConfirm(by, r, r.Risk, c.SecondPerson); err != nil {
			return err
		}
		// With the patient's row locked, two plans for one patient see each other.
		now, doubleBooked, err := tx.LockPins(ctx, r.Plan.Resources, r.Plan.stay())
		if err != nil {
			return err
		}
		risk, reasons, needed := reassess(r, c.Now, doubleBooked)
		if err := MayConfirm(by, r, risk, c.SecondPerson); err != nil {
			return err
		}
		if err := d.alone(risk); err != nil {
			return err
		}
		changed := moved(r.Plan, now)
		if r.Action == bulkName {
			changed = nothingLeft(r.Plan, changed) // each item looks for itself
		}
		if r.Action == register.name {
			if err := tx.LockRegistrations(ctx); err != nil {
				return err
			}
			found, err := newcomers(ctx, tx, r.Plan)
			if err != nil {
				return err
			}
			changed = append(changed, found...)
		}
		if changed != nil {
			return refusal.New(refusal.ResourceChanged).With("changed", changed)
		}
		if err := s.connected(ctx, tx, by, r.Plan); err != nil {
			return err
		}
		r.Risk, r.RiskReasons = risk, reasons
		given := counting(r, risk, c.SecondPerson)
		if len(given)+1 < needed {
			out, err = s.approve(ctx, tx, by, r, c, d)
			return err
		}
		if needed > 1 {
			r.Deciders = append(people(given), clinic.Ref{ID: by.ID(), Name: by.Name()})
		}
		out, err = s.execute(ctx, tx, by, r, c, d, collided)
		return err
	})
	return out, err
}

// execute writes exactly what the plan's steps say, with outbox, audit and the saved answer, in one statement.
func (s *Service) execute(ctx context.Context, tx Tx, by clinic.Actor, r Record, c Claim, d Decision, collided bool) (Answer, error) {
	p := r.Plan
	if r.Action == bulkName {
		return s.begin(ctx, tx, by, r, c, d)
	}
	step, err := mainStep(p)
	if err != nil {
		return Answer{}, err
	}
	if step.Op == OpResolve {
		return s.resolve(ctx, tx, by, r, c, d, *step.Operation)
	}
	if step.EHR != nil && !collided {
		return s.commission(ctx, tx, by, r, c, d, step)
	}
	version := step.versionAfter()
	at := wholeSecond(c.Now)
	r.DecidedBy, r.DecidedAt = &clinic.Ref{ID: by.ID(), Name: by.Name()}, &at
	e := Execution{Proposal: r.ID, Revision: r.Revision, PlanHash: r.PlanHash, Risk: r.Risk, By: by, Key: d.Key, Status: StatusOK, DecidedAt: c.Now,
		Approves: r.Deciders != nil, Given: r.Deciders}
	var outcome any
	if collided {
		r.State, r.Outcome = StateFailed, OutcomeFailed
		others, err := s.freeNear(ctx, tx, p, c)
		if err != nil {
			return Answer{}, err
		}
		outcome = failure{refusal.SlotTaken, "Another visit of this practitioner lies in that time. Nothing was changed.", others}
	} else {
		r.State, r.Outcome = StateCompleted, OutcomeCompleted
		e.Steps = []Step{step}
		for _, m := range p.Messages {
			e.Messages = append(e.Messages, OutboxRow{ID: s.IDs("msg"), Appointment: p.After.Appointment, Version: version, Message: m})
		}
		outcome = result(p, step, version, e.Messages)
	}
	if r.Result, err = encode(outcome); err != nil {
		return Answer{}, err
	}
	e.State, e.Outcome, e.Result = r.State, r.Outcome, r.Result
	e.Audit = s.decisionEvents(c, by, r, step, version)
	finish(&r, c.Now)
	if e.Body, err = encode(decided{r.Outcome, r, r.Result}); err != nil {
		return Answer{}, err
	}
	got, err := tx.Execute(ctx, e)
	if err != nil {
		return Answer{}, err
	}
	if !collided && got != version {
		return Answer{}, errors.New("proposal: the row did not reach the planned version")
	}
	return Answer{Status: e.Status, Body: e.Body, Record: r}, nil
}

// decisionEvents: who decided, and what ran.
func (s *Service) decisionEvents(c Claim, by clinic.Actor, r Record, step Step, version int64) []audit.Event {
	confirmed := s.event(c.Now, by, audit.Confirm, audit.Success, r)
	if r.State == StateFailed {
		confirmed.Outcome, confirmed.Code = audit.Failed, refusal.SlotTaken
		return []audit.Event{confirmed}
	}
	a, _ := actionNamed(r.Action) // registered: the plan was made by it
	ran := s.event(c.Now, by, a.audit, audit.Success, r)
	ran.Version = version
	switch {
	case step.Policy != nil:
		ran.ObjectKind, ran.Object, ran.Code = PinPolicy, step.Policy.Action, policyChange(r.Plan.Before.Policy.policy(), step.Policy.policy())
	case step.Appointment != nil:
		ran.ObjectKind, ran.Object = PinAppointment, *step.Appointment
		ran.Code = lateCode(r.Plan, c.Now)
	default:
		ran.ObjectKind, ran.Object = PinPatient, *step.Patient
	}
	return []audit.Event{confirmed, ran}
}

// mainStep is the one step of a plan that is about a row: an appointment, a patient, or the patient that a message alone
// goes to. A plan without one is never vacuously done.
func mainStep(p Plan) (Step, error) {
	found := slices.Clone(p.Steps)
	if len(found) != 1 {
		found = slices.DeleteFunc(found, func(st Step) bool { return st.Op == OpSend })
	}
	if len(found) != 1 || !found[0].complete() {
		return Step{}, errors.New("proposal: a plan without exactly one complete step about a row")
	}
	return found[0], nil
}

// complete tells whether a step names all that it runs on.
func (st Step) complete() bool {
	creates := st.Op == OpCreate || st.Op == OpRegister
	switch st.Op {
	case OpRegister, OpContact:
		return st.Patient != nil && st.Record != nil && creates == (st.ExpectVersion == nil)
	case OpPolicy:
		return st.Policy != nil && st.ExpectVersion != nil
	case OpResolve:
		return st.Operation != nil && st.ExpectVersion != nil
	case OpSend:
		return st.Patient != nil && st.Message != nil && st.ExpectVersion != nil
	default:
		return st.Appointment != nil && creates == (st.ExpectVersion == nil)
	}
}

// versionAfter is the version that the step's row will have: a message does not change the patient.
func (st Step) versionAfter() int64 {
	switch {
	case st.ExpectVersion == nil:
		return 1
	case st.Op == OpSend:
		return *st.ExpectVersion
	}
	return *st.ExpectVersion + 1
}

// freeNear offers other times after a collision; none is chosen.
func (s *Service) freeNear(ctx context.Context, tx Tx, p Plan, c Claim) (any, error) {
	zone, err := clinic.LoadZone(p.After.Zone)
	if err != nil {
		return nil, err
	}
	to := place{practitioner: clinic.Practitioner{ID: p.After.Practitioner.ID, Name: p.After.Practitioner.Name},
		location: clinic.Location{ID: p.After.Location.ID, Name: p.After.Location.Name},
		typ:      clinic.Type{ID: p.After.Type.ID, Minutes: p.After.Type.Minutes}, zone: zone, starts: p.After.StartsAt, ends: p.After.EndsAt}
	return alternatives(ctx, tx, &to, p.After.Appointment, c.Now, true)
}

// refuseDecision audits a refused decision or edit; a plan whose bytes were changed is an alarm, not a refusal like others.
func (s *Service) refuseDecision(ctx context.Context, by clinic.Actor, action, proposalID string, err error) error {
	if errors.Is(err, errTampered) {
		s.Log.ErrorContext(ctx, "ALARM: a stored plan does not have its hash; it was refused", "request", by.Request, "clinic", by.Clinic, "proposal", proposalID)
		action, err = audit.PlanTampered, &refusal.Error{Code: refusal.PlanHashMismatch, Cause: err,
			Message: "The stored plan is not the one that was approved. Nothing was executed and the operator was told. Make a new proposal."}
	}
	return s.refuse(ctx, by, action, proposalID, err)
}
