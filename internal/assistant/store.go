package assistant

import (
	"context"
	"time"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// Store opens transactions of one clinic; fn may be repeated as in proposal.Store.
type Store interface {
	InTx(ctx context.Context, clinicID string, fn func(Tx) error) error
	ReadTx(ctx context.Context, clinicID string, fn func(Tx) error) error
}

// Tx is what a conversation needs of one transaction. Unknown ids are refusal.NotFound.
type Tx interface {
	Now() time.Time

	// Thread reads a conversation with its messages, latest run and that run's calls, and the records of calls that
	// wait. With lock nobody else works on it until the transaction ends.
	Thread(ctx context.Context, id string, lock bool) (Thread, error)
	// Threads lists a person's, newest first, whole.
	Threads(ctx context.Context, person string, f ThreadFilter) ([]Thread, error)
	// Run reads a run with its calls.
	Run(ctx context.Context, id string) (Run, error)
	// CallOwner tells whose thread a call is in and of which run; NotFound for an unknown one.
	CallOwner(ctx context.Context, call string) (person, run string, err error)
	// Completed lists proposals that were confirmed in the thread for an appointment.
	Completed(ctx context.Context, thread, appointment string) ([]string, error)
	// Unsettled lists threads with a call whose proposal is over, or whose deadline has passed.
	Unsettled(ctx context.Context, most int) ([]string, error)
	// BrokenOff lists runs that nobody works on any more though they have not ended.
	BrokenOff(ctx context.Context, most int) ([]Run, error)
	// Renew extends the lease of a run that still works on that very message; false when somebody else does, or nobody.
	Renew(ctx context.Context, run Run, until time.Time) (mine bool, err error)
	Save(ctx context.Context, c Change) error
	Audit(ctx context.Context, events ...audit.Event) error

	SearchPatients(ctx context.Context, terms []string, most int) (found []clinic.Patient, more bool, err error)
	PatientVisits(ctx context.Context, patient string, mostPast int) (upcoming, past []clinic.Visit, more bool, err error)
	Practitioners(ctx context.Context) ([]Doctor, error)
	Locations(ctx context.Context) ([]clinic.Location, error)
	Types(ctx context.Context) ([]clinic.Type, error)
	FreeStarts(ctx context.Context, f StartFilter) ([]clinic.Start, error)
	Proposal(ctx context.Context, id string) (proposal.Record, error)
}

// ThreadFilter selects a page. Before is the last row of the page before, nil for the first.
type ThreadFilter struct {
	Before *proposal.Cursor
	Limit  int
}

// Doctor is a practitioner and what can be booked with them.
type Doctor struct {
	clinic.Practitioner
	Types     []string // ids of appointment types
	Locations []string // ids
}

// StartFilter says where a visit is looked for; Practitioner, Location and Moving (an appointment whose own time counts
// as free) may be "".
type StartFilter struct {
	Practitioner, Location string
	Type                   string
	From, To               time.Time
	Moving                 string
}

// Change is everything one step of a conversation writes. Thread is written whole but for its messages; nil members
// are left as they are.
type Change struct {
	Thread   Thread
	New      bool
	Messages []Entry
	Run      *Run
	Calls    []ToolCall // new, or resolved
	Events   []Event
}
