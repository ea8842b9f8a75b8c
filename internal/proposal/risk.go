package proposal

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// ReasonAgentText is the risk reason that stays with a text an agent wrote until a person writes another.
const ReasonAgentText = "An agent wrote the message itself"

// ReasonDoubleBooked is the risk reason of the warning patient_double_booked.
const ReasonDoubleBooked = "The patient has another visit at that time"

// ReasonAgentRegisters is the risk reason of a registration that an agent asked for.
const ReasonAgentRegisters = "An agent asks for this registration"

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

// assess computes risk by code from what the plan does, with reasons in words. The agent's reason is what an agent did
// that makes it high, "" for nothing.
func assess(p Plan, now time.Time, agent string) (level string, reasons []string) {
	level, reasons = Low, []string{}
	because := func(l, why string) { level, reasons = higher(level, l), append(reasons, why) }
	if agent != "" {
		because(High, agent)
	}
	if slices.Contains(p.Warnings, WarnDoubleBooked) {
		because(High, ReasonDoubleBooked)
	}
	if slices.Contains(p.Warnings, WarnDuplicate) {
		because(High, "Somebody with this name and birth date is a patient already")
	}
	if p.Action == bulkName {
		assessItems(p, now, because)
	}
	switch p.Action {
	case register.name:
		because(Medium, "A registration")
	case updateContact.name:
		because(Medium, "Contact details change")
	case policyName:
		because(Critical, "The clinic’s own rules for decisions change")
	case resolveName:
		because(High, "A person says what the EHR has not said")
	}
	if p.After.OfVisit() {
		assessVisit(p, now, because)
	}
	if p.Parameters["message"] != nil && len(p.Messages) > 0 && agent == "" {
		because(Medium, "The message is free text")
	}
	if p.Action != bulkName && p.Action != policyName && p.Parameters["notify"] == false && p.After.Patient.Unreachable == nil {
		because(Medium, "The patient could be told and will not be told")
	}
	return level, reasons
}

func assessVisit(p Plan, now time.Time, because func(level, why string)) {
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

// reassess is the risk as it is now, from the clock, the patient's other visits and the clinic's policy, and how many
// people must decide; neither is below what the revision was shown with. The reasons are today's when it is higher.
func reassess(r Record, now time.Time, doubleBooked bool) (level string, reasons []string, people int) {
	p := r.Plan
	if doubleBooked && !slices.Contains(p.Warnings, WarnDoubleBooked) {
		p.Warnings = append(slices.Clone(p.Warnings), WarnDoubleBooked)
	}
	level, reasons = assess(p, now, agentReason(p.RiskReasons))
	if higher(p.Risk, level) == p.Risk {
		level, reasons = p.Risk, p.RiskReasons
	} else {
		for _, why := range p.RiskReasons {
			if strings.HasPrefix(why, contradicts) {
				reasons = append(reasons, why)
			}
		}
	}
	level, reasons, people = r.Policy.judge(r.Action, level, reasons)
	return level, reasons, max(people, r.People)
}

// agentReason is the agent's among a plan's risk reasons.
func agentReason(reasons []string) string {
	for _, why := range []string{ReasonAgentText, ReasonAgentRegisters} {
		if slices.Contains(reasons, why) {
			return why
		}
	}
	return ""
}
