package gallery

import (
	"time"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
	"countersign/views"
)

// operations are the reconciliation desk, and one operation in each state that a person meets.
func operations() []Item {
	desk := func() views.Shell {
		s := reviewer(views.NavOperations)
		s.EHR, s.Manual = true, 3
		return s
	}
	staff := shell(views.NavOperations)
	staff.EHR = true
	rows := operationRows()
	list := views.OperationsPage{Shell: desk(), MayOpen: true, Rows: rows, Late: 1, Older: "1-c1"}
	down := list
	down.Rows, down.Older, down.Late = rows[2:], "", 0
	down.Lane = views.EHRLane{Since: at(21, 10, 32), Until: at(21, 11, 20), Code: "no_answer"}
	down.Drift = []views.DriftLine{{Kind: "Appointment", Code: "no_such_patient", Count: 7, IDs: []string{"4411", "4412", "4419", "4420", "4433"}}, {Kind: "Patient", Code: "another_mrn", Count: 1, IDs: []string{"88"}}}
	read := list
	read.Shell, read.MayOpen, read.Older = staff, false, ""
	return []Item{
		{Name: "operations", Component: views.Operations(list)},
		{Name: "operations-lane-down", Component: views.Operations(down)},
		{Name: "operations-staff", Component: views.Operations(read)},
		{Name: "operations-none", Component: views.Operations(views.OperationsPage{Shell: desk(), MayOpen: true})},
		{Name: "operation-two-matches", Component: views.Operation(operationOf(desk(), rows[0], looked("none", 0, ""), looked("several", 2, "")))},
		{Name: "operation-different", Component: views.Operation(operationOf(desk(), rows[1], lookedAt("different", "start,end", "8873")))},
		{Name: "operation-wrong-patient", Component: views.Operation(operationOf(desk(), wrongPatient(rows[0]), lookedAt("wrong_patient", "", "8874")))},
		{Name: "operation-unknown", Component: views.Operation(operationOf(desk(), rows[2], failedLook(), looked("none", 0, "")))},
		{Name: "operation-two-bookings", Component: views.Operation(twoBookings(desk(), rows[3]))},
		{Name: "operation-said", Component: views.Operation(operationSaid(desk(), rows[2]))},
		{Name: "operation-refused", Component: views.Operation(operationRefused(desk(), rows[2]))},
		{Name: "operation-over", Component: views.Operation(operationOver(desk(), rows[2]))},
	}
}

// operationRows are a late one, one that a person must look at, one that nobody knows, two bookings, one in work and one
// that waits to be sent.
func operationRows() []views.OperationLine {
	move := movePlan(2, at(27, 14, 15), changeText)
	line := views.OperationLine{ID: "op_6k2v", Proposal: "2231", Kind: "move", State: "manual", Phase: "write", Code: "several", Was: move.Before, Wanted: move.After, At: at(20, 10, 58), By: "Ida Skov",
		NextAt: now, Attempts: 2, Looks: 9, Late: true}
	different := line
	different.ID, different.Code, different.At, different.Late, different.Looks, different.Attempts = "op_7c3w", "different", at(21, 9, 40), false, 1, 1
	unknown := different
	unknown.ID, unknown.State, unknown.Code, unknown.NextAt, unknown.Looks, unknown.Was, unknown.Kind = "op_8d4x", "unknown", "no_answer", now.Add(40*time.Second), 2, nil, "book"
	two := different
	two.ID, two.State, two.Phase, two.Code, two.NextAt, two.AskedBy = "op_9e5y", "unknown", "cancel_old", "no_answer", now.Add(time.Minute), "Jonas Friis"
	pending := different
	pending.ID, pending.State, pending.Code, pending.NextAt, pending.Item = "op_1f6z", "pending", "", now.Add(2*time.Minute), 4
	ready := different
	ready.ID, ready.State, ready.Code, ready.NextAt, ready.Attempts, ready.Looks = "op_2g7a", "ready", "ehr_not_reached", now.Add(90*time.Second), 1, 0
	return []views.OperationLine{line, different, unknown, two, pending, ready}
}

func wrongPatient(l views.OperationLine) views.OperationLine {
	l.Code, l.Late = "wrong_patient", false
	return l
}

func looked(verdict string, matches int, code string) views.SeenLook {
	return views.SeenLook{At: at(21, 11, 2), How: "identifier", Verdict: verdict, Matches: &matches, Code: code}
}

func lookedAt(verdict, code, remote string) views.SeenLook {
	l := looked(verdict, 1, code)
	l.RemoteID, l.RemoteVersion, l.AskedBy = remote, "3", "Jonas Friis"
	return l
}

func failedLook() views.SeenLook {
	return views.SeenLook{At: at(21, 10, 59), How: "identifier", Verdict: "failed", Code: "status_500"}
}

const sentBody = `{"resourceType":"Appointment","identifier":[{"system":"https://countersign.invalid/operation","value":"op_6k2v"}],"status":"booked","start":"2026-10-27T13:15:00Z","end":"2026-10-27T13:45:00Z","participant":[{"actor":{"reference":"Patient/871","display":"Maria Jensen"},"status":"accepted"}]}`

func operationOf(s views.Shell, l views.OperationLine, seen ...views.SeenLook) views.OperationPage {
	p := views.OperationPage{Shell: s, OperationLine: l, Appointment: "a1", Revision: 2, PlanHash: hashB, Plan: movePlan(2, at(27, 14, 15), changeText), SendUntil: l.At.Add(time.Hour), Deadline: l.At.Add(24 * time.Hour),
		MayResolve: l.State == "manual" || l.State == "unknown", BookedKey: "k1", ReleaseKey: "k2", Seen: seen}
	if l.Was == nil {
		p.Plan.Before, p.Plan.Action = nil, views.ActionBook
	}
	for i := range l.Attempts {
		a := views.SentAttempt{N: i + 1, Phase: "write", Method: "POST", Body: sentBody, Hash: hashA, RequestID: "req_5t2k", StartedAt: l.At.Add(time.Duration(i) * 5 * time.Minute), Outcome: "unknown", Code: "no_answer"}
		if i == 0 {
			a.FinishedAt = a.StartedAt.Add(20 * time.Second)
			a.HTTPStatus, a.Code = 502, "server_error"
		}
		p.Sent = append(p.Sent, a)
	}
	for i := range p.Seen {
		p.Seen[i].N = i + 1
	}
	return p
}

func twoBookings(s views.Shell, l views.OperationLine) views.OperationPage {
	p := operationOf(s, l, lookedAt("equal", "", "8873"), lookedAt("unchanged", "", "4410"))
	p.RemoteID, p.OldRemoteID = "8873", "4410"
	p.Sent = append(p.Sent, views.SentAttempt{N: 2, Phase: "cancel_old", Method: "PUT", Body: sentBody, Hash: hashB, RequestID: "req_6u3m", StartedAt: at(21, 9, 41), FinishedAt: at(21, 9, 41), Outcome: "unknown", Code: "no_answer"})
	return p
}

func operationSaid(s views.Shell, l views.OperationLine) views.OperationPage {
	l.Resolution = "2240"
	p := operationOf(s, l, looked("none", 0, ""))
	p.MayResolve = false
	return p
}

func operationRefused(s views.Shell, l views.OperationLine) views.OperationPage {
	p := operationOf(s, l, looked("none", 0, ""))
	p.TypedRemote = "not an id"
	p.Refusal = views.Refusal{Status: 422, Code: "validation_failed", Title: "Some fields need another look", Words: "Some of what was filled in cannot be used. Nothing was done.",
		Fields: []refusal.Field{{Name: "remote_id", Message: "Give the id as the EHR shows it: up to 64 letters, digits, hyphens or points."}}}
	return p
}

func operationOver(s views.Shell, l views.OperationLine) views.OperationPage {
	l.State, l.Code = "refused", "ehr_not_booked"
	p := operationOf(s, l, looked("none", 0, ""))
	p.EndedAt, p.MayResolve = at(21, 11, 10), false
	return p
}

// resolveCards are the cards of what a person says of an operation.
func resolveCards() []namedCard {
	move := movePlan(2, at(27, 14, 15), changeText)
	plan := func(resolution string) proposal.Plan {
		matches := 2
		f := &proposal.OperationFacts{ID: "op_6k2v", Proposal: "2231", Revision: 2, PlanHash: hashB, Action: views.ActionMove, Kind: "move", ConfirmedBy: clinic.Ref{ID: "ida", Name: "Ida Skov"},
			ConfirmedAt: at(21, 9, 40), State: "manual", Code: ptr("several"), Attempts: 2, Seen: &proposal.SeenFacts{Verdict: "several", Matches: &matches}, Was: move.Before, Wanted: move.After, Resolution: resolution}
		p := proposal.Plan{V: 1, Clinic: "havnegade", Proposal: "2240", Revision: 1, Action: views.ActionResolve, Risk: proposal.High, RiskReasons: []string{"A person says what the EHR has not said"},
			Parameters: map[string]any{"operation": "op_6k2v", "resolution": resolution, "remote_id": nil, "note": "I cancelled the second one in their calendar."},
			After:      &proposal.Facts{Patient: move.After.Patient, Operation: f}, Messages: []proposal.Message{}, ExpiresAt: at(21, 15, 12),
			Resources: []proposal.Pin{{Kind: proposal.PinAppointment, ID: "a1", Version: 3}, {Kind: proposal.PinOperation, ID: "op_6k2v", Version: 4}}}
		step := &proposal.ResolveStep{ID: "op_6k2v", Proposal: "2231", PlanHash: hashB, Resolution: resolution}
		if resolution == proposal.Booked {
			f.RemoteID, step.RemoteID, p.Messages = ptr("8873"), ptr("8873"), move.Messages
		}
		p.Steps = []proposal.Step{{Op: proposal.OpResolve, ExpectVersion: ptr(int64(4)), Operation: step}}
		return p
	}
	card := func(resolution, state string) views.CardPage {
		c := cardOf(record(plan(resolution), hashA, state))
		c.Record.Summary = proposal.Summarize(c.Record.Plan)
		c.Role = "reviewer"
		return c
	}
	return []namedCard{{"resolve-booked", card(proposal.Booked, proposal.StateProposed)}, {"resolve-not-booked", card(proposal.NotBooked, proposal.StateProposed)},
		{"resolve-completed", card(proposal.Booked, proposal.StateCompleted)}}
}
