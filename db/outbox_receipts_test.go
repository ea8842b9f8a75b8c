package db_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"countersign/db/desktest"
	"countersign/internal/outbox"
)

// texted is an SMS that the gateway took: its id.
func texted(d *desktest.Desk) string {
	d.T.Helper()
	ana := d.Actor("ana")
	r := d.Propose(ana, d.Move("apt_soren", d.At(1, 14, 0)))
	if _, err := d.Desk.Confirm(context.Background(), ana, desktest.Deciding(r, "k")); err != nil {
		d.T.Fatal(err)
	}
	id := d.Text(`SELECT id FROM outbox WHERE proposal = $1 AND kind = 'change'`, r.ID)
	d.Exec(`UPDATE outbox SET state = 'sent', attempts = 1, sent_at = app_now() WHERE id = $1`, id)
	return id
}

func stored(d *desktest.Desk, event, message, status string) {
	d.T.Helper()
	if err := d.DB.StoreReceipt(context.Background(), outbox.Receipt{Event: event, Message: message, Status: status, At: time.Date(2026, 6, 3, 8, 32, 0, 0, time.UTC)}); err != nil {
		d.T.Fatal(err)
	}
}

func take(d *desktest.Desk) {
	d.T.Helper()
	for _, clinic := range []string{"lake", "hav"} {
		if _, err := d.DB.TakeReceipts(context.Background(), clinic, desktest.ID); err != nil {
			d.T.Fatal(err)
		}
	}
}

func stands(d *desktest.Desk, id string) string {
	return d.Text(`SELECT state || ' ' || coalesce(to_char(receipt_at AT TIME ZONE 'UTC', 'HH24:MI'), '') FROM outbox WHERE id = $1`, id)
}

// G4 and more: receipts come in any order, twice, and at once; the end is the same, and the trail says each change once.
func TestReceiptsInAnyOrder(t *testing.T) {
	for seed := range uint64(6) {
		d := desktest.New(t)
		id := texted(d)
		said := []string{"accepted", "sent", "delivered", "sent", "undelivered", "delivered"}
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(said), func(i, j int) { said[i], said[j] = said[j], said[i] })
		for i, status := range said {
			stored(d, fmt.Sprint("e", i), id, status)
			stored(d, fmt.Sprint("e", i), id, "failed") // the same event again, with other words: the first stands
			if i%2 == int(seed%2) {
				take(d)
			}
		}
		take(d)
		if got := stands(d, id); got != "delivered 08:32" {
			t.Errorf("%v: %s", said, got)
		}
		if got := d.Text(`SELECT count(*) || ' ' || count(taken_at) FROM outbox_receipts`); got != "6 6" {
			t.Errorf("%v: stored, taken: %s", said, got)
		}
		if got := d.Text(`SELECT count(*) FILTER (WHERE code = 'delivered') || ' ' || count(DISTINCT actor_kind || actor) FROM audit WHERE action = 'message.receipt' AND object = $1`, id); got != "1 1" {
			t.Errorf("%v: the trail: %s", said, got)
		}
	}
}

func TestParallelReceipts(t *testing.T) {
	d := desktest.New(t)
	id := texted(d)
	var wait sync.WaitGroup
	for i := range 16 {
		wait.Go(func() {
			stored(d, fmt.Sprint("e", i%4), id, []string{"sent", "delivered"}[i%2])
			take(d)
		})
	}
	wait.Wait()
	take(d)
	if got := stands(d, id); got != "delivered 08:32" || d.Text(`SELECT count(*) FROM outbox_receipts`) != "4" || d.Text(`SELECT count(*) FROM audit WHERE action = 'message.receipt' AND code = 'delivered'`) != "1" {
		t.Error(got)
	}
}

// What was never tried, is being sent or was ended by us is no gateway's to change; an SMS without an answer is.
func TestWhatAReceiptCanChange(t *testing.T) {
	d := desktest.New(t)
	id := texted(d)
	for i, c := range []struct{ state, status, want string }{
		{"unknown", "accepted", "sent"}, {"unknown", "delivered", "delivered"}, {"unknown", "failed", "undelivered"}, {"dead", "delivered", "delivered"}, {"failed", "delivered", "delivered"},
		{"sent", "failed", "undelivered"}, {"delivered", "sent", "delivered"}, {"delivered", "undelivered", "delivered"}, {"undelivered", "delivered", "delivered"},
		{"superseded", "delivered", "superseded"}, {"suppressed", "sent", "suppressed"}, {"expired", "delivered", "expired"}, {"queued", "sent", "sent"},
	} {
		d.Exec(`UPDATE outbox SET state = $2, receipt_at = NULL, attempts = 1 WHERE id = $1`, id, c.state)
		stored(d, fmt.Sprint("c", i), id, c.status)
		take(d)
		if got := d.Text(`SELECT state FROM outbox WHERE id = $1`, id); got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.state, c.status, got, c.want)
		}
	}
	d.Exec(`UPDATE outbox SET state = 'queued', attempts = 0, unanswered = 0 WHERE id = $1`, id)
	stored(d, "untried", id, "delivered")
	take(d)
	if got := d.Text(`SELECT state FROM outbox WHERE id = $1`, id); got != "queued" {
		t.Error("a message that was never tried is", got)
	}
	// One that is being sent, or that nobody knows yet, is found later.
	d.Exec(`UPDATE outbox SET state = 'sending', attempts = 1 WHERE id = $1`, id)
	stored(d, "early", id, "delivered")
	stored(d, "stray", "msg_of_nobody", "delivered")
	take(d)
	if got := d.Text(`SELECT state || ' ' || (SELECT count(*) FROM outbox_receipts WHERE taken_at IS NULL) FROM outbox WHERE id = $1`, id); got != "sending 2" {
		t.Error(got)
	}
	d.Exec(`UPDATE outbox SET state = 'sent' WHERE id = $1`, id)
	take(d)
	if got := d.Text(`SELECT state || ' ' || (SELECT string_agg(event, '') FROM outbox_receipts WHERE taken_at IS NULL) FROM outbox WHERE id = $1`, id); got != "delivered stray" {
		t.Error(got)
	}
	if _, err := d.Root.Exec(`UPDATE outbox_receipts SET status = 'sent' WHERE event = 'early'`); err == nil {
		t.Error("what a gateway said was changed")
	}
}

// A clinic takes receipts of its own messages only.
func TestReceiptsOfAnotherClinic(t *testing.T) {
	d := desktest.New(t)
	id := texted(d)
	stored(d, "e", id, "delivered")
	if _, err := d.DB.TakeReceipts(context.Background(), "lake", desktest.ID); err != nil {
		t.Fatal(err)
	}
	if got := d.Text(`SELECT state || ' ' || (SELECT count(taken_at) FROM outbox_receipts) FROM outbox WHERE id = $1`, id); got != "sent 0" {
		t.Error(got)
	}
}

// A receipt that says whose message it speaks of means no other clinic's, though the id is the same.
func TestAReceiptThatNamesItsClinic(t *testing.T) {
	for clinic, want := range map[string]string{"lake": "sent 0", "hav": "delivered 1", "": "delivered 1"} {
		d := desktest.New(t)
		id := texted(d)
		at := time.Date(2026, 6, 3, 8, 32, 0, 0, time.UTC)
		if err := d.DB.StoreReceipt(context.Background(), outbox.Receipt{Event: "e", Message: id, Clinic: clinic, Status: "delivered", At: at}); err != nil {
			t.Fatal(err)
		}
		take(d)
		if got := d.Text(`SELECT state || ' ' || (SELECT count(taken_at) FROM outbox_receipts) FROM outbox WHERE id = $1`, id); got != want {
			t.Errorf("%q: %s, want %s", clinic, got, want)
		}
		if _, err := d.Root.Exec(`UPDATE outbox_receipts SET of_clinic = 'other'`); err == nil {
			t.Error("what a gateway said was changed")
		}
	}
}

// The SMS gateway has no word in an e-mail, whatever state it is in.
func TestReceiptsTouchNoEMail(t *testing.T) {
	d := desktest.New(t)
	ana := d.Actor("ana")
	r := d.Propose(ana, d.Move("apt_maria", d.At(1, 14, 0)))
	if _, err := d.Desk.Confirm(context.Background(), ana, desktest.Deciding(r, "k")); err != nil {
		t.Fatal(err)
	}
	id := d.Text(`SELECT id FROM outbox WHERE proposal = $1 AND kind = 'change' AND channel = 'email'`, r.ID)
	for i, state := range []string{"sent", "unknown", "failed", "dead", "queued"} {
		d.Exec(`UPDATE outbox SET state = $2, attempts = 1 WHERE id = $1`, id, state)
		for _, status := range outbox.ReceiptStatuses {
			stored(d, fmt.Sprint(status, i), id, status)
		}
		take(d)
		if got := d.Text(`SELECT state || ' ' || (SELECT count(taken_at) FROM outbox_receipts) FROM outbox WHERE id = $1`, id); got != state+" 0" {
			t.Errorf("%s: %s", state, got)
		}
	}
}
