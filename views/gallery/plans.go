package gallery

import (
	"time"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/views"
)

const (
	hashA = "b8600d2a7599f1bb46cb089b2147262e530e72cbdef5bac56d04e45380a8fda1"
	hashB = "314ef1e0c4d9157266e50dfea7c68ef7df4408198d080f8ba462088514b31561"

	changeText = "Dear Maria Jensen\nYour appointment on Thursday 22 October 2026 at 10:30am has moved.\nYour new appointment is on Tuesday 27 October 2026 at 2:15pm (Copenhagen time) with Dr Ben Okafor at Havnegade 12.\nIf this does not suit you, call us on +45 00 33 10 10.\nHavnegade clinic"
	laterText  = "Dear Maria Jensen\nYour appointment on Thursday 22 October 2026 at 10:30am has moved.\nYour new appointment is on Tuesday 27 October 2026 at 2:45pm (Copenhagen time) with Dr Ben Okafor at Havnegade 12.\nIf this does not suit you, call us on +45 00 33 10 10.\nHavnegade clinic"
)

var h12 = proposal.PlaceFacts{ID: "h12", Name: "Havnegade 12", Address: "Havnegade 12, 1058 København K", Phone: "+45 00 33 10 10"}

// factsAt is a booked Standard visit as a plan shows it.
func factsAt(p views.Person, doctor clinic.Ref, place proposal.PlaceFacts, start time.Time, zone string, minutes int) *proposal.Facts {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		panic("gallery: " + err.Error())
	}
	_, offset := start.In(loc).Zone()
	f := &proposal.Facts{Appointment: "a1", Status: "booked", Patient: proposal.PatientFacts{ID: p.ID, Name: p.Name, BirthDate: p.BirthDate, MRN: p.MRN, Contact: "sms", WrittenIn: "en"},
		Type: proposal.TypeFacts{ID: "std", Name: "Standard", Minutes: minutes}, Practitioner: doctor, Location: place, StartsAt: start, EndsAt: start.Add(time.Duration(minutes) * time.Minute), Zone: zone, OffsetMinutes: offset / 60}
	for i := 0; i < minutes; i += 15 {
		f.Slots = append(f.Slots, proposal.SlotFacts{ID: "s" + start.Add(time.Duration(i)*time.Minute).Format("1504"), StartsAt: start.Add(time.Duration(i) * time.Minute)})
	}
	return f
}

var holm, okafor = clinic.Ref{ID: "holm", Name: "Dr Anna Holm"}, clinic.Ref{ID: "okafor", Name: "Dr Ben Okafor"}

// movePlan moves Maria Jensen over the night the clocks go back.
func movePlan(revision int, start time.Time, text string) proposal.Plan {
	return proposal.Plan{V: 1, Clinic: "havnegade", Proposal: "2231", Revision: revision, Action: views.ActionMove, Parameters: map[string]any{"notify": true},
		Before: factsAt(maria91, holm, h12, at(22, 10, 30), copenhagen, 30), After: factsAt(maria91, okafor, h12, start, copenhagen, 30),
		Steps:     []proposal.Step{{Op: proposal.OpMove, Appointment: ptr("a1"), ExpectVersion: ptr(int64(4))}, {Op: proposal.OpSend, Message: ptr(0)}},
		Resources: []proposal.Pin{{Kind: proposal.PinAppointment, ID: "a1", Version: 4}, {Kind: proposal.PinLocation, ID: "h12", Version: 1}, {Kind: proposal.PinPatient, ID: "p100871", Version: 11}, {Kind: proposal.PinSlot, ID: "s1415", Version: 2}, {Kind: proposal.PinSlot, ID: "s1430", Version: 2}},
		Messages:  []proposal.Message{{Kind: "change", Channel: "sms", Recipient: "+45 00 20 08 71", Text: text}},
		Risk:      proposal.Medium, RiskReasons: []string{"Other practitioner: Dr Anna Holm to Dr Ben Okafor", "The visit now booked is less than 24 h away (in 23 h 14 min)"}, ExpiresAt: now.Add(11 * time.Minute)}
}

// record is a plan as one reader gets it.
func record(p proposal.Plan, hash, state string) proposal.Record {
	outcome := map[string]string{proposal.StateProposed: proposal.OutcomeProposed, proposal.StateCompleted: proposal.OutcomeCompleted, proposal.StateFailed: proposal.OutcomeFailed, proposal.StateExecuting: proposal.OutcomeUnknown}[state]
	if outcome == "" {
		outcome = proposal.OutcomeNotExecuted
	}
	r := proposal.Record{ID: p.Proposal, Revision: p.Revision, PlanHash: hash, State: state, Outcome: outcome, Action: p.Action, Risk: p.Risk, RiskReasons: p.RiskReasons, Warnings: p.Warnings,
		Reason: ptr("Move Maria Jensen from tomorrow to Tuesday 27 October, after lunch. Doctor doesn’t matter."), ExpiresAt: p.ExpiresAt, Approvals: proposal.Approvals{Needed: 1},
		CreatedBy: proposal.Creator{ID: "ida", Name: "Ida Skov", Kind: "user"}, CreatedAt: at(21, 11, 12), Plan: p, Owner: "ida", OwnerName: "Ida Skov", CreatedVia: "page"}
	if state != proposal.StateProposed && state != proposal.StateExpired {
		r.DecidedBy, r.DecidedAt = &clinic.Ref{ID: "ida", Name: "Ida Skov"}, ptr(now.Add(-70*time.Second))
	}
	return r
}

func bookPlan() proposal.Plan {
	p := movePlan(1, at(27, 8, 0), "")
	p.Action, p.Proposal, p.Before, p.Risk, p.RiskReasons, p.Messages = views.ActionBook, "2240", nil, proposal.Low, nil, nil
	p.After = factsAt(aoife, holm, h12, at(27, 8, 0), copenhagen, 30)
	p.After.Patient.Contact, p.After.Patient.Unreachable = "none", ptr("no_address")
	p.Steps = []proposal.Step{{Op: proposal.OpCreate}}
	return p
}

func cancelPlan() proposal.Plan {
	p := movePlan(1, at(22, 10, 30), "")
	p.Action, p.Proposal, p.RiskReasons, p.Parameters = views.ActionCancel, "2245", []string{"A visit is cancelled", "The patient could be told and will not be"}, map[string]any{"notify": false}
	after := *p.Before
	after.Status, after.Slots = "cancelled", nil
	p.After, p.Messages = &after, nil
	p.Steps = []proposal.Step{{Op: proposal.OpCancel, Appointment: ptr("a1"), ExpectVersion: ptr(int64(4)), ReasonCode: ptr("practitioner_unavailable")}}
	return p
}

// longPlan is everything that is too long, told by e-mail with a calendar file and a reminder, between two zones.
func longPlan() proposal.Plan {
	p := movePlan(3, at(27, 14, 15), "")
	p.Proposal = "2250"
	doctor := clinic.Ref{ID: "x", Name: "Oberärztin Dr. med. habil. Maximiliane-Henriette Süßmilch-Żółkiewska"}
	p.Before = factsAt(longest, doctor, proposal.PlaceFacts{ID: "lv", Name: "Lakeview", Address: "1 Lake Street, Ithaca NY"}, wall(newYork, 2026, 10, 30, 9, 0), newYork, 60)
	p.After = factsAt(longest, doctor, proposal.PlaceFacts{ID: "kona", Name: "Kona", Address: "75 Aliʻi Drive, Kailua-Kona HI"}, wall(kona, 2026, 11, 6, 9, 0), kona, 60)
	p.Messages = []proposal.Message{
		{Kind: "change", Channel: "email", Recipient: "a-very-long-mailbox-name-that-nobody-would-type@subdomain.example.test", Subject: ptr("Your appointment on Friday 6 November 2026"), Text: "Dear " + longest.Name + "\n\nYour appointment has moved.\n  Two spaces stay two spaces.\n\nLakeview", Calendar: ptr("BEGIN:VCALENDAR\nVERSION:2.0\nMETHOD:REQUEST\nEND:VCALENDAR")},
		{Kind: "reminder", Channel: "sms", Recipient: "+1 555 0100", Text: "Reminder: Friday 6 November 2026 at 9am (Kona time).", SendAt: ptr(wall(kona, 2026, 11, 5, 9, 0))},
	}
	p.Risk, p.Warnings = proposal.High, []string{"patient_double_booked"}
	p.RiskReasons = append(p.RiskReasons, "An agent wrote the message itself")
	return p
}
