// Package ehr carries out what a confirmed plan asks of the clinic's EHR, which may answer late, wrongly or never. What is
// about to happen is committed before each call; no lock or transaction is held across one; and a change counts as made
// only when a look into the EHR shows exactly what was approved.
package ehr

import (
	"context"
	"time"

	"countersign/internal/audit"
	"countersign/internal/clinic"
)

// Kinds of operation.
const (
	Book   = "book"
	Move   = "move"
	Cancel = "cancel"
)

// States of an operation. Applied and Refused are final; only Desk writes them.
const (
	Ready   = "ready"   // nothing is there, or what was sent is known to have had no effect
	Unknown = "unknown" // it may be there: committed before every call
	Pending = "pending" // the EHR works on it
	Manual  = "manual"  // a person must look
	Applied = "applied"
	Refused = "refused"
)

// PlanTampered is the code of an operation whose stored plan does not have its hash: it approves nothing, and a person
// must look.
const PlanTampered = "plan_tampered"

// Phases of a move where the EHR knows no move: the new booking, then the end of the old one.
const (
	PhaseWrite     = "write"
	PhaseCancelOld = "cancel_old"
)

// IdentifierSystem and the operation's id are the business identifier, the same for every attempt.
const IdentifierSystem = "https://countersign.invalid/operation"

// Visit is an appointment as the plan approved it. Remote members are ids in the EHR; where a row has none there, the
// connector uses ours.
type Visit struct {
	Appointment                                       string
	Status                                            string // booked, cancelled
	Patient, Practitioner, Location                   clinic.Ref
	RemotePatient, RemotePractitioner, RemoteLocation string
	Type                                              clinic.Ref
	StartsAt, EndsAt                                  time.Time // UTC, whole seconds
	ReasonCode                                        string    // of a cancellation, else ""
	Slots                                             []string  // ids in the EHR of the slots it takes; none when one of them is not known there
}

// Operation is one change that a person confirmed, on its way into the EHR.
type Operation struct {
	Clinic, ID, Proposal  string
	Revision, Item        int
	PlanHash              string
	Kind, Appointment     string
	Wanted                Visit  // what the plan approved
	Before                *Visit // what the plan showed as it stood; nil for a booking
	State, Phase, Code    string
	RemoteID              string // "" = not known there
	RemoteVersion         string // that the plan was made from; "" = not known
	OldRemoteID           string
	Refusal               string // a refusal that no look has borne out yet
	Attempts, Unsettled   int
	Looks, EmptyLooks     int
	AttemptedAt, LookedAt time.Time // zero = never
	SendUntil, Deadline   time.Time
	CreatedAt             time.Time
	Now                   time.Time // the database's clock at the claim
	Lease                 int64     // fencing token of this claim
	AskedBy               string    // the person who asks to have it looked for, else ""
	// LookOnly: it waits for a person, who asks for one more look. Claim gives such a manual operation too. Look, and
	// nothing else: unless the EHR has exactly what was approved it stays manual. Tx.Set leaves its state as it is and
	// ends this with letGo once a look was made; BeginAttempt fails.
	LookOnly bool
}

// Attempt is one call that writes.
type Attempt struct {
	N             int
	Phase, Method string
	Request       []byte
	RequestID     string
	HTTPStatus    int // 0 = no answer
	Outcome, Code string
}

// Look is one look into the EHR and what was seen.
type Look struct {
	N                       int
	How                     string // before, read, identifier, window
	Matches                 *int   // nil = the look failed
	Verdict, Code           string
	RemoteID, RemoteVersion string
	AskedBy                 string
}

// Store keeps operations. Now of a Tx is the database's clock.
type Store interface {
	// Claim leases at most so many operations of the clinic that are due, oldest first, skipping those that others hold and
	// those that wait for a person. Nothing while the lane is paused. It is committed before it returns.
	Claim(ctx context.Context, clinicID string, most int, lease time.Duration) ([]Operation, error)
	// InOperation runs fn with the operation's row locked, if its lease is still this one; else mine is false and fn did
	// not run. fn may be repeated and must keep nothing of a try that failed.
	InOperation(ctx context.Context, op Operation, fn func(Tx) error) (mine bool, err error)
	// Pause keeps the lane closed until then and counts a failure; Open forgets failures.
	Pause(ctx context.Context, clinicID string, until time.Duration, code string) error
	Open(ctx context.Context, clinicID string) error
}

// Tx writes one operation.
type Tx interface {
	Now() time.Time
	BeginAttempt(ctx context.Context, a Attempt) error
	EndAttempt(ctx context.Context, a Attempt) error
	AddLook(ctx context.Context, l Look) error
	// Set writes state (none of the final ones), phase, code, remote ids, refusal and counts of op, and when it is next due. With
	// letGo the lease ends.
	Set(ctx context.Context, op Operation, next time.Time, letGo bool) error
	Audit(ctx context.Context, events ...audit.Event) error
}

// Found is the appointment in the EHR that is what was approved.
type Found struct{ RemoteID, RemoteVersion string }

// Desk ends an operation together with its proposal, in one transaction. mine is false when the lease is gone: then
// nothing was written.
type Desk interface {
	// Applied executes the plan's step here, queues its messages and completes the proposal.
	Applied(ctx context.Context, op Operation, f Found) (mine bool, err error)
	// Refused gives back what was held and fails the proposal; code is of contract section 6 (slot_taken,
	// resource_changed, ...) or of the EHR (ehr_refused, ehr_not_reached, ...).
	Refused(ctx context.Context, op Operation, code string) (mine bool, err error)
}
