//go:build unix

package prooftest

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/audit"
)

// oldEntries writes n entries of a time long ago, and seals them.
func oldEntries(d *desktest.Desk, n int, at time.Time) {
	d.T.Helper()
	must(d.T, d.DB.InClinic(ctx, "hav", func(tx *db.Tx) error {
		for i := range n {
			e := entry(d, i)
			e.At = at.Add(time.Duration(i) * time.Second)
			if err := tx.Audit(ctx, e); err != nil {
				return err
			}
		}
		return nil
	}))
	sealAll(d)
}

func cutTrail(d *desktest.Desk, key *audit.Key) int64 {
	d.T.Helper()
	size, err := db.CutTrail(ctx, d.URL, "hav", key, func(tx *db.Tx, size int64) audit.Event {
		e := entry(d, 0)
		e.Action, e.Object = audit.CutTrail, fmt.Sprint(size)
		return e
	})
	must(d.T, err)
	return size
}

// A cut takes the prefix that need not be kept, and nothing else; what is left, and what was signed before, still checks.
func TestACutLeavesTheRestVerifiable(t *testing.T) {
	d := desktest.New(t)
	key := newKey(t)
	must(t, d.DB.InClinic(ctx, "lake", func(tx *db.Tx) error {
		e := entry(d, 0)
		e.Actor.Clinic, e.At = "lake", time.Now().AddDate(-9, 0, 0)
		return tx.Audit(ctx, e)
	}))
	_, err := d.DB.Seal(ctx, "lake")
	must(t, err)
	if _, err := db.CutTrail(ctx, d.URL, "hav", key, nil); err != db.ErrKeptForever {
		t.Fatal(err)
	}
	must(t, d.DB.InClinic(ctx, "hav", func(tx *db.Tx) error { return tx.SetRetention(ctx, 2) }))
	if n := cutTrail(d, key); n != 0 {
		t.Fatal("cut of nothing:", n)
	}
	var notes []string
	var receipt string
	for i, years := range []int{-6, -5, -4, -3} {
		oldEntries(d, 150, time.Now().AddDate(years, 0, -1))
		notes = append(notes, takeCheckpoint(d, key))
		if i == 0 {
			must(t, d.DB.InClinic(ctx, "hav", func(tx *db.Tx) error {
				all, err := tx.Receipts(ctx, key, d.Text(`SELECT entry FROM chain WHERE clinic = 'hav' AND seq = 7`), "")
				if err == nil {
					receipt = all[0].Text()
				}
				return err
			}))
		}
	}
	d.Exec(`UPDATE clinics SET audit_years = 4 WHERE id = 'hav'`) // 450 are older
	write(d, 10)
	sealAll(d)
	notes = append(notes, takeCheckpoint(d, key))
	if n := cutTrail(d, key); n != 450 {
		t.Fatal("cut", n)
	}
	sealAll(d)
	wantVerified(d, key, 611, notes...)
	if got := d.Text(`SELECT count(*) || ' ' || min(seq) FROM chain WHERE clinic = 'hav'`) + d.Text(`SELECT ' ' || count(*) FROM audit WHERE clinic = 'hav'`) + d.Text(`SELECT ' ' || count(*) FROM audit WHERE clinic = 'lake'`); got != "161 451 161 1" {
		t.Error(got)
	}
	if _, err := audit.VerifyReceipts(receipt, key.Public); err != nil {
		t.Error("a receipt of what is gone:", err)
	}
	must(t, d.DB.InClinic(ctx, "hav", func(tx *db.Tx) error {
		all, err := tx.Receipts(ctx, key, d.Text(`SELECT entry FROM chain WHERE clinic = 'hav' AND seq = 455`), "")
		if err != nil || len(all) != 1 {
			t.Error("a receipt behind the cut:", len(all), err)
		}
		return nil
	}))
	// Cut again, further on; the sealer goes on behind a chain that is gone to its last link.
	d.Exec(`UPDATE clinics SET audit_years = 1 WHERE id = 'hav'`)
	if n := cutTrail(d, key); n != 600 {
		t.Fatal("cut", n)
	}
	write(d, 300)
	sealAll(d)
	takeCheckpoint(d, key)
	size, lines := verified(d, key, notes...)
	if size != 912 || len(lines) > 0 {
		t.Fatal(size, strings.Join(lines, "\n"))
	}
	// What a checkpoint signed of what is gone cannot be another any more.
	other := strings.Replace(notes[0], "\n150\n", "\n149\n", 1)
	if _, lines := verified(d, key, other); len(lines) != 1 || !strings.HasPrefix(lines[0], "bad_checkpoint") {
		t.Error(lines)
	}
	behindAll(d, `UPDATE anchors SET frontier = sha256('x') || substr(frontier, 33) WHERE size = 600`)
	if _, lines := verified(d, key); len(lines) == 0 || !strings.HasPrefix(lines[0], "bad_checkpoint: what the cut after number 600") {
		t.Error(lines)
	}
}

// The app's role can cut nothing, and neither can the owner without naming the clinic.
func TestOnlyACutRemoves(t *testing.T) {
	d := desktest.New(t)
	write(d, 3)
	sealAll(d)
	app := asApp(d)
	for _, query := range []string{`DELETE FROM chain`, `UPDATE chain SET seq = 9`, `TRUNCATE chain`, `DELETE FROM checkpoints`, `INSERT INTO anchors (clinic, size, before, frontier) VALUES ('hav', 1, now(), '')`,
		`UPDATE checkpoints SET note = 'x'`, `SET LOCAL app.cut = 'hav'; DELETE FROM audit`, `SET LOCAL app.cut = 'hav'; DELETE FROM chain`} {
		if _, err := app.ExecContext(ctx, `BEGIN; SET LOCAL app.clinic = 'hav'; `+query+`; COMMIT`); err == nil {
			t.Errorf("%s was allowed", query)
		}
		_, _ = app.ExecContext(ctx, `ROLLBACK`)
	}
	for _, query := range []string{`DELETE FROM chain`, `UPDATE chain SET seq = 9 WHERE seq = 3`, `BEGIN; SET LOCAL app.cut = 'lake'; DELETE FROM audit WHERE clinic = 'hav'; COMMIT`,
		`BEGIN; SET LOCAL app.cut = 'hav'; UPDATE audit SET actor = 'ben'; COMMIT`} {
		if _, err := d.Root.Exec(query); err == nil {
			t.Errorf("%s was allowed to the owner", query)
		}
		_, _ = d.Root.Exec(`ROLLBACK`)
	}
}

const sealChild = "PROOF_SEAL_URL"

// sealer seals for ever, and says so.
func sealer(url string) {
	pool, err := db.Open(ctx, url, db.Options{MaxConns: 2})
	if err != nil {
		panic(err)
	}
	for first := true; ; first = false {
		if _, err := pool.Seal(ctx, "hav"); err != nil {
			panic(err)
		}
		if first {
			fmt.Println("sealing")
		}
	}
}

// kill -9 in the middle of a batch, again and again: what is there is whole, and the next sealer goes on.
func TestKillNineOfTheSealer(t *testing.T) {
	d := desktest.New(t)
	key := newKey(t)
	written := 0
	for round := range 6 {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), sealChild+"="+d.URL)
		var trouble bytes.Buffer
		c.Stderr = &trouble
		says, err := c.StdoutPipe()
		must(t, err)
		must(t, c.Start())
		t.Cleanup(func() { c.Process.Kill() })
		if line, err := bufio.NewReader(says).ReadString('\n'); line != "sealing\n" {
			t.Fatal(line, err, trouble.String())
		}
		for range 3 {
			write(d, 700)
			written += 700
		}
		if round%2 == 0 { // held in its batch: by a lock on the chain
			tx, err := d.Root.Begin()
			must(t, err)
			_, err = tx.Exec(`LOCK TABLE tiles IN ACCESS EXCLUSIVE MODE`)
			must(t, err)
			write(d, 700)
			written += 700
			waitFor(d, "1", blocked)
			must(t, c.Process.Signal(syscall.SIGKILL))
			must(t, tx.Rollback())
		} else {
			time.Sleep(time.Duration(5*round) * time.Millisecond)
			must(t, c.Process.Signal(syscall.SIGKILL))
		}
		if err := c.Wait(); err == nil {
			t.Fatal("it was not killed")
		}
		if _, lines := verified(d, key); len(lines) > 0 {
			t.Fatal(lines)
		}
	}
	for d.Text(`SELECT count(*) FROM unsealed`) != "0" { // until the server knows that the last one is dead
		sealAll(d)
	}
	takeCheckpoint(d, key)
	wantVerified(d, key, int64(written))
}
