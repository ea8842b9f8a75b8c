package views

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// mayConfirm is the one rule for a live Confirm on the page.
func (p CardPage) mayConfirm() bool {
	return p.open() && (!p.Record.Stale || p.partlyStale()) && !p.Record.Tampered() && p.Confirm.Code == "" && p.ConfirmKey != ""
}

// mayReject: a rejection compares no pins, so a stale card can still be rejected.
func (p CardPage) mayReject() bool {
	return p.undecided() && p.Reject.Code == "" && p.RejectKey != "" && (p.open() || p.Refusal.Status == 403)
}

func (p CardPage) mayRevise() bool {
	return p.undecided() && p.Seen == nil && !p.Record.Tampered() && p.Revise.Code == "" && (p.open() || p.Refusal.Code == "resource_changed" || p.Refusal.Code == "plan_hash_mismatch")
}

// open: nothing was refused, nobody has decided, and it is the current revision that is shown.
func (p CardPage) open() bool { return p.undecided() && !p.Refusal.Is() && p.Seen == nil }

func (p CardPage) undecided() bool { return p.Record.State == proposal.StateProposed }

func (p CardPage) changedPins() bool {
	return p.undecided() && p.Seen == nil && (p.Record.Stale || len(p.Record.Changed) > 0) && !p.partlyStale()
}

// visit is the facts of the plan's visit, after or before; nil when there are none to show.
func (p CardPage) visit() *proposal.Facts {
	if p.Record.Tampered() || aboutPatient(p.Record.Plan) || p.Record.Plan.IsBulk() || aboutPolicy(p.Record.Plan) || aboutOperation(p.Record.Plan) {
		return nil
	}
	if p.Record.Plan.After != nil {
		return p.Record.Plan.After
	}
	return p.Record.Plan.Before
}

// title is drawn from the plan; other actions have their summary's.
func (p CardPage) title() string {
	f := p.visit()
	if f == nil {
		return p.Record.Summary.Title
	}
	if p.Record.Action == ActionBook {
		return "Book a " + f.Type.Name + " visit for " + f.Patient.Name
	}
	return ActionWord(p.Record.Action) + " " + Possessive(f.Patient.Name) + " " + f.Type.Name + " visit"
}

func (p CardPage) patient() Person {
	f := p.visit()
	if f == nil && (aboutPatient(p.Record.Plan) || aboutOperation(p.Record.Plan)) {
		f = p.Record.Plan.After
	}
	if f == nil {
		return Person{}
	}
	return Person{ID: f.Patient.ID, Name: f.Patient.Name, BirthDate: f.Patient.BirthDate, MRN: f.Patient.MRN}
}

func (p CardPage) cardClass() string {
	if p.Thread != "" {
		q := p
		q.Thread = ""
		return q.cardClass() + " slim"
	}
	switch {
	case p.Record.State == proposal.StateCompleted:
		return "card done"
	case p.Seen != nil || p.changedPins() || p.Refusal.Is() && p.undecided():
		return "card stale"
	case p.undecided() || p.Record.State == proposal.StateExecuting:
		return "card"
	}
	return "card over"
}

func (p CardPage) stateClass() string {
	switch p.Record.State {
	case proposal.StateCompleted:
		return "ok"
	case proposal.StateProposed, proposal.StateExecuting:
		return "new"
	case proposal.StateFailed, proposal.StatePartial:
		return "stop"
	}
	return "gone"
}

// heads are the column heads: what stands and what is, was or would be put in its place.
func (p CardPage) heads() (now, next string) {
	switch {
	case aboutPatient(p.Record.Plan):
		return p.patientHeads()
	case (aboutPolicy(p.Record.Plan) || aboutOperation(p.Record.Plan)) && p.Record.State == proposal.StateCompleted:
		return "Before", "Now"
	case aboutOperation(p.Record.Plan):
		return "Now", "Then"
	case p.Record.Plan.Before == nil && p.Record.State == proposal.StateCompleted:
		return "", "Booked"
	case p.Record.Plan.Before == nil:
		return "", "To be booked"
	case p.Record.State == proposal.StateCompleted && p.Record.Action == ActionCancel:
		return "Before", "Now"
	case p.Record.State == proposal.StateCompleted:
		return "Before", "Booked now"
	}
	return "Now", "Proposed"
}

// you is a name, or "you" for the one who looks.
func (p CardPage) you(id, name string) string {
	if id != "" && id == p.Viewer {
		return "you"
	}
	return name
}

func (p CardPage) at(t time.Time) time.Time { return t.In(zone(p.Zone)) }

// asked is "Asked by Ida Skov" or "Asked by an agent (Booking bot) for Ida Skov".
func (p CardPage) asked() string {
	c := p.Record.CreatedBy
	if c.Kind == "agent" && c.OnBehalfOf != nil {
		return "Asked by the agent " + c.Name + " for " + p.you(c.OnBehalfOf.ID, c.OnBehalfOf.Name)
	}
	return "Asked by " + p.you(c.ID, c.Name)
}

// whoDecides says in words why the one who looks may decide.
func (p CardPage) whoDecides() string {
	high := p.Record.Risk == proposal.High || p.Record.Risk == proposal.Critical
	switch {
	case p.Record.Owner == p.Viewer && !high && p.Record.CreatedBy.Kind == clinic.KindAgent:
		return "It was asked for you, so you may decide. So may any reviewer."
	case p.Record.Owner == p.Viewer && !high:
		return "You asked, so you may decide. So may any reviewer."
	case high:
		return "You may decide: you neither asked for it, edited it, nor own the agent that did."
	}
	return "You may decide, as a reviewer."
}

// again is the form for a new proposal of the same change: ids only.
func (p CardPage) again() string {
	f := p.visit()
	if aboutPatient(p.Record.Plan) {
		return p.patientAgain()
	}
	if p.Record.Plan.IsBulk() {
		return BulkURL(p.Record.ID)
	}
	if aboutPolicy(p.Record.Plan) {
		return PolicyURL
	}
	if aboutOperation(p.Record.Plan) {
		return OperationURL(p.Record.Plan.After.Operation.ID)
	}
	if f == nil {
		return "/"
	}
	if p.Record.Action == ActionBook {
		return BookURL(f.Patient.ID, Booking{Practitioner: f.Practitioner.ID, Location: f.Location.ID, Type: f.Type.ID, StartsAt: f.StartsAt.UTC().Format(time.RFC3339)})
	}
	q := url.Values{"action": {p.Record.Action}, "appointment": {f.Appointment}}
	if p.Record.Action == ActionMove {
		q.Set("practitioner", f.Practitioner.ID)
		q.Set("location", f.Location.ID)
		q.Set("from", f.StartsAt.In(zone(f.Zone)).Format("2006-01-02"))
	}
	return "/proposals/new?" + q.Encode()
}

// optionURL is the same form with one alternative filled in.
func (p CardPage) optionURL(o Slot) string {
	sep := "?"
	base := p.again()
	if strings.Contains(base, "?") {
		sep = "&"
	}
	if p.Record.Action == ActionBook {
		f := p.visit()
		return BookURL(f.Patient.ID, Booking{Practitioner: f.Practitioner.ID, Location: f.Location.ID, Type: f.Type.ID, StartsAt: o.Value})
	}
	return base + sep + "starts_at=" + url.QueryEscape(o.Value)
}

// ending is the panel of a decided card: its kind, title and words.
type ending struct{ kind, title, words string }

func (p CardPage) ending() ending {
	r := p.Record
	by, note := "somebody", ""
	if r.DecidedBy != nil {
		by = p.you(r.DecidedBy.ID, r.DecidedBy.Name)
	}
	if r.DecidedNote != "" {
		note = " “" + r.DecidedNote + "”"
	}
	const nothing = " Nothing was changed and nothing was sent."
	if r.Plan.IsBulk() {
		if e := p.bulkEnding(by); e.title != "" {
			return e
		}
	}
	switch r.State {
	case proposal.StateCompleted:
		if aboutPatient(r.Plan) {
			title, words := p.patientDone()
			return ending{"ok", "Completed: " + title, words}
		}
		if aboutOperation(r.Plan) {
			return resolvedEnding(r.Plan)
		}
		return ending{"ok", "Completed: " + p.doneTitle(), p.doneWords()}
	case proposal.StateFailed:
		if r.Plan.OfEHR() {
			return p.outsideFailed()
		}
		if p.Failure == "slot_taken" {
			return ending{"no", "Not done: the time was taken", "Somebody else got it at the same moment." + nothing + " Pick another time below; it becomes a new proposal."}
		}
		return ending{"no", "Not done", "It was confirmed and could not run: " + word(nil, p.Failure) + "." + nothing}
	case proposal.StatePartial:
		return ending{"warn", "Partly done", "Some of it ran and some did not. See the timeline for each part."}
	case proposal.StateRejected:
		return ending{"gone", "Rejected by " + by, note + nothing}
	case proposal.StateWithdrawn:
		return ending{"gone", "Taken back by " + by, note + nothing}
	case proposal.StateExpired:
		return ending{"gone", "This ran out at " + Clock(p.at(r.ExpiresAt)), "Nobody decided in time." + nothing}
	case proposal.StateExecuting:
		return p.outsideEnding(by)
	}
	return ending{}
}

func (p CardPage) doneTitle() string {
	f := p.visit()
	if f == nil {
		return p.Record.Summary.Title
	}
	verb := map[string]string{ActionMove: "moved", ActionBook: "booked", ActionCancel: "cancelled"}[p.Record.Action]
	if verb == "" {
		return p.Record.Summary.Title
	}
	return Possessive(f.Patient.Name) + " visit is " + verb
}

func (p CardPage) doneWords() string {
	f := p.visit()
	if f == nil {
		return ""
	}
	at := f.StartsAt.In(zone(f.Zone))
	return fmt.Sprintf("%s, %s, %s, %s. %s", LongDate(at), Span(at, f.EndsAt), f.Practitioner.Name, f.Location.Name, p.toldWords())
}

// toldWords is what has become of the messages.
func (p CardPage) toldWords() string {
	if len(p.Record.Plan.Messages) == 0 {
		return "Nobody was told."
	}
	if len(p.Messages) == 0 {
		return "The message is in the outbox."
	}
	var out []string
	for _, m := range p.Messages {
		if m.Kind == proposal.KindReminder && m.State == "queued" {
			continue // its own part of the card says when it goes out
		}
		name := capital(ChannelWord(m.Channel))
		switch m.State {
		case "sent", "delivered":
			out = append(out, "The "+ChannelWord(m.Channel)+" has gone out.")
		case "failed", "dead":
			out = append(out, name+" could not be sent: tell the patient another way, or try again in Messages.")
		case "undelivered":
			out = append(out, name+" could not be delivered: tell the patient another way.")
		case "unknown":
			out = append(out, name+" may have been sent, there was no answer: ask the patient, or look in Messages.")
		case "suppressed":
			out = append(out, name+" was not sent: the patient’s wish or address had changed.")
		case "expired":
			out = append(out, name+" was not sent: it would have come too late.")
		case "superseded":
			out = append(out, name+" was not sent: a later change overtook it.")
		default:
			out = append(out, "The "+ChannelWord(m.Channel)+" is in the outbox.")
		}
	}
	return strings.Join(out, " ")
}

// untold says why no message goes out.
func untold(p proposal.Plan) string {
	if p.Parameters["reason_code"] == "patient_deceased" {
		return "The reason given is that the patient has died."
	}
	if notify, ok := p.Parameters["notify"].(bool); ok && !notify {
		return "Whoever asked chose to send no message."
	}
	f := p.After
	if f == nil {
		f = p.Before
	}
	if f != nil && f.Patient.Unreachable != nil {
		return UnreachableWord(*f.Patient.Unreachable)
	}
	return "This change sends no message."
}
