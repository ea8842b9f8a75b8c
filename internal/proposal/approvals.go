package proposal

import (
	"context"
	"slices"
	"time"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// Approvals says how many people must decide and who has.
type Approvals struct {
	Needed int          `json:"needed"`
	Given  []clinic.Ref `json:"given"`
}

// Approval is one person's yes to the current revision and its hash where more than one is needed. That it belongs to
// the current revision is what the rows say, never a stored flag: an edit leaves it behind.
type Approval struct {
	Person clinic.Ref
	Via    string
	At     time.Time
	Role   string // the account's now; "" when it is gone or disabled
}

// counting are the approvals that count at that risk: of people who might still decide it by themselves.
func counting(r Record, risk string, secondPerson bool) []Approval {
	return slices.DeleteFunc(slices.Clone(r.Approved), func(a Approval) bool {
		who := clinic.Actor{Person: a.Person.ID, PersonName: a.Person.Name, Role: a.Role, Kind: clinic.KindUser, MayDecide: true}
		return MayConfirm(who, r, risk, secondPerson) != nil
	})
}

func people(approvals []Approval) []clinic.Ref {
	out := make([]clinic.Ref, 0, len(approvals)+1)
	for _, a := range approvals {
		out = append(out, a.Person)
	}
	return out
}

// approvals says who has approved as it stands; of what was decided, as it was then.
func (r *Record) approvals() {
	_, _, needed := r.Policy.judge(r.Action, r.Risk, nil)
	r.Approvals = Approvals{Needed: max(needed, r.People), Given: []clinic.Ref{}}
	switch {
	case r.Deciders != nil:
		r.Approvals = Approvals{Needed: len(r.Deciders), Given: r.Deciders}
	case r.DecidedBy != nil && (r.State == StateRejected || r.State == StateWithdrawn):
		r.Approvals.Given = people(r.Approved)
	case r.DecidedBy != nil:
		r.Approvals = Approvals{Needed: 1, Given: []clinic.Ref{*r.DecidedBy}}
	default:
		r.Approvals.Given = people(counting(*r, r.Risk, r.SecondPerson))
	}
}

// ApprovedBy is that person's approval of the current revision, nil when there is none.
func (r Record) ApprovedBy(person string) *Approval {
	i := slices.IndexFunc(r.Approved, func(a Approval) bool { return a.Person.ID == person })
	if i < 0 {
		return nil
	}
	return &r.Approved[i]
}

// onceEach refuses the second approval of one person, whatever door it comes through.
func onceEach(by clinic.Actor, r Record) error {
	if r.ApprovedBy(by.Person) == nil {
		return nil
	}
	return refusal.New(refusal.AlreadyDecided, "You have approved this already; it needs another person.")
}

// approve keeps a yes that is not the last one needed: nothing runs, the proposal waits on, and the answer is saved
// under its key.
func (s *Service) approve(ctx context.Context, tx Tx, by clinic.Actor, r Record, c Claim, d Decision) (Answer, error) {
	r.Approved = append(r.Approved, Approval{Person: clinic.Ref{ID: by.ID(), Name: by.Name()}, Via: by.Via, At: wholeSecond(c.Now), Role: by.Role})
	finish(&r, c.Now)
	body, err := encode(decided{r.Outcome, r, nil})
	if err != nil {
		return Answer{}, err
	}
	_, err = tx.Execute(ctx, Execution{Proposal: r.ID, Revision: r.Revision, PlanHash: r.PlanHash, Risk: r.Risk, By: by, Key: d.Key, Status: StatusOK,
		Body: body, DecidedAt: c.Now, Approves: true, Audit: []audit.Event{s.event(c.Now, by, audit.Approve, audit.Success, r)}})
	return Answer{Status: StatusOK, Body: body, Record: r}, err
}
