package clinic

import (
	"slices"
	"strings"
)

// SamePerson reports whether two records may be of one person, to be asked about and never to be merged by itself: the
// same record number; or the same birth date and
//
//   - the first given word and the last family word alike, or
//   - all words of one name among the words of the other, in any order, or
//   - the same phone number or e-mail address, and one word of the name alike.
//
// Words are alike as they are folded, also when one record spells ø å æ ö ü as oe aa ae oe ue; a double name may be written
// with a hyphen, a space or as one word. The same name with another birth date is somebody else.
func SamePerson(a, b Patient) bool {
	if a.MRN != "" && a.MRN == b.MRN {
		return true
	}
	if a.BirthDate != b.BirthDate {
		return false
	}
	one, two := nameOf(a), nameOf(b)
	if one.alike(two) || one.swapped().alike(two) || one.alike(two.swapped()) {
		return true
	}
	if within(one.words(), two.words()) || within(two.words(), one.words()) {
		return true
	}
	return sameAddress(a, b) && slices.ContainsFunc(one.words(), func(w string) bool { return slices.Contains(two.words(), w) })
}

type bareName struct{ given, family []string }

func nameOf(p Patient) bareName { return bareName{bareWords(p.Given), bareWords(p.Family)} }

func (n bareName) swapped() bareName { return bareName{n.family, n.given} }

func (n bareName) words() []string { return slices.Concat(n.given, n.family) }

// alike compares the ends of a name, and the whole of it without its spaces.
func (n bareName) alike(o bareName) bool {
	if len(n.given) == 0 || len(n.family) == 0 || len(o.given) == 0 || len(o.family) == 0 {
		return false
	}
	return n.given[0] == o.given[0] && n.family[len(n.family)-1] == o.family[len(o.family)-1] ||
		strings.Join(n.given, "") == strings.Join(o.given, "") && strings.Join(n.family, "") == strings.Join(o.family, "")
}

// within reports whether there are some words and all of them are among others.
func within(some, others []string) bool {
	return len(some) > 0 && !slices.ContainsFunc(some, func(w string) bool { return !slices.Contains(others, w) })
}

// oneLetter takes the two letters with which some write ø å æ ö ü for the one that folding leaves of them.
var oneLetter = strings.NewReplacer("oe", "o", "aa", "a", "ae", "a", "ue", "u")

func bareWords(name string) []string {
	words := Tokens(name)
	for i, w := range words {
		if short := oneLetter.Replace(w); short != "" {
			words[i] = short
		}
	}
	return words
}

func sameAddress(a, b Patient) bool {
	number := func(p Patient) string { return numberTerm(digitsOf(p.Phone)) }
	return number(a) != "" && number(a) == number(b) || a.Email != "" && foldEmail(a.Email) == foldEmail(b.Email)
}
