package proposal

import (
	"context"
	"fmt"

	"countersign/internal/audit"
	"countersign/internal/refusal"
)

const (
	policyName   = "change_policy@1"
	alreadyAsked = "That is what this clinic asks already."
)

// changePolicy sets what the clinic asks of one action. It is the one thing an admin proposes, and it is always
// critical: two reviewers decide it. What only tightens, an admin may also save directly (Service.Tighten).
var changePolicy = action{
	name:    policyName,
	subject: "action",
	parameters: []parameter{
		{name: "action", kind: kindAction, required: true},
		{name: "least_risk", kind: kindCode, codes: riskOrder},
		{name: "people", kind: kindPeople},
	},
	check: checkPolicy,
	draft: draftPolicy,
	title: func(p Plan) string { return "Change this clinic’s policy for " + plainName(p.After.Policy.Action) },
	audit: audit.ChangePolicy,
}

// readPolicy is the policy that parameters, each of which is right, ask for.
func readPolicy(params map[string]any) Policy {
	var p Policy
	if risk := text(params, "least_risk"); risk != "" {
		p.LeastRisk = &risk
	}
	if n, ok := params["people"].(int64); ok {
		p.People = ptr(int(n))
	}
	return p
}

// checkPolicy: nobody can ask less of change_policy@1 than the contract does.
func checkPolicy(params map[string]any) []refusal.Field {
	p := readPolicy(params)
	if text(params, "action") != policyName {
		return nil
	}
	var wrong []refusal.Field
	if p.LeastRisk != nil && *p.LeastRisk != Critical {
		wrong = append(wrong, refusal.Field{Name: "least_risk", Message: "A change of policy is always critical."})
	}
	if p.People != nil && *p.People < *policyOfPolicy.People {
		wrong = append(wrong, refusal.Field{Name: "people", Message: fmt.Sprintf("A change of policy always needs %d people or more.", *policyOfPolicy.People)})
	}
	return wrong
}

func draftPolicy(ctx context.Context, d *drafting) error {
	action := text(d.params, "action")
	now, err := d.tx.Policy(ctx, action)
	if err != nil {
		return err
	}
	next := readPolicy(d.params)
	loosens, changes := now.of(action).Loosens(next.of(action))
	if !changes {
		return d.invalid("action", alreadyAsked)
	}
	if loosens {
		d.why = append(d.why, "It asks for less than before")
	}
	after := PolicyFacts{action, next.LeastRisk, next.People}
	d.plan.Before = &Facts{Policy: &PolicyFacts{action, now.LeastRisk, now.People}}
	d.plan.After = &Facts{Policy: &after}
	d.plan.Steps = []Step{{Op: OpPolicy, ExpectVersion: &now.Version, FreeSlots: []string{}, TakeSlots: []string{}, Policy: &after}}
	d.rows.add(PinPolicy, action, now.Version)
	return nil
}

// policyChange is a change as the trail holds it.
func policyChange(was, is Policy) string { return was.Code() + ">" + is.Code() }
