package proposal

import (
	"context"
	"errors"
	"slices"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// EHRStep is what a step asks of the clinic's EHR, in the EHR's own ids. A null id is not known there; the connector then
// names our own.
type EHRStep struct {
	Kind         string   `json:"kind"` // book, move, cancel
	Appointment  *string  `json:"appointment"`
	Version      *string  `json:"version"` // of that appointment there, as this plan knows it
	Patient      *string  `json:"patient"`
	Practitioner *string  `json:"practitioner"`
	Location     *string  `json:"location"`
	Slots        []string `json:"slots"` // that it takes there, by start; none when one of them is not known
}

// Link is what a row of ours is in the EHR. Kind is FHIR's: Appointment, Patient, Practitioner, Location, Slot.
type Link struct{ Kind, ID, Remote, Version string }

// Operations is what a plan with an outside step needs of a transaction.
type Operations interface {
	// Links gives those of the asked ids (kind to ids) that the EHR is known to have.
	Links(ctx context.Context, ids map[string][]string) ([]Link, error)
	// OpenOperation is the confirmed proposal whose change of the visit the EHR has not answered, "" when there is none.
	OpenOperation(ctx context.Context, appointment string) (proposal string, err error)
	// LaneDown says for how long nothing is sent to the clinic's EHR because it does not answer; 0 = it is open.
	LaneDown(ctx context.Context) (time.Duration, error)
	// StartOperation writes the operation, due at once, and holds the slots that the step takes. Errors: ErrOverlap when
	// one of them is taken by now.
	StartOperation(ctx context.Context, o Operation) error
	// EndOperation locks and ends it, if the lease is still that one (lease 0 = whoever has it), with state applied or
	// refused, and keeps what the visit is in the EHR. When refused, the held slots are free again.
	EndOperation(ctx context.Context, e OperationEnd) (o Operation, mine bool, err error)
	// OperationNow is an operation as it stands, and what has been seen of it. Errors: not_found.
	OperationNow(ctx context.Context, id string) (OperationNow, error)
	// LookAgain has the operation looked for at once, in the name of who asks. For one that waits for a person nothing is
	// sent, whatever is seen.
	LookAgain(ctx context.Context, id, askedBy string) error
	// Linked is the row of ours that is that in the EHR, "" when there is none.
	Linked(ctx context.Context, kind, remote string) (id string, err error)
	// EndProposal ends one that is executing.
	EndProposal(ctx context.Context, id, state, outcome string, result []byte) error
}

// Operation is one outside step that was confirmed, and By who confirmed it. Item counts a bulk's from 1; 0 = the only one.
type Operation struct {
	ID, Proposal string
	Revision     int
	PlanHash     string
	Item         int
	Step         Step
	By           clinic.Actor
	SendUntil    time.Time // nothing is sent at or after it
	Deadline     time.Time // then a person is asked
}

// OperationEnd is how one ends. RemoteID and RemoteVersion are what the visit is in the EHR, "" = nothing new is known.
type OperationEnd struct {
	ID                      string
	Lease                   int64
	State                   string // applied, refused
	Code                    string
	RemoteID, RemoteVersion string
}

const (
	operationApplied = "applied"
	operationRefused = "refused"

	// A person confirmed what they saw then. An EHR that cannot be reached within this time is not written to any more.
	sendWithin = time.Hour
	// After this time without a clear answer a person is asked.
	askAfter = 24 * time.Hour
)

// waitsWords say why nothing else can be done with a visit now.
const waitsWords = "Another change of this visit was confirmed and waits for the EHR. Wait for its outcome."

// outside adds to the step what it asks of the EHR, where the clinic has one.
func (d *drafting) outside(ctx context.Context, kind string) error {
	if !d.ehr {
		return nil
	}
	p := d.plan
	step := &p.Steps[0]
	f := p.After
	slots := make([]string, len(f.Slots))
	for i, s := range f.Slots {
		slots[i] = s.ID
	}
	links, err := d.tx.Links(ctx, map[string][]string{"Appointment": {f.Appointment}, "Patient": {f.Patient.ID},
		"Practitioner": {f.Practitioner.ID}, "Location": {f.Location.ID}, "Slot": slots})
	if err != nil {
		return err
	}
	known := func(kind, id string) (*string, *string) {
		i := slices.IndexFunc(links, func(l Link) bool { return l.Kind == kind && l.ID == id })
		switch {
		case i < 0:
			return nil, nil
		case links[i].Version == "":
			return &links[i].Remote, nil
		}
		return &links[i].Remote, &links[i].Version
	}
	e := &EHRStep{Kind: kind, Slots: []string{}}
	e.Appointment, e.Version = known("Appointment", f.Appointment)
	if e.Appointment == nil && kind == "move" {
		e.Kind = "book" // a visit from before the connection, which the EHR has not
	}
	e.Patient, _ = known("Patient", f.Patient.ID)
	e.Practitioner, _ = known("Practitioner", f.Practitioner.ID)
	e.Location, _ = known("Location", f.Location.ID)
	for _, id := range slots {
		remote, _ := known("Slot", id)
		if remote == nil {
			e.Slots = []string{}
			break
		}
		e.Slots = append(e.Slots, *remote)
	}
	step.EHR = e
	return nil
}

// OfEHR tells a plan that is written in the clinic's EHR too.
func (p Plan) OfEHR() bool {
	return slices.ContainsFunc(p.Steps, func(st Step) bool { return st.EHR != nil })
}

// ofVisit tells a step about a visit, which a clinic with an EHR has written there too.
func (st Step) ofVisit() bool { return st.Op == OpMove || st.Op == OpCreate || st.Op == OpCancel }

// connected refuses a plan that was made when the clinic kept its own book and has an EHR now, or the other way round, and
// one whose EHR is known not to answer, and a second change of a visit whose first one waits.
func (s *Service) connected(ctx context.Context, tx Tx, by clinic.Actor, p Plan) error {
	if !slices.ContainsFunc(p.Steps, Step.ofVisit) {
		return nil
	}
	if p.OfEHR() != s.hasEHR(by.Clinic) {
		return refusal.New(refusal.ResourceChanged).With("changed", []Change{{Kind: PinEHR, ID: p.Clinic, Label: "How this clinic’s appointments are kept"}})
	}
	if !p.OfEHR() {
		return nil
	}
	wait, err := tx.LaneDown(ctx)
	if err != nil {
		return err
	}
	if wait > 0 {
		return &refusal.Error{Code: refusal.Busy, RetryAfter: wait,
			Message: "The EHR does not answer at the moment, so this was not executed and nothing was sent there. Try again in a little while."}
	}
	if p.IsBulk() {
		return nil // each item looks for itself
	}
	return s.noneWaits(ctx, tx, p.Steps[0])
}

func (s *Service) hasEHR(clinicID string) bool { return s.EHR != nil && s.EHR(clinicID) }

// noneWaits refuses a visit another of whose changes waits, and one that is another in the EHR than the plan knows.
func (s *Service) noneWaits(ctx context.Context, tx Tx, st Step) error {
	if st.Op == OpCreate {
		return nil
	}
	moved := func(label string) error {
		return refusal.New(refusal.ResourceChanged).With("changed", []Change{{Kind: PinAppointment, ID: *st.Appointment,
			Expected: *st.ExpectVersion, Current: *st.ExpectVersion, Label: label}})
	}
	other, err := tx.OpenOperation(ctx, *st.Appointment)
	if err != nil {
		return err
	}
	if other != "" {
		return moved("Another change of this visit waits for the EHR")
	}
	links, err := tx.Links(ctx, map[string][]string{"Appointment": {*st.Appointment}})
	if err != nil {
		return err
	}
	var now Link
	if len(links) > 0 {
		now = links[0]
	}
	if now.Remote != orEmpty(st.EHR.Appointment) || now.Version != orEmpty(st.EHR.Version) {
		return moved("This visit in the EHR")
	}
	return nil
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// commission claims a plan with an outside step: it is decided, and executing from now on. Nothing of the visit changes
// here; the slots that it takes are held.
func (s *Service) commission(ctx context.Context, tx Tx, by clinic.Actor, r Record, c Claim, d Decision, step Step) (Answer, error) {
	answer, err := s.accept(ctx, tx, by, r, c, d, OutcomeUnknown)
	if err != nil {
		return Answer{}, err
	}
	return answer, tx.StartOperation(ctx, s.operation(by, r, 0, step, r.Plan.After, c.Now))
}

// operation is a confirmed step as the connector gets it. Nothing is sent once the visit has begun.
func (s *Service) operation(by clinic.Actor, r Record, item int, step Step, after *Facts, now time.Time) Operation {
	until := now.Add(sendWithin)
	if after.StartsAt.Before(until) && step.Op != OpCancel {
		until = after.StartsAt
	}
	return Operation{ID: s.IDs("op"), Proposal: r.ID, Revision: r.Revision, PlanHash: r.PlanHash, Item: item, Step: step, By: by,
		SendUntil: until, Deadline: now.Add(askAfter)}
}

// VisitStep is the plan's step about a visit; of item, from 1, in a bulk. Errors: a plan that has none.
func (p Plan) VisitStep(item int) (Step, error) {
	if item > 0 {
		if !p.IsBulk() || item > len(p.After.Items) {
			return Step{}, errNoStep
		}
		p = p.Item(item - 1)
	}
	st, err := mainStep(p)
	if err == nil && !st.ofVisit() {
		err = errNoStep
	}
	return st, err
}

var errNoStep = errors.New("proposal: a plan without a step about a visit")
