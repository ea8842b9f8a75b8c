package assistant

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"countersign/internal/clinic"
)

// MaxText is how many characters of a message are read.
const MaxText = 2000

// reading is one message being read.
type reading struct {
	*Grammar
	r      Request
	today  clinic.Date
	text   string
	tokens []token // of the request; what is data was taken out of them
	spans  []span
	m      Meaning
	unsure []string
	folded map[string][]string // parts of the lexicon's names
	person run                 // that m.Patient names
	textOf int                 // the token of the act that m.Text belongs to
}

// Interpret never fails: what it does not understand says nothing.
func (g *Grammar) Interpret(_ context.Context, q Request) (Meaning, error) {
	text, err := clinic.CleanLines(q.Text, MaxText)
	if err != nil {
		if utf8.ValidString(q.Text) {
			return Meaning{Unsure: g.say("too_long")}, nil
		}
		return Meaning{}, nil
	}
	r := &reading{Grammar: g, r: q, today: clinic.DateOf(q.Now, q.Now.Location()), text: text, folded: map[string][]string{}}
	r.tokens = g.scan(text)
	if len(r.tokens) == 0 || r.freeText() {
		return r.m, nil
	}
	r.parse()
	r.liftData()
	r.clause()
	r.understand()
	r.m.Unsure = strings.Join(slices.Compact(r.unsure), "; ")
	return r.m, nil
}

func (r *reading) ask(key string, args ...any) { r.unsure = append(r.unsure, r.say(key, args...)) }

// source is the text of tokens, as written.
func (r *reading) source(from, to int) string {
	if from >= to || from >= len(r.tokens) {
		return ""
	}
	return strings.TrimSpace(r.text[r.tokens[from].from:r.tokens[min(to, len(r.tokens))-1].to])
}

func (s span) means() string {
	if s.rule == nil {
		return ""
	}
	return s.Means
}

// plain is the span at token i without the clinic's names.
func (r *reading) plain(i int) span {
	if r.tokens[i].quote {
		return span{rule: &rule{Means: "quote"}, from: i, to: i + 1}
	}
	s := r.match(i)
	if last := s.to - 1; s.means() == "day.vague" && last > i {
		// "Friday after" is a riddle; in "Friday after 14:00" it is no part of the day.
		if t := r.match(last); t.to > s.to && slices.Contains([]string{"after", "before", "part"}, t.means()) {
			return r.matchTo(i, last)
		}
	}
	return s
}

// parse divides the tokens into spans: at each place the longest; the clinic's names before patterns of the same length.
func (r *reading) parse() {
	r.spans = r.spans[:0]
	for i := 0; i < len(r.tokens); {
		s := r.plain(i)
		if !r.tokens[i].quote {
			if l := r.lexicon(i); l.rule != nil && l.to >= s.to {
				s = l
			}
		}
		s = r.withYear(s)
		if s.means() == "born" {
			s = r.readBorn(s)
		}
		r.spans = append(r.spans, s)
		i = s.to
	}
}

// withYear adds the year of "March 11, 1984".
func (r *reading) withYear(s span) span {
	if s.means() != "day.date" || s.to >= len(r.tokens) || r.tokens[s.to-1].after != ',' {
		return s
	}
	if _, known := s.cap("year"); !known {
		for _, c := range r.slot("year", s.to) {
			c.slot, c.from = "year", s.to
			s.caps, s.to = append(s.caps, c), c.to
		}
	}
	return s
}

// cut drops the tokens from i on.
func (r *reading) cut(i int) {
	r.tokens = r.tokens[:i]
	r.parse()
}

// freeText takes an answer that is wanted as it stands; words that would leave the question still do.
func (r *reading) freeText() bool {
	if r.r.Asks != AskText {
		return false
	}
	if s := r.plain(0); s.to == len(r.tokens) && slices.Contains([]string{"start_over", "no", "yes", "silent"}, s.means()) {
		return false
	}
	if len(r.tokens) == 1 && r.tokens[0].quote {
		r.m.Text = r.tokens[0].raw
	} else {
		r.m.Text = r.text
	}
	return true
}

// clause keeps one request: it ends where another action begins, or a condition.
func (r *reading) clause() {
	acted := ""
	for n, s := range r.spans {
		switch s.means() {
		case "condition":
			r.ask("condition", r.source(s.from, len(r.tokens)))
			r.cut(s.from)
			return
		case "act", "act.lead", "act.change":
			value := r.action(n)
			if value == "" {
				continue
			}
			if acted == "" {
				acted = value
				r.m.Workflow = value
				if s.Contact != "" {
					r.m.Contact = s.Contact
				}
				continue
			}
			if value == Message && r.toSame(n) { // "and tell her that …" belongs to the change
				continue
			}
			if value != acted || r.leads(n) {
				r.ask("one_thing", r.source(s.from, len(r.tokens)))
				r.cut(s.from)
				return
			}
		}
	}
}

// action is the workflow the act span asks for; "" if it is no request.
func (r *reading) action(n int) string {
	s := r.spans[n]
	switch s.Means {
	case "act":
		return s.Value
	case "act.lead":
		if !r.leads(n) || s.to >= len(r.tokens) || r.tokens[s.to-1].after == ',' {
			return ""
		}
		if s.N == 1 && !slices.ContainsFunc(r.spans[n+1:], func(o span) bool { // "let …" needs its "know"
			return o.from-s.to < 8 && r.is("know", r.tokens[o.to-1].word)
		}) {
			return ""
		}
		return s.Value
	case "act.change":
		return r.changed(n)
	}
	return ""
}

// changed is what "change" changes: a number or an address, a visit, or what the conversation is about (""). What is
// deleted can only be a visit.
func (r *reading) changed(n int) string {
	visit, to := false, Reschedule
	if r.spans[n].Value != "" {
		to = r.spans[n].Value
	}
	for _, o := range r.spans[n+1:] {
		switch o.means() {
		case "phone", "email", "contact":
			if to == Reschedule {
				return UpdateContact
			}
			return ""
		case "":
			t := r.tokens[o.from]
			if strings.Contains(t.word, "@") && to == Reschedule {
				return UpdateContact
			}
			visit = visit || !t.digits && to == Reschedule
		case "skip":
			visit = visit || r.is("visit", r.tokens[o.from].word)
		}
	}
	if visit {
		return to
	}
	return ""
}

// leads reports an act at the beginning of a sentence or behind "and".
func (r *reading) leads(n int) bool {
	for i := n - 1; i >= 0; i-- {
		s := r.spans[i]
		last := r.tokens[s.to-1]
		if last.after != 0 || r.is("and", last.word) {
			return true
		}
		if m := s.means(); m != "skip" && m != "yes" && m != "no" {
			return false
		}
	}
	return true
}

// toSame reports that the message act is to the patient of this request: the next word is a pronoun.
func (r *reading) toSame(n int) bool {
	to := r.spans[n].to
	return to < len(r.tokens) && r.is("them", r.tokens[to].word)
}
