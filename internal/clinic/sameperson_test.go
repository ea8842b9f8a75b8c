package clinic

import (
	"testing"

	"golang.org/x/text/unicode/norm"
)

func TestWhoMayBeTheSamePerson(t *testing.T) {
	who := func(given, family string, more ...string) Patient {
		p := Patient{Given: given, Family: family, BirthDate: "1975-05-05"}
		for i := 0; i+1 < len(more); i += 2 {
			switch more[i] {
			case "born":
				p.BirthDate = more[i+1]
			case "mrn":
				p.MRN = more[i+1]
			case "phone":
				p.Phone = more[i+1]
			case "email":
				p.Email = more[i+1]
			}
		}
		return p
	}
	for _, c := range []struct {
		name string
		a, b Patient
		same bool
	}{
		{"a middle name left out", who("Søren", "Groß"), who("Søren Łukasz", "Groß"), true},
		{"another middle name", who("Søren Adam", "Groß"), who("Søren Łukasz", "Groß"), true},
		{"a second family name", who("Søren", "Groß"), who("Søren", "Holm Groß"), true},
		{"the middle name in the family name", who("Søren", "Łukasz Groß"), who("Søren Łukasz", "Groß"), true},
		{"case and marks", who("SØREN", "groß"), who("Soren", "GROSS"), true},
		{"ł and l", who("Łukasz", "Małecki"), who("Lukasz", "Malecki"), true},
		{"ø as oe, ä as ae", who("Soeren", "Bäcker"), who("Søren", "Baecker"), true},
		{"å as aa", who("Åse", "Skåne"), who("Aase", "Skaane"), true},
		{"ü as ue", who("Jürgen", "Müller"), who("Juergen", "Mueller"), true},
		{"composed and decomposed", who("María", "Nuñez"), who(norm.NFD.String("María"), norm.NFD.String("Nuñez")), true},
		{"family and given swapped", who("Jensen", "Maria"), who("Maria", "Jensen"), true},
		{"swapped, with a middle name each", who("Jensen", "Maria Anna"), who("Maria Sofie", "Jensen"), true},
		{"a hyphen and a space", who("Anna-Lena", "Berg-Holm"), who("Anna Lena", "Berg Holm"), true},
		{"a hyphen and one word", who("Anna-Lena", "Berg"), who("Annalena", "Berg"), true},
		{"half of a double name", who("Anna", "Berg"), who("Anna-Lena", "Berg-Holm"), true},
		{"an apostrophe", who("Aoife", "O’Brien"), who("Aoife", "O Brien"), true},
		{"the same phone and family name", who("Liv", "Berg", "phone", "+45 20 12 34 56"), who("Olivia", "Berg", "phone", "0045 20123456"), true},
		{"the same e-mail and given name", who("Liv", "Berg", "email", "liv@example.test"), who("Liv", "Holm", "email", "LIV@Example.test"), true},
		{"the same record number", who("Liv", "Berg", "mrn", "7"), who("Bo", "Lund", "mrn", "7", "born", "1990-01-01"), true},

		{"two Marias", who("Maria", "Jensen", "born", "1984-03-11"), who("Maria", "Jensen", "born", "1991-07-02"), false},
		{"day and month swapped", who("Maria", "Jensen", "born", "1984-03-11"), who("Maria", "Jensen", "born", "1984-11-03"), false},
		{"a sibling", who("Anna", "Jensen"), who("Maria", "Jensen"), false},
		{"a longer given name", who("Mariana", "Jensen"), who("Maria", "Jensen"), false},
		{"another family name", who("Maria", "Jensen"), who("Maria", "Jansen"), false},
		{"the same phone, another name", who("Liv", "Berg", "phone", "+4520123456"), who("Bo", "Lund", "phone", "+4520123456"), false},
		{"the same phone and name, another birth date", who("Liv", "Berg", "phone", "+4520123456"), who("Olivia", "Berg", "phone", "+4520123456", "born", "2001-01-01"), false},
		{"no phone on either", who("Liv", "Berg"), who("Bo", "Berg"), false},
		{"no record number on either", who("Liv", "Berg", "born", "1990-01-01"), who("Liv", "Berg"), false},
		{"no words at all", who("", ""), who("Maria", "Jensen"), false},
	} {
		if SamePerson(c.a, c.b) != c.same || SamePerson(c.b, c.a) != c.same {
			t.Errorf("%s: %v", c.name, !c.same)
		}
	}
}
