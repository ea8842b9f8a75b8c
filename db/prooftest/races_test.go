//go:build unix

package prooftest

import (
	"fmt"
	"testing"
	"time"

	"countersign/db/desktest"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// Cases S01, S02, B14, X12.
func TestOfTenRivalsOneWins(t *testing.T) {
	for name, wish := range map[string]func(d *desktest.Desk, i int) proposal.Proposing{
		"bookings": func(d *desktest.Desk, _ int) proposal.Proposing { return booking(newPatient(d), "holm", d.At(2, 9, 0)) },
		"moves": func(d *desktest.Desk, i int) proposal.Proposing {
			return d.Move(booked(d, newPatient(d), "holm", d.At(4, 8, 0).Add(time.Duration(i)*30*time.Minute)), d.At(2, 9, 0))
		},
		// Half of them overlap the others by one slot only.
		"overlapping": func(d *desktest.Desk, i int) proposal.Proposing {
			return booking(newPatient(d), "holm", d.At(2, 9, 15*(i%2)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := desktest.New(t)
			ana := d.Actor("ana")
			var rivals []proposal.Record
			for i := range 10 {
				rivals = append(rivals, d.Propose(ana, wish(d, i)))
			}
			replies := atOnce(10, func(i int) (proposal.Answer, error) {
				return d.Desk.Confirm(ctx, ana, desktest.Deciding(rivals[i], fmt.Sprint("k", i)))
			})
			wantTally(t, replies, map[string]int{proposal.StateCompleted: 1, refusal.ResourceChanged: 9})
			if got := d.Text(`SELECT count(*) FROM appointments WHERE practitioner = 'holm' AND during && tstzrange($1, $2)`, d.At(2, 9, 0), d.At(2, 9, 45)); got != "1" {
				t.Fatal("visits there:", got)
			}
			if got := d.Text(`SELECT count(*) FROM outbox WHERE kind <> 'reminder'`); got != "1" {
				t.Fatal("messages:", got)
			}
			for _, r := range replies {
				if r.err == nil {
					continue
				}
				rec, ok := refusal.Of(r.err).Record.(proposal.Record)
				if !ok || !rec.Stale || rec.State != proposal.StateProposed {
					t.Fatal("a loser must stay proposed and be shown as stale")
				}
			}
			wantWhole(t, d)
		})
	}
}

func TestTwentyPeoplePressOneCard(t *testing.T) {
	d := desktest.New(t, wide(24))
	card := d.Propose(d.Actor("ana"), d.Move("apt_maria", d.At(1, 14, 0)))
	replies := atOnce(20, func(i int) (proposal.Answer, error) {
		return d.Desk.Confirm(ctx, d.Actor([]string{"ana", "ben", "bea"}[i%3]), desktest.Deciding(card, fmt.Sprint("k", i)))
	})
	wantTally(t, replies, map[string]int{proposal.StateCompleted: 1, refusal.AlreadyDecided: 19})
	wantWhole(t, d)
}

// Case F2: the loser waits and replays.
func TestOneKeyTwentyTimesIsOneExecution(t *testing.T) {
	d := desktest.New(t, wide(24))
	ana := d.Actor("ana")
	card := d.Propose(ana, d.Move("apt_maria", d.At(1, 14, 0)))
	replies := atOnce(20, func(int) (proposal.Answer, error) { return d.Desk.Confirm(ctx, ana, desktest.Deciding(card, "k")) })
	wantTally(t, replies, map[string]int{proposal.StateCompleted: 1, "replay": 19})
	for _, r := range replies {
		if string(r.Body) != string(replies[0].Body) || r.Status != 200 {
			t.Fatal("a replay must be the answer, byte for byte")
		}
	}
	wantWhole(t, d)
}

func TestOneKeyTwentyTimesIsOneProposal(t *testing.T) {
	d := desktest.New(t, wide(24))
	ana := d.Actor("ana")
	wish := d.Move("apt_maria", d.At(1, 14, 0))
	wish.Key = "k"
	replies := atOnce(20, func(int) (proposal.Answer, error) { return d.Desk.Propose(ctx, ana, wish) })
	wantTally(t, replies, map[string]int{proposal.StateProposed: 1, "replay": 19})
	if got := d.Text(`SELECT count(*) FROM proposals`); got != "1" {
		t.Fatal("proposals:", got)
	}
}

func TestConfirmAgainstReject(t *testing.T) {
	d := desktest.New(t)
	ana, ben := d.Actor("ana"), d.Actor("ben")
	for round := range 12 {
		card := d.Propose(ana, booking(newPatient(d), "holm", d.At(1, 8, 30*round)))
		replies := atOnce(2, func(i int) (proposal.Answer, error) {
			if i == 0 {
				return d.Desk.Confirm(ctx, ana, desktest.Deciding(card, fmt.Sprint("c", round)))
			}
			return d.Desk.Reject(ctx, ben, desktest.Deciding(card, fmt.Sprint("r", round)))
		})
		won, lost := replies[0], replies[1]
		if won.err != nil {
			won, lost = lost, won
		}
		must(t, won.err)
		wantCode(t, lost.err, refusal.AlreadyDecided)
		if rec := refusal.Of(lost.err).Record.(proposal.Record); rec.State != won.Record.State {
			t.Fatal("the loser was told another outcome")
		}
	}
	wantWhole(t, d)
}

// Case B12 of one proposal: an edit and a decision never both count.
func TestDecidingAgainstRevising(t *testing.T) {
	d := desktest.New(t)
	ana, ben := d.Actor("ana"), d.Actor("ben")
	for round := range 12 {
		card := d.Propose(ana, booking(newPatient(d), "holm", d.At(1, 8, 30*round)))
		decide, state := d.Desk.Confirm, proposal.StateCompleted
		if round%2 == 1 {
			decide, state = d.Desk.Reject, proposal.StateRejected
		}
		replies := atOnce(2, func(i int) (proposal.Answer, error) {
			if i == 0 {
				return decide(ctx, ana, desktest.Deciding(card, fmt.Sprint("k", round)))
			}
			return d.Desk.Revise(ctx, ben, proposal.Revising{Proposal: card.ID, Revision: 1, PlanHash: card.PlanHash, Parameters: map[string]any{"notify": false}})
		})
		now, err := d.Desk.Get(ctx, ana, card.ID)
		must(t, err)
		switch {
		case replies[0].err == nil:
			wantCode(t, replies[1].err, refusal.AlreadyDecided)
			if now.State != state || now.Revision != 1 {
				t.Fatal(now.State, now.Revision)
			}
		default:
			must(t, replies[1].err)
			wantCode(t, replies[0].err, refusal.ResourceChanged)
			if now.State != proposal.StateProposed || now.Revision != 2 {
				t.Fatal(now.State, now.Revision)
			}
		}
	}
	wantWhole(t, d)
}

// Two visits change places by two opposite plans that pin each other's slots. No state of the desk makes such a pair
// of plans, so the slots are hidden while they are made; what counts is the order of locks, and that nobody hears of a
// deadlock.
func TestOppositeMovesDoNotDeadlock(t *testing.T) {
	d := desktest.New(t)
	ana := d.Actor("ana")
	hide := func(sql string) { d.Exec(`SET session_replication_role = replica; ` + sql) }
	d.Root.SetMaxOpenConns(1) // the setting belongs to the session
	for round := range 10 {
		left, right := d.At(5, 8, 30*round), d.At(6, 8, 30*round)
		a, b := booked(d, newPatient(d), "holm", left), booked(d, newPatient(d), "okafor", right)
		hide(`UPDATE slots SET appointment = NULL WHERE appointment IN ('` + a + `', '` + b + `')`)
		there := d.Propose(ana, d.Move(a, right, "practitioner", "okafor"))
		back := d.Propose(ana, d.Move(b, left, "practitioner", "holm"))
		for id, practitioner := range map[string]string{a: "holm", b: "okafor"} {
			hide(`UPDATE slots s SET appointment = a.id FROM appointments a WHERE a.id = '` + id + `' AND s.clinic = a.clinic AND s.practitioner = '` + practitioner + `' AND s.starts_at >= a.starts_at AND s.starts_at < a.ends_at`)
		}
		d.Exec(`SET session_replication_role = origin`)
		replies := atOnce(2, func(i int) (proposal.Answer, error) {
			return d.Desk.Confirm(ctx, ana, desktest.Deciding([]proposal.Record{there, back}[i], fmt.Sprintf("k%d.%d", round, i)))
		})
		// The exclusion constraint is what says no: an outcome, with nothing changed.
		wantTally(t, replies, map[string]int{proposal.StateFailed: 2})
	}
	wantWhole(t, d)
}

// The same as the desk can do it: two visits cross over, each to the other's practitioner, while others wait.
func TestCrossingMovesAllSucceed(t *testing.T) {
	d := desktest.New(t)
	ana := d.Actor("ana")
	var cards []proposal.Record
	for i := range 6 {
		at := d.At(5, 8, 60*i)
		cards = append(cards, d.Propose(ana, d.Move(booked(d, newPatient(d), "holm", at), at.Add(30*time.Minute), "practitioner", "okafor")),
			d.Propose(ana, d.Move(booked(d, newPatient(d), "okafor", at), at.Add(30*time.Minute), "practitioner", "holm")))
	}
	replies := atOnce(len(cards), func(i int) (proposal.Answer, error) {
		return d.Desk.Confirm(ctx, ana, desktest.Deciding(cards[i], fmt.Sprint("k", i)))
	})
	wantTally(t, replies, map[string]int{proposal.StateCompleted: len(cards)})
	wantWhole(t, d)
}

// Neither plan was double-booked when it was made; the second one to run is, so staff may not decide it any more.
func TestTwoPlansForOnePatientSeeEachOther(t *testing.T) {
	for _, who := range []struct {
		name, code string
		actor      func(d *desktest.Desk) clinic.Actor
	}{
		{"the asker", refusal.SelfApprovalForbidden, func(d *desktest.Desk) clinic.Actor { return d.Actor("ana") }},
		{"a reviewer", "", func(d *desktest.Desk) clinic.Actor { return d.Actor("ben") }},
	} {
		t.Run(who.name, func(t *testing.T) {
			d := desktest.New(t)
			by := who.actor(d)
			for round := range 6 {
				patient, at := newPatient(d), d.At(2, 8, 30*round)
				cards := []proposal.Record{d.Propose(d.Actor("ana"), booking(patient, "holm", at)), d.Propose(d.Actor("ana"), booking(patient, "okafor", at))}
				if cards[0].Risk == proposal.High || cards[1].Risk == proposal.High {
					t.Fatal("not double-booked yet")
				}
				replies := atOnce(2, func(i int) (proposal.Answer, error) {
					return d.Desk.Confirm(ctx, by, desktest.Deciding(cards[i], fmt.Sprintf("k%d.%d", round, i)))
				})
				want := map[string]int{proposal.StateCompleted: 1, who.code: 1}
				if who.code == "" {
					want = map[string]int{proposal.StateCompleted: 2}
					if replies[0].Record.Risk == proposal.High == (replies[1].Record.Risk == proposal.High) {
						t.Fatal("exactly one of them is high by now")
					}
				}
				wantTally(t, replies, want)
			}
			wantWhole(t, d)
		})
	}
}
