package views

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"countersign/internal/proposal"
)

// PolicyURL is the page and the path of its forms.
const PolicyURL = "/policy"

// PolicyPage is GET /policy: what the clinic asks of each action, and who changed that. Administrators have a form for
// each action, with the fields action, version, least_risk, people, reason and idempotency_key; reviewers read.
type PolicyPage struct {
	Shell
	Refusal Refusal
	Rules   []PolicyRule
	History []PolicyChange // newest first
	MaySet  bool
}

// PolicyRule is one action as it stands. Risk, People and Reason are what its form holds, as typed or as it stands.
type PolicyRule struct {
	Action               string
	Version              int64
	Now                  proposal.Policy
	Key                  string // of a proposal that loosening makes
	Risk, People, Reason string
}

// PolicyChange is one version of a policy.
type PolicyChange struct {
	Action   string
	Was, Is  proposal.Policy
	By       string
	At       time.Time
	Proposal string // that two reviewers decided; "" = an admin tightened it
}

func (r PolicyRule) id(field string) string {
	name, _, _ := strings.Cut(r.Action, "@")
	return field + "-" + name
}

// risks are the choices of a floor. A change of policy has no lower one.
func (r PolicyRule) risks() []Option {
	if r.Action == ActionPolicy {
		return []Option{{Value: "", Label: "Critical, always"}}
	}
	out := []Option{{Value: "", Label: "As computed"}}
	for _, risk := range []string{proposal.Medium, proposal.High, proposal.Critical} {
		out = append(out, Option{Value: risk, Label: "At least " + risk})
	}
	return out
}

func (r PolicyRule) peopleOptions() []Option {
	if r.Action == ActionPolicy {
		return []Option{{Value: "", Label: "2"}, {Value: "3", Label: "3"}}
	}
	out := []Option{{Value: "", Label: "By risk"}}
	for n := 2; n <= proposal.MaxPeople; n++ {
		out = append(out, Option{Value: strconv.Itoa(n), Label: strconv.Itoa(n)})
	}
	return out
}

func (r PolicyRule) words() string {
	if r.Action == ActionPolicy && r.Now.People == nil {
		return "Always critical; 2 people, and admins are not among them"
	}
	return policyWords(r.Now)
}

// policyWords is one policy in a few words.
func policyWords(p proposal.Policy) string {
	risk, people := "risk as computed", "people by risk"
	if p.LeastRisk != nil {
		risk = "at least " + *p.LeastRisk
	}
	if p.People != nil {
		people = fmt.Sprintf("%d people", *p.People)
		if *p.People == 1 {
			people = "people by risk"
		}
	}
	return capital(risk) + ", " + people
}

func (p PolicyPage) at(t time.Time) string {
	at := t.In(zone(p.Zone))
	return LongDate(at) + ", " + Clock(at)
}
