package proposal

import (
	"context"
	"time"

	"countersign/internal/audit"
	"countersign/internal/clinic"
)

// Store opens transactions of one clinic. The whole of fn may be repeated when the database could not serialise it, so
// fn must not keep anything from a try that failed. Errors: refusals of package refusal, ErrOverlap, ErrCommitUnknown.
type Store interface {
	InTx(ctx context.Context, clinicID string, fn func(Tx) error) error
	ReadTx(ctx context.Context, clinicID string, fn func(Tx) error) error
	// InClaim opens a transaction by claiming: it inserts the key, locks the proposal's row and only then, in a second
	// statement, reads both and the clock.
	InClaim(ctx context.Context, clinicID string, c ClaimRequest, fn func(Tx, Claim) error) error
}

// Tx is what the rules need of one transaction. Unknown ids are refusal.NotFound, another clinic's too.
type Tx interface {
	ReviewTx

	Now() time.Time // database clock when the transaction began

	Visit(ctx context.Context, appointment string) (clinic.Visit, error)
	Patient(ctx context.Context, id string) (clinic.Patient, error)
	Practitioner(ctx context.Context, id string) (clinic.Practitioner, error)
	Location(ctx context.Context, id string) (clinic.Location, error)
	Type(ctx context.Context, id string) (clinic.Type, error)
	// SamePerson finds patients who may be that one: clinic.SamePerson. At most 20, by name.
	SamePerson(ctx context.Context, p clinic.Patient) ([]clinic.Patient, error)
	// LockRegistrations makes every other registration of the clinic wait until this transaction ends.
	LockRegistrations(ctx context.Context) error
	// Zones gives the zones of the clinic's locations, each once.
	Zones(ctx context.Context) ([]string, error)
	// SlotsOf gives the practitioner's slot rows at a location that overlap [from, to), by start.
	SlotsOf(ctx context.Context, practitioner, location string, from, to time.Time) ([]clinic.Slot, error)
	// DoubleBooked reports whether the patient has another active appointment in the stay's time.
	DoubleBooked(ctx context.Context, s Stay) (bool, error)

	// LockAgent makes every other proposal of the agent wait until this transaction ends; what was committed before is
	// seen by the next statement.
	LockAgent(ctx context.Context, agent string) error
	// AgentName is the name of a token of kind agent that is not revoked.
	AgentName(ctx context.Context, agent string) (string, error)
	// RunningBypass gives the agent's bypass that runs by the clock of this moment, nil when there is none.
	RunningBypass(ctx context.Context, agent string) (*Bypass, error)
	Bypass(ctx context.Context, id string) (Bypass, error)
	InsertBypass(ctx context.Context, b Bypass) error
	// EndBypass ends one that runs; false when it does not.
	EndBypass(ctx context.Context, id string, by clinic.Actor) (ended bool, err error)
	// Volume counts what was made since now minus the window, each number up to its limit, oldest included; for an agent
	// also what of its own still waits.
	Volume(ctx context.Context, by clinic.Actor, l Limits) (Volume, error)
	// Asked locks the scope and gives the waiting proposal whose wish is that, "" when there is none.
	Asked(ctx context.Context, scope, wish string) (proposal string, err error)
	// MovedSince gives the last reschedule of the appointment that was completed after that, nil when there is none.
	MovedSince(ctx context.Context, appointment, patient string, after time.Time) (*clinic.Ref, error)

	// Key inserts an idempotency key or, when it is there, returns what it holds.
	Key(ctx context.Context, person, key, fingerprint string) (known *SavedKey, err error)
	SaveKey(ctx context.Context, person, key, proposal string, status int, body []byte) error

	Insert(ctx context.Context, r Record, c clinic.Actor, canonical []byte) error
	AddRevision(ctx context.Context, r Record, by clinic.Actor, canonical []byte) error
	// LockPins locks the rows in one fixed order and gives their versions now; a missing row has version 0. Then, the
	// patient's row being locked, it looks for a double booking as DoubleBooked does; the zero Stay has none.
	LockPins(ctx context.Context, pins []Pin, s Stay) (now map[Pin]int64, doubleBooked bool, err error)
	// Versions is LockPins without the locks, for reading. Keys are the pins as given.
	Versions(ctx context.Context, pins []Pin) (map[Pin]int64, error)
	// Execute writes a decision: steps, state, outbox, audit and saved answer, in one statement. It gives the version
	// after it of the row that the step is about, 0 where no step ran. Errors: ErrOverlap, ErrMRNTaken.
	Execute(ctx context.Context, e Execution) (version int64, err error)
	// Policy is the clinic's for an action, in its latest version.
	Policy(ctx context.Context, action string) (Policy, error)
	// LockPolicy is Policy, and nobody else changes it until this transaction ends.
	LockPolicy(ctx context.Context, action string) (Policy, error)
	// SetPolicy writes the next version, the policy being locked.
	SetPolicy(ctx context.Context, by clinic.Actor, action string, next Policy) error

	// Expire marks proposals past their deadline as expired, skipping those that are being decided, at most so many.
	Expire(ctx context.Context, most int) ([]Record, error)

	Get(ctx context.Context, id string) (Record, error)
	Revision(ctx context.Context, id string, revision int) (canonical []byte, hash string, err error)
	List(ctx context.Context, f Filter) ([]Record, error)

	Audit(ctx context.Context, events ...audit.Event) error
	// Show records what somebody is shown; with once only what was not shown to them through that door before.
	Show(ctx context.Context, once bool, shown ...Showing) (int64, error)

	Runs
	Leaves
	Operations
}

// Stay is the time in which a patient will be at a visit. Except is that visit.
type Stay struct {
	Patient, Except string
	From, To        time.Time
}

// ClaimRequest names what is to be decided or revised. Person is the key's scope; Account is re-read for its role.
type ClaimRequest struct {
	Person, Account  string
	Key, Fingerprint string // "" = no key (revising)
	Proposal         string
}

// Claim is what stood there once the locks were held.
type Claim struct {
	Known        *SavedKey // the key was there before
	Found        bool
	Record       Record // State as stored; use Effective
	Canonical    []byte
	Now          time.Time // database clock, read after the lock
	Role         string    // of the account now; "" when it is gone or disabled
	SecondPerson bool      // this clinic lets any second person decide high
}

// SavedKey is an idempotency key with the answer saved under it; Status 0 while its transaction runs.
type SavedKey struct {
	Fingerprint string
	Status      int
	Body        []byte
}

// Execution is everything a decision writes. State "" leaves the proposal as it is.
type Execution struct {
	Proposal  string
	Revision  int
	PlanHash  string
	State     string
	Outcome   string
	Risk      string       // the higher of shown and now
	Approves  bool         // keep the approval of By: more than one person is needed
	Given     []clinic.Ref // of a decision by more than one: whose approvals counted; nil for others
	By        clinic.Actor
	Note      string
	Result    []byte // JSON or nil
	Steps     []Step // the plan's step that is about a row; empty when nothing runs
	Messages  []OutboxRow
	Audit     []audit.Event
	Key       string
	Status    int
	Body      []byte
	DecidedAt time.Time
}

// OutboxRow is one message of the plan, to be sent after the commit. Version is of the appointment or, where Appointment
// is "", of the patient.
type OutboxRow struct {
	ID          string
	Appointment string
	Version     int64
	Message     Message
}

// Filter selects proposals of a clinic, newest first. State is effective: expired as soon as the deadline has passed.
type Filter struct {
	IDs         []string // nil = all
	State       string
	Appointment string
	Patient     string
	CreatedBy   string // actor id: what this person or agent proposed itself
	Before      *Cursor
	Limit       int
	ByDeadline  bool // first deadline first; for the queue
}

// Cursor is the last row of the page before.
type Cursor struct {
	CreatedAt time.Time
	ID        string
}
