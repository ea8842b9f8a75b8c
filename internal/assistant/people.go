package assistant

import (
	"slices"
	"strings"

	"countersign/internal/clinic"
)

// run is a stretch of words that no pattern knows: a name, perhaps.
type run struct {
	from, to int // tokens
	n        int // its first span
}

// runs are the stretches of unknown words. A possessive ends one, and so does any sign; "Jensen, Maria" is one.
func (r *reading) runs() (all []run) {
	for n, s := range r.spans {
		if !r.nameWord(n) {
			continue
		}
		if k := len(all) - 1; k >= 0 && all[k].to == s.from {
			before := r.tokens[s.from-1]
			if before.after == 0 && !before.poss || before.after == ',' && all[k].to-all[k].from == 1 && !before.poss && before.large() && r.tokens[s.from].large() {
				all[k].to = s.to
				continue
			}
		}
		all = append(all, run{s.from, s.to, n})
	}
	return all
}

func (r *reading) nameWord(n int) bool {
	s := r.spans[n]
	t := r.tokens[s.from]
	if s.rule == nil {
		_, number := r.lang.Hours[t.word]
		return !t.digits && !number && !r.zoneByClock(s.from) && !strings.Contains(t.word, "@") && !r.is("breaks", t.word)
	}
	// A small word written large beside a name: Will Smith.
	if s.Means != "skip" && s.Means != "type" || s.to-s.from != 1 || !r.is("maybe", t.word) || !t.large() || strings.ToUpper(t.raw) == t.raw {
		return false
	}
	beside := func(i int, joined bool) bool {
		return i >= 0 && i < len(r.spans) && joined && r.spans[i].rule == nil && r.tokens[r.spans[i].from].large() && !r.tokens[r.spans[i].from].digits
	}
	return s.from > 0 && (beside(n+1, t.after == 0) || beside(n-1, r.tokens[s.from-1].after == 0 && !r.tokens[s.from-1].poss))
}

// name is a run as it was written, without a possessive.
func (r *reading) name(u run) string {
	return possessive.ReplaceAllString(strings.Join(strings.Fields(r.source(u.from, u.to)), " "), "")
}

// registers reports a request for a new record, or an answer to a question for its name.
func (r *reading) registers() bool {
	return r.m.Workflow == Register || r.m.Workflow == "" && slices.Contains([]string{AskName, AskFamily, AskGiven}, r.r.Asks)
}

// longestName is how many words a name may have.
const longestName = 5

// people finds who is meant. One request is about one person: further names are asked about, never added.
func (r *reading) people() {
	if r.wholeName() {
		return
	}
	runs := slices.DeleteFunc(r.runs(), func(u run) bool {
		titled := u.n > 0 && r.is("title", r.tokens[r.spans[u.n-1].to-1].word) && r.spans[u.n-1].means() != "title" && r.tokens[u.from-1].after == 0
		if titled {
			r.ask("practitioner_none", r.source(u.from-1, u.to))
			r.lost()
		}
		return titled
	})
	for _, s := range r.spans {
		if s.means() != "born" || s.born == nil {
			continue
		}
		if r.registers() || r.r.Asks == AskBirthDate {
			if r.m.BirthDate = r.fullDate(*s.born); r.m.BirthDate == "" {
				r.ask("birth", r.source(s.from, s.to))
			}
		} else {
			r.m.Born = s.born
		}
	}
	runs = r.registrationNames(runs)
	chosen := r.choose(runs)
	for i, u := range runs {
		if i != chosen && !r.registers() {
			r.dayTypo(u)
		}
	}
	if chosen < 0 {
		return
	}
	u := runs[chosen]
	name := r.name(u)
	if u.to-u.from > longestName {
		r.ask("who", name)
		return
	}
	if r.registers() {
		r.splitName(u)
	} else {
		r.m.Patient, r.person = name, u
	}
	for i, o := range runs {
		if i == chosen || !r.anotherPerson(o, name) {
			continue
		}
		r.ask("people", name, r.name(o))
		break
	}
}

// choose is the index of the run that names the person; -1 for none.
func (r *reading) choose(runs []run) int {
	if len(runs) == 0 {
		return -1
	}
	acted, act := false, 0
	for n, s := range r.spans {
		m := s.means()
		if (m == "title" || m == "mrn" || m == "other") && s.to < len(r.tokens) {
			if i := slices.IndexFunc(runs, func(u run) bool { return u.from == s.to }); i >= 0 {
				return i
			}
		}
		if !acted && strings.HasPrefix(m, "act") && (r.action(n) != "" || m == "act.not") {
			acted, act = true, s.from
		}
	}
	if acted || r.m.Workflow != "" {
		for i, u := range runs {
			if u.from > act {
				return i
			}
		}
		return len(runs) - 1 // "Maria Jensen wants to move"
	}
	if r.r.Asks == AskPatient || r.r.Asks == AskName {
		return 0
	}
	u := runs[0]
	if r.r.Asks == "" && u.to-u.from == 1 && !r.tokens[u.from].large() {
		return -1
	}
	if len(runs) > 1 || u.to-u.from > 4 || r.r.Asks != "" && u.to-u.from == 1 && !r.tokens[u.from].large() {
		return -1
	}
	says := !r.m.Empty()
	for i := u.from; i < u.to; i++ {
		if !r.tokens[i].large() && !says {
			return -1
		}
	}
	return 0
}

// anotherPerson reports a run that may name somebody else than name does.
func (r *reading) anotherPerson(o run, name string) bool {
	known := clinic.Tokens(name)
	for _, w := range clinic.Tokens(r.name(o)) {
		if slices.Contains(known, w) {
			return false
		}
	}
	joined := o.from > 0 && (r.is("and", r.tokens[o.from-1].word) || r.is("or", r.tokens[o.from-1].word)) && o.from > 1
	return joined || r.tokens[o.from].large() && (o.to-o.from > 1 || r.tokens[o.from].poss)
}

// wholeName takes the answer to a question for one part of a name.
func (r *reading) wholeName() bool {
	if r.r.Asks == AskName {
		return r.fullName()
	}
	if r.r.Asks != AskFamily && r.r.Asks != AskGiven || r.m.Workflow != "" || r.m.StartOver || r.m.No {
		return false
	}
	for _, s := range r.spans {
		switch s.means() {
		case "family", "given", "born", "mrn", "phone", "email", "contact", "phone.value", "email.value":
			return false
		case "bare_contact", "act.lead":
			if s.N == 0 && (s.Value != Message || s.Contact != "") { // how to be told, not what to be called
				return false
			}
		}
	}
	u := run{0, len(r.tokens), 0}
	if runs := r.runs(); len(runs) > 0 {
		u = runs[0]
	}
	if u.to-u.from > longestName || slices.ContainsFunc(r.tokens[u.from:u.to], func(t token) bool { return t.digits || strings.Contains(t.word, "@") }) {
		return false
	}
	if r.r.Asks == AskFamily {
		r.m.Family = r.name(u)
	} else {
		r.m.Given = r.name(u)
	}
	return true
}

// fullName takes the answer to a question for the whole name when it looks like one and nothing else, whatever its words
// mean elsewhere: Will Smith, May Berg.
func (r *reading) fullName() bool {
	n := len(r.tokens)
	if n < 2 || n > longestName || r.m.Workflow != "" || !r.m.Empty() || len(r.unsure) > 0 {
		return false
	}
	for i, t := range r.tokens {
		if !t.large() && !r.is("particles", t.word) || t.digits || t.poss || t.quote || strings.Contains(t.word, "@") || t.after != 0 && i+1 < n && t.after != ',' {
			return false
		}
	}
	r.splitName(run{0, n, 0})
	return true
}

// registrationNames takes the runs behind "last name" and "first name".
func (r *reading) registrationNames(runs []run) (rest []run) {
	for _, u := range runs {
		before := ""
		if u.n > 0 {
			before = r.spans[u.n-1].means()
		}
		switch before {
		case "family":
			r.m.Family = r.name(u)
		case "given":
			r.m.Given = r.name(u)
		default:
			rest = append(rest, u)
		}
	}
	return rest
}

// splitName parts a name into given and family names: at a comma, before a particle such as "van", else before the last
// word. One word alone is a given name.
func (r *reading) splitName(u run) {
	if r.m.Family != "" || r.m.Given != "" {
		return
	}
	name := func(from, to int) string { return r.name(run{from, to, 0}) }
	for i := u.from; i < u.to; i++ {
		if r.tokens[i].after == ',' && i+1 < u.to {
			r.m.Family, r.m.Given = name(u.from, i+1), name(i+1, u.to)
			return
		}
	}
	split := u.to - 1
	for i := u.from + 1; i < u.to-1; i++ {
		if r.is("particles", r.tokens[i].word) {
			split = i
			break
		}
	}
	if u.to-u.from == 1 {
		r.m.Given = name(u.from, u.to)
		return
	}
	r.m.Given, r.m.Family = name(u.from, split), name(split, u.to)
}
