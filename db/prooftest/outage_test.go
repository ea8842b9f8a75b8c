//go:build unix

package prooftest

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/db/embedded"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// decisions are the doors that consume a proposal under a key.
var decisions = map[string]struct {
	state string
	call  func(d *desktest.Desk, by clinic.Actor, c proposal.Decision) (proposal.Answer, error)
}{
	"confirm": {proposal.StateCompleted, func(d *desktest.Desk, by clinic.Actor, c proposal.Decision) (proposal.Answer, error) {
		return d.Desk.Confirm(ctx, by, c)
	}},
	"reject": {proposal.StateRejected, func(d *desktest.Desk, by clinic.Actor, c proposal.Decision) (proposal.Answer, error) {
		return d.Desk.Reject(ctx, by, c)
	}},
}

// The server ends the session at each point before the commit: busy, nothing stored, and the same key executes once.
func TestASessionEndedAtEveryPoint(t *testing.T) {
	for _, at := range []string{afterKey, afterClaim, afterWrite} {
		t.Run(at, func(t *testing.T) {
			d := desktest.New(t)
			ana := d.Actor("ana")
			card := d.Propose(ana, d.Move("apt_maria", d.At(1, 14, 0)))
			before := picture(t, d)
			var lock *sql.Tx
			if at == afterKey {
				lock = holdRow(d, card.ID)
			}
			ended := false
			real := d.Desk.Store
			d.Desk.Store = pausing{real, at, func() {
				if !ended {
					ended = true
					endSessions(d)
				}
			}}
			answer := make(chan error, 1)
			go func() { _, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(card, "k")); answer <- err }()
			if lock != nil {
				waitFor(d, "1", blocked)
				d.Exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
				time.AfterFunc(200*time.Millisecond, func() { _ = lock.Rollback() })
			}
			err := <-answer
			d.Desk.Store = real
			// Before the claim stood, another session claims; a write that was lost with its commit is looked up and done.
			if at == afterClaim || err != nil {
				wantCode(t, err, refusal.Busy)
				wantUnchanged(t, before, picture(t, d))
				if refusal.Of(err).Message != "" {
					t.Error("it is certain that nothing was executed")
				}
			}
			out, err := retry(t, 15, func() (proposal.Answer, error) { return d.Desk.Confirm(ctx, ana, desktest.Deciding(card, "k")) })
			must(t, err)
			if out.Record.State != proposal.StateCompleted {
				t.Fatal(out.Record.State)
			}
			wantWhole(t, d)
		})
	}
}

// retry repeats what a client does on busy: the same request with the same key.
func retry(t testing.TB, most int, call func() (proposal.Answer, error)) (proposal.Answer, error) {
	t.Helper()
	for i := 0; ; i++ {
		out, err := call()
		if code(err) != refusal.Busy || i == most {
			return out, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// The connection breaks at COMMIT. Whatever became of it, the one call tells the truth and the next repeats it.
func TestTheConnectionBreaksAtCommit(t *testing.T) {
	for name, at := range map[string]int32{"the commit never arrives": neverArrives, "its answer is lost": answerIsLost, "it still runs": cutWhileItRuns} {
		for door, decide := range decisions {
			t.Run(door+", "+name, func(t *testing.T) {
				d := desktest.New(t)
				c, near := newCable(t, d.URL)
				pool, err := db.Open(ctx, near, db.Options{MaxConns: 4})
				must(t, err)
				t.Cleanup(func() { pool.Close() })
				d.Desk.Store = db.Proposals{DB: pool}
				if at == cutWhileItRuns { // a commit that takes its time
					d.Exec(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.3); RETURN NULL; END $$;
						CREATE CONSTRAINT TRIGGER slow AFTER UPDATE ON proposals DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()`)
				}
				ana := d.Actor("ana")
				card := d.Propose(ana, d.Move("apt_maria", d.At(1, 14, 0)))
				c.atCommit.Store(at)
				out, err := decide.call(d, ana, desktest.Deciding(card, "k"))
				<-c.cut
				must(t, err)
				if out.Record.State != decide.state || out.Replayed != (at != neverArrives) {
					t.Fatal(out.Record.State, "replayed:", out.Replayed)
				}
				again, err := decide.call(d, ana, desktest.Deciding(card, "k"))
				must(t, err)
				if !again.Replayed || string(again.Body) != string(out.Body) {
					t.Fatal("another answer")
				}
				wantWhole(t, d)
			})
		}
	}
}

// The connection breaks at COMMIT and the database stays away: the answer does not claim that nothing was executed.
func TestAnUnknownCommitIsNotCalledNotExecuted(t *testing.T) {
	for door, decide := range decisions {
		t.Run(door, func(t *testing.T) {
			d := desktest.New(t)
			c, near := newCable(t, d.URL)
			pool, err := db.Open(ctx, near, db.Options{MaxConns: 4})
			must(t, err)
			t.Cleanup(func() { pool.Close() })
			ana := d.Actor("ana")
			card := d.Propose(ana, d.Move("apt_maria", d.At(1, 14, 0)))
			d.Desk.Store = pausing{db.Proposals{DB: pool}, afterWrite, func() { c.plugInto("postgres://x@/x?host=/nonexistent&port=1") }}
			c.atCommit.Store(answerIsLost)
			_, err = decide.call(d, ana, desktest.Deciding(card, "k"))
			wantCode(t, err, refusal.Busy)
			if !strings.Contains(refusal.Of(err).Message, "not certain") {
				t.Fatal("it was executed, and the answer says:", refusal.Of(err).Message)
			}
			c.plugInto(d.URL)
			out, err := retry(t, 8, func() (proposal.Answer, error) { return decide.call(d, ana, desktest.Deciding(card, "k")) })
			must(t, err)
			if !out.Replayed || out.Record.State != decide.state {
				t.Fatal(out.Replayed, out.Record.State)
			}
			wantWhole(t, d)
		})
	}
}

// Every session ends at once, as when the server is restarted under a full pool: nobody is refused for it, because no
// transaction had begun.
func TestDeadConnectionsOfThePoolCostNobodyAnything(t *testing.T) {
	d := desktest.New(t)
	ana := d.Actor("ana")
	card := d.Propose(ana, d.Move("apt_maria", d.At(1, 14, 0)))
	for _, r := range atOnce(12, func(int) (proposal.Answer, error) {
		_, err := d.Desk.Get(ctx, ana, card.ID)
		return proposal.Answer{}, err
	}) {
		must(t, r.err) // fills the pool
	}
	endSessions(d)
	waitFor(d, "1", `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'`)
	out, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(card, "k"))
	must(t, err)
	if out.Replayed {
		t.Fatal("it ran twice")
	}
	wantWhole(t, d)
}

// The database goes away and comes back: busy, then the same key succeeds (case F7: the failure is not kept).
func TestTheDatabaseGoesAwayAndReturns(t *testing.T) {
	dir := t.TempDir()
	start := func() *embedded.Cluster {
		c, err := embedded.Start(ctx, embedded.Options{DataDir: dir, NoSync: true})
		must(t, err)
		return c
	}
	stop := func(c *embedded.Cluster) {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		must(t, c.Stop(ctx))
	}
	server := start()
	must(t, db.Migrate(ctx, server.URL()))
	line, near := newCable(t, server.URL())
	d := desktest.On(t, near)
	ana := d.Actor("ana")
	done, waiting := d.Propose(ana, d.Move("apt_maria", d.At(1, 14, 0))), d.Propose(ana, d.Move("apt_soren", d.At(1, 14, 0)))
	first, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(done, "k1"))
	must(t, err)
	stop(server)
	for range 3 {
		_, err = d.Desk.Confirm(ctx, ana, desktest.Deciding(waiting, "k2"))
		wantCode(t, err, refusal.Busy)
		if refusal.Of(err).RetryAfter <= 0 {
			t.Fatal("busy says when to come again")
		}
	}
	server = start()
	t.Cleanup(func() { stop(server) })
	line.plugInto(server.URL())
	again, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(done, "k1"))
	must(t, err)
	if !again.Replayed || string(again.Body) != string(first.Body) {
		t.Fatal("the answer did not survive")
	}
	out, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(waiting, "k2"))
	must(t, err)
	if out.Replayed {
		t.Fatal("a failure was kept")
	}
	d.Root.SetMaxIdleConns(0)
	wantWhole(t, d)
}
