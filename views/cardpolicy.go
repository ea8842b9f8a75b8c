package views

import (
	"fmt"
	"strings"

	"countersign/internal/proposal"
)

// Cards of a change of policy, and what every card says of decisions by more than one person.

// ActionPolicy is the one action that admins propose.
const ActionPolicy = "change_policy@1"

// aboutPolicy: the plan shows what the clinic asks, and no patient.
func aboutPolicy(p proposal.Plan) bool { return p.After != nil && p.After.Policy != nil }

// mayEdit: there is a form for it. Another policy, or resolution, is another proposal, made on its page.
func (p CardPage) mayEdit() bool {
	return p.mayRevise() && !aboutPolicy(p.Record.Plan) && !aboutOperation(p.Record.Plan)
}

// policySeen compares two revisions of such a plan.
func policySeen(saw, current proposal.Plan) []seenRow {
	a, b := proposal.Summarize(saw).Fields, proposal.Summarize(current).Fields
	var rows []seenRow
	for i := range min(len(a), len(b)) {
		rows = append(rows, seenRow{label: b[i].Label, now: cell{main: value(b[i].Old)}, saw: cell{main: value(a[i].New)}, is: cell{main: value(b[i].New)}})
	}
	return rows
}

// severalDecide: more than one person must approve, or has.
func (p CardPage) severalDecide() bool { return p.Record.Approvals.Needed > 1 }

// approvalsText is "1 of 2 approvals: Ben Holt, 10:03".
func (p CardPage) approvalsText() string {
	a := p.Record.Approvals
	out := fmt.Sprintf("%d of %d approvals", len(a.Given), a.Needed)
	for i, g := range a.Given {
		sep := ": "
		if i > 0 {
			sep = "; "
		}
		out += sep + p.you(g.ID, g.Name)
		if given := p.Record.ApprovedBy(g.ID); given != nil {
			out += ", " + Clock(p.at(given.At))
		}
	}
	return out
}

// stillNeeded says what a waiting proposal still needs, and who may give it.
func (p CardPage) stillNeeded() string {
	left := p.Record.Approvals.Needed - len(p.Record.Approvals.Given)
	if !p.undecided() || left <= 0 {
		return ""
	}
	out := "Another person must approve"
	if left > 1 {
		out = fmt.Sprintf("%d more people must approve", left)
	}
	if len(p.Record.Approvals.Given) == 0 {
		out = fmt.Sprintf("%d people must approve", left)
	}
	if p.Record.Risk == proposal.High || p.Record.Risk == proposal.Critical {
		return out + ": reviewers who neither asked, nor edited, nor own the agent that asked. An edit starts the count again."
	}
	return out + ": whoever asked, and any reviewer. An edit starts the count again."
}

// confirming says what a press on Confirm does.
func (p CardPage) confirming() string {
	switch left := p.Record.Approvals.Needed - len(p.Record.Approvals.Given); {
	case left == 2:
		return "Confirming approves it; once another person approves it too, it " + effects(p.Record.Plan)
	case left > 2:
		return fmt.Sprintf("Confirming approves it; once %d more people approve it too, it ", left-1) + effects(p.Record.Plan)
	}
	return "Confirming " + effects(p.Record.Plan)
}

// approvalsWord is "1 of 2 approvals" for a list, "" where one person decides.
func approvalsWord(a proposal.Approvals) string {
	if a.Needed < 2 {
		return ""
	}
	var names []string
	for _, g := range a.Given {
		names = append(names, g.Name)
	}
	out := fmt.Sprintf("%d of %d approvals", len(a.Given), a.Needed)
	if len(names) > 0 {
		out += ": " + strings.Join(names, ", ")
	}
	return out
}
