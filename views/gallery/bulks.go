package gallery

import (
	"encoding/json"
	"fmt"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
	"countersign/views"
)

// bulkPlan moves n visits of one practitioner who is away, and cancels every sixth.
func bulkPlan(n int) proposal.Plan {
	p := movePlan(1, at(27, 8, 0), "")
	p.Action, p.Proposal, p.Risk, p.RiskReasons, p.Messages, p.Steps = views.ActionBulk, "2260", proposal.High, []string{fmt.Sprintf("%d visits at once (5 or more)", n)}, nil, nil
	if n >= 20 {
		p.Risk, p.RiskReasons = proposal.Critical, []string{fmt.Sprintf("%d visits at once (20 or more)", n)}
	}
	p.Before, p.After = &proposal.Facts{}, &proposal.Facts{}
	who := []views.Person{maria91, aoife, soren, longest}
	for i := range n {
		was := factsAt(who[i%len(who)], holm, h12, at(22, 8, 0).Add(time.Duration(i)*30*time.Minute), copenhagen, 30)
		was.Appointment = fmt.Sprintf("b%d", i)
		is := *was
		if i%6 == 5 {
			is.Status = "cancelled"
			p.Steps = append(p.Steps, proposal.Step{Op: proposal.OpCancel, Appointment: ptr(was.Appointment), ReasonCode: ptr("practitioner_unavailable")})
			p.RiskReasons = append(p.RiskReasons, fmt.Sprintf("%d. A cancellation", i+1))
		} else {
			is = *factsAt(who[i%len(who)], okafor, h12, at(26, 8, 0).Add(time.Duration(i)*30*time.Minute), copenhagen, 30)
			is.Appointment = was.Appointment
			p.Steps = append(p.Steps, proposal.Step{Op: proposal.OpMove, Appointment: ptr(was.Appointment)})
			p.RiskReasons = append(p.RiskReasons, fmt.Sprintf("%d. Other practitioner: Dr Anna Holm to Dr Ben Okafor", i+1))
		}
		if i%4 == 1 {
			was.Patient.Unreachable = ptr("no_address")
		} else {
			p.Messages = append(p.Messages, proposal.Message{Kind: "change", Channel: "sms", Recipient: "+45 00 20 08 71", Text: changeText})
			p.Steps = append(p.Steps, proposal.Step{Op: proposal.OpSend, Message: ptr(len(p.Messages) - 1)})
		}
		is.Patient.Unreachable = was.Patient.Unreachable
		p.Before.Items, p.After.Items = append(p.Before.Items, *was), append(p.After.Items, is)
	}
	p.Resources = []proposal.Pin{{Kind: proposal.PinAppointment, ID: "b1", Version: 3}}
	return p
}

func bulkCard(n int, state string, results ...string) views.CardPage {
	p := cardOf(record(bulkPlan(n), hashA, state))
	p.Shell, p.Viewer = reviewer(""), "jonas"
	p.Record.Summary.Title = fmt.Sprintf("Change %d visits of Dr Anna Holm", n)
	var items []proposal.ItemResult
	for i := range n {
		it := proposal.ItemResult{Item: i + 1, Appointment: fmt.Sprintf("b%d", i), State: results[i%max(1, len(results))]}
		switch it.State {
		case proposal.ItemFailed:
			it.Code, it.Message = ptr(refusal.ResourceChanged), ptr("Changed since this was proposed: The visit itself. This visit was not changed.")
		case proposal.ItemStopped:
			it.Message = ptr("Stopped before it began. This visit was not changed.")
		}
		items = append(items, it)
	}
	if state != proposal.StateProposed {
		p.Record.Result, _ = json.Marshal(map[string]any{"items": items})
	}
	return p
}

func bulks() []Item {
	waits := bulkCard(24, proposal.StateProposed, "waiting")
	moved := bulkCard(14, proposal.StateProposed, "waiting")
	moved.Record.Stale, moved.Record.Changed = true, []proposal.Change{{Kind: proposal.PinAppointment, ID: "b1", Expected: 3, Current: 4, Label: "The visit itself"}}
	runs := bulkCard(14, proposal.StateExecuting, "completed", "completed", "failed", "waiting")
	partial := bulkCard(14, proposal.StatePartial, "completed", "completed", "completed", "failed", "completed", "completed", "completed", "stopped")
	partial.Freed = views.Freed{Count: 3, Href: "/waiting-list?freed=2260"}
	visit := func(i int, who views.Person) clinic.Visit {
		return clinic.Visit{ID: fmt.Sprintf("b%d", i), Status: "cancelled", ReasonCode: "practitioner_unavailable", StartsAt: at(22, 8+i, 0), EndsAt: at(22, 8+i, 30),
			Patient: clinic.Patient{ID: who.ID, Family: "Jensen", Given: "Maria", BirthDate: who.BirthDate, MRN: who.MRN}, Practitioner: clinic.Practitioner{ID: "holm", Name: "Dr Anna Holm"},
			Location: clinic.Location{ID: "h12", Name: "Havnegade 12", Zone: copenhagen}, Type: clinic.Type{ID: "std", Name: "Standard", Minutes: 30}}
	}
	choices := []views.BulkChoice{
		{Visit: visit(0, maria91), Options: []views.Option{{Value: "a", Label: "Thu 22 Oct 2026, 09:15, Dr Ben Okafor"}, {Value: views.ChoiceCancel, Label: "Cancel the visit"}, {Value: views.ChoiceKeep, Label: "Leave it as it is"}}},
		{Visit: visit(1, aoife), Options: []views.Option{{Value: views.ChoiceCancel, Label: "Cancel the visit"}, {Value: views.ChoiceKeep, Label: "Leave it as it is"}}, Wrong: "Line 1 takes part of this time already."},
	}
	doctors := []views.Option{{Value: "holm", Label: "Dr Anna Holm"}, {Value: "okafor", Label: "Dr Ben Okafor"}}
	why := []views.Option{{Value: "sickness", Label: "Sickness"}, {Value: "holiday", Label: "Holiday"}}
	form := views.LeaveFormPage{Shell: shell(views.NavLeave), Practitioners: doctors, Reasons: why, Practitioner: "holm", From: "2026-10-22", To: "2026-10-23", Reason: "sickness",
		Name: "Dr Anna Holm", Asked: true, Choices: choices, Notify: true, IdempotencyKey: "k"}
	wrong := form
	wrong.Asked, wrong.To = false, ""
	wrong.Refusal = views.Refusal{Status: 422, Code: refusal.ValidationFailed, Title: "Some fields need another look", Words: "Nothing was done.", Fields: []refusal.Field{{Name: "to", Message: "Give a day that exists."}}}
	booked := visit(3, maria91)
	wait := views.WaitingLine{ID: "w1", Patient: maria91, Type: "Standard", Earliest: "2026-10-22", Latest: "2026-10-30", Note: "Comes by bike, mornings are best", By: "Ida Skov", At: at(20, 9, 0),
		Appointment: "b3", Free: at(23, 9, 15), FreeWith: "Dr Ben Okafor, Havnegade 12", Zone: copenhagen, Propose: "/proposals/new"}
	none := views.WaitingLine{ID: "w2", Patient: longest, Type: "Standard", Practitioner: "Dr Anna Holm", Location: "Havnegade 12", By: "Ida Skov", At: at(20, 10, 0)}
	return []Item{
		{Name: "bulk-proposed", Component: views.Card(waits)},
		{Name: "bulk-some-moved", Component: views.Card(moved)},
		{Name: "bulk-executing", Component: views.Card(runs)},
		{Name: "bulk-partial", Component: views.Card(partial)},
		{Name: "bulk-failed", Component: views.Card(bulkCard(2, proposal.StateFailed, "stopped"))},
		{Name: "bulk-edit", Component: views.BulkForm(views.BulkFormPage{Shell: shell(""), Title: "Change 2 visits of Dr Anna Holm", Proposal: "2260", Revision: 1, PlanHash: hashA, Choices: choices, Reasons: views.ReasonCodes(), Notify: true})},
		{Name: "leave", Component: views.Leave(views.LeavePage{Shell: shell(views.NavLeave), MayEnter: true, Practitioners: doctors, Freed: views.Freed{Count: 1, Href: "/waiting-list"}, Rows: []views.LeaveLine{
			{ID: "l1", Name: "Dr Anna Holm", Days: "22-Oct-2026 to 23-Oct-2026", Reason: "sickness", By: "Ida Skov"}, {ID: "l2", Name: "Dr Ben Okafor", Days: "30-Oct-2026", Hours: "09:00–12:00"}}})},
		{Name: "leave-none", Component: views.Leave(views.LeavePage{Shell: shell(views.NavLeave), Practitioners: doctors})},
		{Name: "leave-new", Component: views.LeaveForm(form)},
		{Name: "leave-new-wrong", Component: views.LeaveForm(wrong)},
		{Name: "waiting-list", Component: views.WaitingList(views.WaitingPage{Shell: shell(views.NavWaiting), MayAct: true, Rows: []views.WaitingLine{wait, none}})},
		{Name: "waiting-list-none", Component: views.WaitingList(views.WaitingPage{Shell: shell(views.NavWaiting), FreedBy: "2260"})},
		{Name: "waiting-new", Component: views.WaitingForm(views.WaitingFormPage{Shell: shell(views.NavWaiting), Patient: maria91, Booked: &booked, Appointment: "b3", Types: []views.Option{{Value: "std", Label: "Standard"}}, Type: "std", Practitioners: doctors})},
		{Name: "rebooking", Component: views.Rebooking(views.RebookingPage{Shell: shell(views.NavRebooking), MayAct: true, Older: "c1", ToCancel: []clinic.Visit{visit(3, maria91)}, Rows: []views.RebookingLine{{Visit: visit(0, maria91), At: at(21, 9, 0), By: "Ida Skov", Late: true}, {Visit: visit(2, maria91), At: at(20, 9, 0), By: "Ida Skov"}}})},
		{Name: "rebooking-none", Component: views.Rebooking(views.RebookingPage{Shell: shell(views.NavRebooking)})},
	}
}
