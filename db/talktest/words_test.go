package talktest

import (
	"strings"
	"testing"
	"time"

	"countersign/internal/assistant"
)

// heard is a conversation in which the built-in grammar reads every word.
func heard(t *testing.T) *talk {
	k := newTalk(t)
	g, err := assistant.NewGrammar("en")
	if err != nil {
		t.Fatal(err)
	}
	k.grammar = g
	k.restart()
	return k
}

func (k *talk) hear(text string) assistant.Entry {
	k.t.Helper()
	return k.send(assistant.Saying{Text: text})
}

func (k *talk) reject(p *assistant.Pending) {
	k.t.Helper()
	k.decide(assistant.Deciding{Run: p.Run, ToolCall: p.ToolCall, Decision: assistant.Reject, Key: "k" + p.ToolCall})
}

func (k *talk) day(n int) string { return k.At(n, 0, 0).Format("2 January 2006") }

func (k *talk) noCard() {
	k.t.Helper()
	if n := k.Text(`SELECT count(*) FROM proposals WHERE state = 'proposed'`); n != "0" {
		k.t.Fatalf("%s proposed: %s", n, k.last().Text)
	}
}

func TestAfterARejectedCancellationTheSameVisitIsMoved(t *testing.T) {
	for _, words := range []string{"make it 10:30 instead", "no, just move it to 10:30", "move it instead"} {
		k := heard(t)
		k.hear("cancel 100871 because she asked for it")
		k.pickIfAsked("The patient asked")
		k.reject(k.waits())
		k.hear(words)
		h := k.read()
		if h.Work.Workflow != assistant.Reschedule || h.Work.Visit == nil || h.Work.Visit.ID != "apt_maria91" {
			t.Fatalf("%s: %s %+v", words, k.last().Text, h.Work)
		}
		k.noCard()
		k.hear("on " + k.day(2) + " at 13:00")
		if p := k.waits(); p.Action != "reschedule_appointment@1" {
			t.Errorf("%s: %s", words, p.Action)
		}
	}
}

// pickIfAsked picks a choice when the words did not settle it.
func (k *talk) pickIfAsked(words string) {
	k.t.Helper()
	for _, l := range labels(k.last()) {
		if strings.Contains(l, words) {
			k.pick(words)
			return
		}
	}
}

func TestAWishIsDroppedInWords(t *testing.T) {
	for _, words := range []string{"keep it", "leave it as it is", "never mind", "forget it", "don't cancel it", "no, leave it"} {
		k := heard(t)
		k.hear("cancel 100871 because she asked for it")
		k.pickIfAsked("The patient asked")
		k.reject(k.waits())
		e := k.hear(words)
		if h := k.read(); h.Work.Workflow != "" || !strings.Contains(e.Text, "stays as it is") && !strings.Contains(e.Text, "nothing was changed") {
			t.Errorf("%s: %s %+v", words, e.Text, h.Work)
		}
		k.hear("move 100871 to " + k.day(2) + " at 13:00")
		k.waits()
	}
}

func TestWordsConfirmNothing(t *testing.T) {
	words := []string{"yes", "confirm", "ok do it", "approve", "go ahead", "confirm it please", "book it", "yes please", "submit", "send it"}
	k := heard(t)
	for _, w := range words {
		if e := k.hear(w); !strings.Contains(e.Text, "nothing to confirm") || len(k.read().Calls) != 0 {
			t.Errorf("%s: %s", w, e.Text)
		}
	}
	k.hear("move 100871 to " + k.day(2))
	for _, w := range words {
		if e := k.hear(w); !strings.Contains(e.Text, "nothing to confirm") || len(e.Choices) == 0 {
			t.Errorf("%s: %s", w, e.Text)
		}
	}
	k.noCard()
}

func TestANewWishLooksForThePatientAnew(t *testing.T) {
	k := heard(t)
	k.hear("move Maria Jensen to " + k.day(2) + " at 13:00")
	k.pick("100871")
	k.reject(k.waits())
	k.says(k.hear("move Maria Jensen's visit to "+k.day(3)+" at 10:00"), "Two patients", "100234", "100871")
	k.noCard()
	k.pick("100871")
	p := k.waits()
	k.decide(k.approve(p))
	k.says(k.hear("cancel Maria Jensen's visit"), "Two patients")
	k.says(k.hear("the one born in 91"), "Why is the visit")
	k.says(k.hear("move Maria Jensen to "+k.day(2)), "Two patients")
}

func TestATimeOfAnotherZoneIsAsked(t *testing.T) {
	k := heard(t)
	e := k.hear("move 100871 to " + k.day(2) + " 13:00 Tokyo time")
	k.says(e, "did you mean 13:00 there?", "Yes, 13:00")
	k.noCard()
	k.says(k.hear("what"), "Which one?")
	k.noCard()
	k.hear("at 13:30 EST")
	k.noCard()
	k.hear("yes")
	k.waits()
	if got := string(k.read().Calls[0].Arguments); !strings.Contains(got, k.At(2, 13, 30).Format(time.RFC3339)) {
		t.Error(got)
	}
}

func TestAnEarlierTimeDoesNotStandInForOneThatIsUnclear(t *testing.T) {
	k := heard(t)
	k.hear("book Aoife at 10:30")
	k.pick("Standard")
	e := k.hear("with Dr Okafor at Main on " + k.day(3) + " 9:15 Tokyo time")
	k.says(e, "did you mean 09:15 there?")
	k.noCard()
}

func TestWhichVisitIsAskedUntilItIsSaid(t *testing.T) {
	k := heard(t)
	k.Exec(`INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, during, changed_by, changed_via)
		VALUES ('hav', 'apt_second', 'maria91', 'okafor', 'main', 'std', 'booked', tstzrange($1::timestamptz, $1::timestamptz + interval '30 min'), 'seed', 'seed')`, k.At(2, 9, 0))
	first, second := k.At(1, 0, 0).Format("2 January 2006"), k.At(2, 0, 0).Format("2 January 2006")
	k.hear("cancel 100871")
	for _, words := range []string{"hm", "she asked for it", "yes", "cancel the visit", "100871 please"} {
		k.says(k.last(), "Which visit", first, second)
		k.hear(words)
	}
	k.says(k.last(), first, second)
	k.noCard()
	k.hear("the later one")
	if v := k.read().Work.Visit; v == nil || v.ID != "apt_second" {
		t.Errorf("%+v: %s", v, k.last().Text)
	}
}

func TestWhatIsNotMeantIsNotTaken(t *testing.T) {
	k := heard(t)
	k.hear("move 100871 to " + k.day(2))
	for _, words := range []string{"any time but Monday at 10:00", "don't move it to " + k.day(3) + " at 10:00", "after " + k.day(2) + " 13:00", "not at 13:00", "an hour later"} {
		k.hear(words)
		k.noCard()
	}
}

func TestTheOtherOfTwoIsOneOfThem(t *testing.T) {
	k := heard(t)
	k.Exec(`INSERT INTO patients (clinic, id, family, given, birth_date, mrn, phone, email, contact, search_text)
		SELECT clinic, 'pat_mariana', 'Kristensen', 'Mariana', birth_date, '300103', phone, email, contact, 'mariana kristensen 300103' FROM patients WHERE mrn = '100871'`)
	k.hear("move Maria Jensen")
	k.pick("100234")
	k.hear("no, the other Maria")
	if w := k.read().Work.Patient; w == nil || w.MRN != "100871" {
		t.Errorf("%s: %v", k.last().Text, labels(k.last()))
	}
}

func TestAPractitionerNotMeantOrUnknownIsNotPassedOver(t *testing.T) {
	for _, words := range []string{"not with Dr Holm", "with Dr Nobody"} {
		k := heard(t)
		k.hear("move 100871 to " + k.day(2) + " at 13:00 " + words)
		k.noCard()
	}
}

func TestANewPatientsNameIsAskedForWhole(t *testing.T) {
	k := heard(t)
	for _, words := range []string{"register a new patient", "Anders Kvist", "1999-12-31", "sms", "+45 20 11 12 13"} {
		k.hear(words)
	}
	if p := k.waits(); p.Action != "register_patient@1" || k.read().Work.Given != "Anders" || k.read().Work.Family != "Kvist" {
		t.Errorf("%s: %+v", p.Action, k.read().Work)
	}
}
