// Package proposal is the core: plans and their canonical form, the life cycle of proposals, who may decide, and the one
// service method that executes a plan exactly as it was confirmed.
package proposal

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"regexp"
	"time"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// Service is the only door to changes of appointments, for a form, the API, the assistant and agents alike.
type Service struct {
	Store Store
	IDs   func(prefix string) string // random, URL-safe, at most 64 characters
	TTL   time.Duration              // 0 = 15 minutes, 4 hours for high and critical
	Log   *slog.Logger

	MailFrom string                     // the address messages come from; "" = MailFrom, which nobody can answer
	Limits   Limits                     // zero = none
	EHR      func(clinicID string) bool // whether the clinic's visits are kept in an EHR too; nil = no clinic's
	Inline   time.Duration              // how long a confirmation carries a bulk out itself; 0 = 2 s, negative = not at all
}

// deadline is when a revision of that risk can no longer be decided: whole seconds, and never later than the new start.
func (s *Service) deadline(p Plan, now time.Time) time.Time {
	ttl := cmp.Or(s.TTL, 15*time.Minute)
	if s.TTL == 0 && (p.Risk == High || p.Risk == Critical) {
		ttl = 4 * time.Hour
	}
	at := now.Add(ttl)
	for _, f := range (Plan{After: p.After}).shown() {
		if f.Status == "booked" && f.StartsAt.Before(at) {
			at = f.StartsAt
		}
	}
	return at.UTC().Truncate(time.Second)
}

// draft makes the plan of one revision from today's facts.
func (s *Service) draft(ctx context.Context, tx Tx, a action, by clinic.Actor, proposalID string, revision int, given map[string]any, last *Plan, now time.Time, policy Policy) (Record, []byte, error) {
	params, wrong := a.read(given)
	if len(wrong) > 0 {
		return Record{}, nil, refusal.Invalid(wrong...)
	}
	p := Plan{V: 1, Clinic: by.Clinic, Proposal: proposalID, Revision: revision, Action: a.name, Parameters: params,
		Messages: []Message{}, Warnings: []string{}}
	d := &drafting{tx: tx, now: now, ids: s.IDs, mailFrom: cmp.Or(s.MailFrom, MailFrom), params: params, last: last, plan: &p, rows: pinSet{}, ehr: s.hasEHR(by.Clinic)}
	if err := a.draft(ctx, d); err != nil {
		return Record{}, nil, err
	}
	p.Resources = d.rows.sorted()
	p.Risk, p.RiskReasons = assess(p, now, agentDid(p, last, by))
	var people int
	p.Risk, p.RiskReasons, people = policy.judge(a.name, p.Risk, append(p.RiskReasons, d.why...))
	p.ExpiresAt = s.deadline(p, now)
	canonical, hash, err := p.Encode()
	if err != nil {
		return Record{}, nil, err
	}
	asks, err := wish(a, params)
	if err != nil {
		return Record{}, nil, err
	}
	return Record{Wish: asks, ID: proposalID, Revision: revision, PlanHash: hash, State: StateProposed, Outcome: OutcomeProposed, Action: a.name,
		Risk: p.Risk, ExpiresAt: p.ExpiresAt, Plan: p, PlanBytes: canonical, Policy: policy, People: people}, canonical, nil
}

// agentDid is what an agent did that makes a plan high. A free text is the agent's when an agent gave it and nobody has
// given another since; a registration that an agent asked for stays the agent's.
func agentDid(p Plan, last *Plan, by clinic.Actor) string {
	before := ""
	if last != nil {
		before = agentReason(last.RiskReasons)
	}
	switch {
	case p.Action == register.name && (by.Kind == clinic.KindAgent || before == ReasonAgentRegisters):
		return ReasonAgentRegisters
	case p.Parameters["message"] == nil:
		return ""
	case last != nil && last.Parameters["message"] == p.Parameters["message"]:
		return before
	case by.Kind == clinic.KindAgent:
		return ReasonAgentText
	}
	return ""
}

// finish fills what a record says beyond its row: words, approvals, and expired as soon as the deadline has passed.
func finish(r *Record, now time.Time) {
	if r.State == StateProposed && !now.Before(r.ExpiresAt) {
		r.State = StateExpired
	}
	if r.State == StateExpired {
		r.Outcome = OutcomeNotExecuted
	}
	if r.RiskReasons == nil {
		r.RiskReasons = r.Plan.RiskReasons
	}
	r.Warnings = r.Plan.Warnings
	r.Summary = Summarize(r.Plan)
	r.approvals()
	if r.Changed == nil {
		r.Changed = []Change{}
	}
	r.Stale = len(r.Changed) > 0
}

var keyShape = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,200}$`)

// ValidKey reports whether an idempotency key has its shape.
func ValidKey(key string) bool { return keyShape.MatchString(key) }

// Answer is what a deciding or proposing call answers: the status and body that a replay repeats byte for byte.
type Answer struct {
	Status   int
	Body     []byte // JSON
	Replayed bool
	Record   Record // today's
}

func (s *Service) event(now time.Time, by clinic.Actor, action, outcome string, r Record) audit.Event {
	e := audit.Event{ID: s.IDs("aud"), At: now, Actor: by, Action: action, Outcome: outcome, ObjectKind: "proposal", Object: r.ID,
		Proposal: r.ID, Revision: r.Revision, PlanHash: r.PlanHash, Risk: r.Risk}
	if r.Plan.After != nil {
		e.Patient = r.Plan.After.Patient.ID
	}
	return e
}

// refuse audits a refusal after the rollback, and gives those who may read it the current record with a 409 or 410.
// The refusal stands even when that cannot be written down; then it is logged.
func (s *Service) refuse(ctx context.Context, by clinic.Actor, action, proposalID string, err error) error {
	r := refusal.Of(err)
	if r == nil || r.Code == refusal.Busy || r.Code == refusal.Internal {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	note := s.Store.InTx(ctx, by.Clinic, func(tx Tx) error {
		e := audit.Event{ID: s.IDs("aud"), At: tx.Now(), Actor: by, Action: action, Outcome: audit.Denied, Code: r.Code}
		if clinic.ValidID(proposalID) { // what has not the shape of an id does not exist
			rec, err := current(ctx, tx, proposalID)
			if err == nil {
				e = s.event(tx.Now(), by, action, audit.Denied, rec)
				e.Code = r.Code
				switch r.Code {
				case refusal.ResourceChanged, refusal.PlanHashMismatch, refusal.AlreadyDecided, refusal.ProposalExpired:
					r.Record = rec
				}
			} else if x := refusal.Of(err); x == nil || x.Code != refusal.NotFound {
				return err
			}
		}
		return tx.Audit(ctx, e)
	})
	if note != nil {
		s.Log.ErrorContext(ctx, "a refusal could not be audited", "request", by.Request, "code", r.Code)
	}
	return err
}

// current reads a proposal as it stands, with what has moved since.
func current(ctx context.Context, tx Tx, id string) (Record, error) {
	r, err := tx.Get(ctx, id)
	if err != nil {
		return Record{}, err
	}
	if err := settleRecords(ctx, tx, []*Record{&r}); err != nil {
		return r, err
	}
	if r.State == StateExecuting && r.Action == bulkName {
		return r, soFar(ctx, tx, &r)
	}
	if r.State != StateProposed || r.Tampered() {
		return r, nil
	}
	if r.Action == register.name {
		found, err := newcomers(ctx, tx, r.Plan)
		r.Changed = append(r.Changed, found...)
		r.Stale = len(r.Changed) > 0
		return r, err
	}
	if r.Plan.stay() == (Stay{}) {
		return r, nil
	}
	// Shown as it would be judged now: nobody is offered a button that will be refused.
	twice, err := tx.DoubleBooked(ctx, r.Plan.stay())
	r.Risk, r.RiskReasons, _ = reassess(r, tx.Now(), twice)
	r.approvals()
	return r, err
}

// Settle finishes records that were read elsewhere in the caller's transaction, as Select does. One query.
func Settle(ctx context.Context, tx Tx, records []*Record) error {
	return settleRecords(ctx, tx, records)
}

// settleRecords finishes records and finds what moved under the waiting ones, in one query for all.
func settleRecords(ctx context.Context, tx Tx, records []*Record) error {
	var pins []Pin
	for _, r := range records {
		if r.State == StateProposed && tx.Now().Before(r.ExpiresAt) {
			pins = append(pins, r.Plan.Resources...)
		}
	}
	if len(pins) > 0 {
		now, err := tx.Versions(ctx, pins)
		if err != nil {
			return err
		}
		for _, r := range records {
			if r.State == StateProposed && tx.Now().Before(r.ExpiresAt) {
				r.Changed = moved(r.Plan, now)
				r.Risk, r.RiskReasons, _ = reassess(*r, tx.Now(), false)
			}
		}
	}
	for _, r := range records {
		finish(r, tx.Now())
	}
	return nil
}

func isReplay(err error) (*SavedKey, bool) {
	var r *replay
	if errors.As(err, &r) {
		return r.saved, true
	}
	return nil, false
}

// replay leaves a transaction in which nothing was written.
type replay struct{ saved *SavedKey }

func (*replay) Error() string { return "proposal: the answer is known" }
