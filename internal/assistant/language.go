package assistant

import (
	"embed"
	"encoding/json"
	"fmt"
)

//go:embed lang/*.json
var languageFiles embed.FS

// language is a data file of lang/: all the words the grammar knows, and what it says when it is unsure. The meanings of
// patterns are the grammar's; their words and word order are the language's.
type language struct {
	Months         map[string]int      `json:"months"`
	Weekdays       map[string]int      `json:"weekdays"` // Sunday is 0
	Numbers        map[string]int      `json:"numbers"`
	Hours          map[string]int      `json:"hours"`
	Minutes        map[string]int      `json:"minutes"`
	Ordinals       map[string]int      `json:"ordinals"`
	OrdinalEndings []string            `json:"ordinal_endings"`
	Zones          []string            `json:"zones"`         // never parsed: their times are asked about
	DayWords       []string            `json:"day_words"`     // before a date
	Agreed         []string            `json:"agreed"`        // behind "book" or "send" when nothing more is said
	ZoneEnds       []string            `json:"zone_ends"`     // "Eastern standard time"
	ZoneParts      []string            `json:"zone_parts"`    // of places: "New York"
	ZoneOf         []string            `json:"zone_of"`       // "her time"
	ZoneIn         []string            `json:"zone_in"`       // "10:00 in Tokyo"
	Abbreviations  []string            `json:"abbreviations"` // a full stop behind them ends no sentence
	Particles      []string            `json:"particles"`     // begin a family name
	Sets           map[string][]string `json:"sets"`          // <name> in patterns
	SentenceNotes  []string            `json:"sentence_notes"`
	FinalNotes     []string            `json:"final_notes"`
	MessageStarts  []string            `json:"message_starts"`
	Skip           []string            `json:"skip"`        // say nothing
	Breaks         []string            `json:"breaks"`      // never part of a name
	Conditions     []string            `json:"conditions"`  // what follows is not read
	MaybeNames     []string            `json:"maybe_names"` // parts of a name when written large beside one
	FromWords      []string            `json:"from_words"`
	ToWords        []string            `json:"to_words"`
	OrWords        []string            `json:"or_words"`
	AndWords       []string            `json:"and_words"`
	ByWords        []string            `json:"by_words"`   // may stand before a bare name of the lexicon
	KnowWords      []string            `json:"know_words"` // "let her know"
	BetweenWords   []string            `json:"between_words"`
	ThroughWords   []string            `json:"through_words"`
	Says           map[string]string   `json:"says"`
	Patterns       []rule              `json:"patterns"`
}

// rule is one meaning and the ways to say it.
type rule struct {
	Means   string   `json:"means"`
	N       int      `json:"n"`
	From    *int     `json:"from"`
	Until   *int     `json:"until"`
	Value   string   `json:"value"`
	Contact string   `json:"contact"`
	Say     []string `json:"say"`
}

// Grammar is the built-in Interpreter: it runs offline, and gives the same meaning for the same request.
type Grammar struct {
	lang     language
	patterns []pattern
	words    map[string]map[string]bool // lists of the language by name, for membership
	phrases  map[string][][]string      // lists of phrases by name, folded
}

// NewGrammar reads the language's data file, such as "en".
func NewGrammar(name string) (*Grammar, error) {
	data, err := languageFiles.ReadFile("lang/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("no language %q", name)
	}
	g := &Grammar{words: map[string]map[string]bool{}, phrases: map[string][][]string{}}
	if err := json.Unmarshal(data, &g.lang); err != nil {
		return nil, fmt.Errorf("language %q: %w", name, err)
	}
	for list, words := range map[string][]string{
		"breaks": g.lang.Breaks, "conditions": g.lang.Conditions, "maybe": g.lang.MaybeNames, "zones": g.lang.Zones,
		"day_words": g.lang.DayWords, "agreed": g.lang.Agreed, "zone_ends": g.lang.ZoneEnds, "zone_parts": g.lang.ZoneParts, "zone_of": g.lang.ZoneOf, "zone_in": g.lang.ZoneIn,
		"abbreviations": g.lang.Abbreviations, "particles": g.lang.Particles, "from": g.lang.FromWords, "to": g.lang.ToWords,
		"or": g.lang.OrWords, "and": g.lang.AndWords, "by": g.lang.ByWords, "know": g.lang.KnowWords,
		"between": g.lang.BetweenWords, "through": g.lang.ThroughWords,
		"visit": g.lang.Sets["visit"], "title": g.lang.Sets["title"], "them": g.lang.Sets["them"],
	} {
		g.words[list] = map[string]bool{}
		for _, w := range words {
			g.words[list][foldWord(w)] = true
		}
	}
	for list, phrases := range map[string][]string{"sentence": g.lang.SentenceNotes, "final": g.lang.FinalNotes, "message": g.lang.MessageStarts} {
		for _, phrase := range phrases {
			g.phrases[list] = append(g.phrases[list], nameParts(phrase))
		}
	}
	rules := append([]rule(nil), g.lang.Patterns...)
	rules = append(rules, rule{Means: "skip", Say: g.lang.Skip}, rule{Means: "condition", Say: g.lang.Conditions})
	for i := range rules {
		for _, say := range rules[i].Say {
			seq, err := g.compile(say)
			if err != nil {
				return nil, fmt.Errorf("language %q, %q: %w", name, say, err)
			}
			p := pattern{rule: &rules[i], seq: seq, first: map[string]bool{}}
			if !firsts(seq, p.first) {
				p.first = nil
			}
			g.patterns = append(g.patterns, p)
		}
	}
	return g, nil
}

func (g *Grammar) is(list, word string) bool { return g.words[list][word] }

func (g *Grammar) say(key string, args ...any) string { return fmt.Sprintf(g.lang.Says[key], args...) }
