package gallery

import (
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
	"countersign/views"
)

func policyPage(shell views.Shell, maySet bool) views.PolicyPage {
	shell.Nav = views.NavPolicy
	high := proposal.Policy{Version: 2, LeastRisk: ptr(proposal.High), People: ptr(2)}
	was := proposal.Policy{Version: 1, LeastRisk: ptr(proposal.High)}
	p := views.PolicyPage{Shell: shell, MaySet: maySet, History: []views.PolicyChange{
		{Action: views.ActionCancel, Was: was, Is: high, By: "Karla Friis", At: at(21, 10, 2)},
		{Action: views.ActionCancel, Is: was, By: "Jonas Lind", At: at(20, 9, 41), Proposal: "2207"}}}
	for _, action := range proposal.Actions() {
		r := views.PolicyRule{Action: action, Key: "key_" + action}
		if action == views.ActionCancel {
			r.Now, r.Version, r.Risk, r.People = high, 2, proposal.High, "2"
		}
		p.Rules = append(p.Rules, r)
	}
	return p
}

func policyRefused(admin views.Shell) views.PolicyPage {
	p := policyPage(admin, true)
	p.Refusal = views.Refusal{Status: 422, Code: refusal.ValidationFailed, Title: "Some fields need another look", Words: "Some of what was filled in cannot be used. Nothing was done.",
		Fields: []refusal.Field{{Name: "action", Message: "That is what this clinic asks already."}}}
	p.History = nil
	return p
}

// policyCards are the cards of a change of policy, and of what two people decide.
func policyCards() []namedCard {
	plan := proposal.Plan{V: 1, Clinic: "havnegade", Proposal: "2207", Revision: 1, Action: views.ActionPolicy, Risk: proposal.Critical,
		Parameters:  map[string]any{"action": views.ActionCancel, "least_risk": nil, "people": nil},
		Before:      &proposal.Facts{Policy: &proposal.PolicyFacts{Action: views.ActionCancel, LeastRisk: ptr(proposal.High), People: ptr(2)}},
		After:       &proposal.Facts{Policy: &proposal.PolicyFacts{Action: views.ActionCancel}},
		Steps:       []proposal.Step{{Op: proposal.OpPolicy, ExpectVersion: ptr(int64(2)), Policy: &proposal.PolicyFacts{Action: views.ActionCancel}}},
		Resources:   []proposal.Pin{{Kind: proposal.PinPolicy, ID: views.ActionCancel, Version: 2}},
		RiskReasons: []string{"The clinic’s own rules for decisions change", "It asks for less than before"}, ExpiresAt: at(21, 15, 12)}
	waits, done := cardOf(record(plan, hashA, proposal.StateProposed)), cardOf(record(plan, hashA, proposal.StateCompleted))
	for _, c := range []*views.CardPage{&waits, &done} {
		c.Record.Summary = proposal.Summarize(plan)
		c.Record.Approvals = proposal.Approvals{Needed: 2, Given: []clinic.Ref{}}
	}
	done.Record.Approvals.Given = []clinic.Ref{{ID: "b", Name: "Ben Holt"}, *done.Record.DecidedBy}
	return []namedCard{{"policy-proposed", waits}, {"policy-completed", done}}
}
