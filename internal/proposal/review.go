package proposal

import (
	"context"
	"time"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// claimFor is how long a claim stands since it was taken or the card was last opened by who has it.
const claimFor = 10 * time.Minute

// ReviewTx is what working through what waits needs of a transaction. The caller holds the proposal's row.
type ReviewTx interface {
	// Lease is the live claim on a proposal, nil when nobody has it.
	Lease(ctx context.Context, proposal string) (*Lease, error)
	SetLease(ctx context.Context, l Lease) error
	DropLease(ctx context.Context, proposal string) error
	// Person is somebody of the clinic as an actor, with today's role. Errors: not_found, also for who is disabled.
	Person(ctx context.Context, account string) (clinic.Actor, error)
	AddComment(ctx context.Context, c Comment) error
	// Escalate marks the revision; fresh is false when it is marked already.
	Escalate(ctx context.Context, e Escalation) (fresh bool, err error)
	// DueForEscalation locks waiting proposals of high and critical risk with a quarter of their time left or less that
	// nobody has marked, at most so many.
	DueForEscalation(ctx context.Context, most int) ([]Record, error)
}

// Lease says who is looking at a proposal. It keeps nobody from deciding.
type Lease struct {
	Proposal string
	Holder   clinic.Ref
	GivenBy  string // name of who handed it over, "" = taken
	Until    time.Time
}

// Comment is a person's words on one revision. It is never changed.
type Comment struct {
	ID       string
	Proposal string
	Revision int
	By       clinic.Ref
	Text     string
	At       time.Time
}

// Escalation marks a revision to be decided soon. By is zero when the clock did it.
type Escalation struct {
	Proposal string
	Revision int
	By       clinic.Ref
	Reason   string
	At       time.Time
}

// Claim takes the lease on a waiting proposal for who may decide it. from is who had it when the form was drawn ("" =
// nobody): when somebody else took it since, it is refused with resource_changed. Who has it takes it again.
func (s *Service) Claim(ctx context.Context, by clinic.Actor, id, from string) error {
	return s.reviewing(ctx, by, audit.ClaimProposal, id, func(tx Tx, c Claim, said *audit.Event) error {
		if err := MayConfirm(by, c.Record, c.Record.Risk, c.SecondPerson); err != nil {
			return err
		}
		has, err := tx.Lease(ctx, id)
		if err != nil {
			return err
		}
		if has != nil && has.Holder.ID != by.Person && has.Holder.ID != from {
			return refusal.New(refusal.ResourceChanged, has.Holder.Name+" took it since you looked.").With("changed", []Change{})
		}
		return tx.SetLease(ctx, Lease{Proposal: id, Holder: clinic.Ref{ID: by.Person, Name: by.PersonName}, Until: c.Now.Add(claimFor)})
	})
}

// Release gives the claim back.
func (s *Service) Release(ctx context.Context, by clinic.Actor, id string) error {
	return s.reviewing(ctx, by, audit.ReleaseProposal, id, func(tx Tx, c Claim, said *audit.Event) error {
		has, err := tx.Lease(ctx, id)
		if err != nil {
			return err
		}
		if has == nil || has.Holder.ID != by.Person {
			return refusal.New(refusal.PermissionDenied, "Only who has it can give it back.")
		}
		return tx.DropLease(ctx, id)
	})
}

// Delegate hands a proposal to another person who may decide it, until its deadline.
func (s *Service) Delegate(ctx context.Context, by clinic.Actor, id, to string) error {
	return s.reviewing(ctx, by, audit.DelegateProposal, id, func(tx Tx, c Claim, said *audit.Event) error {
		if err := MayRevise(by, c.Record); err != nil {
			return refusal.New(refusal.PermissionDenied, "Only the person who asked, or a reviewer, may hand this over.")
		}
		other, err := tx.Person(ctx, to)
		if r := refusal.Of(err); r != nil && r.Code == refusal.NotFound {
			return refusal.Invalid(refusal.Field{Name: "to", Message: "There is nobody by that id."})
		}
		if err != nil {
			return err
		}
		if MayConfirm(other, c.Record, c.Record.Risk, c.SecondPerson) != nil {
			return refusal.Invalid(refusal.Field{Name: "to", Message: "This person may not decide this one."})
		}
		said.ObjectKind, said.Object = "account", to
		return tx.SetLease(ctx, Lease{Proposal: id, Holder: clinic.Ref{ID: to, Name: other.PersonName}, GivenBy: by.PersonName, Until: c.Record.ExpiresAt})
	})
}

// Escalate asks for a decision soon, with a reason. Once for each revision.
func (s *Service) Escalate(ctx context.Context, by clinic.Actor, id string, revision int, reason any) error {
	return s.reviewing(ctx, by, audit.EscalateProposal, id, func(tx Tx, c Claim, said *audit.Event) error {
		why, wrong := readReason(reason)
		if why == nil && len(wrong) == 0 {
			wrong = []refusal.Field{{Name: "reason", Message: "Say why it cannot wait."}}
		}
		if len(wrong) > 0 {
			return refusal.Invalid(wrong...)
		}
		if err := revisable(c, revision, c.Record.PlanHash); err != nil {
			return err
		}
		fresh, err := tx.Escalate(ctx, Escalation{Proposal: id, Revision: revision, By: clinic.Ref{ID: by.Person, Name: by.PersonName}, Reason: *why, At: c.Now})
		if err == nil && !fresh {
			err = refusal.Invalid(refusal.Field{Name: "reason", Message: "This is escalated already. Add a comment instead."})
		}
		return err
	})
}

// Comment writes a person's words beside a revision that exists; the id is the form's, so that a double click is one.
func (s *Service) Comment(ctx context.Context, by clinic.Actor, m Comment) error {
	return s.reviewing(ctx, by, audit.CommentProposal, m.Proposal, func(tx Tx, c Claim, said *audit.Event) error {
		words, wrong := readReason(m.Text)
		for i := range wrong {
			wrong[i].Name = "text"
		}
		if words == nil && len(wrong) == 0 {
			wrong = []refusal.Field{{Name: "text", Message: "Write something."}}
		}
		if !clinic.ValidID(m.ID) {
			wrong = append(wrong, refusal.Field{Name: "id", Message: "Load the page again and write it there."})
		}
		if len(wrong) > 0 {
			return refusal.Invalid(wrong...)
		}
		if m.Revision < 1 || m.Revision > c.Record.Revision {
			return revisable(c, m.Revision, "")
		}
		m.Text, m.At, m.By = *words, c.Now, clinic.Ref{ID: by.Person, Name: by.PersonName}
		said.Revision = m.Revision
		if m.Revision != c.Record.Revision {
			said.PlanHash = "" // of another revision
		}
		return tx.AddComment(ctx, m)
	})
}

// reviewing does one thing beside a waiting proposal: the row is locked, somebody of the desk asks, and it is on the
// trail whether done or refused. Agents are refused: it is people who wait for each other.
func (s *Service) reviewing(ctx context.Context, by clinic.Actor, action, id string, do func(Tx, Claim, *audit.Event) error) error {
	err := s.Store.InClaim(ctx, by.Clinic, ClaimRequest{Person: by.ID(), Account: by.Person, Proposal: id}, func(tx Tx, c Claim) error {
		if err := revisable(c, c.Record.Revision, c.Record.PlanHash); err != nil {
			return err
		}
		by.Role = c.Role
		switch {
		case by.Kind == clinic.KindAgent:
			return refusal.New(refusal.PermissionDenied, "An agent proposes; this is for people.")
		case by.Role == "":
			return nobody()
		}
		said := s.event(c.Now, by, action, audit.Success, c.Record)
		if err := do(tx, c, &said); err != nil {
			return err
		}
		return tx.Audit(ctx, said)
	})
	if err != nil {
		return s.refuse(ctx, by, action, id, err)
	}
	return nil
}

// EscalateDue marks what of high and critical risk has a quarter of its time left, some at a time, and says whether
// there may be more. On the trail it is the system's, with the deadline as its cause.
func (s *Service) EscalateDue(ctx context.Context, clinicID string) (more bool, err error) {
	const some = 100
	by := clinic.Actor{Clinic: clinicID, Person: "deadline", Kind: clinic.KindSystem, Via: "worker"}
	err = s.Store.InTx(ctx, clinicID, func(tx Tx) error {
		due, err := tx.DueForEscalation(ctx, some)
		if err != nil || len(due) == 0 {
			more = false
			return err
		}
		more = len(due) == some
		events := make([]audit.Event, len(due))
		for i, r := range due {
			if _, err := tx.Escalate(ctx, Escalation{Proposal: r.ID, Revision: r.Revision, At: tx.Now()}); err != nil {
				return err
			}
			events[i] = s.event(tx.Now(), by, audit.EscalateProposal, audit.Success, r)
		}
		return tx.Audit(ctx, events...)
	})
	return more, err
}
