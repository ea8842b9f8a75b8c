//go:build unix

package prooftest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/proposal"
)

// childRuns makes this binary a worker that carries a bulk on and stops for ever at one step.
const childRuns = "PROOF_CHILD_RUNS"

// stop is where it stops: at the n-th item, from 1, with its rows written and not committed, or committed.
type stop struct {
	URL     string
	Written bool
	Nth     int
}

// stepping is a Store that stops once, at one item.
type stepping struct {
	proposal.Store
	stop
	done *int // items that were executed
}

func (p stepping) InTx(ctx context.Context, clinicID string, fn func(proposal.Tx) error) error {
	before := *p.done
	err := p.Store.InTx(ctx, clinicID, func(tx proposal.Tx) error { return fn(steppingTx{tx, p}) })
	if !p.Written && *p.done != before && *p.done == p.Nth {
		standStill()
	}
	return err
}

type steppingTx struct {
	proposal.Tx
	p stepping
}

func (t steppingTx) Execute(ctx context.Context, e proposal.Execution) (int64, error) {
	version, err := t.Tx.Execute(ctx, e)
	if *t.p.done++; t.p.Written && *t.p.done == t.p.Nth {
		standStill()
	}
	return version, err
}

func standStill() {
	fmt.Println("stopped")
	select {}
}

func childRunning() {
	var s stop
	if err := json.Unmarshal([]byte(os.Getenv(childRuns)), &s); err != nil {
		panic(err)
	}
	pool, err := db.Open(ctx, s.URL, db.Options{MaxConns: 2})
	if err != nil {
		panic(err)
	}
	desk := &proposal.Service{IDs: desktest.ID, Log: slog.New(slog.NewJSONHandler(io.Discard, nil)), Store: stepping{db.Proposals{DB: pool}, s, new(int)}}
	fmt.Println(desk.CarryOn(ctx, "hav"))
}

// begun is a bulk of n visits, each of another patient's with an address, confirmed and not yet carried out.
func begun(d *desktest.Desk, n int) proposal.Record {
	d.T.Helper()
	d.Desk.Inline = -1
	var items []any
	for i := range n {
		id := booked(d, newPatient(d), "holm", d.At(1, 8, 0).Add(time.Duration(i)*30*time.Minute))
		item := map[string]any{"appointment": id, "starts_at": d.At(3, 8, 0).Add(time.Duration(i) * 30 * time.Minute).Format(time.RFC3339)}
		if i%3 == 2 {
			item = map[string]any{"appointment": id, "cancel": true, "reason_code": "practitioner_unavailable"}
		}
		items = append(items, item)
	}
	r := d.Propose(d.Actor("ana"), proposal.Proposing{Action: "bulk_change@1", Parameters: map[string]any{"items": items}})
	out, err := d.Desk.Confirm(ctx, d.Actor("ben"), desktest.Deciding(r, desktest.ID("key")))
	must(d.T, err)
	return out.Record
}

// onceEach fails unless every visit of the bulk was changed once, with its slots, its message and its row of the trail.
func onceEach(t *testing.T, d *desktest.Desk, r proposal.Record) {
	t.Helper()
	n := len(r.Plan.After.Items)
	for what, query := range map[string]string{
		"visits":   `SELECT count(*) FROM appointments WHERE proposal = $1 AND version = 2`,
		"versions": `SELECT count(*) FROM appointment_history WHERE proposal = $1`,
		"messages": `SELECT count(DISTINCT appointment) FROM outbox WHERE proposal = $1`,
		"all":      `SELECT count(*) FROM outbox WHERE proposal = $1 AND kind <> 'reminder'`,
		"items":    `SELECT count(*) FROM bulk_items WHERE proposal = $1 AND state = 'completed' AND version = 2`,
		"trail":    `SELECT count(*) FROM audit WHERE proposal = $1 AND action LIKE 'appointment.%' AND outcome = 'success'`,
	} {
		if got := d.Text(query, r.ID); got != fmt.Sprint(n) {
			t.Errorf("%s: %s, want %d", what, got, n)
		}
	}
	now, err := d.Desk.Get(ctx, d.Actor("ben"), r.ID)
	must(t, err)
	if now.State != proposal.StateCompleted || now.Outcome != proposal.OutcomeCompleted {
		t.Error(now.State, now.Outcome)
	}
	if got := d.Text(`SELECT count(*) FROM audit WHERE proposal = $1 AND action = 'proposal.finish'`, r.ID); got != "1" {
		t.Error("it ended", got, "times")
	}
	if got := d.Text(`SELECT count(*) FROM slots s JOIN appointments a ON a.clinic = s.clinic AND a.id = s.appointment
		WHERE a.proposal = $1 AND NOT a.during @> s.starts_at`, r.ID); got != "0" {
		t.Error("visits hold slots of another time:", got)
	}
}

// kill -9 at any step of a bulk: another process goes on once the lease has run out; no visit twice, none lost.
func TestKillNineInABulk(t *testing.T) {
	const n = 4
	for _, s := range []stop{{Written: true, Nth: 1}, {Written: true, Nth: 3}, {Written: true, Nth: n}, {Nth: 1}, {Nth: 2}, {Nth: n}} {
		t.Run(fmt.Sprintf("written only %v, item %d", s.Written, s.Nth), func(t *testing.T) {
			d := desktest.New(t)
			r := begun(d, n)
			s.URL = d.URL
			work, err := json.Marshal(s)
			must(t, err)
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), childRuns+"="+string(work))
			c.Stderr = os.Stderr
			says, err := c.StdoutPipe()
			must(t, err)
			must(t, c.Start())
			t.Cleanup(func() { c.Process.Kill() })
			if line, err := bufio.NewReader(says).ReadString('\n'); line != "stopped\n" {
				t.Fatal(line, err)
			}
			if found, err := d.Desk.CarryOn(ctx, "hav"); found || err != nil {
				t.Fatal("it was taken while its lease ran", err)
			}
			must(t, c.Process.Signal(syscall.SIGKILL))
			c.Wait()
			d.Exec(`UPDATE bulk_runs SET leased_until = app_now()`)
			if found, err := d.Desk.CarryOn(ctx, "hav"); !found || err != nil {
				t.Fatal(found, err)
			}
			onceEach(t, d, r)
		})
	}
}

// Workers whose leases end at any moment, while they still work: the fencing token lets only the last one go on.
func TestManyWorkersOnOneBulk(t *testing.T) {
	d := desktest.New(t, wide(10))
	r := begun(d, 9)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for range 40 {
			d.Root.Exec(`UPDATE bulk_runs SET leased_until = app_now() - interval '1 s' WHERE ended_at IS NULL`)
			time.Sleep(5 * time.Millisecond)
		}
	}()
	atOnce(6, func(int) (proposal.Answer, error) {
		for range 15 {
			if _, err := d.Desk.CarryOn(ctx, "hav"); err != nil {
				t.Error(err)
			}
		}
		return proposal.Answer{}, nil
	})
	<-over
	d.Exec(`UPDATE bulk_runs SET leased_until = app_now() WHERE ended_at IS NULL`)
	_, err := d.Desk.CarryOn(ctx, "hav")
	must(t, err)
	onceEach(t, d, r)
}

// Whatever moves between the claim and the end, and wherever it is stopped: every item has one result, what completed is
// what changed, and the outcome is theirs.
func TestBulksInAnyWorld(t *testing.T) {
	d := desktest.New(t)
	day := 0
	rapid.Check(t, func(t *rapid.T) {
		if day++; day > 12 {
			return // a dozen worlds are enough for a suite
		}
		d.Exec(`UPDATE slots SET appointment = NULL WHERE clinic = 'hav'`)
		d.Exec(`UPDATE appointments SET status = 'cancelled' WHERE clinic = 'hav' AND status IN ('booked', 'arrived')`)
		n := rapid.IntRange(1, 7).Draw(t, "visits")
		r := begun(d, n)
		touched := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "touched")
		want := ""
		for i, f := range r.Plan.Before.Items {
			if touched[i] {
				d.Exec(`UPDATE appointments SET status = 'arrived' WHERE clinic = 'hav' AND id = $1`, f.Appointment)
				want += "f"
			} else {
				want += "c"
			}
		}
		if rapid.Bool().Draw(t, "stopped") {
			_, err := d.Desk.Stop(ctx, d.Actor("ben"), r.ID)
			must(t, err)
			want = strings.Repeat("s", n)
		} else if _, err := d.Desk.CarryOn(ctx, "hav"); err != nil {
			t.Fatal(err)
		}
		now, err := d.Desk.Get(ctx, d.Actor("ben"), r.ID)
		must(t, err)
		got := ""
		for _, it := range now.ItemResults() {
			got += it.State[:1]
		}
		state := proposal.StatePartial
		if done := strings.Count(got, "c"); done == n {
			state = proposal.StateCompleted
		} else if done == 0 {
			state = proposal.StateFailed
		}
		if got != want || now.State != state {
			t.Fatal(got, want, now.State)
		}
		if changed := d.Text(`SELECT count(*) FROM appointments WHERE proposal = $1`, r.ID); changed != fmt.Sprint(strings.Count(got, "c")) {
			t.Fatal("visits changed:", changed)
		}
	})
}
