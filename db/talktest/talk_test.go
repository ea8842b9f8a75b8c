// Package talktest holds conversations on a real PostgreSQL: the service, its store and the desk together.
package talktest

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/assistant"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// script is an interpreter that knows some sentences by heart, so that these tests are of the conversation alone.
type script map[string]assistant.Meaning

func (s script) Interpret(_ context.Context, r assistant.Request) (assistant.Meaning, error) {
	return s[r.Text], nil
}

// talk is one conversation of somebody.
type talk struct {
	*desktest.Desk
	t       *testing.T
	words   script
	grammar assistant.Interpreter // reads instead of the script when set
	service *assistant.Service
	by      clinic.Actor
	thread  string
}

func service(d *desktest.Desk, words assistant.Interpreter) *assistant.Service {
	return &assistant.Service{Store: db.Threads{DB: d.DB}, Desk: d.Desk, Interpreter: words, IDs: desktest.ID, Log: slog.New(slog.NewJSONHandler(d.Log, nil)), Patience: 20 * time.Second}
}

func newTalk(t *testing.T, options ...func(*db.Options)) *talk {
	d := desktest.New(t, options...)
	d.Exec(`INSERT INTO patients (clinic, id, family, given, birth_date, mrn, phone, email, contact, search_text) VALUES
		('hav', 'maria91', 'Jensen', 'Maria', '1991-07-02', '100871', '+45 00 20 08 71', NULL, 'sms', '')`)
	for _, p := range []clinic.Patient{{ID: "maria", Family: "Jensen", Given: "Maria", BirthDate: "1984-03-11", MRN: "100234"},
		{ID: "maria91", Family: "Jensen", Given: "Maria", BirthDate: "1991-07-02", MRN: "100871"},
		{ID: "soren", Family: "Groß", Given: "Søren Łukasz", BirthDate: "1970-02-28", MRN: "100300"},
		{ID: "aoife", Family: "O'Brien-Núñez", Given: "Aoife", BirthDate: "2008-02-29", MRN: "100411"}} {
		d.Exec(`UPDATE patients SET search_text = $1 WHERE clinic = 'hav' AND id = $2`, clinic.SearchText(p), p.ID)
	}
	d.Exec(`INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, during, changed_by, changed_via)
		VALUES ('hav', 'apt_maria91', 'maria91', 'okafor', 'main', 'std', 'booked', tstzrange($1::timestamptz, $1::timestamptz + interval '30 min'), 'seed', 'seed')`, d.At(1, 9, 0))
	d.Exec(`UPDATE slots SET appointment = 'apt_maria91' WHERE clinic = 'hav' AND practitioner = 'okafor' AND starts_at >= $1 AND starts_at < $1::timestamptz + interval '30 min'`, d.At(1, 9, 0))
	k := &talk{Desk: d, t: t, words: script{}, by: d.Actor("ana")}
	k.service = service(d, k.words)
	k.open()
	return k
}

func (k *talk) open() {
	k.t.Helper()
	h, err := k.service.Start(context.Background(), k.by)
	if err != nil {
		k.t.Fatal(err)
	}
	k.thread = h.ID
}

// restart is another server: nothing of the old one is left.
func (k *talk) restart() {
	k.service = service(k.Desk, k.words)
	if k.grammar != nil {
		k.service.Interpreter = k.grammar
	}
}

func (k *talk) read() assistant.Thread {
	k.t.Helper()
	h, err := k.service.Thread(context.Background(), k.by, k.thread)
	if err != nil {
		k.t.Fatal(err)
	}
	return h
}

// last is what the assistant said last.
func (k *talk) last() assistant.Entry {
	k.t.Helper()
	m := k.read().Messages
	return m[len(m)-1]
}

func (k *talk) say(text string, m assistant.Meaning) assistant.Entry {
	k.t.Helper()
	k.words[text] = m
	return k.send(assistant.Saying{Text: text})
}

func (k *talk) send(in assistant.Saying) assistant.Entry {
	k.t.Helper()
	if _, err := k.service.Say(context.Background(), k.by, k.thread, in); err != nil {
		k.t.Fatalf("%v: %v", in, err)
	}
	return k.last()
}

// pick picks the first offered choice that has the words in it.
func (k *talk) pick(words string) assistant.Entry {
	k.t.Helper()
	for _, c := range k.last().Choices {
		if strings.Contains(c.Label, words) {
			return k.send(assistant.Saying{Choice: c.ID})
		}
	}
	k.t.Fatalf("no choice with %q in %v", words, labels(k.last()))
	return assistant.Entry{}
}

func labels(e assistant.Entry) (out []string) {
	for _, c := range e.Choices {
		out = append(out, c.Label)
	}
	return out
}

// waits is the confirmation that the thread asks for.
func (k *talk) waits() *assistant.Pending {
	k.t.Helper()
	h := k.read()
	p := h.Pending()
	if p == nil {
		k.t.Fatalf("no confirmation is asked for: %s %v", k.last().Text, labels(k.last()))
	}
	return p
}

func (k *talk) approve(p *assistant.Pending) assistant.Deciding {
	return assistant.Deciding{Run: p.Run, ToolCall: p.ToolCall, Decision: assistant.Approve, Revision: p.Revision, PlanHash: p.PlanHash, Key: desktest.ID("key")}
}

func (k *talk) decide(d assistant.Deciding) {
	k.t.Helper()
	ref, _, err := k.service.Decide(context.Background(), k.by, d)
	if err != nil || ref.State != assistant.Running {
		k.t.Fatalf("%v %v", ref, err)
	}
}

func (k *talk) says(e assistant.Entry, words ...string) {
	k.t.Helper()
	for _, w := range words {
		if !strings.Contains(e.Text+" "+strings.Join(labels(e), " | "), w) {
			k.t.Errorf("it does not say %q: %s %v", w, e.Text, labels(e))
		}
	}
}

func (k *talk) starts(appointment string) string {
	return k.Text(`SELECT to_char(starts_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') FROM appointments WHERE clinic = 'hav' AND id = $1`, appointment)
}

func (k *talk) date(day int) clinic.Date { return clinic.DateOf(k.At(day, 0, 0), time.UTC) }

func code(err error) string {
	if r := refusal.Of(err); r != nil {
		return r.Code
	}
	return ""
}

func minutes(h, m int) *int { n := h*60 + m; return &n }

// movesMaria91 comes to the card that moves the younger Maria to the second day at 13:00.
func (k *talk) movesMaria91() *assistant.Pending {
	k.t.Helper()
	k.say("move maria", assistant.Meaning{Workflow: assistant.Reschedule, Patient: "Maria Jensen", Days: []clinic.Date{k.date(2)}, Clock: minutes(13, 0)})
	k.pick("100871")
	return k.waits()
}
