package casetest

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/assistant"
	"countersign/internal/clinic"
)

// asked is what the assistant answers to the words and the choices it offers with it.
func (w *world) asked(thread string, talk *assistant.Service, in assistant.Saying) (assistant.Thread, assistant.Entry) {
	w.Helper()
	if _, err := talk.Say(ctx, ana, thread, in); err != nil {
		w.Fatal(err)
	}
	h, err := talk.Thread(ctx, ana, thread)
	if err != nil {
		w.Fatal(err)
	}
	return h, h.Messages[len(h.Messages)-1]
}

// Words for the hour that is skipped, and for the one that comes twice: a question with both offsets, and nothing is
// picked. The choice that is picked is the instant on the card.
func TestWordsForATimeOfTheClockChangeAreAQuestion(t *testing.T) {
	for _, c := range []struct {
		now   string
		until clinic.Date
		words string
		says  string
		want  []string
		card  []string // the instants that the choices lead to
	}{
		{"2026-03-16 09:00", clinic.Date{Year: 2026, Month: 4, Day: 12}, "Move 100234 to 29 March at 02:30 with Dr Nina Night", "does not exist: the clocks go forward then. Which time is meant?",
			[]string{"01:30 (UTC+01:00)", "03:30 (UTC+02:00)"}, []string{"2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"}},
		{"2026-10-12 09:00", clinic.Date{Year: 2026, Month: 11, Day: 8}, "Move 100234 to 25 October at 02:30 with Dr Nina Night", "comes twice",
			[]string{"02:30 (UTC+02:00)", "02:30 (UTC+01:00)"}, []string{"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"}},
	} {
		w := worldAt(t, c.now)
		w.openNights(c.until)
		grammar, err := assistant.NewGrammar("en")
		if err != nil {
			t.Fatal(err)
		}
		talk := &assistant.Service{Store: db.Threads{DB: w.db}, Desk: w.desk, Interpreter: grammar, IDs: desktest.ID, Log: slog.New(slog.DiscardHandler), Patience: 20 * time.Second}
		for i := range c.want {
			h, err := talk.Start(ctx, ana)
			if err != nil {
				t.Fatal(err)
			}
			before := w.text(`SELECT count(*) FROM proposals`)
			asks, e := w.asked(h.ID, talk, assistant.Saying{Text: c.words})
			if asks.Pending() != nil || w.text(`SELECT count(*) FROM proposals`) != before || !strings.Contains(e.Text, c.says) || len(e.Choices) != 2 {
				t.Fatalf("%s: %q %v", c.words, e.Text, e.Choices)
			}
			for j, want := range c.want {
				if !strings.Contains(e.Choices[j].Label, want) {
					t.Errorf("choice %d is %q, want %q", j, e.Choices[j].Label, want)
				}
			}
			card, e := w.asked(h.ID, talk, assistant.Saying{Choice: e.Choices[i].ID})
			if card.Pending() == nil || !strings.Contains(string(card.Calls[0].Arguments), c.card[i]) {
				t.Errorf("%s: no card for %s: %q", c.words, c.card[i], e.Text)
			}
		}
	}
}
