//go:build unix

package prooftest

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/assistant"
	"countersign/internal/assistant/model"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// childTalks makes the child of a kill test a server that takes one message in and asks a language model.
const childTalks = "PROOF_CHILD_TALKS"

type talksWork struct {
	URL, Model, Thread, Text string
	Actor                    clinic.Actor
}

func talkOn(d *db.DB, words assistant.Interpreter) *assistant.Service {
	log := slog.New(slog.DiscardHandler)
	return &assistant.Service{Store: db.Threads{DB: d}, Desk: &proposal.Service{Store: db.Proposals{DB: d}, IDs: desktest.ID, Log: log}, Interpreter: words,
		IDs: desktest.ID, Log: log, Patience: time.Millisecond}
}

func childTalking() {
	var w talksWork
	if err := json.Unmarshal([]byte(os.Getenv(childTalks)), &w); err != nil {
		panic(err)
	}
	pool, err := db.Open(ctx, w.URL, db.Options{MaxConns: 3})
	if err != nil {
		panic(err)
	}
	grammar, err := assistant.NewGrammar("en")
	if err != nil {
		panic(err)
	}
	words, err := model.New(model.Config{URL: w.Model, Model: "slow", Timeout: time.Hour}, grammar, nil, nil)
	if err != nil {
		panic(err)
	}
	if _, err := talkOn(pool, words).Say(ctx, w.Actor, w.Thread, assistant.Saying{Text: w.Text}); err != nil {
		panic(err)
	}
	select {}
}

// kill -9 while the model thinks: the message is stored, another server takes the run up when its lease is over, and there
// is one answer and one card.
func TestKillNineWhileTheModelThinks(t *testing.T) {
	d := desktest.New(t)
	ana := d.Actor("ana")
	asked := make(chan struct{}, 10)
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		_, _ = io.Copy(io.Discard, r.Body) // only then is a connection that breaks noticed
		<-r.Context().Done()
	}))
	t.Cleanup(slow.Close)
	grammar, err := assistant.NewGrammar("en")
	must(t, err)
	here := talkOn(d.DB, grammar)
	t.Cleanup(here.Stop)
	thread, err := here.Start(ctx, ana)
	must(t, err)
	work, err := json.Marshal(talksWork{d.URL, slow.URL, thread.ID, "move MRN 100234 to " + d.At(1, 0, 0).Format("2 January 2006") + " at 14:00", ana})
	must(t, err)
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childTalks+"="+string(work))
	c.Stderr = os.Stderr
	must(t, c.Start())
	t.Cleanup(func() { c.Process.Kill() })
	select {
	case <-asked:
	case <-time.After(20 * time.Second):
		t.Fatal("the model was not asked")
	}
	must(t, c.Process.Signal(syscall.SIGKILL))
	if err := c.Wait(); err == nil {
		t.Fatal("it was not killed")
	}
	if got := d.Text(`SELECT r.state || ' ' || m.role FROM runs r JOIN messages m ON m.thread = r.thread`); got != "running user" {
		t.Fatal(got)
	}
	must(t, here.Settle(ctx, "hav"))
	if n := d.Text(`SELECT fence FROM runs`); n != "0" {
		t.Fatal("it was taken up while its lease ran")
	}
	bounded, cancel := context.WithTimeout(ctx, 25*time.Second)
	defer cancel()
	for d.Text(`SELECT state FROM runs`) == "running" && bounded.Err() == nil {
		must(t, here.Settle(ctx, "hav"))
		time.Sleep(100 * time.Millisecond)
	}
	if got := d.Text(`SELECT (SELECT string_agg(role, ' ' ORDER BY n) FROM messages) || ' ' || (SELECT count(*) FROM tool_calls WHERE status = 'awaiting_confirmation') || ' ' ||
		(SELECT count(*) FROM proposals) || ' ' || (SELECT state FROM runs)`); got != "user assistant 1 1 awaiting_input" {
		t.Fatal(got)
	}
}
