package talktest

import (
	"context"
	"strings"
	"testing"
	"time"

	"countersign/internal/assistant"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

func TestAMoveFromWordsToTheStoredVisit(t *testing.T) {
	k := newTalk(t)
	e := k.say("Move Maria Jensen to the third day, after lunch", assistant.Meaning{Workflow: assistant.Reschedule, Patient: "Maria Jensen", Days: []clinic.Date{k.date(2)}, From: minutes(12, 30)})
	k.says(e, "Two patients", "born 1984-03-11, MRN 100234", "born 1991-07-02, MRN 100871")
	if h := k.read(); h.State() != assistant.AwaitingInput || h.Pending() != nil || !contains(h.Work.Missing(), "patient") {
		t.Errorf("%s, missing %v", h.State(), h.Work.Missing())
	}
	k.restart()
	e = k.say("the one born in 91", assistant.Meaning{Born: &assistant.Born{Year: 1991}})
	k.says(e, "free on", "12:30", "with Dr Ben Okafor")
	if k.Text(`SELECT count(*) FROM proposals`) != "0" {
		t.Fatal("a slot was taken by itself")
	}
	k.restart()
	e = k.pick("13:00")
	k.says(e, "Nothing has changed yet")
	p := k.waits()
	if p.Action != "reschedule_appointment@1" || e.Proposal != p.Proposal || p.Summary.Title == "" {
		t.Errorf("%+v", p)
	}
	if k.starts("apt_maria91") != k.At(1, 9, 0).Format(time.RFC3339) {
		t.Fatal("moved before anybody decided")
	}
	k.restart()
	k.decide(k.approve(p))
	want := k.At(2, 13, 0)
	if k.starts("apt_maria91") != want.Format(time.RFC3339) {
		t.Errorf("it stands at %s", k.starts("apt_maria91"))
	}
	h := k.read()
	k.says(k.last(), "Done", "Maria Jensen", "13:00", want.Format("Monday 2 January 2006"), "Dr Ben Okafor")
	if h.State() != assistant.Completed || h.Calls[0].Status != assistant.CallCompleted {
		t.Errorf("%s %s", h.State(), h.Calls[0].Status)
	}
	if via := k.Text(`SELECT created_via || ' ' || created_by FROM proposals`); via != "assistant ana" {
		t.Error(via)
	}
	if n := k.Text(`SELECT count(*) FROM events WHERE kind = 'run.completed' AND person = 'ana'`); n != "1" {
		t.Errorf("%s run.completed", n)
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func TestCorrectionsUntilTheCardIsOut(t *testing.T) {
	k := newTalk(t)
	k.say("move maria to day two", assistant.Meaning{Workflow: assistant.Reschedule, Patient: "Maria Jensen", Born: &assistant.Born{Year: 1984}, Days: []clinic.Date{k.date(2)}, From: minutes(8, 0)})
	e := k.say("no, the other Maria", assistant.Meaning{Other: true, Patient: "Maria"})
	if h := k.read(); h.Work.Patient == nil || h.Work.Patient.ID != "maria91" {
		t.Fatalf("%s %+v", e.Text, h.Work)
	}
	k.say("make it 10:30", assistant.Meaning{Clock: minutes(10, 30)})
	p := k.waits()
	if !strings.Contains(string(k.read().Calls[0].Arguments), k.At(2, 10, 30).Format(time.RFC3339)) || p.Risk == "" {
		t.Error(string(k.read().Calls[0].Arguments))
	}
	// C11: while the card waits, words are no decision and no other wish.
	before := len(k.read().Messages)
	for _, words := range []string{"yes", "confirm", "also book lab", "make it 11:00"} {
		_, err := k.service.Say(context.Background(), k.by, k.thread, assistant.Saying{Text: words})
		r := refusal.Of(err)
		if code(err) != refusal.AwaitingConfirmation || r.Details["ways_out"] == nil || !strings.Contains(r.Message, "Confirm") {
			t.Errorf("%s: %v", words, err)
		}
	}
	if n := len(k.read().Messages); n != before || k.Text(`SELECT count(*) || ' ' || min(state) FROM proposals`) != "1 proposed" {
		t.Errorf("%d messages after %d, %s", n, before, k.Text(`SELECT count(*) || ' ' || min(state) FROM proposals`))
	}
}

func TestBookingAndCancelling(t *testing.T) {
	k := newTalk(t)
	k.say("book aoife", assistant.Meaning{Workflow: assistant.Book, Patient: "Aoife"})
	k.says(k.last(), "What type", "Standard, 30 min")
	k.restart()
	k.pick("Standard")
	k.says(k.last(), "When should")
	k.say("any time on day three with holm", assistant.Meaning{Practitioner: "Dr Anna Holm", Days: []clinic.Date{k.date(3)}})
	k.pick("09:00")
	p := k.waits()
	k.decide(k.approve(p))
	if n := k.Text(`SELECT count(*) FROM appointments WHERE clinic = 'hav' AND patient = 'aoife' AND practitioner = 'holm' AND starts_at = $1`, k.At(3, 9, 0)); n != "1" {
		t.Fatalf("%s visits", n)
	}
	k.says(k.last(), "Aoife", "09:00", "booked")
	k.restart()
	k.say("and cancel it", assistant.Meaning{Workflow: assistant.Cancel})
	k.says(k.last(), "Why is the visit", "The patient asked for it")
	k.pick("The patient asked")
	k.decide(k.approve(k.waits()))
	if s := k.Text(`SELECT status FROM appointments WHERE clinic = 'hav' AND patient = 'aoife'`); s != "cancelled" {
		t.Error(s)
	}
	if k.last().Text == "" || k.read().State() != assistant.Completed {
		t.Error(k.read().State())
	}
	k.say("move it", assistant.Meaning{Workflow: assistant.Reschedule})
	k.says(k.last(), "no booked visit", "cancelled visit cannot be changed")
}

func TestWhatWasNotReadIsSaidBesideTheCard(t *testing.T) {
	k := newTalk(t)
	e := k.say("move maria 100871 to the third day at 13:00 and cancel the rest", assistant.Meaning{Workflow: assistant.Reschedule, Patient: "100871",
		Days: []clinic.Date{k.date(2)}, Clock: minutes(13, 0), Unsure: "one thing at a time; not read: “cancel the rest”"})
	k.says(e, "One thing at a time; not read: “cancel the rest”. Here is the proposal")
	k.waits()
}

func TestADayThatCannotBeMeantIsAskedBeforeAnyCard(t *testing.T) {
	k := newTalk(t)
	e := k.say("cancel yesterday's visit of maria 100871, she asked", assistant.Meaning{Workflow: assistant.Cancel, Patient: "100871",
		ReasonCode: "patient_request", Lost: true, Unsure: "“yesterday” is in the past"})
	k.says(e, "“yesterday” is in the past. What is meant instead?")
	if n := k.Text(`SELECT count(*) FROM proposals`); n != "0" {
		t.Fatal(n, "proposed: another visit than the one that was named")
	}
	k.says(k.pick("Leave that out"), "Here is the proposal")
}

func TestNobodyAndUnclear(t *testing.T) {
	k := newTalk(t)
	k.says(k.say("blah", assistant.Meaning{}), "did not understand")
	k.says(k.say("move xyzzy", assistant.Meaning{Workflow: assistant.Reschedule, Patient: "Xyzzy"}), "found nobody")
	k.says(k.say("next tuesday for soren", assistant.Meaning{Patient: "Søren", Days: []clinic.Date{k.date(1), k.date(8)}}), "Which day")
	k.says(k.say("hm", assistant.Meaning{Unsure: "I am not sure what “hm” means."}), "not sure", "Which day")
	k.says(k.pick(k.At(1, 0, 0).Format("2 January")), "free on")
	if k.Text(`SELECT count(*) FROM proposals`) != "0" {
		t.Error("something was proposed")
	}
	k.says(k.say("forget it", assistant.Meaning{StartOver: true}), "Forgotten")
	if h := k.read(); h.Work.Workflow != "" || h.Work.Patient != nil {
		t.Errorf("%+v", h.Work)
	}
}

// A time that is taken, or outside hours, is explained, with alternatives that are real; none is taken.
func TestATimeThatCannotBe(t *testing.T) {
	k := newTalk(t)
	k.say("maria84 to soren's time", assistant.Meaning{Workflow: assistant.Reschedule, Patient: "100234", Practitioner: "Dr Ben Okafor", Days: []clinic.Date{k.date(0)}, Clock: minutes(10, 0)})
	k.says(k.last(), "taken", "with Dr Ben Okafor")
	if len(k.last().Choices) == 0 {
		t.Fatal("no alternatives")
	}
	k.says(k.say("at 18:00", assistant.Meaning{Clock: minutes(18, 0)}), "no hours")
	k.say("at 11:00", assistant.Meaning{Clock: minutes(11, 0)})
	k.waits()
}
