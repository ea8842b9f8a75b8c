package talktest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/internal/assistant"
	"countersign/internal/assistant/model"
	"countersign/internal/refusal"
)

// settle is the worker of one server, until no run is worked on any more.
func (k *talk) settle() {
	k.t.Helper()
	if err := k.service.Settle(context.Background(), "hav"); err != nil {
		k.t.Fatal(err)
	}
	k.rests()
}

// rests waits until nobody works on anything.
func (k *talk) rests() {
	k.t.Helper()
	k.until("0", `SELECT count(*) FROM runs WHERE state = 'running'`)
}

func (k *talk) until(want, query string) {
	k.t.Helper()
	for end := time.Now().Add(20 * time.Second); k.Text(query) != want; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			k.t.Fatalf("never %s: %s", want, query)
		}
	}
}

// wantOneAnswer fails unless the one message has one answer and led to one card.
func (k *talk) wantOneAnswer() {
	k.t.Helper()
	if n := k.Text(`SELECT string_agg(role, ' ' ORDER BY n) FROM messages`); n != "user assistant" {
		k.t.Error("said:", n)
	}
	if n := k.Text(`SELECT count(*) FROM tool_calls`) + k.Text(`SELECT count(*) FROM proposals`); n != "11" {
		k.t.Error("calls and proposals:", n)
	}
}

func (k *talk) moving() string {
	return "move MRN 100871 to " + k.At(1, 0, 0).Format("2 January 2006") + " at 14:00"
}

// slowModel is a language model that says nothing until it is let go, and then what cannot be used.
func slowModel(t *testing.T) (url string, asked <-chan struct{}, release func()) {
	gate, in := make(chan struct{}), make(chan struct{}, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		in <- struct{}{}
		select {
		case <-gate:
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusBadRequest)
	}))
	release = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(s.Close)
	t.Cleanup(release)
	return s.URL, in, release
}

func listening(t *testing.T, url string) assistant.Interpreter {
	t.Helper()
	grammar, err := assistant.NewGrammar("en")
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.New(model.Config{URL: url, Model: "slow"}, grammar, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// impatient is another server, that waits hardly at all within a request.
func (k *talk) impatient(words assistant.Interpreter) *assistant.Service {
	s := service(k.Desk, words)
	s.Patience = 20 * time.Millisecond
	k.t.Cleanup(s.Stop)
	return s
}

// A slow language model holds no request, no transaction and no lock; meanwhile another message is refused, and the
// answer comes by itself.
func TestASlowModelHoldsNothing(t *testing.T) {
	k := newTalk(t)
	url, asked, release := slowModel(t)
	k.service = k.impatient(listening(t, url))
	began := time.Now()
	ctx, gone := context.WithCancel(context.Background())
	ref, err := k.service.Say(ctx, k.by, k.thread, assistant.Saying{Text: k.moving()})
	gone() // who asked goes away
	if err != nil || ref.State != assistant.Running || time.Since(began) > 5*time.Second {
		t.Fatal(ref, err, time.Since(began))
	}
	<-asked
	for range 20 {
		if n := k.Text(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state LIKE 'idle in transaction%'`); n != "0" {
			t.Fatal(n, "transactions are open")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if run, err := k.service.Run(context.Background(), k.by, ref.Run); err != nil || run.State != assistant.Running {
		t.Error(run.State, err)
	}
	_, err = k.service.Say(context.Background(), k.by, k.thread, assistant.Saying{Text: "and another"})
	if r := refusal.Of(err); r == nil || r.Code != refusal.RunInProgress || r.RetryAfter < time.Second {
		t.Error(err)
	}
	release()
	k.rests()
	k.wantOneAnswer()
	k.waits()
}

// Messages at once: one is taken, the others are told to wait, and one answer comes.
func TestMessagesAtOnce(t *testing.T) {
	k := newTalk(t)
	url, _, release := slowModel(t)
	k.service = k.impatient(listening(t, url))
	other := k.impatient(listening(t, url))
	codes := map[string]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			s := []*assistant.Service{k.service, other}[i%2]
			_, err := s.Say(context.Background(), k.by, k.thread, assistant.Saying{Text: k.moving()})
			mu.Lock()
			defer mu.Unlock()
			codes[code(err)]++
		})
	}
	all.Wait()
	if codes[""] != 1 || codes[refusal.RunInProgress] != 7 {
		t.Error(codes)
	}
	release()
	k.rests()
	k.wantOneAnswer()
}

// stuck hears nothing until it is let go, whatever its context says: a server that stands still and comes back.
type stuck struct {
	assistant.Interpreter
	in, gate chan struct{}
}

func (s stuck) Interpret(_ context.Context, r assistant.Request) (assistant.Meaning, error) {
	s.in <- struct{}{}
	<-s.gate
	return s.Interpreter.Interpret(context.Background(), r)
}

// A server that stood still while another took over writes nothing when it comes back.
func TestWhoeverWasTakenOverWritesNothing(t *testing.T) {
	k := newTalk(t)
	grammar, err := assistant.NewGrammar("en")
	if err != nil {
		t.Fatal(err)
	}
	frozen := stuck{grammar, make(chan struct{}, 1), make(chan struct{})}
	first := k.impatient(frozen)
	if _, err := first.Say(context.Background(), k.by, k.thread, assistant.Saying{Text: k.moving()}); err != nil {
		t.Fatal(err)
	}
	<-frozen.in
	k.Exec(`UPDATE runs SET leased_until = app_now() - interval '1 second'`)
	k.service = k.impatient(grammar)
	var all sync.WaitGroup
	for range 3 { // several servers' workers at once
		all.Go(func() {
			if err := k.service.Settle(context.Background(), "hav"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	k.rests()
	close(frozen.gate)
	first.Stop()
	k.wantOneAnswer()
	if n := k.Text(`SELECT fence FROM runs`); n != "1" {
		t.Error("taken over", n, "times")
	}
}

// What had been decided before a crash is proposed as it was, and the words are not read again.
func TestWhatWasSettledIsNotReadAgain(t *testing.T) {
	k := newTalk(t)
	p := k.movesMaria91()
	k.Exec(`ALTER TABLE tool_calls DISABLE TRIGGER USER`)
	k.Exec(`ALTER TABLE messages DISABLE TRIGGER USER`)
	k.Exec(`DELETE FROM tool_calls`)
	k.Exec(`DELETE FROM messages WHERE n = (SELECT max(n) FROM messages)`)
	k.Exec(`UPDATE runs SET state = 'running', leased_until = app_now() - interval '1 second'`)
	k.service = service(k.Desk, script{}) // it would understand nothing
	k.settle()
	if q := k.waits(); q.Proposal != p.Proposal {
		t.Errorf("%s is not %s", q.Proposal, p.Proposal)
	}
}

// A server that stops leaves the run at once, and the next goes on.
func TestAServerThatStopsLeavesItsRuns(t *testing.T) {
	k := newTalk(t)
	url, asked, _ := slowModel(t)
	first := k.impatient(listening(t, url))
	if _, err := first.Say(context.Background(), k.by, k.thread, assistant.Saying{Text: k.moving()}); err != nil {
		t.Fatal(err)
	}
	<-asked
	began := time.Now()
	first.Stop()
	if time.Since(began) > 5*time.Second {
		t.Error("it stopped after", time.Since(began))
	}
	if n := k.Text(`SELECT count(*) FROM runs WHERE state = 'running' AND leased_until <= app_now()`); n != "1" {
		t.Fatal("the run is not released")
	}
	grammar, err := assistant.NewGrammar("en")
	if err != nil {
		t.Fatal(err)
	}
	k.service = k.impatient(grammar)
	k.settle()
	k.wantOneAnswer()
	// What is said to a server that stops is kept for the next one.
	k.open()
	if ref, err := first.Say(context.Background(), k.by, k.thread, assistant.Saying{Text: "hello"}); err != nil || ref.State != assistant.Running {
		t.Error(ref, err)
	}
	k.settle()
	if h := k.read(); len(h.Messages) != 2 {
		t.Error(h.Messages)
	}
}

type broken struct{}

func (broken) Interpret(context.Context, assistant.Request) (assistant.Meaning, error) {
	panic("Maria Jensen")
}

// A message that breaks whoever reads it ends its run, is taken up a few times at most, and leaves nothing in the log.
func TestAMessageThatBreaksTheReader(t *testing.T) {
	k := newTalk(t)
	k.service = k.impatient(broken{})
	k.service.Patience = 20 * time.Second
	ref, err := k.service.Say(context.Background(), k.by, k.thread, assistant.Saying{Text: "x"})
	if err != nil || ref.State != assistant.Failed {
		t.Fatal(ref, err)
	}
	k.says(k.last(), "Something went wrong", "nothing was changed")
	k.Exec(`UPDATE runs SET state = 'running', fence = 3, leased_until = app_now() - interval '1 second'`) // as if it had killed three servers
	k.settle()
	if k.read().State() != assistant.Failed {
		t.Error(k.read().State())
	}
	if log := fmt.Sprint(k.Log); len(log) == 0 || strings.Contains(log, "Maria") {
		t.Error(log)
	}
}
