package db_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign/db/desktest"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

func names(m map[string]json.RawMessage) string {
	return strings.Join(slices.Sorted(maps.Keys(m)), " ")
}

// Case F6: who asks again in other words gets the card that waits, not another one.
func TestTheSameWishInOneConversationIsOneCard(t *testing.T) {
	d := desktest.New(t)
	bot := d.Agent()
	ask := func(scope string, p proposal.Proposing) proposal.Answer {
		t.Helper()
		p.Scope = scope
		a, err := d.Desk.Propose(ctx, bot, p)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	at := d.At(1, 14, 0)
	first := ask("thr_1", d.Move("apt_maria", at))
	p := d.Move("apt_maria", at, "message", "In other words", "starts_at", at.Format("2006-01-02T15:04"))
	p.Reason = "I forgot that I had asked"
	again := ask("thr_1", p)
	if again.Record.ID != first.Record.ID || again.Status != proposal.StatusOK || len(again.Body) == 0 {
		t.Fatal("another card:", again.Record.ID, again.Status)
	}
	for name, other := range map[string]proposal.Answer{
		"another time":         ask("thr_1", d.Move("apt_maria", d.At(1, 14, 30))),
		"another conversation": ask("thr_2", d.Move("apt_maria", at)),
		"no conversation":      ask("", d.Move("apt_maria", at)),
		"nobody is told":       ask("thr_1", d.Move("apt_maria", at, "notify", false)),
	} {
		if other.Record.ID == first.Record.ID {
			t.Error("the same card for", name)
		}
	}
	// An edit makes it another wish.
	if _, err := d.Desk.Revise(ctx, bot, proposal.Revising{Proposal: first.Record.ID, Revision: 1, PlanHash: first.Record.PlanHash,
		Parameters: map[string]any{"starts_at": d.At(2, 9, 0).Format(time.RFC3339)}}); err != nil {
		t.Fatal(err)
	}
	if now := ask("thr_1", d.Move("apt_maria", d.At(2, 9, 0))); now.Record.ID != first.Record.ID || now.Record.Revision != 2 {
		t.Error("the edited card is not found by what it asks for now")
	}
	second := ask("thr_1", d.Move("apt_maria", at))
	if second.Record.ID == first.Record.ID {
		t.Error("the edited card was found by what it asked for before")
	}
	// What is decided or over is asked for anew.
	if _, err := d.Desk.Reject(ctx, bot, desktest.Deciding(second.Record, "k")); err != nil {
		t.Fatal(err)
	}
	if third := ask("thr_1", d.Move("apt_maria", at)); third.Record.ID == second.Record.ID {
		t.Error("a card that was taken back was given")
	}
	keyed := d.Move("apt_soren", at)
	keyed.Key = "once"
	a := ask("thr_1", keyed)
	keyed.Key = "twice"
	b := ask("thr_1", keyed)
	if replay := ask("thr_1", keyed); replay.Record.ID != a.Record.ID || !replay.Replayed || replay.Status != b.Status || string(replay.Body) != string(b.Body) {
		t.Error("the key of the second asking does not replay its answer")
	}
}

func TestTenAskingAtOnceMakeOneCard(t *testing.T) {
	d := desktest.New(t)
	ids := map[string]bool{}
	var mu sync.Mutex
	var wait sync.WaitGroup
	for range 10 {
		wait.Go(func() {
			p := d.Move("apt_maria", d.At(1, 14, 0))
			p.Scope = "thr_1"
			a, err := d.Desk.Propose(ctx, d.Agent(), p)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			ids[a.Record.ID] = true
		})
	}
	wait.Wait()
	if len(ids) != 1 {
		t.Fatal(len(ids), "cards")
	}
}

// Case A17: a wish that undoes what was just done is told so, and decided like any other.
func TestAMoveThatContradictsAFreshOneSaysSo(t *testing.T) {
	d := desktest.New(t)
	ana := d.Actor("ana")
	done := d.Propose(ana, d.Move("apt_maria", d.At(1, 9, 15)))
	if strings.Contains(strings.Join(done.RiskReasons, ""), "contradicts") {
		t.Fatal(done.RiskReasons)
	}
	if _, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(done, "k")); err != nil {
		t.Fatal(err)
	}
	r := d.Propose(d.Agent(), d.Move("apt_maria", d.At(1, 9, 0)))
	if len(r.RiskReasons) != 1 || !strings.Contains(r.RiskReasons[0], "contradicts "+done.ID) || !strings.Contains(r.RiskReasons[0], "09:15") {
		t.Fatal(r.RiskReasons)
	}
	if r.Risk != proposal.Low || len(r.Warnings) != 0 {
		t.Error(r.Risk, r.Warnings)
	}
	if r := d.Propose(ana, d.Move("apt_soren", d.At(1, 9, 30))); len(r.RiskReasons) != 0 {
		t.Error("another visit:", r.RiskReasons)
	}
	if r := d.Propose(ana, d.Move("apt_maria", d.At(1, 9, 15), "practitioner", "okafor")); strings.Contains(strings.Join(r.RiskReasons, ""), "contradicts") {
		t.Error("the same time:", r.RiskReasons)
	}
}

func TestProposalsAreLimited(t *testing.T) {
	d := desktest.New(t)
	d.Desk.Limits = proposal.Limits{Agent: 2, Person: 4, Clinic: 6, Window: 10 * time.Minute}
	ask := func(who string, n int) error {
		by := d.Agent()
		if who != "bot" {
			by = d.Actor(who)
		}
		_, err := d.Desk.Propose(ctx, by, d.Move("apt_maria", d.At(1, 9, 0).Add(time.Duration(n)*15*time.Minute)))
		return err
	}
	for i, step := range []struct{ who, want string }{
		{"bot", ""}, {"bot", ""}, {"bot", refusal.RateLimited},
		{"ana", ""}, {"ana", ""}, {"ana", refusal.RateLimited}, // her agent's count too
		{"emil", ""}, {"ben", ""}, {"bea", refusal.RateLimited},
	} {
		err := ask(step.who, i)
		if code(err) != step.want {
			t.Fatalf("%d, %s: %v", i, step.who, err)
		}
		if r := refusal.Of(err); r != nil && (r.RetryAfter <= 0 || r.RetryAfter > 10*time.Minute) {
			t.Error("retry after", r.RetryAfter)
		}
	}
	if got := d.Text(`SELECT count(*) FROM inspect.audit WHERE action = 'proposal.propose' AND outcome = 'denied'`); got != "3" {
		t.Error("refusals on the trail:", got)
	}
	if got := d.Text(`SELECT count(*) FROM proposals`); got != "6" {
		t.Error("proposals:", got)
	}
	// The window passes; what an agent left waiting still counts for the agent.
	d.Exec(`ALTER TABLE proposals DISABLE TRIGGER USER`)
	d.Exec(`UPDATE proposals SET created_at = created_at - interval '11 minutes'`)
	if err := ask("bot", 1); code(err) != refusal.RateLimited {
		t.Error("an agent's waiting cards do not count:", err)
	}
	if err := ask("ana", 1); err != nil {
		t.Error(err)
	}
	d.Exec(`UPDATE proposals SET expires_at = created_at + interval '1 second' WHERE created_kind = 'agent'`)
	if err := ask("bot", 2); err != nil {
		t.Error(err)
	}
}

// Case D10: of many at once exactly as many as the limit allows are made, and nothing is written for the others.
func TestAFloodOfAnAgentEndsExactlyAtItsLimit(t *testing.T) {
	d := desktest.New(t)
	d.Desk.Limits = proposal.Limits{Agent: 30, Person: 1000, Clinic: 5000, Window: 10 * time.Minute}
	var made, limited atomic.Int64
	var wait sync.WaitGroup
	for i := range 60 {
		wait.Go(func() {
			p := d.Move("apt_maria", d.At(1+i/20, 9, 0).Add(time.Duration(i%20)*15*time.Minute))
			p.Key = fmt.Sprint("k", i)
			_, err := d.Desk.Propose(ctx, d.Agent(), p)
			switch r := refusal.Of(err); {
			case err == nil:
				made.Add(1)
			case r != nil && r.Code == refusal.RateLimited && r.RetryAfter > 0:
				limited.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if made.Load() != 30 || limited.Load() != 30 {
		t.Errorf("%d made, %d limited", made.Load(), limited.Load())
	}
	if got := d.Text(`SELECT concat_ws(' ', (SELECT count(*) FROM proposals), (SELECT count(*) FROM revisions), (SELECT count(*) FROM idempotency_keys),
		(SELECT count(*) FROM audit WHERE outcome = 'success'), (SELECT count(*) FROM audit WHERE code = 'rate_limited'))`); got != "30 30 30 30 30" {
		t.Error("proposals, revisions, keys, and the trail:", got)
	}
}

// While an agent's proposals wait for each other, people propose and decide.
func TestNobodyWaitsForAnAgentsLock(t *testing.T) {
	d := desktest.New(t)
	d.Desk.Limits = proposal.DefaultLimits
	card := d.Propose(d.Agent(), d.Move("apt_maria", d.At(1, 9, 0)))
	hold, err := d.Root.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hold.Exec(`SELECT pg_advisory_xact_lock(hashtextextended('agent hav bot', 0))`); err != nil {
		t.Fatal(err)
	}
	waits := make(chan error, 1)
	go func() {
		_, err := d.Desk.Propose(ctx, d.Agent(), d.Move("apt_maria", d.At(1, 9, 30)))
		waits <- err
	}()
	d.Propose(d.Actor("ana"), d.Move("apt_maria", d.At(1, 10, 0)))
	if _, err := d.Desk.Confirm(ctx, d.Actor("ana"), desktest.Deciding(card, "k")); err != nil {
		t.Error(err)
	}
	select {
	case err := <-waits:
		t.Error("the agent did not wait:", err)
	case <-time.After(100 * time.Millisecond):
	}
	if err := hold.Rollback(); err != nil {
		t.Fatal(err)
	}
	<-waits // the visit has moved: whatever it says
}
