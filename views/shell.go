// Package views draws every page and every HTMX fragment. A page is a plain struct (Go values, no methods that read
// anything) and one component of the same name: with Shell.HTMX false it is a whole page, with true the fragment that
// replaces #work. Instants are drawn in the zone beside them; ids go into links, user text only into text.
package views

import (
	"time"

	"countersign/internal/refusal"
)

// Items of the main navigation, for Shell.Nav.
const (
	NavDay       = "day"
	NavAssistant = "assistant"
	NavQueue     = "queue"
	NavOutbox    = "outbox"
	NavLeave     = "leave"
	NavWaiting   = "waiting"
	NavRebooking = "rebooking"
	NavAudit     = "audit"
	NavPolicy    = "policy" // administrators and reviewers
	NavAgents    = "agents" // administrators only
)

// Shell is what every page shows around its work.
type Shell struct {
	Title   string    // without "Countersign"; holds a patient's name only where the page itself does
	Clinic  string    // clinic name; "" on pages before sign-in
	Person  string    // who is signed in; "" = nobody, then the rail has no navigation
	Role    string    // staff, reviewer, admin
	Nav     string    // NavDay ...; "" = none is current
	Waiting int       // proposals waiting in the clinic
	EHR     bool      // the clinic's visits are kept in an EHR too
	Manual  int       // changes that somebody must look for in the EHR
	Now     time.Time // the database clock; zero = no clock is shown
	Zone    string    // IANA zone of the desk: the clock, deadlines and audit times are drawn in it
	Flash   Flash     // what the last act did; shown in the work and told to screen readers
	HTMX    bool      // the request carries HX-Request: answer with the fragment
	KeysOff bool      // single keys are off for this account
	Back    string    // path of this page, for forms of the frame
	Told    []Told    // newest first
}

// Told is a proposal of the viewer's that somebody else, or the deadline, has ended since they last looked.
type Told struct {
	Proposal, Action, State, Patient string
	By                               string // "" = the deadline
	At                               time.Time
}

func (t Told) words(s Shell) string {
	out := StateWord(t.State)
	if t.By == "" {
		return out + ": nobody decided in time, " + untilOf(s, t.At)
	}
	return out + " by " + t.By + ", " + untilOf(s, t.At)
}

// Flash is one notice. Kind is FlashDone, FlashNotice or FlashAlert; the zero value shows nothing.
type Flash struct{ Kind, Text string }

// Kinds of a Flash.
const (
	FlashDone   = "ok"   // it happened
	FlashNotice = "warn" // take care
	FlashAlert  = "no"   // it did not happen
)

// Refusal is a "no" in words a receptionist understands. Words says what is the case, Next what to do now; both are
// the handler's, from its one table. The zero value means that nothing was refused.
type Refusal struct {
	Status int    // HTTP
	Code   string // contract section 6
	Title  string // "This changed while you had it open"
	Words  string
	Next   string
	Fields []refusal.Field // validation_failed: names are those of the form fields
}

// Is reports whether anything was refused.
func (r Refusal) Is() bool { return r.Code != "" }

// Option is one choice of a select.
type Option struct {
	Value, Label string
	Selected     bool
}

// Link is one thing to do next. Href is a path of this site, made from ids only.
type Link struct{ Href, Text string }

// Person is a patient as shown wherever somebody is chosen. BirthDate is YYYY-MM-DD.
type Person struct{ ID, Name, BirthDate, MRN string }

// Entry is one line of a timeline. Zero At: no time is shown.
type Entry struct {
	At       time.Time
	Title    string // "Moved", "Confirmed"
	By       string // a name, with "agent" or "on behalf of" in words
	Text     string // one line of detail; may be the asker's words when Quote is set
	Quote    bool
	Revision int    // 0 = none
	Hash     string // full plan hash, drawn short; "" = none
	Proposal string // id, for a link; "" = none
	Mark     string // MarkPlain, MarkSign, MarkDone, MarkStop
}

// Marks of a timeline entry: what stands, what is proposed, what is done, what was refused.
const (
	MarkPlain = ""
	MarkSign  = "sign"
	MarkDone  = "ok"
	MarkStop  = "no"
)
