package proposal

import "countersign/internal/clinic"

// Decidable is one kind of proposal that somebody may decide, as far as a row of the queue tells it.
type Decidable struct {
	Risk          string
	Owner, Editor bool // of the one who asks
}

// DecidableBy asks MayConfirm about every kind of proposal there is, so that a list can be narrowed in SQL without a
// second rule.
func DecidableBy(a clinic.Actor, secondPerson bool) []Decidable {
	var out []Decidable
	for _, risk := range []string{Low, Medium, High, Critical} {
		for _, owner := range []bool{true, false} {
			for _, editor := range []bool{true, false} {
				r := Record{Risk: risk}
				if owner {
					r.Owner = a.Person
				}
				if editor {
					r.Editors = []string{a.Person}
				}
				if MayConfirm(a, r, risk, secondPerson) == nil {
					out = append(out, Decidable{risk, owner, editor})
				}
			}
		}
	}
	return out
}
