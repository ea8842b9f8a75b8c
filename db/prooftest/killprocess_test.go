//go:build unix

package prooftest

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// The child of a kill test: this test binary again, confirming one proposal and stopping for ever at one point.
const (
	childPoint = "PROOF_CHILD_POINT"
	childWork  = "PROOF_CHILD_WORK"
)

type childsWork struct {
	URL      string
	Actor    clinic.Actor
	Decision proposal.Decision
}

func child(at string) {
	var w childsWork
	if err := json.Unmarshal([]byte(os.Getenv(childWork)), &w); err != nil {
		panic(err)
	}
	pool, err := db.Open(ctx, w.URL, db.Options{MaxConns: 2})
	if err != nil {
		panic(err)
	}
	s := &proposal.Service{IDs: desktest.ID, Store: pausing{db.Proposals{DB: pool}, at, func() {
		fmt.Println("stopped")
		select {}
	}}}
	out, err := s.Confirm(ctx, w.Actor, w.Decision)
	fmt.Println("answered", out.Status, err)
}

// kill -9 at every point: what is stored is all or nothing, and the person who presses again with the same key gets
// what happened, once (cases F3, C9).
func TestKillNineAtEveryPoint(t *testing.T) {
	for _, at := range []string{afterKey, afterClaim, afterWrite, afterEnd} {
		t.Run(at, func(t *testing.T) {
			d := desktest.New(t)
			ana := d.Actor("ana")
			card := d.Propose(ana, d.Move("apt_maria", d.At(1, 14, 0)))
			decision := desktest.Deciding(card, "k")
			before := picture(t, d)
			var lock *sql.Tx
			if at == afterKey {
				lock = holdRow(d, card.ID)
			}
			work, err := json.Marshal(childsWork{d.URL, ana, decision})
			must(t, err)
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), childPoint+"="+at, childWork+"="+string(work))
			c.Stderr = os.Stderr
			says, err := c.StdoutPipe()
			must(t, err)
			must(t, c.Start())
			t.Cleanup(func() { c.Process.Kill() })
			if at == afterKey {
				waitFor(d, "1", blocked)
			} else if line, err := bufio.NewReader(says).ReadString('\n'); line != "stopped\n" {
				t.Fatal(line, err)
			}
			must(t, c.Process.Signal(syscall.SIGKILL))
			if err := c.Wait(); err == nil {
				t.Fatal("it was not killed")
			}
			if lock != nil {
				must(t, lock.Rollback())
			}
			if at != afterEnd {
				wantUnchanged(t, before, picture(t, d))
			}
			out, err := d.Desk.Confirm(ctx, ana, decision)
			must(t, err)
			if out.Replayed != (at == afterEnd) || out.Record.State != proposal.StateCompleted {
				t.Fatal("replayed:", out.Replayed, out.Record.State)
			}
			wantWhole(t, d)
		})
	}
}

// holdRow locks a proposal's row in another session.
func holdRow(d *desktest.Desk, id string) *sql.Tx {
	d.T.Helper()
	tx, err := d.Root.Begin()
	must(d.T, err)
	_, err = tx.Exec(`SELECT 1 FROM proposals WHERE id = $1 FOR UPDATE`, id)
	must(d.T, err)
	return tx
}
