//go:build unix

package prooftest

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/audit"
	"countersign/internal/clinic"
)

func newKey(t testing.TB) *audit.Key {
	t.Helper()
	secret, err := audit.NewKey(rand.Reader)
	must(t, err)
	key, err := audit.ParseKey(secret)
	must(t, err)
	return key
}

// entry is an entry of the trail that speaks of nothing.
func entry(d *desktest.Desk, n int) audit.Event {
	return audit.Event{ID: desktest.ID("aud"), At: time.Now().Add(d.Shift), Actor: d.Actor("ana"), Action: audit.ReadDay, Outcome: audit.Success, ObjectKind: "location", Object: fmt.Sprint(n)}
}

func write(d *desktest.Desk, n int) {
	d.T.Helper()
	must(d.T, d.DB.InClinic(ctx, "hav", func(tx *db.Tx) error {
		var events []audit.Event
		for i := range n {
			events = append(events, entry(d, i))
		}
		return tx.Audit(ctx, events...)
	}))
}

func sealAll(d *desktest.Desk) {
	d.T.Helper()
	_, err := d.DB.Seal(ctx, "hav")
	must(d.T, err)
}

func takeCheckpoint(d *desktest.Desk, key *audit.Key) (note string) {
	d.T.Helper()
	must(d.T, d.DB.InClinic(ctx, "hav", func(tx *db.Tx) (err error) {
		note, err = tx.Checkpoint(ctx, key)
		return err
	}))
	return note
}

// verified gives the findings as lines.
func verified(d *desktest.Desk, key *audit.Key, outside ...string) (size int64, lines []string) {
	d.T.Helper()
	must(d.T, d.DB.Snapshot(ctx, "hav", func(tx *db.Tx) (err error) {
		size, err = tx.VerifyTrail(ctx, []string{key.Public}, outside, func(f audit.Finding) { lines = append(lines, f.Kind+": "+f.Words) })
		return err
	}))
	return size, lines
}

func wantVerified(d *desktest.Desk, key *audit.Key, size int64, outside ...string) {
	d.T.Helper()
	got, lines := verified(d, key, outside...)
	if got != size || len(lines) > 0 {
		d.T.Fatalf("%d entries, want %d; found %s", got, size, strings.Join(lines, "\n"))
	}
}

// Fifty writers and three sealers at once: every entry has one place, and none is missing.
func TestFiftyWritersLeaveTheChainWhole(t *testing.T) {
	d := desktest.New(t, wide(60))
	key := newKey(t)
	var writers, sealers sync.WaitGroup
	stop := make(chan struct{})
	for range 3 {
		sealers.Go(func() {
			for {
				if _, err := d.DB.Seal(ctx, "hav"); err != nil {
					t.Error(err)
				}
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
				}
			}
		})
	}
	for w := range 50 {
		writers.Go(func() {
			for i := range 20 {
				err := d.DB.InClinic(ctx, "hav", func(tx *db.Tx) error { return tx.Audit(ctx, entry(d, w), entry(d, i)) })
				if err != nil {
					t.Error(err)
				}
				if w == 0 && i%5 == 0 {
					takeCheckpoint(d, key)
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	sealers.Wait()
	sealAll(d)
	takeCheckpoint(d, key)
	wantVerified(d, key, 2000)
	if got := d.Text(`SELECT count(*) || ' ' || max(seq) || ' ' || (SELECT count(*) FROM unsealed) || ' ' || (SELECT count(*) FROM tiles) FROM chain`); got != "2000 2000 0 7" {
		t.Error(got)
	}
}

// Another clinic's trail is a chain of its own.
func TestEachClinicHasItsChain(t *testing.T) {
	d := desktest.New(t)
	write(d, 3)
	must(t, d.DB.InClinic(ctx, "lake", func(tx *db.Tx) error {
		return tx.Audit(ctx, audit.Event{ID: "aud_lake", At: tx.Now(), Actor: clinic.Actor{Clinic: "lake", Person: "lake_ana", Kind: clinic.KindUser, Via: "page"}, Action: audit.SignIn, Outcome: audit.Success})
	}))
	sealAll(d)
	if n, err := d.DB.Seal(ctx, "lake"); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if got := d.Text(`SELECT string_agg(clinic || ' ' || seq, ',' ORDER BY clinic, seq) FROM chain`); got != "hav 1,hav 2,hav 3,lake 1" {
		t.Error(got)
	}
}

// The trees that the sealer builds in batches are those of RFC 9162, whatever the batches were.
func TestTheTreeIsTheSameHoweverItWasSealed(t *testing.T) {
	d := desktest.New(t)
	key := newKey(t)
	total := int64(0)
	for _, n := range []int{1, 254, 1, 1, 255, 300, 1000} {
		write(d, n)
		total += int64(n)
		sealAll(d)
		takeCheckpoint(d, key)
	}
	wantVerified(d, key, total)
	if got := d.Text(`SELECT string_agg(size::text, ' ' ORDER BY size) FROM checkpoints`); got != "1 255 256 257 512 812 1812" {
		t.Error(got)
	}
}

// What the migration finds is sealed too, and what a person did while nothing sealed.
func TestABacklogIsSealedInOrder(t *testing.T) {
	d := desktest.New(t)
	write(d, 2300)
	if n, err := d.DB.Seal(ctx, "hav"); err != nil || n != 2300 {
		t.Fatal(n, err)
	}
	wantVerified(d, newKey(t), 2300)
	if got := d.Text(`SELECT count(*) FROM (SELECT a.at, lag(a.at) OVER (ORDER BY c.seq) AS before FROM chain c JOIN audit a ON a.clinic = c.clinic AND a.id = c.entry) x WHERE at < before`); got != "0" {
		t.Error("out of order:", got)
	}
}

func TestACheckpointIsTakenOnceAndNotOverTheTrailOfAnother(t *testing.T) {
	d := desktest.New(t)
	key := newKey(t)
	write(d, 5)
	sealAll(d)
	first := takeCheckpoint(d, key)
	if takeCheckpoint(d, key) != first {
		t.Error("the same trail has two checkpoints")
	}
	write(d, 1)
	sealAll(d)
	d.Exec(`ALTER TABLE chain DISABLE TRIGGER never_changes; UPDATE chain SET content_hash = sha256('x') WHERE seq = 3; ALTER TABLE chain ENABLE TRIGGER never_changes`)
	err := d.DB.InClinic(ctx, "hav", func(tx *db.Tx) error {
		_, err := tx.Checkpoint(ctx, key)
		return err
	})
	if err == nil || !bytes.Contains([]byte(err.Error()), []byte("were changed")) {
		t.Error("a rewritten trail was signed:", err)
	}
}
