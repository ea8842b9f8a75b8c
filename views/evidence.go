package views

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/evidence"
)

// EvidencePage is GET /proposals/{id}/evidence.
type EvidencePage struct {
	Shell
	evidence.Evidence
}

// EvidenceURL is the evidence of one proposal.
func EvidenceURL(proposal string) string {
	return "/proposals/" + url.PathEscape(proposal) + "/evidence"
}

func (p EvidencePage) at(t time.Time) string {
	local := t.In(zone(p.Zone))
	return ShortDate(local) + ", " + ClockSeconds(local)
}

// verdict is the sign and the word of an equality.
func verdict(q evidence.Equality) (sign, words, class string) {
	switch q.Verdict {
	case evidence.Equal:
		return "=", "Equal", "ok"
	case evidence.NotEqual:
		return "≠", "NOT EQUAL", "stop"
	}
	return "?", "Cannot be shown", "medium"
}

// words of an equality without the verdict that stands beside them.
func equalityWords(q evidence.Equality) string {
	w := strings.TrimPrefix(q.Words, "NOT EQUAL: ")
	return capital(w)
}

// verdictOfAll is the first thing that is said.
func (p EvidencePage) verdictOfAll() (title, words, class string) {
	bad, open, tail := 0, 0, ""
	for _, q := range p.Equalities {
		switch {
		case q.Verdict == evidence.NotEqual:
			bad++
		case q.Verdict == evidence.Unknown && q.About == "sealed":
			tail = " The chain has not sealed all of its entries yet."
		case q.Verdict == evidence.Unknown:
			open++
		}
	}
	failed := 0
	for _, m := range p.Messages {
		if m.State == "failed" {
			failed++
		}
	}
	if failed > 0 {
		tail += " " + Count(failed, "message") + " could not be handed over."
	}
	switch {
	case bad > 0:
		return fmt.Sprintf("%d of %d comparisons are NOT EQUAL", bad, len(p.Equalities)), "Something was changed behind the program. Tell the operator." + tail, "no"
	case open > 0:
		return "Nothing contradicts what was approved", fmt.Sprintf("%d comparisons are equal, %d cannot be shown.", len(p.Equalities)-open, open) + tail, "warn"
	case failed > 0:
		return "Approved and executed are equal, and a message failed", "Each comparison says so below." + tail, "warn"
	}
	return "Everything is equal", "Each comparison says so below." + tail, "ok"
}

// did says a decision in words.
func decidedWords(d evidence.Decision) string {
	words := map[string]string{audit.Approve: "approved it, as one of several", audit.Confirm: "approved it", audit.Reject: "rejected it", audit.Withdraw: "took it back",
		audit.Expire: "let it expire: nobody had decided when its time was over", audit.Revise: "edited it", audit.StopBulk: "stopped it", audit.PlanTampered: "tried to confirm a plan that is not the stored one"}
	if d.Outcome == audit.Denied {
		return "tried, and was refused: " + AuditWord(d.Action)
	}
	return word(words, d.Action)
}

func decidedBy(d evidence.Decision) string {
	switch d.Kind {
	case clinic.KindSystem:
		return "Countersign itself (" + d.By.ID + ")"
	case clinic.KindAgent:
		return "The agent " + d.By.Name
	}
	return d.By.Name
}

func (p EvidencePage) askedWords() string {
	if p.Proposal.Agent {
		return "Asked by the agent " + p.Proposal.AskedBy.Name + " for " + p.Proposal.OnBehalfOf.Name
	}
	return "Asked by " + p.Proposal.AskedBy.Name
}

func partWords(d evidence.Decision) string {
	if d.Self {
		return "asked for it, or had a part in it"
	}
	return "had no part in asking"
}

func shownWords(d evidence.Decision) string {
	if d.Seconds == nil {
		return "not shown by us before"
	}
	return fmt.Sprintf("%.1f s after it was first shown to them", *d.Seconds)
}

// visitRow is one value of a visit before and after.
type visitRow struct{ label, before, after string }

func (p EvidencePage) visitRows(c evidence.Change) []visitRow {
	value := func(v *evidence.Version, of func(*evidence.Version) string) string {
		if v == nil {
			return "None"
		}
		return of(v)
	}
	row := func(label string, of func(*evidence.Version) string) visitRow {
		return visitRow{label, value(c.Before, of), value(c.After, of)}
	}
	return []visitRow{
		row("Version", func(v *evidence.Version) string { return fmt.Sprint(v.Version) }),
		row("Status", func(v *evidence.Version) string { return StatusWord(v.Status) }),
		row("From", func(v *evidence.Version) string { return p.at(v.From) }),
		row("To", func(v *evidence.Version) string { return p.at(v.To) }),
		row("Practitioner", func(v *evidence.Version) string { return v.Practitioner }),
		row("Location", func(v *evidence.Version) string { return v.Location }),
		row("Type", func(v *evidence.Version) string { return v.Type }),
	}
}

// showingsOf are the showings of one card.
func (p EvidencePage) showingsOf(c evidence.Card) (out []evidence.Shown) {
	for _, s := range p.Showings {
		if s.CardHash == c.Hash && s.Revision == c.Revision {
			out = append(out, s)
		}
	}
	return out
}

func sealedWord(w evidence.Written) string {
	if w.Sealed == nil {
		return "not sealed yet"
	}
	return fmt.Sprintf("sealed as number %d", *w.Sealed)
}

type (
	evidenceDecision = evidence.Decision
	evidenceOneCard  = evidence.Card
	evidenceVisit    = evidence.Change
)
