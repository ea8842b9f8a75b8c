package outbox

import (
	"context"
	"time"
)

// Channels of a message.
const (
	Email = "email"
	SMS   = "sms"
)

// Kinds of a message.
const (
	Confirmation = "confirmation"
	Change       = "change"
	Cancellation = "cancellation"
	Reminder     = "reminder"
	Free         = "message" // of send_message@1: about no visit
)

// States of a message. Sent and after it only receipts speak; superseded, suppressed and expired are final.
const (
	Queued      = "queued"
	Sending     = "sending"
	Sent        = "sent"
	Delivered   = "delivered"   // by receipt
	Undelivered = "undelivered" // by receipt
	Failed      = "failed"      // a definite no
	Dead        = "dead"        // its tries are used up, or it cannot be sent at all
	Unknown     = "unknown"     // a try had no answer, and no other is made by itself
	Superseded  = "superseded"  // a later change of the visit made it wrong
	Suppressed  = "suppressed"  // the patient is not to get it
	Expired     = "expired"     // too late to be of use
)

// Message is one row of the outbox, claimed: exactly the bytes of the plan that queued it.
type Message struct {
	Clinic, ID               string // ID is opaque and of this message alone, whichever try it is: a Message-ID is made from it
	Appointment              string // "" for a message about no visit
	Version                  int64  // of the appointment it speaks of; without one of the patient
	Kind, Channel, Recipient string
	Subject, Text, Calendar  string // Subject "" for sms; Calendar is an iCalendar document, "" = none
	QueuedAt                 time.Time
	SendAt                   *time.Time // nil = at once
	Proposal                 string     // the plan it stands in: Proposal, Revision and PlanHash
	Revision                 int
	PlanHash                 string
	Attempts                 int   // this one included
	Unanswered               int   // tries before this one that had no answer
	Lost                     bool  // the last try was never settled: it is not to be sent in this claim
	Lease                    int64 // fencing token of this claim
}

// Sender gives one message to the outside, once. providerID is the receiver's name for it, "" when it gave none; a
// receipt is matched by it. Errors: *Refused when the receiver said no; *Ambiguous when it may have taken it; any other
// is provably not sent and is tried again. Context: it ends when the try has taken too long, and what was on the
// way then is *Ambiguous. Errors name nobody.
type Sender interface {
	Send(ctx context.Context, m Message) (providerID string, err error)
}

// Refused is a no of the receiver, definite unless Temporary. Code is for the record: [a-z0-9_]+, and names nobody.
type Refused struct {
	Code       string
	Temporary  bool          // try again later
	RetryAfter time.Duration // of a temporary one, as the receiver wishes: not before. 0 = it said nothing
}

func (r *Refused) Error() string { return "outbox: refused: " + r.Code }

// Ambiguous is a try without an answer: the receiver may have taken it. Code as in Refused.
type Ambiguous struct{ Code string }

func (a *Ambiguous) Error() string { return "outbox: no answer: " + a.Code }
