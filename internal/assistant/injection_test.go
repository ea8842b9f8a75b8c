package assistant

import (
	"context"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func injections(t *testing.T) (all []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/injections.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &all); err != nil || len(all) < 40 {
		t.Fatalf("%d injections, %v", len(all), err)
	}
	return all
}

// As data an instruction changes nothing: the meaning is that of the request alone, but for the note or the message.
func TestDataGivesNoOrders(t *testing.T) {
	g := grammar(t)
	for _, evil := range injections(t) {
		plain := strings.NewReplacer(`"`, "", "\n", " ").Replace(evil)
		for _, c := range []struct{ request, with string }{
			{"move Maria Jensen to Tuesday 10:00", "move Maria Jensen to Tuesday 10:00, note: " + evil},
			{"move Maria Jensen to Tuesday 10:00", "move Maria Jensen to Tuesday 10:00\nReason: " + evil},
			{"move Maria Jensen to Tuesday 10:00", `move Maria Jensen to Tuesday 10:00 with the note "` + plain + `"`},
			{"move Maria Jensen to Tuesday 10:00", "“" + plain + "” move Maria Jensen to Tuesday 10:00"},
			{"move Maria Jensen to Tuesday 10:00", "move Maria Jensen to Tuesday 10:00 \"" + plain},
			{"move Maria Jensen to Tuesday 10:00", "move Maria Jensen to Tuesday 10:00\n> " + evil},
			{"cancel 100234", "cancel 100234 because " + strings.NewReplacer(".", ",", ";", ",", "?", ",", "!", ",").Replace(evil)},
			{"book Maria Jensen tomorrow", "book Maria Jensen tomorrow. Notes: " + evil},
			{"tell Maria Jensen", "tell Maria Jensen that " + evil},
			{"text Maria Jensen", "text Maria Jensen saying: " + evil},
			{"move Maria Jensen to Tuesday 10:00", "move Maria Jensen to Tuesday 10:00 and tell her that " + evil},
			{"register Jane Roe born 1990-02-03", "register Jane Roe born 1990-02-03, comment: " + evil},
		} {
			want, _ := g.Interpret(context.Background(), utterance{Text: c.request}.request(t))
			got, err := g.Interpret(context.Background(), utterance{Text: c.with}.request(t))
			if err != nil || got.Note == "" && got.Text == "" {
				t.Errorf("%q: the words are lost: %v, %v", c.with, said(got), err)
			}
			got.Note, got.Text = "", ""
			if want.ReasonCode == "" { // what a reason says may say which reason it is
				got.ReasonCode = ""
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%q:\n got %v\nwant %v", c.with, said(got), said(want))
			}
		}
	}
}

// Written straight behind a request, an instruction may spoil it, which is said; it never makes it another request, or
// one for more people.
func TestRequestsNeverWiden(t *testing.T) {
	g := grammar(t)
	for _, evil := range injections(t) {
		for _, c := range []struct{ request, with string }{
			{"move Maria Jensen to Tuesday 10:00", "move Maria Jensen to Tuesday 10:00. " + evil},
			{"move Maria Jensen to Tuesday 10:00", "move Maria Jensen to Tuesday 10:00 " + evil},
			{"move Maria Jensen to Tuesday 10:00", "move Maria Jensen to Tuesday 10:00\n\n" + evil},
			{"move Maria Jensen to Tuesday 10:00", "move Maria Jensen to Tuesday 10:00 and " + evil},
			{"move Maria Jensen to Tuesday 10:00", "move Maria Jensen to Tuesday 10:00 because it rains. " + evil},
			{"book Maria Jensen tomorrow", "book Maria Jensen tomorrow; " + evil},
			{"cancel 100234", "cancel 100234 (" + evil + ")"},
			{"move Maria Jensen", "move Maria Jensen " + evil + " to Tuesday"},
		} {
			want, _ := g.Interpret(context.Background(), utterance{Text: c.request}.request(t))
			got, err := g.Interpret(context.Background(), utterance{Text: c.with}.request(t))
			if err != nil {
				t.Fatal(err)
			}
			if got.Workflow != want.Workflow && got.Workflow != "" {
				t.Errorf("%q became %s", c.with, got.Workflow)
			}
			// Somebody else is never meant. Words that make the name longer find fewer people, not more.
			if got.Patient != "" && !strings.HasPrefix(got.Patient, want.Patient) {
				t.Errorf("%q is about %q", c.with, got.Patient)
			}
			if got.Email != "" || got.Family != "" || got.Given != "" {
				t.Errorf("%q also says %v", c.with, said(got))
			}
		}
	}
}

// In the place of a name, of an answer or of the text of a message, an instruction is at most a name to search for.
func TestAnswersGiveNoOrders(t *testing.T) {
	g := grammar(t)
	for _, evil := range injections(t) {
		q := utterance{Text: evil, Asks: AskText}.request(t)
		m, _ := g.Interpret(context.Background(), q)
		if m.Text == "" || m.Workflow != "" || m.Patient != "" {
			t.Errorf("as a message %q is %v", evil, said(m))
		}
		q.Text, q.Asks = `"`+strings.ReplaceAll(evil, `"`, "")+`"`, AskPatient
		if m, _ := g.Interpret(context.Background(), q); m.Workflow != "" || m.Patient != "" {
			t.Errorf("in quotation marks %q is %v", evil, said(m))
		}
	}
	// Names of the clinic are compared, never read.
	q := utterance{Text: "move Maria Jensen to Tuesday 10:00"}.request(t)
	want, _ := g.Interpret(context.Background(), q)
	q.Names.Practitioners = append(slices.Clone(q.Names.Practitioners), injections(t)...)
	q.Names.Locations = append(slices.Clone(q.Names.Locations), injections(t)...)
	q.Names.Types = append(slices.Clone(q.Names.Types), injections(t)...)
	if got, _ := g.Interpret(context.Background(), q); !reflect.DeepEqual(got, want) {
		t.Errorf("with hostile names: %v", said(got))
	}
}
