package gallery

import (
	"slices"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/ehr"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
	"countersign/views"
)

func cards() []Item {
	var out []Item
	add := func(name string, p views.CardPage) {
		out = append(out, Item{Name: "card-" + name, Component: views.Card(p), Refused: p.Refusal.Status == 403 || p.Refusal.Status == 409 || p.Refusal.Status == 410, Fragment: p.HTMX})
	}
	for _, c := range slices.Concat(liveCards(), refusedCards(), overCards(), outsideCards(), policyCards(), resolveCards()) {
		add(c.name, c.page)
	}
	return out
}

type namedCard struct {
	name string
	page views.CardPage
}

func cardOf(r proposal.Record) views.CardPage {
	return views.CardPage{Shell: shell(""), Record: r, Viewer: "ida", ConfirmKey: "5f0c9a2e", RejectKey: "77ab01d4", Timeline: []views.Entry{
		{At: at(21, 11, 12), Title: "Proposed", By: "Ida Skov", Revision: 1, Hash: hashA}}}
}

func moving(state string) proposal.Record {
	return record(movePlan(1, at(27, 14, 15), changeText), hashA, state)
}

func liveCards() []namedCard {
	may := cardOf(moving(proposal.StateProposed))
	edited := cardOf(record(movePlan(2, at(27, 14, 45), laterText), hashB, proposal.StateProposed))
	edited.Shell = flashed(edited.Shell, views.FlashDone, "This is revision 2. Revision 1 is over.")
	part := edited
	part.Shell = fragment(part.Shell)
	mayNot := cardOf(record(longPlan(), hashA, proposal.StateProposed))
	mayNot.Confirm = views.Permission{Code: refusal.SelfApprovalForbidden}
	admin := may
	admin.Confirm, admin.Reject, admin.Revise = views.Permission{Code: refusal.PermissionDenied}, views.Permission{Code: refusal.PermissionDenied}, views.Permission{Code: refusal.PermissionDenied}
	long := cardOf(record(longPlan(), hashA, proposal.StateProposed))
	long.Shell, long.Viewer = reviewer(""), "jonas"
	long.Record.CreatedBy = proposal.Creator{ID: "bot", Name: "Booking bot", Kind: "agent", OnBehalfOf: &clinic.Ref{ID: "ida", Name: "Ida Skov"}}
	long.Record.CreatedVia = "mcp"
	long.Rivals = []views.Rival{{Proposal: "2229", Title: "Book a Standard visit for Theodor Vang", StartsAt: wall(kona, 2026, 11, 6, 9, 0), Zone: kona}}
	two := long
	two.Record.Risk, two.Record.Approvals = proposal.Critical, proposal.Approvals{Needed: 2, Given: []clinic.Ref{{ID: "b", Name: "Ben Holt"}}}
	two.Record.Approved = []proposal.Approval{{Person: two.Record.Approvals.Given[0], Via: "page", At: at(21, 10, 3), Role: clinic.RoleReviewer}}
	given := two
	given.Viewer, given.Confirm = "b", views.Permission{Code: refusal.AlreadyDecided}
	given.Shell = flashed(given.Shell, views.FlashNotice, "You have approved this already; it needs another person. This click changed nothing.")
	same := may
	same.Record = record(samePlace(), hashA, proposal.StateProposed)
	stale := may
	stale.Record.Stale, stale.Record.Changed = true, moved()
	other := may
	other.Record = record(otherAction(), hashA, proposal.StateProposed)
	other.Record.Summary = proposal.Summary{Title: "Change how Aoife O'Brien-Núñez is told", Fields: []proposal.Field{{Label: "Phone", Old: nil, New: ptr("+45 00 20 04 11")}, {Label: "E-mail", Old: ptr("aoife@example.test"), New: ptr("aoife@example.test")}}}
	return []namedCard{
		{"proposed", may}, {"edited", edited}, {"fragment", part}, {"may-not-decide", mayNot}, {"may-nothing", admin},
		{"long-reviewer", long}, {"two-approvals", two}, {"two-approvals-given", given}, {"same-practitioner", same},
		{"book-unreachable", cardOf(record(bookPlan(), hashA, proposal.StateProposed))}, {"cancel-not-told", cardOf(record(cancelPlan(), hashA, proposal.StateProposed))},
		{"stale-pins", stale}, {"other-action", other},
	}
}

func samePlace() proposal.Plan {
	p := movePlan(1, at(23, 10, 30), changeText)
	p.After = factsAt(maria91, holm, h12, at(23, 10, 30), copenhagen, 30)
	p.Risk, p.RiskReasons = proposal.Low, nil
	return p
}

func otherAction() proposal.Plan {
	p := movePlan(1, at(23, 10, 30), "")
	p.Action, p.Before, p.After, p.Messages, p.Steps = "update_contact@1", nil, nil, nil, nil
	return p
}

func moved() []proposal.Change {
	return []proposal.Change{{Kind: "appointment", ID: "a1", Expected: 4, Current: 5, Label: "The visit of Thursday 22 October 2026, 10:30"}, {Kind: "slot", ID: "s1415", Expected: 2, Current: 0, Label: "Slot 14:15"}}
}

func refusedCards() []namedCard {
	say := func(status int, code, title, words, next string) views.Refusal {
		return views.Refusal{Status: status, Code: code, Title: title, Words: words, Next: next}
	}
	with := func(p views.CardPage, r views.Refusal) views.CardPage {
		p.Refusal = r
		return p
	}
	may := cardOf(moving(proposal.StateProposed))
	tab := cardOf(record(movePlan(2, at(27, 14, 45), laterText), hashB, proposal.StateProposed))
	tab.Seen = &views.SeenRevision{Revision: 1, PlanHash: hashA, Plan: movePlan(1, at(27, 14, 15), changeText), EditedBy: "Emil Brandt", EditedAt: at(21, 11, 15)}
	tab = with(tab, say(409, refusal.ResourceChanged, "This changed while you had it open", "", ""))
	tabPart := tab
	tabPart.Shell = fragment(tabPart.Shell)
	pins := with(may, say(409, refusal.ResourceChanged, "Something this was made from has changed", "Between your look and your press, what is booked changed.", ""))
	pins.Record.Stale, pins.Record.Changed = true, moved()
	decided := cardOf(moving(proposal.StateCompleted))
	decided.Viewer = "jonas"
	mismatch := with(may, say(409, refusal.PlanHashMismatch, "This is not the plan you saw", "The plan that came with your press is not the one of this revision. Nothing was executed.", "Look at the card again before you decide."))
	return []namedCard{
		{"409-older-revision", tab}, {"409-older-revision-fragment", tabPart}, {"409-pins", pins}, {"409-hash", mismatch},
		{"409-already-decided", with(decided, say(409, refusal.AlreadyDecided, "Somebody decided this already", "Your press did nothing.", ""))},
		{"403-self", with(may, say(403, refusal.SelfApprovalForbidden, "You may not decide this one", "You asked for it, and a change of this risk needs a reviewer who did not. Nothing was executed.", "Ask a reviewer; it stays in the queue."))},
		{"410-expired", with(cardOf(moving(proposal.StateExpired)), say(410, refusal.ProposalExpired, "This ran out before you pressed", "Nothing was executed.", "Ask for it again; the new card shows what is free now."))},
	}
}

func overCards() []namedCard {
	done := cardOf(moving(proposal.StateCompleted))
	done.Messages = []views.MessageState{{ID: "m1", Kind: "change", Channel: "sms", Recipient: "+45 00 20 08 71", State: "sent", At: now.Add(-30 * time.Second), Attempts: 1, PlanHash: hashA}}
	done.Timeline = []views.Entry{{At: at(21, 11, 12), Title: "Proposed", By: "Ida Skov", Revision: 1, Hash: hashA}, {At: now.Add(-70 * time.Second), Title: "Confirmed", By: "you", Mark: views.MarkDone}, {At: now.Add(-70 * time.Second), Title: "Completed", Mark: views.MarkDone}}
	unsent := done
	unsent.Messages = []views.MessageState{{ID: "m1", Kind: "change", Channel: "sms", Recipient: "+45 00 20 08 71", State: "failed", At: now, Attempts: 5, Code: "timeout", PlanHash: hashA}}
	part := done
	part.Shell = fragment(part.Shell)
	failed := cardOf(moving(proposal.StateFailed))
	failed.Failure, failed.Options = "slot_taken", []views.Slot{start(at(27, 14, 45)), start(at(27, 15, 30)), start(at(28, 9, 0))}
	rejected := cardOf(moving(proposal.StateRejected))
	rejected.Record.DecidedBy, rejected.Record.DecidedNote = &clinic.Ref{ID: "jonas", Name: "Jonas Friis"}, "The patient called again and wants to keep it."
	back := cardOf(moving(proposal.StateWithdrawn))
	back.Record.DecidedBy = &clinic.Ref{ID: "bot", Name: "Booking bot"}
	return []namedCard{
		{"completed", done}, {"completed-fragment", part}, {"completed-not-sent", unsent},
		{"completed-book", cardOf(record(bookPlan(), hashA, proposal.StateCompleted))}, {"completed-cancel", cardOf(record(cancelPlan(), hashA, proposal.StateCompleted))},
		{"failed", failed}, {"rejected", rejected}, {"withdrawn", back}, {"expired", cardOf(moving(proposal.StateExpired))},
	}
}

// outsideCards are a confirmed change on its way into the EHR, and its ends there.
func outsideCards() []namedCard {
	on := func(o views.Outside) views.CardPage {
		p := cardOf(moving(proposal.StateExecuting))
		p.Record.Plan.Steps = []proposal.Step{{Op: proposal.OpMove, EHR: &proposal.EHRStep{Kind: ehr.Move}}}
		p.Outside = o
		return p
	}
	refused := func(code string) views.CardPage {
		p := on(views.Outside{})
		p.Record.State, p.Record.Outcome, p.Failure = proposal.StateFailed, proposal.OutcomeFailed, code
		return p
	}
	taken := refused("slot_taken")
	taken.Options = []views.Slot{start(at(27, 14, 45)), start(at(28, 9, 0))}
	return []namedCard{
		{"executing", on(views.Outside{State: ehr.Ready})},
		{"executing-not-reached", on(views.Outside{State: ehr.Ready, Code: "ehr_not_reached", Attempts: 2, SendUntil: at(21, 12, 12)})},
		{"executing-unknown", on(views.Outside{State: ehr.Unknown, Attempts: 1})},
		{"executing-two-bookings", on(views.Outside{State: ehr.Unknown, TwoBookings: true, Attempts: 2})},
		{"executing-manual", on(views.Outside{State: ehr.Manual, Operation: "op_1", MayResolve: true})},
		{"failed-taken-in-the-ehr", taken}, {"failed-changed-in-the-ehr", refused("resource_changed")},
	}
}
