package proposal

import (
	"fmt"
	"slices"
	"time"
)

// ReasonAgentText is the risk reason that stays with a text an agent wrote until a person writes another.
const ReasonAgentText = "An agent wrote the message itself"

// ReasonDoubleBooked is the risk reason of the warning patient_double_booked.
const ReasonDoubleBooked = "The patient has another visit at that time"

var riskOrder = []string{Low, Medium, High, Critical}

// higher gives the heavier of two risk levels.
func higher(a, b string) string {
	if slices.Index(riskOrder, b) > slices.Index(riskOrder, a) {
		return b
	}
	return a
}

// shortNotice: visits that start within it are medium (contract section 7).
const shortNotice = 24 * time.Hour

// assess computes risk by code from what the plan does, with reasons in words.
func assess(p Plan, now time.Time, agentText bool) (level string, reasons []string) {
	level, reasons = Low, []string{}
	because := func(l, why string) { level, reasons = higher(level, l), append(reasons, why) }
	if agentText {
		because(High, ReasonAgentText)
	}
	if slices.Contains(p.Warnings, WarnDoubleBooked) {
		because(High, ReasonDoubleBooked)
	}
	b, a := p.Before, p.After
	if b != nil && b.Practitioner.ID != a.Practitioner.ID {
		because(Medium, "Other practitioner: "+b.Practitioner.Name+" to "+a.Practitioner.Name)
	}
	if b != nil && b.Location.ID != a.Location.ID {
		because(Medium, "Other location: "+b.Location.Name+" to "+a.Location.Name)
	}
	if a.Status == "cancelled" {
		because(Medium, "A cancellation")
	}
	if why := soon(p, now); why != "" {
		because(Medium, why)
	}
	if p.Parameters["message"] != nil && len(p.Messages) > 0 && !agentText {
		because(Medium, "The message is free text")
	}
	if p.Parameters["notify"] == false && a.Patient.Unreachable == nil {
		because(Medium, "The patient could be told and will not be told")
	}
	return level, reasons
}

// soon says which start lies within short notice, "" when none does.
func soon(p Plan, now time.Time) string {
	what, start := "The visit starts", p.After.StartsAt
	if p.Before != nil && !p.Before.StartsAt.After(start) {
		what, start = "The visit now booked starts", p.Before.StartsAt
	}
	left := start.Sub(now)
	switch {
	case left > shortNotice:
		return ""
	case left <= 0:
		return what[:len(what)-len("starts")] + "has started"
	default:
		m := int(left.Minutes())
		return fmt.Sprintf("%s in less than 24 h (in %d h %d min)", what, m/60, m%60)
	}
}

// reassess is the risk as it is now, from the clock and the patient's other visits, and never below what the revision
// was shown with. The reasons are today's when it is higher.
func reassess(p Plan, now time.Time, doubleBooked bool) (level string, reasons []string) {
	if doubleBooked && !slices.Contains(p.Warnings, WarnDoubleBooked) {
		p.Warnings = append(slices.Clone(p.Warnings), WarnDoubleBooked)
	}
	level, reasons = assess(p, now, slices.Contains(p.RiskReasons, ReasonAgentText))
	if higher(p.Risk, level) == p.Risk {
		return p.Risk, p.RiskReasons
	}
	return level, reasons
}
