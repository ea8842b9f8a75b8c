package ehr

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"countersign/internal/audit"
	"countersign/internal/ehr/fhir"
)

// write looks whether all is as it was approved from, commits the attempt, and makes the one call. now is the target of
// a change as it has just been read, nil to read it.
func (s *step) write(ctx context.Context, now *match) error {
	t := s.task()
	target, look, err := s.asApproved(ctx, t, now)
	if err != nil {
		return s.unseen(ctx, ByBefore, err)
	}
	var looks []Look
	if look != nil {
		looks = append(looks, *look)
		if look.Verdict != SawUnchanged {
			return s.passed(ctx, t, looks...)
		}
	}
	r, err := s.request(t, target)
	if err != nil {
		return err
	}
	r.Until = s.Client.now().Round(0).Add(sendWithin)
	s.op.Attempts++
	s.op.Unsettled++ // until an answer says otherwise: a process that dies now leaves the truth behind
	s.op.State, s.op.Code, s.op.Refusal, s.op.EmptyLooks = Unknown, "sending", "", 0
	attempt := Attempt{N: s.op.Attempts, Phase: s.op.Phase, Method: r.Method, Request: r.Body, RequestID: r.ID}
	mine, err := s.Store.InOperation(ctx, s.op, func(tx Tx) error {
		if err := tx.BeginAttempt(ctx, attempt); err != nil {
			return err
		}
		s.op.AttemptedAt = tx.Now()
		return s.put(ctx, tx, s.op.Now, false, looks, nil, []audit.Event{s.event(audit.SendToEHR, audit.Success, "attempt")})
	})
	if !mine || err != nil {
		return s.fenced(ctx, mine, err)
	}
	raw := s.Client.Do(ctx, r)
	return s.concluded(ctx, t, r, attempt, raw, Classify(r, t.wanted, raw, s.can, s.Client.now()))
}

// asApproved looks whether a change's target, and the slots of a new visit, are as the plan was made from. There is
// nothing to look at for a booking without slots.
func (s *step) asApproved(ctx context.Context, t task, now *match) (target match, look *Look, err error) {
	id := s.IDs("req")
	if s.op.Kind == Book && s.op.Before != nil && s.op.Unsettled == 0 {
		if look, err = s.isUnknownThere(ctx, id); err != nil || look.Verdict != SawUnchanged {
			return target, look, err
		}
	}
	from, version := t.target, t.version
	if t.creates && s.op.Kind == Move && s.op.OldRemoteID == "" {
		from, version = s.op.RemoteID, s.op.RemoteVersion // the old one, which will be cancelled
	}
	if from != "" {
		switch {
		case now != nil:
			target = *now
		default:
			target, err = s.Client.read(ctx, from, id)
		}
		if errors.Is(err, errGone) {
			return target, s.saw(ByBefore, 0, SawMovedOn, "gone", match{}), nil
		}
		if err != nil {
			return target, nil, err
		}
		if differs := s.since(t.before, version, target); len(differs) > 0 {
			return target, s.saw(ByBefore, 1, SawMovedOn, strings.Join(differs, ","), target), nil
		}
		look = s.saw(ByBefore, 1, SawUnchanged, "", target)
	}
	if s.op.Phase == PhaseCancelOld || t.wanted.Status == fhir.StatusCancelled {
		return target, look, nil
	}
	for _, slot := range t.wanted.Slots {
		if t.before != nil && slices.Contains(t.before.Slots, slot) {
			continue // its own
		}
		free, err := s.Client.free(ctx, slot, id)
		if err != nil {
			return target, nil, err
		}
		if !free {
			return target, s.saw(ByBefore, 0, SawMovedOn, CodeSlotTaken, match{}), nil
		}
	}
	if look == nil && len(t.wanted.Slots) > 0 {
		look = s.saw(ByBefore, 0, SawUnchanged, "", match{})
	}
	return target, look, nil
}

// isUnknownThere looks whether the EHR has, under our own id, a visit that the plan says it has not.
func (s *step) isUnknownThere(ctx context.Context, requestID string) (*Look, error) {
	m, err := s.Client.read(ctx, s.op.Appointment, requestID)
	var f *failure
	switch {
	case errors.Is(err, errGone) || errors.As(err, &f) && f.Code == "status_400" && strings.Contains(s.op.Appointment, "_"): // no id of FHIR's
		return s.saw(ByBefore, 0, SawUnchanged, "", match{}), nil
	case err != nil:
		return nil, err
	case m.Status == fhir.StatusCancelled || m.Status == fhir.StatusInError:
		return s.saw(ByBefore, 0, SawUnchanged, m.Status, m), nil
	}
	return s.saw(ByBefore, 1, SawMovedOn, "not_linked", m), nil // the mirror will link it, and another plan moves it
}

// since lists what of an appointment is no longer as the plan showed it.
func (s *step) since(before *Visit, version string, found match) []string {
	if before == nil {
		return nil
	}
	if found.Broken != "" {
		return []string{found.Broken}
	}
	c := Compare(*before, nil, found.Appointment)
	switch {
	case c.WrongPatient:
		return []string{CodePatient}
	case len(c.Differs) > 0:
		return c.Differs
	case version != "" && found.Version() != version:
		return []string{"version"}
	}
	return nil
}

// passed: the EHR has gone on since the plan was made. When nothing of ours can be there it is refused, else it is for a
// person; a taken slot may be taken by our own lost booking, which looks will show.
func (s *step) passed(ctx context.Context, t task, looks ...Look) error {
	code := CodeStale
	if looks[len(looks)-1].Code == CodeSlotTaken {
		code = CodeSlotTaken
	}
	switch {
	case s.op.Phase == PhaseCancelOld:
		return s.manual(ctx, "two_bookings", looks...)
	case s.op.Kind == Cancel && s.op.Attempts == 0 && s.op.RemoteVersion == "" && looks[len(looks)-1].Code == "gone":
		return s.applied(ctx, looks, Found{}) // the EHR never had it: there is nothing to cancel
	case s.op.Unsettled == 0:
		return s.refuse(ctx, code, looks...)
	case t.creates:
		return s.wait(ctx, code, looks...)
	}
	return s.manual(ctx, "moved_on", looks...)
}

// request is the call that makes the task true.
func (s *step) request(t task, target match) (Request, error) {
	r := Request{Method: http.MethodPost, Path: "Appointment", ID: s.IDs("req")}
	var a fhir.Appointment
	if t.creates {
		a = booking(t.wanted, s.op.ID, s.can)
		if s.can.ConditionalCreate && s.can.IdentifierWritable {
			r.IfNoneExist = url.Values{"identifier": {IdentifierSystem + "|" + s.op.ID}}.Encode()
		}
	} else {
		r.Method, r.Path = http.MethodPut, "Appointment/"+url.PathEscape(t.target)
		if s.can.IfMatch {
			r.IfMatch = target.Version()
		}
		if t.wanted.Status == fhir.StatusCancelled {
			a = cancelled(target.Appointment, t.wanted.ReasonCode, s.op.ID, s.can)
		} else {
			a = moved(target.Appointment, *t.before, t.wanted, s.op.ID, s.can)
		}
	}
	var err error
	r.Body, err = fhir.Encode(a)
	return r, err
}

// concluded writes what the call came to. Nothing is sent again from here: the next claim looks first.
//
// No answer rules out that what was sent is there; so the attempt stays unsettled, unless its refusal is the EHR's own and
// firm, or a read of the version it named will tell.
func (s *step) concluded(ctx context.Context, t task, r Request, attempt Attempt, raw Raw, a Answer) error {
	attempt.HTTPStatus, attempt.Outcome, attempt.Code = raw.Status, a.Outcome, a.Code
	var events []audit.Event
	next := s.op.Now
	s.op.Code = a.Code
	if a.RemoteID != "" && t.creates && a.Outcome != Rejected {
		if s.op.Kind == Move && s.op.OldRemoteID == "" {
			s.op.OldRemoteID = s.op.RemoteID
		}
		s.op.RemoteID, s.op.RemoteVersion = a.RemoteID, a.RemoteVersion
	}
	switch a.Outcome {
	case NotSent, Throttled:
		if a.Outcome == NotSent || r.IfMatch != "" {
			s.op.Unsettled--
		} else {
			s.op.Refusal = CodeNotReached // if it never takes it
		}
		if s.op.Unsettled == 0 {
			s.op.State = Ready
		}
		next = next.Add(s.jittered(max(a.Wait, s.pause())))
	case Rejected:
		if a.Firm || r.IfMatch != "" {
			s.op.Unsettled--
		}
		if a.Code == CodeStale && s.op.Phase == PhaseCancelOld && s.op.Unsettled == 0 {
			s.op.State = Ready // the old booking still has to end: its version is read again
			next = next.Add(s.jittered(s.pause()))
			break
		}
		s.op.Refusal = a.Code
	case PendingIt:
		s.op.State = Pending
		next = next.Add(firstPause)
	case ForPeople:
		s.op.State = Manual
		events = append(events, s.event(audit.AlarmEHR, audit.Failed, a.Code))
	case Unclear:
		next = next.Add(s.jittered(firstPause))
	}
	if err := s.save(ctx, next, nil, &attempt, events...); err != nil {
		return err
	}
	return s.health(ctx, a)
}

// health tells the lane what the call says of the EHR as a whole.
func (s *step) health(ctx context.Context, a Answer) error {
	switch {
	case a.Outcome == Throttled && a.Code == CodeBusy:
		return s.throttled(ctx, a.Wait)
	case a.Outcome == NotSent && a.Code != CodeTooLate, a.Outcome == Throttled && a.Code == CodeAuth, a.Outcome == Unclear && (a.Code == CodeNoAnswer || a.Code == CodeServer):
		return s.failed(ctx, a.Code)
	}
	return s.answered(ctx)
}
