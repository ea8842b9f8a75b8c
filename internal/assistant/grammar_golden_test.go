package assistant

import (
	"context"
	"encoding/json"
	"testing"
)

// The table is the contract of the built-in interpreter: what these words mean at a fixed clock. R01, R02, R04 and R06
// of the scheduling cases and those an issue names are rows of it.
func TestUtterances(t *testing.T) {
	g, all := grammar(t), utterances(t)
	if len(all) < 150 {
		t.Fatalf("only %d utterances", len(all))
	}
	for _, u := range all {
		m, err := g.Interpret(context.Background(), u.request(t))
		got, _ := json.Marshal(said(m))
		want, _ := json.Marshal(u.Is)
		if err != nil || string(got) != string(want) {
			t.Errorf("%q (asked %q, now %q): %v\n got %s\nwant %s", u.Text, u.Asks, u.Now, err, got, want)
		}
	}
}

// R09: the hours a Danish desk types are the hours that are read.
func TestDanishHours(t *testing.T) {
	g := grammar(t)
	for text, want := range map[string]int{"8.00": 480, "16:00": 960, "kl. 16.00": 960} {
		m, _ := g.Interpret(context.Background(), utterance{Text: text}.request(t))
		if m.Clock == nil || *m.Clock != want {
			t.Errorf("%q: %v, want %d", text, said(m), want)
		}
	}
}

func TestNoSuchLanguage(t *testing.T) {
	for _, name := range []string{"", "xx", "../en"} {
		if _, err := NewGrammar(name); err == nil {
			t.Errorf("language %q was read", name)
		}
	}
}

func TestTooLongIsSaid(t *testing.T) {
	long := make([]byte, MaxText+1)
	for i := range long {
		long[i] = 'x'
	}
	m, err := grammar(t).Interpret(context.Background(), utterance{Text: string(long)}.request(t))
	if err != nil || m.Unsure == "" || m.Workflow != "" {
		t.Errorf("%v, %v", said(m), err)
	}
}
