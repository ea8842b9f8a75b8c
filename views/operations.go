package views

import (
	"net/url"
	"strings"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/ehr"
	"countersign/internal/proposal"
)

// OperationsPage is the reconciliation desk: what the EHR has left open, what is late first, then what nobody knows.
type OperationsPage struct {
	Shell
	NoEHR   bool // this clinic's visits are kept here alone
	Lane    EHRLane
	State   string // the filter's, "" = all
	Late    int    // open past their deadline, in the whole clinic
	Rows    []OperationLine
	Older   string // cursor of the page after, "" at the end
	MayOpen bool   // the viewer sees the evidence, and acts
	Drift   []DriftLine
}

// EHRLane is the way to the clinic's EHR. Until is zero while it is open.
type EHRLane struct {
	Until, Since time.Time
	Code         string
}

// DriftLine is what the EHR and this desk say differently.
type DriftLine struct {
	Kind, Code string
	Count      int
	IDs        []string // in the EHR; some of them
}

// OperationLine is one operation in a list.
type OperationLine struct {
	ID, Proposal    string
	Item            int // of a bulk, from 1; 0 = the plan's only visit
	Kind            string
	State, Phase    string
	Code            string
	Was, Wanted     *proposal.Facts // both nil: the stored plan is not what was approved
	At              time.Time       // confirmed
	By              string
	NextAt          time.Time
	Attempts, Looks int
	Late, Held      bool
	LookOnly        bool
	AskedBy         string
	Resolution      string // the proposal that waits to resolve it
}

// OperationPage is the evidence of one operation, and what may be done about it.
type OperationPage struct {
	Shell
	OperationLine
	Appointment            string
	Revision               int
	PlanHash               string
	Plan                   proposal.Plan // of its visit
	RemoteID, OldRemoteID  string
	RefusalCode            string
	SendUntil, Deadline    time.Time
	EndedAt                time.Time
	Sent                   []SentAttempt
	Seen                   []SeenLook
	MayResolve             bool   // and nobody has yet
	BookedKey, ReleaseKey  string // fresh idempotency keys
	TypedRemote, TypedNote string
	Refusal                Refusal
}

// SentAttempt is one call that wrote, with the body as it was sent.
type SentAttempt struct {
	N                         int
	Phase, Method, Body, Hash string
	RequestID                 string
	StartedAt, FinishedAt     time.Time // FinishedAt zero = nobody knows how it ended
	HTTPStatus                int       // 0 = no answer
	Outcome, Code             string
}

// SeenLook is one look into the EHR.
type SeenLook struct {
	N                                int
	At                               time.Time
	How, Verdict, Code               string
	Matches                          *int
	RemoteID, RemoteVersion, AskedBy string
}

// NavOperations is the desk's item of the navigation, where the clinic has an EHR.
const NavOperations = "operations"

func (p OperationsPage) olderURL() string {
	q := url.Values{"cursor": {p.Older}}
	if p.State != "" {
		q.Set("state", p.State)
	}
	return OperationsURL + "?" + q.Encode()
}

func (p OperationsPage) none() string {
	switch {
	case p.NoEHR:
		return "This clinic keeps its appointments here and in no EHR, so nothing waits for one."
	case p.State != "":
		return "Nothing is in that state."
	}
	return "Nothing waits for the EHR: what was confirmed is there, or is known not to be."
}

var operationStates = []Option{{Value: "late", Label: "Past the deadline"}, {Value: ehr.Manual, Label: "A person must look"},
	{Value: ehr.Unknown, Label: "Not known"}, {Value: ehr.Pending, Label: "The EHR works on it"}, {Value: ehr.Ready, Label: "Waiting to be sent"}}

// laneWords says that nothing is being sent, "" while the way is open.
func (p OperationsPage) laneWords() string {
	l := p.Lane
	if l.Until.IsZero() {
		return ""
	}
	at := func(t time.Time) string { return Lately(t.In(zone(p.Zone)), p.Now.In(zone(p.Zone))) }
	if l.Code == ehr.CodeBusy || l.Since.IsZero() {
		return "The EHR asks us to wait. Nothing is being sent before " + at(l.Until) + "."
	}
	why := map[string]string{ehr.CodeCertificate: " Its certificate is not one that we trust: tell whoever looks after the connection.",
		ehr.CodeToken: " It gives us no token to sign in with: tell whoever looks after the connection.", ehr.CodeAuth: " It does not let us in: tell whoever looks after the connection."}[l.Code]
	return "The EHR does not answer since " + at(l.Since) + "; nothing is being sent. It is tried again at " + at(l.Until) + "." + why
}

// asked is what was confirmed, in a few words.
func (o OperationLine) asked() string {
	if o.Wanted == nil {
		return "Change a visit"
	}
	if o.here() == proposal.OpCreate {
		return "Book a visit for " + o.Wanted.Patient.Name
	}
	return map[string]string{proposal.OpMove: "Move ", proposal.OpCancel: "Cancel "}[o.here()] + Possessive(o.Wanted.Patient.Name) + " visit"
}

// here is what it does in this desk's book.
func (o OperationLine) here() string { return proposal.HereOf(o.Was, o.Wanted) }

func placeLine(f *proposal.Facts) string {
	at := f.StartsAt.In(zone(f.Zone))
	return ShortDate(at) + ", " + Span(at, f.EndsAt)
}

// tag is the state in one word or two.
func (o OperationLine) tag() (class, text string) {
	switch o.State {
	case ehr.Manual:
		return "high", "A person must look"
	case ehr.Unknown:
		return "medium", "Not known"
	case ehr.Pending:
		return "new", "In work there"
	case ehr.Applied:
		return "ok", "In the EHR"
	case ehr.Refused:
		return "gone", "Not done"
	}
	return "new", "Waiting to be sent"
}

// words say how it stands, to somebody who was not there.
func (o OperationLine) words() string {
	switch o.State {
	case ehr.Manual:
		return manualWords(o.Code)
	case ehr.Unknown:
		if o.Phase == ehr.PhaseCancelOld {
			return "Two bookings are held: the new one is there, and we do not know whether the old one is ended."
		}
		return "We do not know whether the EHR has it."
	case ehr.Pending:
		return "The EHR works on it."
	case ehr.Applied:
		return "The EHR has exactly what was approved."
	case ehr.Refused:
		return proposal.OutsideWords(o.Code)
	}
	switch {
	case o.Phase == ehr.PhaseCancelOld:
		return "Two bookings are held: the new one is there, and the old one is about to be ended."
	case o.Attempts > 0 || o.Code != "":
		return "Waiting to be sent; the EHR cannot be reached, or does not take it now."
	}
	return "Waiting to be sent."
}

// manualWords say why a person must look.
func manualWords(code string) string {
	words := map[string]string{
		ehr.CodeSeveral:   "The EHR holds several appointments under the number of this one change. One of them may have to be cancelled there.",
		ehr.CodePatient:   "The EHR holds an appointment under our number that is of another patient. Look there first: somebody may be about to get the wrong visit.",
		"patient_merged":  "The patient was merged with another in the EHR. Look there whether it is the same person.",
		"different":       "The EHR has it, and not as it was approved: each look says what differs.",
		"clash":           "The EHR has it, and here something stands in its way, so it could not be made here.",
		"cancelled_there": "It was made in the EHR and then cancelled there, by somebody else.",
		"two_bookings":    "Two bookings are held in the EHR: the new one, and the old one that could not be ended.",
		"not_confirmed":   "The EHR has not shown in all this time whether it has it.",
		"not_stored":      "The EHR answers with something that cannot be kept here. Look there, and say what is there.",
		ehr.PlanTampered:  "The stored plan is not the one that was approved. Nothing was sent. Tell the operator.",
	}[code]
	if words == "" {
		return "What the EHR answers does not show whether it has this. A person must look there."
	}
	return words
}

// next says what the program does next, and when.
func (o OperationLine) next(p Shell) string {
	at := func() string { return ", " + Lately(o.NextAt.In(zone(p.Zone)), p.Now.In(zone(p.Zone))) }
	due := !o.NextAt.After(p.Now)
	switch {
	case o.Resolution != "":
		return "A reviewer has said what is there; another must confirm it"
	case o.Held:
		return "In hand now"
	case o.State == ehr.Manual && o.LookOnly:
		return "A look, for " + orWords(o.AskedBy, "somebody")
	case o.State == ehr.Manual:
		return "Nothing by itself: it waits for a person"
	case o.State == ehr.Ready && due:
		return "Sent as soon as the EHR can be reached"
	case o.State == ehr.Ready:
		return "Sent" + at()
	case o.AskedBy != "":
		return "A look, for " + o.AskedBy
	case due:
		return "A look, as soon as the EHR can be reached"
	}
	return "A look" + at()
}

func (o OperationLine) counts() string {
	sent, seen := "not sent yet", "not looked for yet"
	if o.Attempts > 0 {
		sent = "sent " + times(o.Attempts)
	}
	if o.Looks > 0 {
		seen = "looked " + times(o.Looks)
	}
	return sent + ", " + seen
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return Count(n, "time")
}

// mayLook: there is something that a look could show.
func (p OperationPage) mayLook() bool {
	return p.Role == clinic.RoleReviewer && (p.State == ehr.Unknown || p.State == ehr.Pending || p.State == ehr.Manual)
}

func (p OperationPage) title() string {
	_, tag := p.tag()
	return p.asked() + ": " + strings.ToLower(tag[:1]) + tag[1:]
}

func (p OperationPage) at(t time.Time) string {
	return ShortDate(t.In(zone(p.Zone))) + ", " + ClockSeconds(t.In(zone(p.Zone)))
}

// card is the approved plan as the card's table draws it.
func (p OperationPage) card() CardPage {
	return CardPage{Shell: p.Shell, Record: proposal.Record{Action: p.Plan.Action, State: proposal.StateExecuting, Plan: p.Plan, Summary: proposal.Summarize(p.Plan)}}
}

// offered are the ids of appointments that looks have seen, the last first; the one that it had before is not among them.
func (p OperationPage) offered() (ids []string) {
	seen := map[string]bool{p.OldRemoteID: true}
	for i := len(p.Seen) - 1; i >= 0; i-- {
		if id := p.Seen[i].RemoteID; id != "" && !seen[id] {
			seen[id], ids = true, append(ids, id)
		}
	}
	return ids
}

// remote fills in the form: what was typed, else what is known.
func (p OperationPage) remote() string {
	if p.TypedRemote != "" {
		return p.TypedRemote
	}
	if ids := p.offered(); len(ids) > 0 {
		return ids[0]
	}
	if p.Kind != ehr.Book && p.OldRemoteID == "" || p.Phase == ehr.PhaseCancelOld {
		return p.RemoteID
	}
	return ""
}

func (p OperationPage) bookedText() string {
	return map[string]string{ehr.Book: "It is booked there: link", ehr.Move: "It is moved there: link", ehr.Cancel: "It is cancelled there"}[p.Kind]
}

func (p OperationPage) notBookedText() string {
	return map[string]string{ehr.Book: "It is not booked there: release", ehr.Move: "It is not moved there: release", ehr.Cancel: "It is not cancelled there: end it"}[p.Kind]
}

// bookedWords say what must be true in the EHR, and what then happens here.
func (p OperationPage) bookedWords() string {
	must := "Say this when you see in the EHR exactly what was approved"
	if p.Phase == ehr.PhaseCancelOld || p.OldRemoteID != "" {
		must += ", and the old booking ended"
	}
	return must + ". Another reviewer confirms it; then it is carried out here as it was approved, and the patient is told."
}

func (p OperationPage) notBookedWords() string {
	must := "Say this when you have looked and it is not there"
	if p.Kind == ehr.Move {
		must = "Say this when the visit stands in the EHR as it was, and nothing else of it"
	}
	if p.Kind == ehr.Cancel {
		must = "Say this when the visit still stands in the EHR"
	}
	return must + ". Another reviewer confirms it; then the change has failed, its time is free again, and nobody is told."
}
