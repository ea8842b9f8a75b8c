package proposal

import "countersign/internal/clinic"

// Decidable is one kind of proposal that somebody may decide, as far as a row of the queue tells it.
type Decidable struct {
	Risk          string
	Owner, Editor bool // of the one who asks
}

// DecidableBy asks MayConfirm about every kind of proposal there is, so that a list can be narrowed in SQL without a
// second rule: by action for those that the clinic has a policy about, and under "" for all others. Risks are those of the
// revision, with the policy on top.
func DecidableBy(a clinic.Actor, secondPerson bool, policies map[string]Policy) map[string][]Decidable {
	out := map[string][]Decidable{"": decidable(a, secondPerson, "", Policy{})}
	for action, o := range policies {
		out[action] = decidable(a, secondPerson, action, o)
	}
	return out
}

func decidable(a clinic.Actor, secondPerson bool, action string, o Policy) []Decidable {
	out := []Decidable{}
	for _, risk := range []string{Low, Medium, High, Critical} {
		for _, owner := range []bool{true, false} {
			for _, editor := range []bool{true, false} {
				r := Record{Risk: risk, Action: action}
				if owner {
					r.Owner = a.Person
				}
				if editor {
					r.Editors = []string{a.Person}
				}
				level, _, _ := o.judge(action, risk, nil)
				if MayConfirm(a, r, level, secondPerson) == nil {
					out = append(out, Decidable{risk, owner, editor})
				}
			}
		}
	}
	return out
}
