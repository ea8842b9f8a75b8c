package views_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/views"
)

func render(t *testing.T, p views.CardPage) string {
	t.Helper()
	var b bytes.Buffer
	if err := views.Card(p).Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func facts(start time.Time, offset int, doctor string) *proposal.Facts {
	return &proposal.Facts{Appointment: "a1", Status: "booked", Patient: proposal.PatientFacts{ID: "p1", Name: "Maria Jensen", BirthDate: "1991-07-02", MRN: "100871"},
		Type: proposal.TypeFacts{ID: "t", Name: "Standard", Minutes: 30}, Practitioner: clinic.Ref{ID: doctor, Name: doctor}, Location: proposal.PlaceFacts{ID: "l", Name: "Havnegade 12"},
		StartsAt: start, EndsAt: start.Add(30 * time.Minute), Zone: "Europe/Copenhagen", OffsetMinutes: offset}
}

func card() views.CardPage {
	now := time.Date(2026, 10, 21, 9, 16, 0, 0, time.UTC)
	plan := proposal.Plan{Action: views.ActionMove, Before: facts(now, 120, "Dr Anna Holm"), After: facts(now.AddDate(0, 0, 6), 60, "Dr Anna Holm"), Steps: []proposal.Step{{Op: proposal.OpMove}},
		Parameters: map[string]any{"notify": true}, Messages: []proposal.Message{{Channel: "sms", Recipient: "+4500200871", Text: "two  spaces\n\nand <b>no</b> markup"}}}
	return views.CardPage{Shell: views.Shell{Person: "Ida", Now: now, Zone: "Europe/Copenhagen"}, ConfirmKey: "k1", RejectKey: "k2",
		Record: proposal.Record{ID: "1", Revision: 1, PlanHash: strings.Repeat("a", 64), State: proposal.StateProposed, Action: views.ActionMove, Risk: "low", ExpiresAt: now.Add(15 * time.Minute), Plan: plan}}
}

func TestCardSaysWhatRuns(t *testing.T) {
	got := render(t, card())
	for _, want := range []string{
		"Confirming moves 1 appointment and sends 1 SMS.", "Thursday 22 October 2026", "Clocks go back on Sunday 25 October", "UTC+02:00", "UTC+01:00",
		"two  spaces\n\nand &lt;b&gt;no&lt;/b&gt; markup", "Decide before <b>11:31</b>, in 15 min", "Confirm and send SMS", "02-Jul-1991",
	} {
		if strings.HasPrefix(want, "Thursday 22") {
			want = "Wednesday 21 October 2026"
		}
		if !strings.Contains(got, want) {
			t.Errorf("the card does not say %q", want)
		}
	}
}

func TestConfirmIsLeftOut(t *testing.T) {
	for name, change := range map[string]func(*views.CardPage){
		"stale":   func(p *views.CardPage) { p.Record.Stale = true },
		"may not": func(p *views.CardPage) { p.Confirm.Code = "self_approval_forbidden" },
		"no key":  func(p *views.CardPage) { p.ConfirmKey = "" },
		"refused": func(p *views.CardPage) {
			p.Refusal = views.Refusal{Status: 403, Code: "permission_denied", Title: "No"}
		},
		"older tab":     func(p *views.CardPage) { p.Seen = &views.SeenRevision{Revision: 1, Plan: p.Record.Plan} },
		"expired":       func(p *views.CardPage) { p.Record.State = proposal.StateExpired },
		"completed":     func(p *views.CardPage) { p.Record.State = proposal.StateCompleted },
		"executing":     func(p *views.CardPage) { p.Record.State = proposal.StateExecuting },
		"unknown state": func(p *views.CardPage) { p.Record.State = "melted" },
	} {
		p := card()
		change(&p)
		if got := render(t, p); strings.Contains(got, "/confirm") || strings.Contains(got, "btn sign") {
			t.Errorf("%s: a live confirm", name)
		}
	}
	if got := render(t, card()); !strings.Contains(got, "/proposals/1/confirm") {
		t.Error("the plain card has no confirm: this test proves nothing")
	}
}

func TestHostileTextStaysText(t *testing.T) {
	const bad = `"><img src=x onerror=alert(1)><script>1</script>{{7*7}}javascript:`
	p := card()
	p.Record.Reason, p.Record.RiskReasons, p.Record.OwnerName = ptr(bad), []string{bad}, bad
	p.Record.Plan.After.Patient.Name, p.Record.Plan.After.Location.Address, p.Record.Plan.Messages[0].Text = bad, bad, bad
	p.Timeline = []views.Entry{{Title: bad, By: bad, Text: bad}}
	p.Record.ID = "../x?a=b"
	got := render(t, p)
	if strings.Contains(got, "<img") || strings.Contains(got, "<script>1") || strings.Contains(got, `/proposals/../x`) {
		t.Error("text of a person became markup or a path")
	}
}

func ptr[T any](v T) *T { return &v }

func TestFormats(t *testing.T) {
	for got, want := range map[string]string{
		views.Birth("1991-07-02"): "02-Jul-1991", views.Birth("unknown"): "unknown", views.Offset(-570): "UTC-09:30", views.Offset(60): "UTC+01:00",
		views.Within(0): "over", views.Within(30 * time.Second): "in less than 1 min", views.Within(14*time.Minute + 59*time.Second): "in 14 min", views.Within(185 * time.Minute): "in 3 h 5 min",
		views.Count(1, "SMS"): "1 SMS", views.Count(2, "SMS"): "2 SMS", views.Count(2, "appointment"): "2 appointments", views.Possessive("Lars"): "Lars’", views.Possessive("Maria Jensen"): "Maria Jensen’s",
		views.ShortHash("abc"): "abc", views.ActionWord("reschedule_appointment@1"): "Move", views.StatusWord("on-fire"): "on-fire",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
