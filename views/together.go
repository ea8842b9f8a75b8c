package views

import (
	"strconv"

	"countersign/internal/proposal"
)

// TogetherPage is POST /queue/review: the cards of an explicit list in short, each to be decided by itself. Nothing is
// chosen beforehand.
type TogetherPage struct {
	Shell
	Viewer  string
	Items   []TogetherItem
	Refusal Refusal
}

// TogetherItem is one of them. Decision and Note are what was chosen when the form comes back.
type TogetherItem struct {
	proposal.Record
	Key            string
	Confirm        Permission
	Ticked         int  // the revision that was ticked
	Other          bool // it is not as it was ticked
	Decision, Note string
}

// TogetherDone is POST /queue/decisions: what became of each.
type TogetherDone struct {
	Shell
	Results []TogetherResult
}

// TogetherResult is one result. Refusal is zero when it was done.
type TogetherResult struct {
	ID      string
	Title   string // "" when it is not known here
	State   string
	Outcome string
	Refusal Refusal
}

// open: it can be decided with the others.
func (i TogetherItem) open() bool {
	return !i.Other && !i.Stale && QueueItem{Record: i.Record, Confirm: i.Confirm}.bulk()
}

// why says why it cannot.
func (i TogetherItem) why() string {
	switch {
	case i.State != proposal.StateProposed:
		return StateWord(i.State) + " meanwhile."
	case i.Other:
		return "You ticked revision " + strconv.Itoa(i.Ticked) + "; revision " + strconv.Itoa(i.Revision) + " is current."
	case i.Stale:
		return "Something it was made from has changed: " + changedList(i.Record) + "."
	case i.Confirm.Code != "":
		return whyNot(i.Confirm.Code)
	case i.Risk == proposal.High || i.Risk == proposal.Critical:
		return "High and critical risk is decided one by one, on its own card."
	}
	return "It cannot be decided here."
}

func (i TogetherItem) card(p TogetherPage) CardPage {
	return CardPage{Shell: p.Shell, Record: i.Record, Viewer: p.Viewer}
}

func (p TogetherPage) deciding() (n int) {
	for _, i := range p.Items {
		if i.open() {
			n++
		}
	}
	return n
}

func field(name string, i int) string { return name + "." + strconv.Itoa(i) }

func (r TogetherResult) words() string {
	switch r.Outcome {
	case proposal.OutcomeNotExecuted:
		return "Rejected"
	case proposal.OutcomeProposed:
		return "Approved; it needs another person"
	case proposal.OutcomeFailed:
		return "Confirmed, and it could not run"
	}
	return "Confirmed: " + StateWord(r.State)
}

func (p TogetherDone) title() string {
	done := 0
	for _, r := range p.Results {
		if !r.Refusal.Is() {
			done++
		}
	}
	return strconv.Itoa(done) + " of " + strconv.Itoa(len(p.Results)) + " decided"
}
