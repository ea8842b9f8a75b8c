// Package evidence answers what exactly was approved, and whether exactly that ran, from rows that nobody can change. It
// computes every hash again and says each equality in words; it trusts no stored verdict. Damaged rows are findings, never
// errors.
package evidence

import (
	"time"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// Source is what stands in the tables about one proposal, as read, unchecked.
type Source struct {
	Proposal  Head
	Revisions []Revision // the first first
	Showings  []Showing  // oldest first
	Approvals []Approval
	Trail     []Entry   // in the order of writing
	History   []Version // of the visits the plans name, by visit and version
	Messages  []Message
	Items     []Item
	Patients  []Patient
	Policies  []Policy
	Keys      []string // persons under whose idempotency key an answer on it is saved
}

// Head is the proposal's own row.
type Head struct {
	ID, Action, State, Outcome     string
	Revision                       int
	CreatedBy, CreatedName         string
	CreatedKind, CreatedVia        string
	Owner, OwnerName, Reason, Note string
	CreatedAt, ExpiresAt           time.Time
}

// Revision is one stored plan.
type Revision struct {
	Revision int
	PlanHash string
	Bytes    []byte
	By       clinic.Ref
	At       time.Time
}

// Showing is a row of showings with its card; Card is nil when the card is gone.
type Showing struct {
	ID       string
	Revision int
	PlanHash string
	CardHash string
	Card     []byte
	Person   clinic.Ref
	Via      string
	At       time.Time
}

// Approval is a row of approvals.
type Approval struct {
	Revision int
	PlanHash string
	Person   clinic.Ref
	Via      string
	At       time.Time
}

// Entry is a row of the trail: its columns, its content, and its place in the chain, 0 while it waits for it.
type Entry struct {
	audit.Fields // as the columns say
	Time         time.Time
	Name         string
	Content      []byte
	Stored       string
	Seq          int64
}

// Version is a row of an appointment's history.
type Version struct {
	Appointment  string    `json:"appointment"`
	Version      int64     `json:"version"`
	Status       string    `json:"status"`
	Practitioner string    `json:"practitioner"`
	Location     string    `json:"location"`
	Type         string    `json:"type"`
	From         time.Time `json:"starts_at"`
	To           time.Time `json:"ends_at"`
	ReasonCode   string    `json:"reason_code"`
	Proposal     string    `json:"proposal"`
	By           string    `json:"changed_by"`
	At           time.Time `json:"changed_at"`
}

// Message is a row of the outbox.
type Message struct {
	ID, Appointment string
	Version         int64
	Revision        int
	PlanHash        string
	State, Code     string
	SentAt          *time.Time
	proposal.Message
}

// Item is a visit of a bulk.
type Item struct {
	Item        int    `json:"item"`
	Appointment string `json:"appointment"`
	State       string `json:"state"`
	Code        string `json:"code"`
	Version     int64  `json:"version"`
}

// Patient is a patient's row as it stands now: patients keep no history.
type Patient struct {
	ID      string
	Version int64
	proposal.PatientRecord
}

// Policy is a version of a clinic's policy that the proposal made.
type Policy struct {
	Action    string
	Version   int64
	LeastRisk *string
	People    *int
}
