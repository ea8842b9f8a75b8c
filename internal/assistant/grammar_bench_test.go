package assistant

import (
	"context"
	"strings"
	"testing"
	"time"
)

// The longest messages, of words that begin most, take time in proportion: nobody can hold a server with words (about 0.2 s; the bound leaves room for a busy machine).
func TestLongMessagesAreQuick(t *testing.T) {
	g := grammar(t)
	for _, word := range []string{"tell her ", "change ", "from one to one ", "and tell Maria ", "let let know ", "move Maria and ", "a ", "x ", "the the next ", "between 1 and 1 ",
		"Dr Anna ", "1 ", "\"", "not ", "born ", "because ", "(", "twenty five to one ", "quarter to ", "+1 ", "a quarter past ", "the one that was born in "} {
		q := utterance{Text: strings.Repeat(word, MaxText/len(word))}.request(t)
		began := time.Now()
		m, err := g.Interpret(context.Background(), q)
		if took := time.Since(began); err != nil || took > 5*time.Second {
			t.Errorf("%q took %v: %v", word, took, err)
		} else {
			t.Logf("%-28q %8v %q", word, took.Round(time.Millisecond), m.Workflow)
		}
	}
}

func BenchmarkInterpret(b *testing.B) {
	g := grammar(b)
	q := utterance{Text: "Move Maria Jensen from tomorrow to Tuesday 9 June, after lunch. Doctor doesn’t matter."}.request(b)
	for b.Loop() {
		if _, err := g.Interpret(context.Background(), q); err != nil {
			b.Fatal(err)
		}
	}
}
