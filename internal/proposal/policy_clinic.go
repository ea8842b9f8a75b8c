package proposal

import (
	"fmt"
	"slices"
	"strconv"
)

// Policy is what a clinic asks of one action beyond the contract's own rules, in its latest version. The zero value asks
// nothing. Code takes the higher of the two, so that no policy goes below the contract.
type Policy struct {
	Version   int64   `json:"version"`    // 0 = never set
	LeastRisk *string `json:"least_risk"` // null = no floor
	People    *int    `json:"people"`     // null = by risk
}

// MaxPeople is the most people a policy can ask for.
const MaxPeople = 3

// policyOfPolicy is asked of change_policy@1 whatever the clinic says: who could change it alone could change all.
var policyOfPolicy = Policy{LeastRisk: value(Critical), People: ptr(2)}

// byRisk is how many people the contract asks for (section 7).
func byRisk(risk string) int {
	if risk == Critical {
		return 2
	}
	return 1
}

// of is the policy with what is asked of the action in any case.
func (o Policy) of(action string) Policy {
	if action != policyName {
		return o
	}
	o.LeastRisk = policyOfPolicy.LeastRisk
	o.People = ptr(max(*policyOfPolicy.People, o.least()))
	return o
}

func (o Policy) least() int {
	if o.People == nil {
		return 1
	}
	return *o.People
}

// floor is the risk with the policy's floor under it.
func (o Policy) floor(risk string) string {
	if o.LeastRisk == nil {
		return risk
	}
	return higher(risk, *o.LeastRisk)
}

// needed is how many people must decide something of that risk, the floor being under it already.
func (o Policy) needed(risk string) int { return max(byRisk(risk), o.least()) }

// judge puts the policy on top of what was assessed: the risk, the reasons in words, and how many people must decide.
func (o Policy) judge(action, risk string, reasons []string) (string, []string, int) {
	o = o.of(action)
	level := o.floor(risk)
	because := func(why string) {
		if !slices.Contains(reasons, why) {
			reasons = append(slices.Clone(reasons), why)
		}
	}
	if level != risk {
		because(clinicsPolicy + "at least " + level + " risk")
	}
	people := o.needed(level)
	if people > byRisk(level) {
		because(clinicsPolicy + strconv.Itoa(people) + " people must approve")
	}
	return level, reasons, people
}

const clinicsPolicy = "This clinic’s policy: "

// Loosens reports whether next asks less than o of anything, and changes whether it asks anything else at all. What
// is asked is compared at every risk that code may compute: a floor of critical asks for two people as well.
func (o Policy) Loosens(next Policy) (loosens, changes bool) {
	for _, risk := range riskOrder {
		was, is := o.floor(risk), next.floor(risk)
		if was != is {
			changes = true
			loosens = loosens || higher(was, is) == was
		}
		if a, b := o.needed(was), next.needed(is); a != b {
			changes = true
			loosens = loosens || b < a
		}
	}
	return loosens, changes
}

// Code is the policy as the trail holds it: "high,2", with a hyphen for what is not set.
func (o Policy) Code() string {
	risk, people := "-", "-"
	if o.LeastRisk != nil {
		risk = *o.LeastRisk
	}
	if o.People != nil {
		people = strconv.Itoa(*o.People)
	}
	return risk + "," + people
}

// FloorWords and PeopleWords say a policy to a person.
func (o Policy) FloorWords() string {
	if o.LeastRisk == nil {
		return "No floor: the risk of each change as computed"
	}
	return "At least " + *o.LeastRisk
}

// PeopleWords: see FloorWords.
func (o Policy) PeopleWords() string {
	switch {
	case o.People == nil:
		return "By risk: 2 for critical, else 1"
	case *o.People == 1:
		return "1, and 2 for critical"
	}
	return fmt.Sprintf("%d people", *o.People)
}

func ptr[T any](v T) *T { return &v }
