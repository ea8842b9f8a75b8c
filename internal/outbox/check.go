package outbox

import "time"

// Facts are what is true when a message is about to be sent.
type Facts struct {
	Now       time.Time // of the database's clock
	Action    string    // of the plan
	Confirmed bool      // its proposal was confirmed and has run, or is running
	PlanBytes []byte    // as stored
	Visit     *Visit    // nil for a message about no visit
	Patient   *Patient
	Zone      string // the patient's own, else where the visit is, else the clinic's first
}

// Visit is the appointment as it stands.
type Visit struct {
	Version    int64
	OnlyStatus bool // its version is later than the message's, and nothing but its status was another in any version since
	Status     string
	StartsAt   time.Time // of a cancelled one: when it would have been
}

// speaksOf reports whether the message is right about the visit: its status too, which a slip at the desk may have changed
// and changed back.
func (m Message) speaksOf(v *Visit) bool {
	return v != nil && (v.Version == m.Version || v.OnlyStatus) && v.Status == fits(m.Kind)
}

// Patient is who the message is for, as on record.
type Patient struct {
	Deceased     bool
	Contact      string // email, sms, phone, none
	Email, Phone string // "" = none
}

// Codes of a message that is not sent. They are said in words where messages are shown.
const (
	CodePlanMismatch     = "plan_mismatch" // the row is not what stands in the plan, or the plan not what was hashed
	CodeNotConfirmed     = "not_confirmed" // nobody confirmed the plan that the row names
	CodeVisitChanged     = "visit_changed"
	CodeDeceased         = "deceased"
	CodeNoConsent        = "no_consent"
	CodeRecipientChanged = "recipient_changed"
	CodeTooLate          = "too_late"
	CodeQuietHours       = "quiet_hours"
	CodeNoSender         = "no_sender"
	CodeNoAnswer         = "no_answer"
	CodeNotReachable     = "not_reachable"
	CodePanic            = "panic"
)

// freeLife is how long a message about no visit is of use.
const freeLife = 72 * time.Hour

// Alarming reports whether a code means that rows were changed behind the desk's back.
func Alarming(code string) bool { return code == CodePlanMismatch || code == CodeNotConfirmed }

// Verdict is what may become of a message now. State "" = send it; Queued = hold it back until Until; any other ends it.
type Verdict struct {
	State, Code string
	Until       time.Time
}

// Check judges a message at the moment it would be sent: it is what a confirmed plan says, it speaks of the visit as it stands,
// the patient is to get it there, it is not too late, and nobody is woken by it.
func Check(m Message, f Facts, q Quiet) Verdict {
	if !stands(m, f.PlanBytes) {
		return Verdict{State: Dead, Code: CodePlanMismatch}
	}
	if !f.Confirmed {
		return Verdict{State: Dead, Code: CodeNotConfirmed}
	}
	if m.Appointment != "" && !m.speaksOf(f.Visit) {
		return Verdict{State: Superseded, Code: CodeVisitChanged}
	}
	if code := withheld(m, f.Patient); code != "" {
		return Verdict{State: Suppressed, Code: code}
	}
	if !f.Now.Before(usefulUntil(m, f)) {
		return Verdict{State: Expired, Code: CodeTooLate}
	}
	if m.Kind == Reminder || f.Action == bulkAction {
		if until, quiet := q.Until(f.Now, f.Zone); quiet && (f.Visit == nil || f.Visit.StartsAt.After(until)) {
			return Verdict{State: Queued, Code: CodeQuietHours, Until: until}
		}
	}
	return Verdict{}
}

// bulkAction changes many visits at once, whenever its executor comes to them: nobody waits for those messages.
const bulkAction = "bulk_change@1"

// fits is the status a visit has while a message of that kind is right.
func fits(kind string) string {
	if kind == Cancellation {
		return "cancelled"
	}
	return "booked"
}

// withheld says why the patient is not to get it, "" when they are. A free message was written to somebody who prefers
// another way and was told so on its card; only a patient who wants none is spared.
func withheld(m Message, p *Patient) string {
	if p == nil {
		return CodeRecipientChanged
	}
	address := p.Email
	if m.Channel == SMS {
		address = p.Phone
	}
	switch {
	case p.Deceased:
		return CodeDeceased
	case m.Kind != Free && p.Contact != m.Channel, p.Contact == "none":
		return CodeNoConsent
	case address != m.Recipient:
		return CodeRecipientChanged
	}
	return ""
}

// usefulUntil: nothing is said of a visit once it has begun, or would have.
func usefulUntil(m Message, f Facts) time.Time {
	if f.Visit != nil {
		return f.Visit.StartsAt
	}
	if m.SendAt != nil {
		return m.SendAt.Add(freeLife)
	}
	return m.QueuedAt.Add(freeLife)
}
