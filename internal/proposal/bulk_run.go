package proposal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

const (
	firstLease = 1
	// leaseFor is how long a process that died keeps a run from being continued.
	leaseFor = 10 * time.Second
	inline   = 2 * time.Second
)

var errNotOurs = errors.New("proposal: another process works on this bulk, or it has ended")

// carryOut runs a bulk's items in the request that confirmed it, for a short while; what is left is a worker's. What
// goes wrong here is no matter of the decision, which stands.
func (s *Service) carryOut(ctx context.Context, by clinic.Actor, begun Answer) (Answer, error) {
	id, most := begun.Record.ID, s.Inline
	if most == 0 {
		most = inline
	}
	if most > 0 {
		if err := s.runItems(ctx, by.Clinic, id, firstLease, time.After(most)); err != nil && !errors.Is(err, errNotOurs) {
			s.Log.WarnContext(ctx, "a bulk goes on later", "request", by.Request, "clinic", by.Clinic, "proposal", id, "error", err.Error())
		}
	}
	letGo := s.Store.InTx(context.WithoutCancel(ctx), by.Clinic, func(tx Tx) error { return tx.LetGo(ctx, id, firstLease) })
	if letGo != nil {
		s.Log.WarnContext(ctx, "a bulk waits for its lease", "request", by.Request, "clinic", by.Clinic, "proposal", id, "error", letGo.Error())
	}
	r, err := s.Get(ctx, by, id)
	if err != nil {
		return begun, nil // it is decided all the same
	}
	return today(r)
}

// CarryOn takes one bulk of the clinic that nobody works on and runs it to its end. It says whether it found one. It is
// what the worker does; any number of them may.
func (s *Service) CarryOn(ctx context.Context, clinicID string) (found bool, err error) {
	var run Run
	err = s.Store.InTx(ctx, clinicID, func(tx Tx) (err error) {
		run, err = tx.TakeRun(ctx, leaseFor)
		return err
	})
	if err != nil || run.Proposal == "" {
		return false, err
	}
	if err = s.runItems(ctx, clinicID, run.Proposal, run.Lease, nil); errors.Is(err, errNotOurs) {
		err = nil
	}
	return true, err
}

// runItems runs one item after the other until there is none left or it is time to stop.
func (s *Service) runItems(ctx context.Context, clinicID, id string, lease int64, enough <-chan time.Time) error {
	for {
		over, err := s.nextItem(ctx, clinicID, id, lease)
		if errors.Is(err, ErrCommitUnknown) {
			continue // what became of it stands in its row
		}
		if over || err != nil {
			return err
		}
		select {
		case <-enough:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		default:
		}
	}
}

// nextItem runs the first item that waits, in a transaction of its own, and ends the bulk after the last. A process that
// dies here has done all of it or nothing.
func (s *Service) nextItem(ctx context.Context, clinicID, id string, lease int64) (over bool, err error) {
	var at int
	err = s.withRun(ctx, clinicID, id, lease, func(tx Tx, run Run, r Record, items []ItemResult) error {
		at = nextRunnable(r.Plan, items)
		if at < 0 {
			over = true
			if slices.ContainsFunc(items, ItemResult.open) {
				return nil // the EHR's answer wakes this run again
			}
			return s.endRun(ctx, tx, run, r, items)
		}
		done, err := s.runItem(ctx, tx, run, r, items, at)
		if err != nil {
			return err
		}
		return tx.SetItem(ctx, id, done)
	})
	code := ""
	switch x := refusal.Of(err); {
	case errors.Is(err, ErrOverlap):
		code = refusal.SlotTaken
	case x != nil && x.Code == refusal.Internal:
		code = refusal.Internal
		s.Log.ErrorContext(ctx, "an item of a bulk could not run", "clinic", clinicID, "proposal", id, "item", at+1, "error", err.Error())
	default:
		return over, err
	}
	// Nothing of it was written; that it failed is, in a transaction of its own.
	return false, s.withRun(ctx, clinicID, id, lease, func(tx Tx, run Run, r Record, items []ItemResult) error {
		if items[at].State != ItemWaiting {
			return nil
		}
		return s.failItem(ctx, tx, run, r, items[at], code, itemWords[code])
	})
}

// nextRunnable is the first item that waits and takes no time which an item before it may yet give back; -1 = none.
func nextRunnable(p Plan, items []ItemResult) int {
	return slices.IndexFunc(items, func(it ItemResult) bool {
		if it.State != ItemWaiting {
			return false
		}
		if it.Item == 1 || !p.IsBulk() {
			return true
		}
		takes := p.Item(it.Item - 1).Steps[0].TakeSlots
		return !slices.ContainsFunc(items[:it.Item-1], func(before ItemResult) bool {
			return before.open() && slices.ContainsFunc(p.Item(before.Item - 1).Steps[0].FreeSlots, func(id string) bool { return slices.Contains(takes, id) })
		})
	})
}

// itemWords say why an item failed where nothing more is known.
var itemWords = map[string]string{
	refusal.SlotTaken:        "Another visit of this practitioner lies in that time. This visit was not changed.",
	refusal.Internal:         "The program made a mistake here. This visit was not changed.",
	refusal.PlanHashMismatch: "The stored plan is not the one that was approved. This visit was not changed.",
}

// withRun works on a run whose lease is still ours, with its row locked.
func (s *Service) withRun(ctx context.Context, clinicID, id string, lease int64, do func(Tx, Run, Record, []ItemResult) error) error {
	return s.Store.InTx(ctx, clinicID, func(tx Tx) error {
		run, found, err := tx.HoldRun(ctx, id, lease, leaseFor)
		if err != nil {
			return err
		}
		if !found {
			return errNotOurs
		}
		run.By.Clinic = clinicID
		r, err := tx.Get(ctx, id)
		if err != nil {
			return err
		}
		items, err := tx.Items(ctx, id)
		if err != nil {
			return err
		}
		return do(tx, run, r, items)
	})
}

// runItem writes exactly what the plan's steps of one item say, or gives the failure: its pins are locked and compared
// as for a single change. A slot that earlier items of this plan gave back or took has risen with them, and only so.
func (s *Service) runItem(ctx context.Context, tx Tx, run Run, r Record, items []ItemResult, i int) (ItemResult, error) {
	out := items[i]
	fail := func(code, words string) (ItemResult, error) {
		return s.failed(ctx, tx, run, r, out, code, words)
	}
	if r.Tampered() {
		s.Log.ErrorContext(ctx, "ALARM: a stored plan does not have its hash; it was refused", "clinic", run.By.Clinic, "proposal", r.ID)
		return fail(refusal.PlanHashMismatch, itemWords[refusal.PlanHashMismatch])
	}
	one := r.Plan.Item(i)
	step, err := mainStep(one)
	if err != nil {
		return out, err
	}
	touched := map[string]int64{}
	for j := range i {
		before := r.Plan.Item(j).Steps[0]
		for _, id := range before.FreeSlots {
			if slices.Contains(step.TakeSlots, id) && items[j].State != ItemCompleted {
				return fail(refusal.SlotTaken, fmt.Sprintf("The time was to become free by line %d, which did not happen. This visit was not changed.", j+1))
			}
		}
		if items[j].State == ItemCompleted {
			for _, id := range slices.Concat(before.FreeSlots, before.TakeSlots) {
				touched[id]++
			}
		}
	}
	for k, pin := range one.Resources {
		if pin.Kind == PinSlot {
			one.Resources[k].Version += touched[pin.ID]
		}
	}
	now, twice, err := tx.LockPins(ctx, one.Resources, one.stay())
	if err != nil {
		return out, err
	}
	if changed := moved(one, now); changed != nil {
		labels := make([]string, len(changed))
		for k, c := range changed {
			labels[k] = c.Label
		}
		slices.Sort(labels)
		return fail(refusal.ResourceChanged, "Changed since this was proposed: "+strings.Join(slices.Compact(labels), "; ")+". This visit was not changed.")
	}
	if twice && !slices.Contains(one.RiskReasons, ReasonDoubleBooked) {
		return fail(refusal.ResourceChanged, "The patient has another visit at that time by now. This visit was not changed.")
	}
	if step.EHR != nil {
		return s.giveItem(ctx, tx, run, r, one, step, out)
	}
	version := step.versionAfter()
	e := Execution{Proposal: r.ID, Revision: r.Revision, PlanHash: r.PlanHash, Risk: r.Risk, By: run.By, Steps: []Step{step}, DecidedAt: tx.Now()}
	for _, m := range one.Messages {
		e.Messages = append(e.Messages, OutboxRow{ID: s.IDs("msg"), Appointment: *step.Appointment, Version: version, Message: m})
	}
	e.Audit = []audit.Event{s.itemEvent(tx.Now(), run, r, one, step, version)}
	got, err := tx.Execute(ctx, e)
	if err != nil {
		return out, err
	}
	if got != version {
		return out, &refusal.Error{Code: refusal.Internal, Cause: errors.New("proposal: the row did not reach the planned version")}
	}
	out.State, out.Version = ItemCompleted, &version
	return out, nil
}

// giveItem hands an item to the EHR; the answer comes later.
func (s *Service) giveItem(ctx context.Context, tx Tx, run Run, r Record, one Plan, step Step, out ItemResult) (ItemResult, error) {
	err := s.noneWaits(ctx, tx, step)
	if x := refusal.Of(err); x != nil && x.Code == refusal.ResourceChanged {
		return s.failed(ctx, tx, run, r, out, refusal.ResourceChanged, "It was changed in the EHR, or another change of it waits for the EHR. This visit was not changed.")
	} else if err != nil {
		return out, err
	}
	out.State = ItemExecuting
	return out, tx.StartOperation(ctx, s.operation(run.By, r, out.Item, step, one.After, tx.Now()))
}

func (s *Service) failItem(ctx context.Context, tx Tx, run Run, r Record, it ItemResult, code, words string) error {
	done, err := s.failed(ctx, tx, run, r, it, code, words)
	if err != nil {
		return err
	}
	return tx.SetItem(ctx, r.ID, done)
}

// failed is the item's failure, audited.
func (s *Service) failed(ctx context.Context, tx Tx, run Run, r Record, it ItemResult, code, words string) (ItemResult, error) {
	action := audit.MoveAppointment
	if !r.Tampered() && r.Plan.After.Items[it.Item-1].Status == clinic.StatusCancelled {
		action = audit.CancelAppointment
	}
	e := s.event(tx.Now(), run.By, action, audit.Failed, r)
	e.ObjectKind, e.Object, e.Code = PinAppointment, it.Appointment, code
	it.State, it.Code, it.Message = ItemFailed, &code, &words
	return it, tx.Audit(ctx, e)
}

// itemEvent is the trail's row of an item that ran.
func (s *Service) itemEvent(now time.Time, run Run, r Record, one Plan, step Step, version int64) audit.Event {
	a, _ := actionNamed(one.Action)
	e := s.event(now, run.By, a.audit, audit.Success, r)
	e.ObjectKind, e.Object, e.Version, e.Patient = PinAppointment, *step.Appointment, version, one.After.Patient.ID
	e.Code = lateCode(one, now)
	return e
}

// endRun ends a bulk none of whose items waits.
func (s *Service) endRun(ctx context.Context, tx Tx, run Run, r Record, items []ItemResult) error {
	state, outcome := ended(items)
	result, err := resultOf(state, items)
	if err != nil {
		return err
	}
	e := s.event(tx.Now(), run.By, audit.FinishBulk, map[string]string{StateCompleted: audit.Success, StateFailed: audit.Failed, StatePartial: audit.Partial}[state], r)
	if err := tx.Audit(ctx, e); err != nil {
		return err
	}
	return tx.EndRun(ctx, r.ID, state, outcome, result)
}

func (s *Service) claimedEvents(c Claim, by clinic.Actor, r Record) []audit.Event {
	return []audit.Event{s.event(c.Now, by, audit.Confirm, audit.Success, r)}
}

func (s *Service) stopEvent(now time.Time, by clinic.Actor, r Record) audit.Event {
	return s.event(now, by, audit.StopBulk, audit.Success, r)
}

func (s *Service) refuseStop(ctx context.Context, by clinic.Actor, id string, err error) error {
	return s.refuse(ctx, by, audit.StopBulk, id, err)
}

func readItemResults(result []byte) []ItemResult {
	var r bulkResult
	if json.Unmarshal(result, &r) != nil {
		return nil
	}
	return r.Items
}
