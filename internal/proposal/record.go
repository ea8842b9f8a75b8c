package proposal

import (
	"encoding/json"
	"time"

	"countersign/internal/clinic"
)

// States and outcomes of contract section 2.
const (
	StateProposed  = "proposed"
	StateExecuting = "executing"
	StateCompleted = "completed"
	StateFailed    = "failed"
	StatePartial   = "partial"
	StateRejected  = "rejected"
	StateWithdrawn = "withdrawn"
	StateExpired   = "expired"

	OutcomeProposed    = "proposed"
	OutcomeCompleted   = "completed"
	OutcomeFailed      = "failed"
	OutcomeUnknown     = "unknown"
	OutcomePartial     = "partial"
	OutcomeNotExecuted = "not_executed"
)

// Record is a proposal at its current revision as one reader sees it, and its JSON form is the API's (contract
// section 6). State and Outcome already say expired when the deadline has passed, swept or not.
type Record struct {
	ID          string          `json:"id"`
	Revision    int             `json:"revision"`
	PlanHash    string          `json:"plan_hash"`
	State       string          `json:"state"`
	Outcome     string          `json:"outcome"`
	Action      string          `json:"action"`
	Risk        string          `json:"risk"`
	RiskReasons []string        `json:"risk_reasons"`
	Warnings    []string        `json:"warnings"`
	Summary     Summary         `json:"summary"`
	PlanBytes   json.RawMessage `json:"plan"`
	Reason      *string         `json:"reason"`
	ExpiresAt   time.Time       `json:"expires_at"`
	Stale       bool            `json:"stale"`
	Changed     []Change        `json:"changed"`
	Approvals   Approvals       `json:"approvals"`
	CreatedBy   Creator         `json:"created_by"`
	CreatedAt   time.Time       `json:"created_at"`
	DecidedBy   *clinic.Ref     `json:"decided_by"`
	DecidedAt   *time.Time      `json:"decided_at"`
	Result      json.RawMessage `json:"result"` // null until decided

	Plan         Plan         `json:"-"` // PlanBytes, read
	Policy       Policy       `json:"-"` // the clinic's for the action, now
	People       int          `json:"-"` // how many the revision was shown to need
	Approved     []Approval   `json:"-"` // of the current revision, the first first, counting now or not
	Deciders     []clinic.Ref `json:"-"` // whose approvals counted when it was decided by more than one
	SecondPerson bool         `json:"-"` // this clinic lets any second person decide high
	Owner        string       `json:"-"` // the person who asked or was asked for
	OwnerName    string       `json:"-"`
	Editors      []string     `json:"-"`
	DecidedNote  string       `json:"-"`
	CreatedVia   string       `json:"-"`
	Bypass       string       `json:"-"` // that let it through beyond the agent's limit, when made
	Scope        string       `json:"-"` // the conversation it was asked in, when made
	Wish         string       `json:"-"` // digest of what is asked for, free text aside, when drafted
	MadeAt       time.Time    `json:"-"` // CreatedAt to the microsecond, for cursors
}

// Change names a pinned row that moved since the plan was made. Current is 0 when the row is gone.
type Change struct {
	Kind     string `json:"kind"`
	ID       string `json:"id"`
	Expected int64  `json:"expected"`
	Current  int64  `json:"current"`
	Label    string `json:"label"` // in words, from the plan
}

// Creator is who made the proposal.
type Creator struct {
	ID         string      `json:"id"`
	Name       string      `json:"name"`
	Kind       string      `json:"kind"` // user, agent
	OnBehalfOf *clinic.Ref `json:"on_behalf_of"`
}
