package main

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/dbtest"
	"countersign/db/desktest"
)

// work does what serve does beside its requests, without any; two of them get on with each other, and each ends when asked.
func TestWorkRunsTheWorkersAlone(t *testing.T) {
	d := desktest.On(t, dbtest.URL(t, db.Migrate))
	due := d.Propose(d.Actor("ana"), d.Move("apt_maria", d.At(1, 14, 0)))
	_, err := d.Desk.Confirm(context.Background(), d.Actor("ana"), desktest.Deciding(due, "k"))
	if err != nil {
		t.Fatal(err)
	}
	late := d.Propose(d.Actor("ana"), d.Move("apt_soren", d.At(1, 14, 0)))
	d.Exec(`UPDATE proposals SET expires_at = now() - interval '1 second' WHERE id = $1`, late.ID)
	keys := t.TempDir() // whoever signs checkpoints of one trail shares the key
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	status, says, says2 := make(chan int, 2), &output{}, &output{}
	for _, o := range []*output{says, says2} {
		go func() { status <- run(ctx, []string{"work", "--database-url", d.URL, "--data-dir", keys}, nil, o, o) }()
	}
	became(t, d.Root, "expired", `SELECT state FROM proposals WHERE id = $1`, late.ID)
	became(t, d.Root, "queued no_sender 0", `SELECT concat_ws(' ', state, last_code, attempts) FROM outbox WHERE proposal = $1 AND kind = 'change'`, due.ID)
	became(t, d.Root, "0", `SELECT count(*) FROM unsealed`)
	stop()
	for range 2 {
		if got := <-status; got != 0 {
			t.Errorf("status %d: %s %s", got, says, says2)
		}
	}
	for _, o := range []*output{says, says2} {
		if text := o.String(); !strings.Contains(text, `"working"`) || strings.Contains(text, "failed") || strings.Contains(text, "Maria") {
			t.Error(text)
		}
	}
}

func became(t *testing.T, root *sql.DB, want, query string, args ...any) {
	t.Helper()
	got := ""
	for deadline := time.Now().Add(30 * time.Second); got != want; time.Sleep(10 * time.Millisecond) {
		if err := root.QueryRow(query, args...).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatalf("never became %q, but %q: %s", want, got, query)
		}
	}
}
