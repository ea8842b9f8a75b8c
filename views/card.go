package views

import (
	"time"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// CardPage is the preview card in every state: GET /proposals/{id} and the answers of its POSTs. Everything of the
// visit is drawn from Record.Plan; nothing from live rows. The card holds a live Confirm only when Record.State is
// proposed, not stale, Confirm.Code is "", there is a ConfirmKey, and neither Refusal nor Seen is set.
type CardPage struct {
	Shell
	Record     proposal.Record
	Viewer     string // account id of who looks, for "you"
	Confirm    Permission
	Reject     Permission
	Revise     Permission // Edit, and "Prepare a new preview"
	ConfirmKey string     // fresh idempotency keys, never the same
	RejectKey  string
	Note       string         // the reason typed into the rejection
	Refusal    Refusal        // of what was just pressed
	Seen       *SeenRevision  // 409 resource_changed for an older revision: what that tab showed
	Timeline   []Entry        // oldest first; the page adds "Waiting for a decision"
	Messages   []MessageState // from the outbox, by proposal; empty until it has run
	Rivals     []Rival        // other waiting proposals for the same time
	Failure    string         // failed: its code, slot_taken
	Options    []Slot         // failed with slot_taken: alternatives, links to a new proposal
	Back       Link           // where one came from; zero = the day sheet
	Thread     string         // id of the conversation it stands beside; "" = it stands alone
	Stop       Permission     // of a bulk that is being carried out
	Polled     bool           // the page asked by itself: focus stays where it is
	Freed      Freed          // it ran and gave time back
	From       string         // "queue": opened from there
	Next       *NextCard      // the next in the queue, when this one is over and came from there; nil = none
	Review     CardReview
	Outside    Outside // executing, in a clinic with an EHR
}

// Permission says whether an act is offered: Code "" yes, else the refusal code that an attempt would get.
type Permission struct{ Code string }

// SeenRevision is the revision an old tab was looking at.
type SeenRevision struct {
	Revision int
	PlanHash string
	Plan     proposal.Plan
	EditedBy string    // who made the current one
	EditedAt time.Time //
}

// Rival is another proposal that wants part of the same time.
type Rival struct {
	Proposal, Title string
	StartsAt        time.Time
	Zone            string
}

// MessageState is what became of one message.
type MessageState struct {
	ID        string
	Kind      string // reminder and the others
	Channel   string
	Recipient string
	State     string    // internal/outbox
	At        time.Time // of that state
	Code      string    // why it failed
	Attempts  int
	PlanHash  string // of the plan that wrote it
}

// CardReview is the work around a card: who has it, what was said, and that it was asked to be decided soon.
type CardReview struct {
	ClaimedBy    clinic.Ref // zero = nobody
	GivenBy      string     // who handed it over
	ClaimedUntil time.Time
	Escalated    proposal.Escalation // of this revision; Revision 0 = not
	Comments     []proposal.Comment  // the first first
	CommentID    string              // of the next one
	Deciders     []Option            // to whom it can be handed over
}

// NextCard is where the queue goes on.
type NextCard struct {
	Proposal, Title string
	ExpiresAt       time.Time
}

// failedMessages counts those that did not go out, or of which nobody knows.
func (p CardPage) failedMessages() (n int) {
	for _, m := range p.Messages {
		if NotTold(m.State) {
			n++
		}
	}
	return n
}

// onward: the viewer has done what they can.
func (p CardPage) onward() bool { return !p.undecided() || p.Record.ApprovedBy(p.Viewer) != nil }
