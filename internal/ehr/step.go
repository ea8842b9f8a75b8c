package ehr

import (
	"context"
	"errors"
	"slices"
	"time"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/ehr/fhir"
)

// step is one claim of one operation: a look, or a look and a write, and what it came to.
type step struct {
	*Lane
	op  Operation
	can Capabilities
}

// task is what has to become true in the EHR now: a new appointment, or a change of one that is there.
type task struct {
	creates bool
	wanted  Visit
	target  string // of a change: the id in the EHR
	before  *Visit // how a change's target was; of a move as two bookings, how the old one was
	version string // of the target, when the plan was made; "" = not known
}

// task says what comes next. A move where the EHR knows none is a new booking and then, once that is seen, the end of
// the old one: the patient is never left with nothing.
func (s *step) task() task {
	op := s.op
	switch {
	case op.Phase == PhaseCancelOld:
		end := *op.Before
		end.Status, end.ReasonCode = fhir.StatusCancelled, "other"
		return task{wanted: end, target: op.OldRemoteID, before: op.Before}
	case op.Kind == Book:
		return task{creates: true, wanted: op.Wanted}
	case op.Kind == Move && s.twoBookings():
		return task{creates: true, wanted: op.Wanted, before: op.Before}
	}
	return task{wanted: op.Wanted, target: op.RemoteID, before: op.Before, version: op.RemoteVersion}
}

func (s *step) twoBookings() bool { return s.op.OldRemoteID != "" || !s.can.NativeModify }

// remoteKnown is the id of what this operation made, "" while nobody knows it.
func (s *step) remoteKnown() string {
	if s.op.Kind == Move && s.op.OldRemoteID == "" {
		return "" // RemoteID is the old one
	}
	return s.op.RemoteID
}

// Step takes an operation one step further. An error is of the store alone; the lease then runs out and another claims
// it. What can never be stored would be claimed for ever: after the deadline it is left to a person.
func (l *Lane) Step(ctx context.Context, op Operation) error {
	if op.Kind != Book && op.RemoteID == "" {
		op.RemoteID = op.Appointment
	}
	s := &step{Lane: l, op: op}
	err := s.take(ctx)
	if err == nil || !op.LookOnly && op.Now.Before(op.Deadline) {
		return err
	}
	left := &step{Lane: l, op: op} // as it was stored, with the counts of what may have been stored since
	left.op.Attempts, left.op.Unsettled, left.op.AttemptedAt, left.op.Looks = s.op.Attempts, s.op.Unsettled, s.op.AttemptedAt, s.op.Looks+1
	look := Look{N: left.op.Looks, How: ByRead, Verdict: SawFailed, Code: notStored, AskedBy: op.AskedBy}
	return errors.Join(err, left.manual(ctx, notStored, look))
}

// notStored is the code of what an EHR said and the store does not take.
const notStored = "not_stored"

func (s *step) take(ctx context.Context) error {
	if s.op.Code == PlanTampered {
		return s.manual(ctx, PlanTampered)
	}
	if s.tooLate() {
		return s.refuse(ctx, CodeNotReached)
	}
	var err error
	if s.can, err = s.probe.capabilities(ctx, s.Client, s.IDs("req")); err != nil {
		if s.op.LookOnly {
			return s.unseen(ctx, ByRead, err)
		}
		code, err := s.trouble(ctx, err)
		if err != nil {
			return err
		}
		return s.wait(ctx, code)
	}
	if s.op.State == Ready && s.op.Attempts == 0 {
		return s.write(ctx, nil)
	}
	return s.look(ctx)
}

// tooLate: nothing has been sent, and nothing may be any more.
func (s *step) tooLate() bool {
	return s.op.State == Ready && s.op.Phase == PhaseWrite && !s.op.Now.Before(s.op.SendUntil)
}

// wait tries again later, or asks a person when it has been long enough.
func (s *step) wait(ctx context.Context, code string, looks ...Look) error {
	if !s.op.LookOnly && (s.op.State != Ready || s.op.Phase == PhaseCancelOld) {
		if !s.op.Now.Before(s.op.Deadline) {
			return s.manual(ctx, s.late(), looks...)
		}
	}
	if !s.op.LookOnly {
		s.op.Code = code
	}
	return s.save(ctx, s.op.Now.Add(s.jittered(s.pause())), looks, nil)
}

// late names why a person is asked after the deadline.
func (s *step) late() string {
	if s.op.Phase == PhaseCancelOld {
		return "two_bookings"
	}
	return "not_confirmed"
}

const (
	firstPause = 2 * time.Second
	lastPause  = 15 * time.Minute
)

// pause grows with the time that has gone by: half of it again. It does not step over the end of the settle time, after
// which an empty look begins to count.
func (s *step) pause() time.Duration {
	since := s.op.CreatedAt
	if !s.op.AttemptedAt.IsZero() {
		since = s.op.AttemptedAt
	}
	gone := s.op.Now.Sub(since)
	d := min(max(gone/2, firstPause), lastPause)
	if left := s.settle() - gone; !s.op.AttemptedAt.IsZero() && left > 0 {
		d = min(d, left)
	}
	if s.op.EmptyLooks == 1 {
		d = min(d, s.spacing())
	}
	return d
}

// spacing is between two empty looks that count.
func (s *step) spacing() time.Duration { return min(max(s.settle()/8, time.Second), 30*time.Second) }

// manual leaves it to a person. Nothing is undone by itself.
func (s *step) manual(ctx context.Context, code string, looks ...Look) error {
	s.op.State, s.op.Code = Manual, code
	alarm := s.event(audit.AlarmEHR, audit.Failed, code)
	return s.save(ctx, s.op.Now, looks, nil, alarm)
}

// refuse ends it: nothing of it is in the EHR.
func (s *step) refuse(ctx context.Context, code string, looks ...Look) error {
	if len(looks) > 0 {
		if mine, err := s.record(ctx, looks); !mine || err != nil {
			return err
		}
	}
	mine, err := s.Desk.Refused(ctx, s.op, code)
	return s.fenced(ctx, mine, err)
}

// record writes looks alone, and keeps the lease.
func (s *step) record(ctx context.Context, looks []Look) (mine bool, err error) {
	mine, err = s.Store.InOperation(ctx, s.op, func(tx Tx) error { return s.put(ctx, tx, s.op.Now, false, looks, nil, nil) })
	return mine, s.fenced(ctx, mine, err)
}

// save writes how it stands, in one transaction, and lets go.
func (s *step) save(ctx context.Context, next time.Time, looks []Look, ended *Attempt, events ...audit.Event) error {
	mine, err := s.Store.InOperation(ctx, s.op, func(tx Tx) error { return s.put(ctx, tx, next, true, looks, ended, events) })
	return s.fenced(ctx, mine, err)
}

func (s *step) put(ctx context.Context, tx Tx, next time.Time, letGo bool, looks []Look, ended *Attempt, events []audit.Event) error {
	events = slices.Clone(events)
	if len(looks) > 0 {
		s.op.LookedAt, s.op.AskedBy = tx.Now(), "" // who asked has an answer
	}
	op := s.op
	if ended != nil {
		if err := tx.EndAttempt(ctx, *ended); err != nil {
			return err
		}
		e := s.event(audit.AnswerOfEHR, audit.Success, ended.Outcome)
		if ended.Outcome != Accepted && ended.Outcome != PendingIt {
			e.Outcome = audit.Failed
		}
		events = append(events, e)
	}
	for _, k := range looks {
		if err := tx.AddLook(ctx, k); err != nil {
			return err
		}
		e := s.event(audit.LookIntoEHR, audit.Success, k.Verdict)
		if k.Verdict == SawFailed {
			e.Outcome = audit.Failed
		}
		events = append(events, e)
	}
	if err := tx.Set(ctx, op, next, letGo); err != nil {
		return err
	}
	for i := range events {
		events[i].ID, events[i].At = s.IDs("aud"), tx.Now()
	}
	return tx.Audit(ctx, events...)
}

// fenced says in the log that another has the operation now; there is nothing else to do about it.
func (s *step) fenced(ctx context.Context, mine bool, err error) error {
	if err == nil && !mine {
		s.Log.WarnContext(ctx, "ehr: a lease ran out; another goes on with the operation", "clinic", s.op.Clinic, "operation", s.op.ID)
	}
	return err
}

// event is one row of the trail: what the program did with the operation, in nobody's name.
func (s *step) event(action, outcome, code string) audit.Event {
	op := s.op
	return audit.Event{Actor: clinic.Actor{Clinic: op.Clinic, Person: "ehr", Kind: clinic.KindSystem, Via: "worker"},
		Action: action, Outcome: outcome, Code: code, ObjectKind: "operation", Object: op.ID, Patient: op.Wanted.Patient.ID,
		Proposal: op.Proposal, Revision: op.Revision, PlanHash: op.PlanHash}
}
