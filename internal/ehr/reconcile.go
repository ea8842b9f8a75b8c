package ehr

import (
	"context"
	"errors"
	"slices"
	"strings"

	"countersign/internal/ehr/fhir"
	"countersign/internal/proposal"
)

// saw makes the row of a look.
func (s *step) saw(how string, matches int, verdict, code string, m match) *Look {
	s.op.Looks++
	return &Look{N: s.op.Looks, How: how, Matches: &matches, Verdict: verdict, Code: code, RemoteID: m.ID, RemoteVersion: m.Version(), AskedBy: s.op.AskedBy}
}

// unseen: a look failed. That proves nothing, whatever it looked like.
func (s *step) unseen(ctx context.Context, how string, err error) error {
	code, err := s.trouble(ctx, err)
	if err != nil {
		return err
	}
	s.op.Looks++
	return s.wait(ctx, code, Look{N: s.op.Looks, How: how, Verdict: SawFailed, Code: code, AskedBy: s.op.AskedBy})
}

// look asks the EHR how it is, and decides what that means. What has been sent before, and is said to have had no effect,
// is not believed before it is sent again.
func (s *step) look(ctx context.Context) error {
	t := s.task()
	how, look, m, err := s.ask(ctx, t)
	if err != nil {
		return s.unseen(ctx, how, err)
	}
	if err := s.answered(ctx); err != nil {
		return err
	}
	if s.op.LookOnly && (look.Verdict != SawEqual || s.op.Kind == Move && s.twoBookings() && s.op.Phase == PhaseWrite) {
		return s.wait(ctx, s.op.Code, *look) // it stays a person's matter
	}
	nothing := look.Verdict == SawNone && look.Code == "" || look.Verdict == SawUnchanged
	if s.op.State == Ready && nothing {
		return s.again(ctx, t, *look, m)
	}
	switch look.Verdict {
	case SawEqual:
		return s.isThere(ctx, *look, m)
	case SawDifferent:
		if look.Code == fhir.StatusPending {
			s.op.State = Pending
			return s.wait(ctx, look.Code, *look)
		}
		return s.manual(ctx, SawDifferent, *look)
	case SawPatient:
		if s.Client.replacedBy(ctx, t.wanted.patient(), first(m.Actors("Patient")), s.IDs("req")) {
			return s.manual(ctx, "patient_merged", *look)
		}
		return s.manual(ctx, CodePatient, *look)
	case SawSeveral:
		return s.manual(ctx, CodeSeveral, *look)
	case SawMovedOn:
		return s.passed(ctx, t, *look)
	}
	return s.isNot(ctx, t, *look, m)
}

func first(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

// ask makes the look: by id where one is known, else by the mark.
func (s *step) ask(ctx context.Context, t task) (how string, look *Look, m match, err error) {
	id := s.IDs("req")
	if !t.creates {
		m, err = s.Client.read(ctx, t.target, id)
		switch {
		case errors.Is(err, errGone):
			return ByRead, s.saw(ByRead, 0, SawMovedOn, "gone", m), m, nil
		case err != nil:
			return ByRead, nil, m, err
		}
		verdict, code := s.changed(t, m)
		return ByRead, s.saw(ByRead, 1, verdict, code, m), m, nil
	}
	var found []match
	how = ByRead
	if known := s.remoteKnown(); known != "" {
		m, err = s.Client.read(ctx, known, id)
		if err == nil {
			found = []match{m}
		}
	}
	if len(found) == 0 && (err == nil || errors.Is(err, errGone)) {
		how, found, err = s.Client.find(ctx, s.op.ID, t.wanted, s.can, id)
	}
	if err != nil {
		return how, nil, m, err
	}
	look, m = s.made(t, how, found)
	return how, look, m, nil
}

// changed judges the target of a change.
func (s *step) changed(t task, m match) (verdict, code string) {
	c := Compare(t.wanted, t.before, m.Appointment)
	switch {
	case c.WrongPatient:
		return SawPatient, ""
	case m.Broken == "" && c.Equal():
		return SawEqual, ""
	}
	since := s.since(t.before, t.version, m)
	switch {
	case len(since) == 0:
		return SawUnchanged, ""
	case marked(&m.Appointment, s.op.ID):
		if m.Broken != "" {
			return SawDifferent, m.Broken
		}
		return SawDifferent, strings.Join(c.Differs, ",")
	}
	return SawMovedOn, strings.Join(since, ",")
}

// made judges what was found of a new appointment. Those that are cancelled or were an error are not there.
func (s *step) made(t task, how string, found []match) (*Look, match) {
	live := slices.DeleteFunc(slices.Clone(found), func(m match) bool {
		return m.Status == fhir.StatusCancelled || m.Status == fhir.StatusInError
	})
	switch {
	case len(live) > 1:
		return s.saw(how, len(live), SawSeveral, "", match{}), match{}
	case len(live) == 0 && len(found) > 0:
		return s.saw(how, 0, SawNone, fhir.StatusCancelled, found[0]), found[0]
	case len(live) == 0:
		return s.saw(how, 0, SawNone, "", match{}), match{}
	}
	m := live[0]
	c := Compare(t.wanted, nil, m.Appointment)
	switch {
	case c.WrongPatient:
		return s.saw(how, 1, SawPatient, "", m), m
	case m.Broken != "":
		return s.saw(how, 1, SawDifferent, m.Broken, m), m
	case c.Equal():
		return s.saw(how, 1, SawEqual, "", m), m
	case slices.Equal(c.Differs, []string{"status"}) && (m.Status == fhir.StatusPending || m.Status == fhir.StatusProposed):
		return s.saw(how, 1, SawDifferent, fhir.StatusPending, m), m
	}
	return s.saw(how, 1, SawDifferent, strings.Join(c.Differs, ","), m), m
}

// isThere: the EHR has exactly what was approved. A move as two bookings now ends the old one; all else is done.
func (s *step) isThere(ctx context.Context, look Look, m match) error {
	if s.op.Kind == Move && s.twoBookings() && s.op.Phase == PhaseWrite {
		if s.op.OldRemoteID == "" {
			s.op.OldRemoteID = s.op.RemoteID
		}
		s.op.RemoteID, s.op.RemoteVersion = m.ID, m.Version()
		s.op.Phase, s.op.State, s.op.Code, s.op.Refusal, s.op.Unsettled, s.op.EmptyLooks = PhaseCancelOld, Ready, "", "", 0, 0
		return s.save(ctx, s.op.Now, []Look{look}, nil)
	}
	found := Found{m.ID, m.Version()}
	if s.op.Phase == PhaseCancelOld {
		found = Found{s.op.RemoteID, s.op.RemoteVersion}
	}
	return s.applied(ctx, []Look{look}, found)
}

// applied ends it: what the looks saw is what was approved.
func (s *step) applied(ctx context.Context, looks []Look, found Found) error {
	if mine, err := s.record(ctx, looks); !mine || err != nil {
		return err
	}
	mine, err := s.Desk.Applied(ctx, s.op, found)
	if errors.Is(err, proposal.ErrClash) {
		return s.manual(ctx, "clash")
	}
	return s.fenced(ctx, mine, err)
}

// isNot: nothing of it is to be seen. That is believed at once after a firm refusal, when nothing else was ever sent; else
// only when the settle time is over and two looks apart agree. Then what was refused ends, and the rest is sent again,
// under the same identifier, while the confirmation still holds.
func (s *step) isNot(ctx context.Context, t task, look Look, m match) error {
	ended := look.Code == fhir.StatusCancelled // what we made was cancelled there
	if ended && s.op.Unsettled == 1 && s.op.State == Pending {
		s.op.Refusal, s.op.Unsettled = CodeRefused, 0
	}
	if ended && s.op.Attempts == 1 && s.refused() { // and that is what was sent
		s.op.Unsettled = 0
	}
	if s.op.Refusal != "" && s.op.Unsettled == 0 {
		return s.isRefused(ctx, look)
	}
	if ended && !s.refused() {
		return s.manual(ctx, "cancelled_there", look)
	}
	settled := !s.op.Now.Before(s.op.AttemptedAt.Add(s.settle()))
	if settled && (s.op.EmptyLooks == 0 || !s.op.Now.Before(s.op.LookedAt.Add(s.spacing()))) {
		s.op.EmptyLooks++
	}
	if s.op.EmptyLooks >= 2 && s.op.State == Unknown {
		if s.refused() {
			return s.isRefused(ctx, look)
		}
		if s.maySend(t) {
			return s.again(ctx, t, look, m)
		}
		if s.op.Refusal != "" && (!t.creates || s.remoteKnown() == "") {
			return s.isRefused(ctx, look)
		}
	}
	return s.wait(ctx, s.op.Code, look)
}

// again sends after a look that saw nothing of it.
func (s *step) again(ctx context.Context, t task, look Look, m match) error {
	if mine, err := s.record(ctx, []Look{look}); !mine || err != nil {
		return err
	}
	if t.creates {
		return s.write(ctx, nil)
	}
	return s.write(ctx, &m)
}

// mostAttempts is how often an operation is sent that never gets an answer; then a person decides.
const mostAttempts = 10

// maySend: within the life of the confirmation (the end of an old booking belongs to one that is made), and never for
// what an answer said to be there.
func (s *step) maySend(t task) bool {
	if s.op.Attempts >= mostAttempts {
		return false
	}
	if s.op.Phase == PhaseCancelOld {
		return s.op.Now.Before(s.op.Deadline)
	}
	return s.op.Now.Before(s.op.SendUntil) && (!t.creates || s.remoteKnown() == "")
}

// refused: it said no for good, not only for now.
func (s *step) refused() bool { return s.op.Refusal != "" && s.op.Refusal != CodeNotReached }

func (s *step) isRefused(ctx context.Context, look Look) error {
	if s.op.Phase == PhaseCancelOld {
		return s.manual(ctx, "two_bookings", look)
	}
	return s.refuse(ctx, s.op.Refusal, look)
}
