package handlers

import (
	"cmp"
	"slices"
	"strings"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/outbox"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
	"countersign/views"
)

// timeline is what became of a proposal, the first first: its revisions, what the trail holds of decisions and
// refusals, and its messages. The front desk sees other people's decisions, but only its own refusals (contract
// section 7).
func timeline(by clinic.Actor, r proposal.Record, revisions []db.RevisionRow, trail []db.AuditRow, sent []views.MessageState) []views.Entry {
	var out []views.Entry
	for _, v := range revisions {
		e := views.Entry{At: v.At, Title: "Edited", By: v.By.Name, Revision: v.Revision, Hash: v.PlanHash}
		if v.Revision == 1 {
			e.Title, e.By = "Proposed", v.By.Name
			if r.CreatedBy.OnBehalfOf != nil {
				e.By = onBehalf(v.By.Name, r.CreatedBy.OnBehalfOf.Name)
			}
		}
		out = append(out, e)
	}
	decided, expired := false, false
	for _, a := range trail {
		if a.Outcome == audit.Denied && by.Role == clinic.RoleStaff && a.Actor.ID != by.Person && a.OnBehalfOf.ID != by.Person {
			continue
		}
		e, ok := trailEntry(r, a)
		if ok {
			out = append(out, e)
		}
		decided = decided || a.Outcome != audit.Denied && (a.Action == audit.Confirm || a.Action == audit.Reject || a.Action == audit.Withdraw)
		expired = expired || a.Action == audit.Expire
	}
	if r.DecidedBy != nil && r.DecidedAt != nil && !decided { // decided before there was a trail
		out = append(out, views.Entry{At: *r.DecidedAt, Title: views.StateWord(r.State), By: r.DecidedBy.Name, Revision: r.Revision, Hash: r.PlanHash, Mark: views.MarkSign})
	}
	if r.State == proposal.StateExpired && !expired {
		out = append(out, views.Entry{At: r.ExpiresAt, Title: "Expired", Text: "Nobody decided in time. Nothing was executed.", Mark: views.MarkStop})
	}
	for _, m := range sent {
		switch {
		case views.WentOut(m.State):
			out = append(out, views.Entry{At: m.At, Title: "Sent as " + views.ChannelWord(m.Channel), Hash: m.PlanHash, Mark: views.MarkDone})
		case m.State == outbox.Unknown:
			out = append(out, views.Entry{At: m.At, Title: "May have been sent as " + views.ChannelWord(m.Channel), Hash: m.PlanHash, Mark: views.MarkStop})
		case views.NotTold(m.State):
			out = append(out, views.Entry{At: m.At, Title: "Could not be sent as " + views.ChannelWord(m.Channel), Hash: m.PlanHash, Mark: views.MarkStop})
		case m.State == outbox.Suppressed, m.State == outbox.Expired:
			out = append(out, views.Entry{At: m.At, Title: "Not sent as " + views.ChannelWord(m.Channel) + ": " + strings.ToLower(views.OutboxWord(m.State)), Hash: m.PlanHash, Mark: views.MarkStop})
		}
	}
	slices.SortStableFunc(out, func(a, b views.Entry) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(doneLast(a), doneLast(b)))
	})
	return out
}

// doneLast puts a decision before what it did at the same instant.
func doneLast(e views.Entry) int {
	if e.Mark == views.MarkDone {
		return 1
	}
	return 0
}

// trailEntry is one row of the trail as a line; ok is false for what the revisions say already.
func trailEntry(r proposal.Record, a db.AuditRow) (e views.Entry, ok bool) {
	e = views.Entry{At: a.At, By: a.Actor.Name, Revision: a.Revision, Hash: a.PlanHash, Mark: views.MarkSign}
	if a.OnBehalfOf.ID != "" {
		e.By = onBehalf(a.Actor.Name, a.OnBehalfOf.Name)
	}
	if a.Outcome == audit.Denied {
		e.Title, e.Mark, e.Text = deniedTitle(a.Action), views.MarkStop, cmp.Or(answers[a.Code].title, a.Code)+"."
		return e, true
	}
	if r.Plan.IsBulk() && a.Object != r.ID {
		return e, false // the card has a line for each visit
	}
	switch a.Action {
	case audit.Propose, audit.Revise:
		return e, false
	case audit.Approve:
		e.Title, e.Text = "Approved", "More than one person must."
	case audit.ChangePolicy:
		e.Title, e.Mark = "Policy changed", views.MarkDone
	case audit.Confirm:
		e.Title = "Confirmed"
		if a.Outcome == audit.Failed {
			e.Mark, e.Text = views.MarkStop, "It could not run: "+strings.ToLower(answers[a.Code].title)+". Nothing was changed."
		}
	case audit.Reject, audit.Withdraw:
		e.Title, e.Mark = "Rejected", views.MarkStop
		if a.Action == audit.Withdraw {
			e.Title = "Taken back"
		}
		if a.Code == refusal.ProposalExpired {
			e.Title, e.Text = "Said no", "After the deadline."
		} else if r.DecidedNote != "" {
			e.Text, e.Quote = r.DecidedNote, true
		}
	case audit.ClaimProposal, audit.ReleaseProposal, audit.DelegateProposal, audit.EscalateProposal, audit.CommentProposal:
		e.Title, e.Mark = besideTitle(a.Action), views.MarkPlain
		if a.ActorKind == clinic.KindSystem {
			e.By = "the system: a quarter of the time was left"
		}
	case audit.Expire:
		e.Title, e.Mark, e.By, e.Text = "Expired", views.MarkStop, "", "Nobody decided in time. Nothing was executed."
	case audit.MoveAppointment, audit.BookAppointment, audit.CancelAppointment, audit.RegisterPatient, audit.UpdateContact, audit.SendMessage:
		e.Title, e.Mark = executedTitle(a.Action), views.MarkDone
		if a.Outcome == audit.Failed {
			e.Title, e.Mark, e.Text = "Not carried out", views.MarkStop, proposal.OutsideWords(a.Code)
		}
	case audit.FinishBulk:
		e.Title, e.Mark, e.By = "Carried out", views.MarkDone, ""
		if a.Outcome == audit.Partial {
			e.Title = "Carried out in part"
		} else if a.Outcome == audit.Failed {
			e.Title, e.Mark = "Nothing could be carried out", views.MarkStop
		}
	case audit.StopBulk:
		e.Title, e.Mark = "Stopped", views.MarkStop
	case audit.ReceiveReceipt:
		e.Title, e.By = "The SMS gateway said: "+a.Code, ""
		if a.Code == "failed" || a.Code == "undelivered" {
			e.Mark = views.MarkStop
		}
	default:
		if o, ok := outsideEntry(a, e); ok {
			return o, true
		}
		e.Title = strings.ReplaceAll(a.Action, ".", " ")
	}
	return e, true
}

func onBehalf(agent, person string) string { return "Agent " + agent + " on behalf of " + person }

func deniedTitle(action string) string {
	switch action {
	case audit.Confirm:
		return "Confirm refused"
	case audit.Reject, audit.Withdraw:
		return "Reject refused"
	case audit.Revise:
		return "Edit refused"
	case audit.PlanTampered:
		return "Stopped: the stored plan was not what was approved"
	}
	return "Refused"
}

func executedTitle(action string) string {
	switch action {
	case audit.MoveAppointment:
		return "Moved"
	case audit.BookAppointment:
		return "Booked"
	case audit.RegisterPatient:
		return "Registered"
	case audit.UpdateContact:
		return "Contact details changed"
	case audit.SendMessage:
		return "Message put in the outbox"
	}
	return "Cancelled"
}

// besideTitle names what people do beside a proposal without deciding it.
func besideTitle(action string) string {
	switch action {
	case audit.ClaimProposal:
		return "Taken on"
	case audit.ReleaseProposal:
		return "Given back"
	case audit.DelegateProposal:
		return "Handed over"
	case audit.EscalateProposal:
		return "Escalated"
	}
	return "Commented"
}
