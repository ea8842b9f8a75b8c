package assistant

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"countersign/internal/clinic"
)

// What is in question is not known, and is missing with a reason.
func TestKnownIsWhatIsSettled(t *testing.T) {
	maria := &Who{ID: "p1", Name: "Maria Jensen", BirthDate: "1984-03-12", MRN: "100234"}
	day, other, clock, noon := clinic.Date{Year: 2026, Month: 6, Day: 2}, clinic.Date{Year: 2026, Month: 6, Day: 9}, 630, 720
	for name, c := range map[string]struct {
		work           Work
		known, missing string
		why            string // of the first that is missing
	}{
		"one day, one time":     {Work{Workflow: Reschedule, Patient: maria, Visit: &Booked{}, When: &When{Days: []clinic.Date{day}, Clock: &clock}}, "appointment day patient time workflow", "", ""},
		"two readings of a day": {Work{Workflow: Reschedule, Query: "Maria", When: &When{Days: []clinic.Date{day, other}}, Asks: AskPatient}, "workflow", "patient appointment day time", "“Maria” does not say which one"},
		"a stretch of days":     {Work{Workflow: Book, Patient: maria, Type: &clinic.Ref{}, When: &When{Days: []clinic.Date{day}, DaysEnd: other}, Asks: AskTime}, "patient type workflow", "day time", "any from Tuesday 2 June 2026 to Tuesday 9 June 2026 was said"},
		"a day asked about":     {Work{Workflow: Book, Patient: maria, Type: &clinic.Ref{}, When: &When{Days: []clinic.Date{day, other}, Clock: &clock}, Asks: AskDay}, "patient time type workflow", "day", "Tuesday 2 June 2026 or Tuesday 9 June 2026 can be meant"},
		"a time that is taken":  {Work{Workflow: Book, Patient: maria, Type: &clinic.Ref{}, When: &When{Days: []clinic.Date{day}, Clock: &clock}, Asks: AskTime}, "day patient type workflow", "time", "10:30 is in question"},
		"a time among several":  {Work{Workflow: Book, Patient: maria, Type: &clinic.Ref{}, When: &When{Days: []clinic.Date{day}, From: &noon}, Asks: AskTime}, "day patient type workflow", "time", "from 12:00 leaves more than one"},
		"a possible duplicate":  {Work{Workflow: Register, Family: "Jensen", Given: "Maria", BirthDate: "1984-03-12", Contact: "none", Asks: AskPatient}, "birth_date contact family given workflow", "patient", "somebody who looks the same is here already"},
		"an address is missing": {Work{Workflow: Register, Family: "Jensen", Given: "Maria", BirthDate: "1984-03-12", Contact: "email", Asks: AskContact}, "birth_date family given workflow", "contact", "the address or number for it was not said"},
		"a picked start":        {Work{Workflow: Book, Patient: maria, Type: &clinic.Ref{}, Start: "2026-06-02T08:30:00Z"}, "patient type workflow", "", ""},
	} {
		before := dayWords(c.work.When)
		missing := c.work.Missing()
		if got := strings.Join(slices.Sorted(maps.Keys(c.work.Known())), " "); got != c.known {
			t.Errorf("%s: known %s, want %s", name, got, c.known)
		}
		if got := strings.Join(missing, " "); got != c.missing {
			t.Errorf("%s: missing %s, want %s", name, got, c.missing)
		}
		if len(missing) > 0 && c.work.Lack(missing[0]) != c.why {
			t.Errorf("%s: because %q, want %q", name, c.work.Lack(missing[0]), c.why)
		}
		if dayWords(c.work.When) != before {
			t.Errorf("%s: what was said is lost", name)
		}
	}
}

// Titles tell conversations apart: by the wish, the name and the birth date.
func TestTitles(t *testing.T) {
	maria := &Who{Name: "Maria Jensen", BirthDate: "1984-03-12"}
	for want, w := range map[string]Work{
		"Move: Maria Jensen, born 12-Mar-1984": {Workflow: Reschedule, Patient: maria},
		"Cancel: Maria Jensen":                 {Workflow: Cancel, Query: "Maria Jensen"},
		"Register: Ida Holm":                   {Workflow: Register, Patient: maria, Given: "Ida", Family: "Holm"},
		"Register: Ida Holm, born 02-May-1990": {Workflow: Register, Given: "Ida", Family: "Holm", BirthDate: "1990-05-02"},
		"":                                     {Workflow: Book},
	} {
		if got := titleOf(w); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The sentences that the help offers are understood.
func TestTheHelpIsUnderstood(t *testing.T) {
	for _, text := range []string{help, helpFor("Maria Jensen")} {
		parts := strings.Split(text, "“")[1:]
		if len(parts) != 3 {
			t.Errorf("%d examples: %s", len(parts), text)
		}
		for _, p := range parts {
			sentence, _, _ := strings.Cut(p, "”")
			m, err := grammar(t).Interpret(context.Background(), utterance{Text: sentence}.request(t))
			if err != nil || m.Workflow == "" || m.Unsure != "" {
				t.Errorf("%q means %+v", sentence, m)
			}
		}
	}
}
