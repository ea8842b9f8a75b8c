package views

import (
	"fmt"
	"slices"
	"strings"

	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// steps is the timeline, and what it waits for.
func (p CardPage) steps() []Entry {
	if !p.undecided() {
		return p.Timeline
	}
	return append(slices.Clone(p.Timeline), Entry{Title: "Waiting for a decision", Mark: MarkSign})
}

// hasPanel: a panel above the card has the page's h1.
func (p CardPage) hasPanel() bool {
	return p.Seen != nil || p.changedPins() || p.Refusal.Is() || p.ending().title != ""
}

func refusalTitle(r Refusal, otherwise string) string { return orWords(r.Title, otherwise) }

func orWords(words, otherwise string) string {
	if words != "" {
		return words
	}
	return otherwise
}

// refusalKind: red when the person pressed in vain, amber when it is a matter of order.
func refusalKind(p CardPage) string {
	switch p.Refusal.Code {
	case refusal.AlreadyDecided, refusal.PlanHashMismatch, refusal.ProposalExpired, refusal.IdempotencyInProgress:
		return "warn"
	}
	return "no"
}

func changedWords(c proposal.Change) string {
	what := orWords(c.Label, capital(word(nil, c.Kind)))
	if c.Current == 0 {
		return what + ": no longer there (was version " + fmt.Sprint(c.Expected) + ")"
	}
	if c.Kind == proposal.PinSlot {
		what += ": booked, blocked or given back since, so"
	} else {
		what += ":"
	}
	return fmt.Sprintf("%s version %d is now %d", what, c.Expected, c.Current)
}

// staleWords say why a card with pins that moved cannot be confirmed; another refusal has words of its own.
func (p CardPage) staleWords() string {
	if p.Refusal.Is() && p.Refusal.Code != refusal.ResourceChanged {
		return p.Refusal.Words
	}
	return "What it was made from is no longer as it was, so it can’t be confirmed any more."
}

// reasons of the risk, without the one that a warning above them says already.
func (p CardPage) reasons() (out []string) {
	reasons := p.Record.RiskReasons
	if p.Record.Plan.IsBulk() { // those of one visit stand in its line
		reasons = proposal.ItemReasons(reasons, -1)
	}
	for _, r := range reasons {
		if r != proposal.ReasonDoubleBooked || !slices.Contains(p.Record.Warnings, proposal.WarnDoubleBooked) {
			out = append(out, r)
		}
	}
	return out
}

func decidedWord(state string) string {
	return word(map[string]string{proposal.StateRejected: "Rejected", proposal.StateWithdrawn: "Taken back"}, mapped(state))
}

// mapped: every other decision was a confirmation, whatever came of it.
func mapped(state string) string {
	if state == proposal.StateRejected || state == proposal.StateWithdrawn {
		return state
	}
	return "Confirmed"
}

func (p CardPage) sameText(r diffRow) string {
	switch {
	case p.Record.Action == ActionCancel, p.Record.Action == ActionMessage, aboutOperation(p.Record.Plan):
		return r.same
	case p.Record.State == proposal.StateCompleted:
		return r.same + ", stayed the same"
	}
	return r.same + ", stays the same"
}

func untoldTitle(state string) string {
	if state == proposal.StateCompleted {
		return "Nobody was told"
	}
	return "Nobody will be told"
}

// sendWords is when message i goes out, or what became of it.
func (p CardPage) sendWords(i int) string {
	m := p.Record.Plan.Messages[i]
	if s, made := p.became(m); made && p.Record.State == proposal.StateCompleted && (m.SendAt == nil || s.State != "queued") {
		return proofWord(s.State) + " " + ClockSeconds(p.at(s.At)) + ", exactly this text"
	}
	switch {
	case !p.undecided() && p.Record.State != proposal.StateCompleted && p.Record.State != proposal.StateExecuting:
		return "Not sent"
	case m.SendAt != nil:
		return "Sent " + p.sendTime(p.Record.Plan.After, m) + ", exactly this text"
	case p.Record.State == proposal.StateExecuting && p.Record.Plan.OfEHR():
		return "Sent once the EHR has the change, exactly this text"
	}
	return "Sent after you confirm, exactly this text"
}

// became is what the outbox knows of a message of the plan.
func (p CardPage) became(m proposal.Message) (MessageState, bool) {
	i := slices.IndexFunc(p.Messages, func(s MessageState) bool {
		return s.Kind == m.Kind && s.Channel == m.Channel && s.Recipient == m.Recipient
	})
	if i < 0 {
		return MessageState{}, false
	}
	return p.Messages[i], true
}

// sendTime is when a reminder goes out, by the clock of the visit's place.
func (p CardPage) sendTime(f *proposal.Facts, m proposal.Message) string {
	at := m.SendAt.In(zone(f.Zone))
	out := ShortDate(at) + ", " + Clock(at)
	if f.Zone != p.Zone {
		out += " " + f.Zone
	}
	return out
}

// messageName is what a message is, in a heading.
func messageName(m proposal.Message) string {
	if m.SendAt != nil {
		return "Reminder by " + ChannelWord(m.Channel)
	}
	return capital(ChannelWord(m.Channel))
}

// laterWords is when a message goes out that waits for its time, and what goes with it.
func (p CardPage) laterWords(f *proposal.Facts, m proposal.Message) string {
	switch {
	case m.SendAt != nil:
		return ", sent " + p.sendTime(f, m)
	case m.Calendar != nil:
		return ", with a calendar entry"
	}
	return ""
}

// itemSendWords is laterWords and langWords for a message of a bulk's line.
func (p CardPage) itemSendWords(r itemRow, m proposal.Message) string {
	return strings.TrimPrefix(p.laterWords(r.facts, m)+langWords(p.Record.Plan, r.facts, m), ", ")
}

// langWords says in which language a standard text is, or that somebody wrote it.
func langWords(plan proposal.Plan, f *proposal.Facts, m proposal.Message) string {
	own, _ := plan.Parameters["message"].(string)
	switch name := proposal.LanguageName(f.Patient.WrittenIn); {
	case own != "" && m.SendAt == nil:
		return ", as it was typed"
	case name != "":
		return ", in " + name
	}
	return ""
}

// proofWord is the last step of the proof: a message that waits is written down already.
func proofWord(state string) string {
	if state == "queued" || state == "sending" {
		return "In the outbox"
	}
	return OutboxWord(state)
}

// noConfirm says why there is no Confirm here.
func (p CardPage) noConfirm() string {
	switch {
	case p.Record.Tampered():
		return "There is no Confirm here, and the person who runs Countersign must look at this. Reject it and propose the change again."
	case p.Seen != nil:
		return fmt.Sprintf("Revision %d can’t be confirmed any more, so there is no Confirm here.", p.Seen.Revision)
	case p.changedPins() && p.Record.Plan.IsBulk():
		return "There is no Confirm here: every visit has changed since. Prepare a new preview, or reject it."
	case p.changedPins():
		return "There is no Confirm here: prepare a new preview first."
	case p.Refusal.Status == 403:
		return "Nothing was changed. The proposal stays open for somebody else."
	case p.Refusal.Is():
		return "There is no Confirm here: show the card as it is now first."
	case p.Confirm.Code != "":
		return whyNot(p.Confirm.Code)
	}
	return ""
}

// optionText names an alternative so that it can be told from the others: day, time, zone offset, practitioner.
func (p CardPage) optionText(o Slot) string {
	name := o.Zone
	if name == "" && p.visit() != nil {
		name = p.visit().Zone
	}
	at := o.StartsAt.In(zone(name))
	out := ShortDate(at) + ", " + Clock(at) + " (" + OffsetOf(at) + ")"
	if o.Practitioner != "" {
		out += ", " + o.Practitioner
	}
	return out
}
