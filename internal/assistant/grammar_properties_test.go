package assistant

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"countersign/internal/clinic"
)

var parts = []string{"move", "cancel", "book", "Maria Jensen", "maria", "to", "from", "on", "at", "next", "this", "Tuesday", "wednesday", "sat", "tomorrow",
	"today", "the day after tomorrow", "yesterday", "in two weeks", "in 3 days", "next week", "this week", "the weekend", "27/10", "3/4", "12/31",
	"2026-10-27", "2020-01-01", "27-Oct", "the 27th", "the 31st", "29 February", "october 3rd", "in june", "this month", "10:30", "half past ten", "5pm",
	"ten", "at noon", "after lunch", "in the morning", "late", "first thing", "with Dr Okafor", "between", "and", "or", "not", "the day after", "a week on",
	"week", "born in 84", "100234", "2", "because", "note:", "if", ",", ".", "\"", "the second one", "yes", "no", "all", "it"}

func someRequest(t *rapid.T) Request {
	zone, err := clinic.LoadZone(rapid.SampledFrom([]string{"Europe/Copenhagen", "America/New_York", "Pacific/Honolulu", "Pacific/Apia"}).Draw(t, "zone"))
	if err != nil {
		t.Fatal(err)
	}
	on := clinic.Date{}
	now := time.Unix(rapid.Int64Range(1_600_000_000, 3_000_000_000).Draw(t, "now"), 0).In(zone)
	if rapid.Bool().Draw(t, "about a day") {
		on = clinic.DateOf(now, zone).AddDays(rapid.IntRange(-40, 40).Draw(t, "on"))
	}
	return Request{
		Text: strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 9).Draw(t, "parts"), " "), Now: now, On: on, Names: havnegade,
		Asks: rapid.SampledFrom([]string{"", "", AskPatient, AskAppointment, AskDay, AskTime, AskPractitioner, AskReasonCode, AskBirthDate}).Draw(t, "asks"),
	}
}

// Every reading of a day is today or later, in order, without doubles; a stretch ends after it begins; times are of a day.
func TestDaysAreAhead(t *testing.T) {
	g := grammar(t)
	rapid.Check(t, func(t *rapid.T) {
		q := someRequest(t)
		m, err := g.Interpret(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		today := clinic.DateOf(q.Now, q.Now.Location())
		for _, days := range [][]clinic.Date{m.Days, m.VisitDays} {
			for i, d := range days {
				if d.Before(today) || d.AddDays(0) != d || i > 0 && !days[i-1].Before(d) {
					t.Fatalf("%q on %v: %v", q.Text, today, days)
				}
			}
		}
		if !m.DaysEnd.IsZero() && (len(m.Days) != 1 || m.DaysEnd.Before(m.Days[0])) {
			t.Fatalf("%q: %v to %v", q.Text, m.Days, m.DaysEnd)
		}
		for _, minute := range []*int{m.Clock, m.VisitClock, m.From, m.Until} {
			if minute != nil && (*minute < 0 || *minute > 24*60) {
				t.Fatalf("%q: minute %d", q.Text, *minute)
			}
		}
		if m.From != nil && m.Until != nil && *m.From >= *m.Until {
			t.Fatalf("%q: from %d until %d", q.Text, *m.From, *m.Until)
		}
	})
}

// More spaces mean nothing, nor does the case of letters where no name depends on it.
func TestSpacesAndCase(t *testing.T) {
	g := grammar(t)
	folded := func(m Meaning) Meaning {
		m.Patient, m.Note, m.Unsure, m.Text = strings.ToLower(m.Patient), strings.ToLower(m.Note), strings.ToLower(m.Unsure), strings.ToLower(m.Text)
		return m
	}
	rapid.Check(t, func(t *rapid.T) {
		q := someRequest(t)
		q.Text = "cancel " + q.Text
		want, _ := g.Interpret(context.Background(), q)
		wide := q
		wide.Text = "  " + strings.ReplaceAll(q.Text, " ", " \t  ") + " "
		got, _ := g.Interpret(context.Background(), wide)
		if got.Note, got.Unsure, got.Text = want.Note, want.Unsure, want.Text; !reflect.DeepEqual(got, want) { // those keep the words as written
			t.Fatalf("%q:\n%v\nwith spaces\n%v", q.Text, said(want), said(got))
		}
		lower := q
		lower.Text = strings.ToLower(q.Text)
		small, _ := g.Interpret(context.Background(), lower)
		lower.Text = strings.Map(unicode.ToUpper, lower.Text)
		large, _ := g.Interpret(context.Background(), lower)
		large, small = folded(large), folded(small)
		large.Unsure, small.Unsure = "", "" // two names: only large letters tell a second one
		if !reflect.DeepEqual(large, small) {
			t.Fatalf("%q:\n%v\nin capitals\n%v", q.Text, said(small), said(large))
		}
	})
}

// "next" weekday is always a question, and its readings do not depend on how the week is counted: the same weekday, one
// week apart, the first within the next seven days.
func TestNextWeekdayIsAQuestion(t *testing.T) {
	g := grammar(t)
	rapid.Check(t, func(t *rapid.T) {
		q := someRequest(t)
		q.Asks = ""
		day := rapid.SampledFrom([]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}).Draw(t, "weekday")
		q.Text = "next " + day
		m, _ := g.Interpret(context.Background(), q)
		today := clinic.DateOf(q.Now, q.Now.Location())
		if len(m.Days) != 2 || m.Days[0].AddDays(7) != m.Days[1] || m.Days[0].Weekday().String() != day || !m.Days[0].After(today) || m.Days[0].After(today.AddDays(7)) {
			t.Fatalf("%q on %v: %v", q.Text, today, m.Days)
		}
	})
}

// What is random means no workflow, and nothing makes it panic. A workflow needs one of the language's words for it.
func FuzzInterpret(f *testing.F) {
	g := grammar(f)
	for _, u := range utterances(f) {
		f.Add(u.Text, u.Asks)
	}
	for _, s := range []string{"", " ", "\x00", "\xff\xfe", "((((", "\"", "«", "> x\n> y", "next next next", "'s", "''s 's", "+", "+ + +", "-", "1/1/1/1", "0000-00-00", "99/99", "the 0th", ":::", "a:b:c", "@", "@@", "born", "born '84", "note:", "because", "in 999999999999999999999 days", "\u202ecancel", "can\u200bcel maria"} {
		f.Add(s, "")
	}
	words := g.actionWords()
	f.Fuzz(func(t *testing.T, text, asks string) {
		q := utterance{Text: text}.request(t)
		q.Asks = asks
		m, err := g.Interpret(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		if m.Workflow == "" {
			return
		}
		clean, err := clinic.CleanLines(text, MaxText)
		if err != nil {
			t.Fatalf("a workflow from text that is refused: %q", text)
		}
		for _, token := range g.scan(clean) {
			if words[token.word] || words[token.stem] || strings.Contains(token.word, "@") {
				return
			}
		}
		t.Errorf("%q from %q, without a word for it", m.Workflow, text)
	})
}

// actionWords are the words with which a request can begin to be one.
func (g *Grammar) actionWords() map[string]bool {
	words := map[string]bool{}
	var collect func(seq []node)
	collect = func(seq []node) {
		for _, n := range seq {
			if n.word != "" {
				words[n.word] = true
			}
			for _, alt := range n.alts {
				collect(alt)
			}
		}
	}
	for _, p := range g.patterns {
		if m := p.rule.Means; strings.HasPrefix(m, "act") && m != "act.not" || m == "phone" || m == "email" || m == "contact" {
			collect(p.seq)
		}
	}
	for _, dull := range []string{"a", "an", "the", "to", "of", "for", "new", "me", "us", "have", "is", "at", "now", "with", "her", "his", "their", "no"} {
		delete(words, dull)
	}
	return words
}
