package assistant

import (
	"encoding/json"
	"strconv"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// States of a run. A run pauses in awaiting_input for a question and for a decision; what tells them apart is Pending.
const (
	Running       = "running"
	AwaitingInput = "awaiting_input"
	Completed     = "completed"
	Failed        = "failed"
)

// Statuses of a tool call. Resolved ones never change.
const (
	CallWaits     = "awaiting_confirmation"
	CallCompleted = "completed"
	CallFailed    = "failed"
	CallRejected  = "rejected"
	CallExpired   = "expired"
)

// Roles of a message.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

// Thread is one conversation. It belongs to one person and their agents; for others it does not exist.
type Thread struct {
	ID, Person           string
	Title                string // may hold a patient's name
	Work                 Work
	Messages             []Entry // oldest first
	Run                  *Run    // the latest; nil before the first message
	Calls                []ToolCall
	Proposals            map[string]proposal.Record // of calls that wait, as they stand now
	CreatedAt, UpdatedAt time.Time
	SortedAt             time.Time // UpdatedAt as stored, for cursors
}

// State is the latest run's: awaiting_input before there is any.
func (t Thread) State() string {
	if t.Run == nil {
		return AwaitingInput
	}
	if t.Executing() {
		return Running
	}
	return t.Run.State
}

// Executing: the card was confirmed, and the EHR has not answered. Nothing can be decided or corrected meanwhile.
func (t *Thread) Executing() bool {
	c := t.waiting()
	return c != nil && t.Proposals[c.Proposal].State == proposal.StateExecuting
}

// waiting is the call that waits for a decision, nil when none does.
func (t *Thread) waiting() *ToolCall {
	for i := range t.Calls {
		if t.Calls[i].Status == CallWaits {
			return &t.Calls[i]
		}
	}
	return nil
}

// OnCard is the proposal whose card the conversation waits for, "" when it waits for none.
func (t *Thread) OnCard() string {
	if c := t.waiting(); c != nil {
		return c.Proposal
	}
	return ""
}

// Pending is what a client needs to ask a person: the card's summary, and the exact revision to decide on.
type Pending struct {
	Run       string           `json:"run_id"`
	ToolCall  string           `json:"tool_call_id"`
	Action    string           `json:"action_ref"`
	Summary   proposal.Summary `json:"summary"`
	Risk      string           `json:"risk"`
	Proposal  string           `json:"proposal_id"`
	Revision  int              `json:"revision"`
	PlanHash  string           `json:"plan_hash"`
	ExpiresAt time.Time        `json:"expires_at"`
}

// Pending is the decision that is waited for, at the proposal's current revision; nil when none is.
func (t *Thread) Pending() *Pending {
	c := t.waiting()
	if c == nil || t.Executing() {
		return nil
	}
	return pendingOf(*c, t.Proposals[c.Proposal])
}

func pendingOf(c ToolCall, r proposal.Record) *Pending {
	return &Pending{Run: c.Run, ToolCall: c.ID, Action: c.Action, Summary: r.Summary, Risk: r.Risk, Proposal: r.ID, Revision: r.Revision,
		PlanHash: r.PlanHash, ExpiresAt: r.ExpiresAt}
}

// Entry is one thing said. The assistant's text is the server's own words about rows it has read.
type Entry struct {
	ID        string // thread and N
	N         int
	Role      string
	Text      string
	Choices   []Choice
	Proposal  string // id of the card it speaks of
	CreatedAt time.Time
}

// Choice is something to pick. One with an Action proposes it when picked, with exactly that input; the others only say
// something.
type Choice struct {
	ID     string  `json:"id"` // of its content: the same id never means something else
	Label  string  `json:"label"`
	Action *Action `json:"action"`
	Who    *Who    `json:"who,omitempty"`  // when it names a patient
	Note   string  `json:"note,omitempty"` // a second line
	Set    *Work   `json:"set,omitempty"`  // what picking it says
}

// Action is a registered action with its arguments.
type Action struct {
	Name  string         `json:"name"`
	Input map[string]any `json:"input"`
}

// Run is one request, from its first word to its end.
type Run struct {
	ID, Thread  string
	N           int
	State       string
	Turn        int // rises with every message
	Fence       int // rises when somebody takes the message over from whoever worked on it
	Input       Said
	LeasedUntil time.Time
	CreatedAt   time.Time
	Calls       []ToolCall // oldest first
}

// ToolCall is an action that was put before a person. Arguments are the snapshot that was validated; nothing changes
// them.
type ToolCall struct {
	ID, Thread, Run, Action string
	Arguments               json.RawMessage
	Proposal                string
	Revision                int
	PlanHash                string
	ExpiresAt               time.Time // absolute, of that revision; an edit of the card renews the card's own
	Status                  string
	Result                  json.RawMessage // nil until resolved
	CreatedAt               time.Time
	ResolvedAt              *time.Time
}

// Said is what came in: words or a choice, and who said it. Act is what it came to, once that is settled: whoever goes on
// after a crash proposes exactly this and does not read the words again. Note is said before the card.
type Said struct {
	Text   string       `json:"text,omitempty"`
	Choice *Choice      `json:"choice,omitempty"`
	By     clinic.Actor `json:"by"`
	Act    *Action      `json:"act,omitempty"`
	Note   string       `json:"note,omitempty"`
}

// Event is something that happened, for those who listen. Person is whose thread it is, "" for everybody who reads the
// clinic; Body is JSON.
type Event struct {
	ID     string // cursor: commit-safe, ascending
	Kind   string
	Person string
	Body   []byte
}

// Kinds of events the assistant makes; those of proposals the database makes with the row.
const (
	EventConfirmation = "confirmation_requested"
	EventRunCompleted = "run.completed"
)

// EntryID names an entry: its thread and its place.
func EntryID(thread string, n int) string { return thread + "-" + strconv.Itoa(n) }
