package gallery

import (
	"fmt"
	"time"

	"countersign/internal/refusal"
	"countersign/views"
)

func lists() []Item {
	outbox := views.OutboxPage{Shell: shell(views.NavOutbox), Messages: mails(), Older: "c1"}
	outbox.NotTold = 5
	demo := outbox
	one := outbox
	one.NotTold = 1
	demo.Demo = true
	failing := demo
	failing.Failing, failing.State = true, "failed"
	admin := shell(views.NavAudit)
	admin.Person, admin.Role = "Tove Madsen", "admin"
	agents := agentsPage(admin)
	refused := agents
	refused.Agent, refused.Minutes, refused.Refusal = "t2", "90", views.Refusal{Status: 422, Code: "validation_failed", Title: "Some fields need another look", Words: "Some of what was filled in cannot be used. Nothing was done.",
		Fields: []refusal.Field{{Name: "reason", Message: "Say why; it stays on record."}, {Name: "minutes", Message: "A whole number from 1 to 60."}}}
	none := views.AgentsPage{Shell: agents.Shell}
	return []Item{
		{Name: "policy", Component: views.Policy(policyPage(admin, true))},
		{Name: "policy-read", Component: views.Policy(policyPage(reviewer(""), false))},
		{Name: "policy-refused", Component: views.Policy(policyRefused(admin))},
		{Name: "agents", Component: views.Agents(agents)},
		{Name: "agents-refused", Component: views.Agents(refused)},
		{Name: "agents-none", Component: views.Agents(none)},
		{Name: "queue", Component: views.Queue(queue())},
		{Name: "queue-keys-off", Component: views.Queue(keysOff(queue()))},
		{Name: "queue-decided", Component: views.Queue(queueEnded(views.QueueDecided))},
		{Name: "queue-failed", Component: views.Queue(queueEnded(views.QueueFailed))},
		{Name: "queue-empty", Component: views.Queue(views.QueuePage{Shell: nothing(), View: views.QueueMine, Here: "/queue", Filters: queue().Filters})},
		{Name: "outbox", Component: views.Outbox(outbox)},
		{Name: "outbox-one-not-told", Component: views.Outbox(one)},
		{Name: "outbox-demo", Component: views.Outbox(demo)},
		{Name: "outbox-demo-failing", Component: views.Outbox(failing)},
		{Name: "outbox-empty", Component: views.Outbox(views.OutboxPage{Shell: shell(views.NavOutbox)})},
		{Name: "audit", Component: views.Audit(views.AuditPage{Shell: admin, Rows: trail(), MayProve: true, Key: "countersign+00000000+key", OlderURL: "/audit?cursor=c1", Action: []views.Option{{Value: "proposal_confirmed", Label: "Confirmed"}}, Outcome: []views.Option{{Value: "denied", Label: "Denied"}}, Actor: []views.Option{{Value: "ida", Label: "Ida Skov"}}})},
		{Name: "audit-own-none", Component: views.Audit(views.AuditPage{Shell: shell(views.NavAudit), Own: true, Proposal: "2231", Filtered: true})},
	}
}

func mails() []views.OutboxMessage {
	sms := views.OutboxMessage{ID: "m1", Kind: "change", Channel: "sms", Recipient: "+45 00 20 08 71", Text: changeText, State: "sent", Attempts: 1, CreatedAt: now.Add(-10 * time.Minute), SentAt: now.Add(-9 * time.Minute), Proposal: "2231", Revision: 2, PlanHash: hashB, Appointment: "a1"}
	mail := sms
	mail.ID, mail.Channel, mail.Recipient, mail.Subject, mail.State, mail.SentAt, mail.Attempts, mail.Code, mail.MayRetry = "m2", "email", "maria.jensen.84@example.test", "Your appointment on Tuesday 27 October 2026", "failed", time.Time{}, 5, "timeout", true
	wait := sms
	wait.ID, wait.State, wait.SentAt, wait.Attempts, wait.Kind, wait.SendAt, wait.Text = "m3", "queued", time.Time{}, 0, "reminder", at(26, 14, 15), "Reminder: Tuesday 27 October 2026 at 2:15pm (Copenhagen time) with Dr Ben Okafor at Havnegade 12."
	over := sms
	over.ID, over.State, over.SentAt, over.Attempts = "m4", "superseded", time.Time{}, 0
	retry := sms
	retry.ID, retry.State, retry.SentAt, retry.Attempts, retry.Code, retry.NextAt = "m5", "queued", time.Time{}, 2, "gateway_refused", now.Add(2*time.Minute)
	all := []views.OutboxMessage{mail, retry, wait, sms, over}
	for i, s := range []struct {
		state, code          string
		attempts, unanswered int
		retry                bool
	}{
		{"queued", "no_sender", 0, 0, false}, {"queued", "quiet_hours", 0, 0, false}, {"sending", "", 1, 0, false}, {"delivered", "", 1, 0, false}, {"undelivered", "no_such_number", 1, 0, false},
		{"dead", "not_reachable", 8, 0, true}, {"dead", "plan_mismatch", 0, 0, false}, {"unknown", "no_answer", 1, 1, true}, {"superseded", "visit_changed", 1, 1, false},
		{"suppressed", "no_consent", 0, 0, false}, {"expired", "too_late", 3, 0, false},
	} {
		m := sms
		m.ID, m.State, m.Code, m.Attempts, m.Unanswered, m.MayRetry, m.NextAt = fmt.Sprint("m", 6+i), s.state, s.code, s.attempts, s.unanswered, s.retry, at(27, 8, 0)
		if !views.WentOut(s.state) && s.state != "undelivered" {
			m.SentAt = time.Time{}
		}
		all = append(all, m)
	}
	return all
}

func trail() []views.AuditRow {
	base := views.AuditRow{At: now, Who: "Ida Skov", Kind: "user", Via: "page", Outcome: "success", ObjectKind: "proposal", Object: "2231", Proposal: "2231", Revision: 2, PlanHash: hashB}
	rows := []views.AuditRow{}
	add := func(action, outcome, code string, change func(*views.AuditRow)) {
		r := base
		r.ID, r.Action, r.Outcome, r.Code, r.At = fmt.Sprint(18219-len(rows)), action, outcome, code, now.Add(-time.Duration(len(rows))*71*time.Second)
		if change != nil {
			change(&r)
		}
		rows = append(rows, r)
	}
	add("message_sent", "success", "", func(r *views.AuditRow) { r.Kind, r.Via, r.ObjectKind, r.Object = "system", "worker", "message", "m1" })
	add("appointment_moved", "success", "", func(r *views.AuditRow) { r.ObjectKind, r.Object, r.Version = "appointment", "a1", 5 })
	add("proposal_confirmed", "success", "", nil)
	add("proposal_confirmed", "denied", "resource_changed", func(r *views.AuditRow) { r.Revision, r.PlanHash = 1, hashA })
	add("proposal_revised", "success", "", nil)
	add("proposal_proposed", "success", "", func(r *views.AuditRow) {
		r.Who, r.OnBehalfOf, r.Kind, r.Via = "Booking bot", "Ida Skov", "agent", "api"
	})
	add("signed_in", "success", "", func(r *views.AuditRow) {
		r.ObjectKind, r.Object, r.Proposal, r.PlanHash, r.Revision = "", "", "", "", 0
	})
	return rows
}

func errors() []Item {
	page := func(status int, code, title, words, next string) views.ErrorPage {
		return views.ErrorPage{Shell: shell(""), Refusal: views.Refusal{Status: status, Code: code, Title: title, Words: words, Next: next}}
	}
	missing := page(404, "not_found", "Not found", "There is no such page, or it belongs to another clinic.", "Look for the patient or the day instead.")
	busy := page(503, "busy", "Too much at once", "The server is busy. Nothing was executed.", "Press again in a moment; the same press is safe.")
	busy.RetryAfter = 5
	part := page(500, "internal", "Something went wrong here", "Your press was not executed.", "Load the page again and look before you press once more.")
	part.Shell = fragment(part.Shell)
	out := views.ErrorPage{Refusal: views.Refusal{Status: 401, Code: "unauthenticated", Title: "You are signed out", Words: "Nothing was executed.", Next: "Sign in again; what you typed is kept."}, Links: []views.Link{{Href: "/signin", Text: "Sign in"}}}
	return []Item{
		{Name: "error-404", Component: views.Error(missing)},
		{Name: "error-busy", Component: views.Error(busy)},
		{Name: "error-signed-out", Component: views.Error(out)},
		{Name: "error-cross-origin", Refused: true, Component: views.Error(page(403, "cross_origin", "This came from another site", "Another site tried to press a button here for you. Nothing was executed.", "Close the other site."))},
		{Name: "error-fragment", Component: inPage(views.Error(part))},
	}
}

func agentsPage(admin views.Shell) views.AgentsPage {
	admin.Nav = views.NavAgents
	runs := views.BypassItem{ID: "byp_1", Agent: "Booking bot", By: "Tove Madsen", Reason: "Dr Thorsen is ill: her visits of the week are moved.", Most: 50, Used: 12, GrantedAt: now.Add(-9 * time.Minute), EndsAt: now.Add(21 * time.Minute), Running: true}
	over, ended, spent := runs, runs, runs
	over.ID, over.Running, over.GrantedAt, over.EndsAt = "byp_2", false, now.Add(-50*time.Hour), now.Add(-49*time.Hour)
	ended.ID, ended.Running, ended.EndedAt, ended.EndedBy = "byp_3", false, now.Add(-5*time.Minute), "Tove Madsen"
	spent.ID, spent.Running, spent.Used = "byp_4", false, 50
	return views.AgentsPage{Shell: admin, Limit: 30, Window: 10 * time.Minute, Minutes: "15", Most: "50", MostMinutes: 60, MostMost: 200,
		Agents: []views.AgentItem{{ID: "t1", Name: "Booking bot", Owner: "Ida Skov", Made: 42, Waiting: 31, Bypass: &runs}, {ID: "t2", Name: "Recall list of the summer, made by the county", Owner: "Emil Brandt"}}, Bypasses: []views.BypassItem{runs, ended, spent, over}}
}
