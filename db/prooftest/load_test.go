//go:build unix

package prooftest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"countersign/db/desktest"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// allowed are the answers that a desk full of rivals may get. Anything else, a deadlock or a lost row above all, is a fault.
var allowed = map[string]bool{"": true, refusal.ResourceChanged: true, refusal.AlreadyDecided: true, refusal.SlotTaken: true, refusal.SelfApprovalForbidden: true,
	refusal.PermissionDenied: true, refusal.ValidationFailed: true}

// Thirty-two clients book, move, cancel, edit, decide and press twice on few slots; facts change under them. At the
// end every completed proposal has exactly its effects, and nothing else has happened.
func TestMixedLoadLeavesTheWorldWhole(t *testing.T) {
	d := desktest.New(t, wide(16))
	var patients, visits []string
	for i := range 8 {
		patients = append(patients, newPatient(d))
		visits = append(visits, booked(d, patients[i], []string{"holm", "okafor"}[i%2], d.At(6, 8, 30*i)))
	}
	var mu sync.Mutex
	codes := map[string]int{}
	saw := func(what string, err error) {
		mu.Lock()
		defer mu.Unlock()
		codes[code(err)]++
		if !allowed[code(err)] {
			t.Errorf("%s: %v", what, err)
		}
	}
	var cards []proposal.Record
	stop := time.Now().Add(3 * time.Second)
	client := func(n int) {
		rnd := rand.New(rand.NewPCG(7, uint64(n)))
		people := []clinic.Actor{d.Actor("ana"), d.Actor("emil"), d.Actor("ben"), d.Actor("bea")}
		for i := 0; time.Now().Before(stop); i++ {
			by := people[rnd.IntN(len(people))]
			at := d.At(rnd.IntN(2), 8, 15*rnd.IntN(12))
			practitioner := []string{"holm", "okafor"}[rnd.IntN(2)]
			mu.Lock()
			patient, visit := patients[rnd.IntN(len(patients))], visits[rnd.IntN(len(visits))]
			var card proposal.Record
			if len(cards) > 0 {
				card = cards[max(0, len(cards)-1-rnd.IntN(12))]
			}
			mu.Unlock()
			var out proposal.Answer
			var err error
			switch what := rnd.IntN(10); {
			case what < 4 || card.ID == "":
				wish := booking(patient, practitioner, at)
				if what == 1 {
					wish = d.Move(visit, at, "practitioner", practitioner)
				} else if what == 2 {
					wish = proposal.Proposing{Action: "cancel_appointment@1", Parameters: map[string]any{"appointment": visit, "reason_code": "other"}}
				}
				if out, err = d.Desk.Propose(ctx, by, wish); err == nil {
					mu.Lock()
					cards = append(cards, out.Record)
					mu.Unlock()
				}
				saw("propose", err)
			case what < 8:
				if by.Role == clinic.RoleStaff { // mostly the asker
					by = people[map[string]int{"ana": 0, "emil": 1, "ben": 2, "bea": 3}[card.Owner]]
				}
				key := fmt.Sprintf("c%d.%d", n, i)
				out, err = d.Desk.Confirm(ctx, by, desktest.Deciding(card, key))
				saw("confirm", err)
				if err == nil && rnd.IntN(3) == 0 {
					again, err := d.Desk.Confirm(ctx, by, desktest.Deciding(card, key))
					saw("replay", err)
					if string(again.Body) != string(out.Body) {
						t.Error("a replay of other bytes")
					}
				}
				if err == nil && card.Action == "book_appointment@1" {
					mu.Lock()
					visits = append(visits, card.Plan.After.Appointment)
					mu.Unlock()
				}
			case what == 8:
				out, err = d.Desk.Revise(ctx, by, proposal.Revising{Proposal: card.ID, Revision: card.Revision, PlanHash: card.PlanHash, Parameters: map[string]any{"notify": rnd.IntN(2) == 0}})
				if err == nil {
					mu.Lock()
					cards = append(cards, out.Record)
					mu.Unlock()
				}
				saw("revise", err)
			default:
				_, err = d.Desk.Reject(ctx, by, desktest.Deciding(card, fmt.Sprintf("r%d.%d", n, i)))
				saw("reject", err)
			}
		}
	}
	var all sync.WaitGroup
	for n := range 32 {
		all.Go(func() { client(n) })
	}
	all.Go(func() {
		for i := 0; time.Now().Before(stop); i++ {
			_, err := d.Root.Exec(`UPDATE patients SET email = $1 WHERE clinic = 'hav' AND id = $2`, fmt.Sprintf("p%d@example.test", i), patients[i%8])
			must(t, err)
			time.Sleep(20 * time.Millisecond)
		}
	})
	all.Wait()
	t.Log(codes)
	if got := d.Text(`SELECT count(*) > 20 FROM proposals WHERE state = 'completed'`); got != "true" {
		t.Fatal("too little happened to prove anything:", codes)
	}
	wantWhole(t, d)
}
