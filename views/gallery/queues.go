package gallery

import (
	"fmt"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/views"
)

func nothing() views.Shell {
	s := reviewer(views.NavQueue)
	s.Waiting = 0
	return s
}

// queueRecord is a row: a move of somebody to a time, unless change makes another of it.
func queueRecord(n int, risk string, who views.Person, start time.Time, minutes int, change func(*proposal.Record)) proposal.Record {
	p := movePlan(1, start, changeText)
	p.Before, p.After = factsAt(who, holm, h12, at(22, 10, 30), copenhagen, 30), factsAt(who, okafor, h12, start, copenhagen, 30)
	r := record(p, hashA, proposal.StateProposed)
	r.ID, r.Risk, r.ExpiresAt, r.Reason = fmt.Sprint(2226+n), risk, now.Add(time.Duration(minutes)*time.Minute), nil
	if change != nil {
		change(&r)
	}
	return r
}

func queue() views.QueuePage {
	choice := func(value, label string) []views.Option { return []views.Option{{Value: value, Label: label}} }
	p := views.QueuePage{Shell: reviewer(views.NavQueue), View: views.QueueMine, Viewer: "jonas", More: "/queue?cursor=c2", Here: "/queue", Count: 19, Escalated: 1, Failed: 1,
		Filters: views.QueueFilters{View: []views.Option{{Value: views.QueueMine, Label: "What waits for me", Selected: true}, {Value: views.QueueAll, Label: "All that waits"}},
			Risk:   []views.Option{{Value: "low", Label: "Low"}, {Value: "medium", Label: "Medium"}, {Value: "high", Label: "High"}, {Value: "critical", Label: "Critical"}},
			Action: choice(views.ActionMove, "Move"), Asker: choice("ida", "Ida Skov"), Kind: choice("agent", "An agent"), Practitioner: choice("holm", "Dr Anna Holm"),
			Location: choice("h12", "Havnegade 12"), Age: choice("5", "More than 5 min ago"), Claimed: choice("none", "Nobody")}}
	p.Told = []views.Told{{Proposal: "2219", Action: views.ActionMove, State: proposal.StateCompleted, Patient: "Maria Jensen", By: "Ben Holt", At: now.Add(-4 * time.Minute)},
		{Proposal: "2218", Action: views.ActionCancel, State: proposal.StateExpired, Patient: longest.Name, At: now.Add(-14 * time.Minute)}}
	add := func(r proposal.Record, change func(*views.QueueItem)) {
		q := views.QueueItem{Record: r}
		if change != nil {
			change(&q)
		}
		p.Items = append(p.Items, q)
	}
	agent := func(r *proposal.Record) {
		r.CreatedBy = proposal.Creator{ID: "bot", Name: "Booking bot", Kind: "agent", OnBehalfOf: &clinic.Ref{ID: "ida", Name: "Ida Skov"}}
		r.Reason = ptr("Mr Groß has no ride today. Friday, first thing, same doctor.")
	}
	add(queueRecord(0, proposal.High, soren, at(23, 9, 0), 3, agent), func(q *views.QueueItem) {
		q.Escalated, q.Rivals, q.Comments = true, 1, 2
		q.ClaimedBy, q.ClaimedUntil = clinic.Ref{ID: "ben", Name: "Ben Holt"}, now.Add(8*time.Minute)
	})
	cancel := record(cancelPlan(), hashA, proposal.StateProposed)
	cancel.ExpiresAt = now.Add(4 * time.Minute)
	add(cancel, nil)
	bulk := queueRecord(2, proposal.Critical, soren, at(29, 8, 0), 5, func(r *proposal.Record) {
		r.Action, r.Plan.Before, r.Plan.After = "bulk_change@1", nil, nil
		r.Summary = proposal.Summary{Title: "24 visits of Dr Signe Thorsen"}
		r.Approvals = proposal.Approvals{Needed: 2, Given: []clinic.Ref{{ID: "ben", Name: "Ben Holt"}}}
	})
	add(bulk, nil)
	add(queueRecord(3, proposal.Medium, named("p2", "Kirsten Damgaard"), at(21, 14, 30), 6, func(r *proposal.Record) { r.Stale, r.Changed = true, moved() }), func(q *views.QueueItem) { q.Rivals = 1 })
	book := record(bookPlan(), hashA, proposal.StateProposed)
	book.ExpiresAt = now.Add(9 * time.Minute)
	add(book, func(q *views.QueueItem) {
		q.ClaimedBy, q.ClaimedUntil = clinic.Ref{ID: "jonas", Name: "Jonas Friis"}, now.Add(9*time.Minute)
	})
	add(queueRecord(5, proposal.Low, longest, wall(copenhagen, 2026, 11, 3, 9, 0), 12, nil), nil)
	add(queueRecord(6, proposal.Medium, maria91, at(27, 14, 45), 14, func(r *proposal.Record) { r.Revision = 2 }), nil)
	add(queueRecord(7, proposal.High, anna1, at(23, 9, 30), 60*15, nil), func(q *views.QueueItem) { q.Confirm = views.Permission{Code: "self_approval_forbidden"} })
	return p
}

func queueEnded(view string) views.QueuePage {
	p := queue()
	p.View, p.Items, p.Filters.View = view, nil, []views.Option{{Value: view, Label: "Decided", Selected: true}}
	add := func(state string, took time.Duration, failed int) {
		r := queueRecord(len(p.Ended), proposal.Medium, maria91, at(27, 14, 15), 4, nil)
		r.State = state
		r.DecidedBy, r.DecidedAt = &clinic.Ref{ID: "ben", Name: "Ben Holt"}, ptr(now.Add(-time.Minute))
		if state == proposal.StateExpired {
			r.DecidedBy, r.DecidedAt = nil, nil
		}
		p.Ended = append(p.Ended, views.EndedItem{Record: r, EndedAt: now.Add(-time.Minute), Took: took, Failed: failed})
	}
	add(proposal.StateCompleted, 2100*time.Millisecond, 1)
	if view == views.QueueDecided {
		add(proposal.StateRejected, 3*time.Minute, 0)
		add(proposal.StateExpired, -1, 0)
		add(proposal.StateFailed, 40*time.Second, 0)
	}
	return p
}

func keysOff(p views.QueuePage) views.QueuePage {
	p.KeysOff = true
	return p
}
