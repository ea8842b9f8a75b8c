//go:build unix

package prooftest

import (
	"testing"
	"time"

	"countersign/db/desktest"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// Case C2: the clock counts that is read after the lock was got.
func TestTheDeadlineIsJudgedAfterTheLock(t *testing.T) {
	for name, late := range map[string]func(d *desktest.Desk, card proposal.Record){
		"by PostgreSQL's own clock": func(d *desktest.Desk, card proposal.Record) {
			time.Sleep(time.Until(card.ExpiresAt) + 10*time.Millisecond)
		},
		"by a clock that is set": func(d *desktest.Desk, card proposal.Record) { freeze(d)(card.ExpiresAt) },
	} {
		t.Run(name, func(t *testing.T) {
			d := desktest.New(t)
			ana := d.Actor("ana")
			d.Desk.TTL = 3 * time.Second
			card := d.Propose(ana, d.Move("apt_maria", d.At(1, 14, 0)))
			if !time.Now().Before(card.ExpiresAt) {
				t.Fatal("the machine is too slow for this test")
			}
			lock := holdRow(d, card.ID)
			answers := make(chan error, 3)
			go func() { _, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(card, "k")); answers <- err }()
			go func() { _, err := d.Desk.Confirm(ctx, d.Actor("ben"), desktest.Deciding(card, "k")); answers <- err }()
			go func() {
				_, err := d.Desk.Revise(ctx, ana, proposal.Revising{Proposal: card.ID, Revision: 1, PlanHash: card.PlanHash})
				answers <- err
			}()
			waitFor(d, "3", blocked)
			late(d, card)
			must(t, lock.Rollback())
			for range 3 {
				wantCode(t, <-answers, refusal.ProposalExpired)
			}
			if got := d.Text(`SELECT state FROM inspect.proposals WHERE id = $1`, card.ID); got != proposal.StateExpired {
				t.Fatal(got)
			}
			wantWhole(t, d)
		})
	}
}

// Case C1: no sweeper runs here. The deadline itself is already too late.
func TestExpiredToTheMicrosecondWithoutASweeper(t *testing.T) {
	d := desktest.New(t)
	ana := d.Actor("ana")
	set := freeze(d)
	early, exact := d.Propose(ana, d.Move("apt_maria", d.At(1, 14, 0))), d.Propose(ana, d.Move("apt_soren", d.At(1, 14, 0)))
	if early.ExpiresAt != exact.ExpiresAt {
		t.Fatal("one clock, two deadlines")
	}
	set(early.ExpiresAt.Add(-time.Microsecond))
	if _, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(early, "k1")); err != nil {
		t.Fatal("in time:", err)
	}
	set(exact.ExpiresAt)
	_, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(exact, "k2"))
	wantCode(t, err, refusal.ProposalExpired)
	if r := refusal.Of(err).Record.(proposal.Record); r.State != proposal.StateExpired || r.Outcome != proposal.OutcomeNotExecuted {
		t.Fatal(r.State, r.Outcome)
	}
	_, err = d.Desk.Revise(ctx, ana, proposal.Revising{Proposal: exact.ID, Revision: 1, PlanHash: exact.PlanHash})
	wantCode(t, err, refusal.ProposalExpired)
	now, err := d.Desk.Get(ctx, ana, exact.ID)
	must(t, err)
	list, err := d.Desk.List(ctx, ana, proposal.Filter{State: proposal.StateExpired, Limit: 10})
	must(t, err)
	if now.State != proposal.StateExpired || len(list) != 1 || list[0].ID != exact.ID {
		t.Fatal("reads must show it as expired at once")
	}
	if again, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(early, "k1")); err != nil || !again.Replayed {
		t.Fatal("the key of what was done in time still answers after the deadline (case F9):", err)
	}
	wantWhole(t, d)
}

// Claimed in time may finish (case C8): the deadline passes between the claim and the commit.
func TestClaimedInTimeFinishes(t *testing.T) {
	d := desktest.New(t)
	ana := d.Actor("ana")
	set := freeze(d)
	card := d.Propose(ana, d.Move("apt_maria", d.At(1, 14, 0)))
	d.Desk.Store = pausing{d.Desk.Store, afterClaim, func() { set(card.ExpiresAt.Add(time.Hour)) }}
	out, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(card, "k"))
	must(t, err)
	if out.Record.State != proposal.StateCompleted {
		t.Fatal(out.Record.State)
	}
	wantWhole(t, d)
}
