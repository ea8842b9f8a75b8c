//go:build unix

package outboxtest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/outbox"
)

// Four workers on one set of rows: every message goes out once (case G1).
func TestManyWorkersSendEachMessageOnce(t *testing.T) {
	d := desktest.New(t)
	many(d, 120, "confirmation", nil)
	to := &post{}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			r := relay(later(d, 0), to)
			r.Log = relay(d, to).Log
			if err := r.Once(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(strings.Fields(to.got())); n != 120 || unique(to.got()) != 120 {
		t.Errorf("%d sent, of %d messages", n, unique(to.got()))
	}
	if got := d.Text(`SELECT string_agg(DISTINCT concat_ws(' ', state, attempts, unanswered, provider_id = 'at-' || id, sent_at IS NOT NULL), '; ') FROM outbox`); got != "sent 1 0 t t" {
		t.Error(got)
	}
}

// A message is sent only once its receiver has said so (case G2): what was refused for now waits longer each time, with
// at most eight tries; nothing of it names anybody in the log.
func TestWhatIsNotTakenWaitsAndIsGivenUp(t *testing.T) {
	d := desktest.New(t)
	d.Exec(`UPDATE appointments SET during = tstzrange(lower(during) + interval '30 days', upper(during) + interval '30 days')`)
	l := toMaria("m")
	l.version = 2
	plant(d, l)
	to := &post{answer: func(m outbox.Message) error { return errors.New("dial for " + m.Recipient) }}
	ahead := time.Duration(0)
	for try := 1; try <= 8; try++ {
		at := later(d, ahead)
		once(at, to)
		once(at, to) // not before its time
		if try < 8 {
			want(d, "m", "queued not_reachable "+string(rune('0'+try))+" 0")
			wait := 30 * time.Second << (try - 1)
			if got := d.Text(`SELECT abs(extract(epoch FROM next_at - (clock_timestamp() + $2 * interval '1 second')) - $3) < 20 FROM outbox WHERE id = $1`, "m", ahead.Seconds(), wait.Seconds()); got != "true" {
				t.Errorf("after try %d it does not wait %v", try, wait)
			}
			ahead += wait + time.Second
		}
	}
	want(d, "m", "dead not_reachable 8 0")
	once(later(d, ahead+24*time.Hour), &post{})
	want(d, "m", "dead not_reachable 8 0")
	saysNobody(d, d.Log.String())
	if !strings.Contains(d.Log.String(), "not_reachable") {
		t.Error("the log says nothing of it")
	}
}

// One recipient whose server hangs, one that refuses and one whose message breaks the sender stop nobody else.
func TestOneFailingRecipientStopsNobodyElse(t *testing.T) {
	d := desktest.New(t)
	many(d, 60, "confirmation", nil)
	hang, others := make(chan struct{}), make(chan struct{})
	var sent atomic.Int32
	to := &post{answer: func(m outbox.Message) error {
		switch m.ID {
		case "m000":
			<-hang
			return &outbox.Ambiguous{Code: "no_answer"}
		case "m001":
			return &outbox.Refused{Code: "no_such_mailbox"}
		case "m002":
			panic("poison for " + m.Recipient)
		}
		if sent.Add(1) == 57 {
			close(others)
		}
		return nil
	}}
	r := relay(d, to)
	over := make(chan error)
	go func() { over <- r.Once(ctx) }()
	select {
	case <-others:
	case <-time.After(15 * time.Second):
		t.Errorf("only %d of 57 went out beside one that hangs", sent.Load())
	}
	waitFor(d, "57", `SELECT count(*) FROM outbox WHERE state = 'sent'`)
	close(hang)
	must(t, <-over)
	want(d, "m000", "queued no_answer 1 1")
	want(d, "m001", "failed no_such_mailbox 1 0")
	want(d, "m002", "dead panic 1 1")
	saysNobody(d, d.Log.String())
}

// A worker that stands still past its lease: what it settles changes nothing, an SMS is never repeated, and an e-mail is
// the same mail again (case G9).
func TestAPausedWorkerPastItsLease(t *testing.T) {
	d := desktest.New(t)
	plant(d, toMaria("mail"), toSoren("text"))
	paused, goOn := make(chan struct{}, 2), make(chan struct{})
	first := &post{answer: func(outbox.Message) error {
		paused <- struct{}{}
		<-goOn
		return nil
	}}
	over := make(chan error)
	go func() { over <- relay(d, first).Once(ctx) }()
	<-paused
	<-paused
	second := &post{}
	at := later(d, 2*time.Minute)
	once(at, second)
	want(d, "mail", "queued no_answer 1 1")
	want(d, "text", "unknown no_answer 1 1")
	at = later(d, 4*time.Minute)
	once(at, second)
	want(d, "mail", "sent 2 1")
	if got := second.got(); got != "mail" {
		t.Errorf("sent again: %q", got)
	}
	before := d.Text(`SELECT string_agg(o::text, ' ' ORDER BY id) FROM outbox o`)
	close(goOn)
	must(t, <-over)
	if after := d.Text(`SELECT string_agg(o::text, ' ' ORDER BY id) FROM outbox o`); after != before {
		t.Errorf("a worker without a lease settled:\n%s\n%s", before, after)
	}
	if log := d.Log.String(); strings.Count(log, "a lease ran out") != 2 {
		t.Error(log)
	}
	once(later(d, 24*time.Hour), second)
	want(d, "text", "unknown no_answer 1 1")
}

// A worker that stood still between its claim and its look is told that it is too late, and sends nothing.
func TestAPausedWorkerThatHasNotSentYet(t *testing.T) {
	d := desktest.New(t)
	plant(d, toMaria("mail"), toSoren("text"))
	to := &post{}
	r := relay(d, to)
	r.Store = slow{db.Outbox{DB: d.DB}, func() { once(later(d, 2*time.Minute), to) }}
	must(t, r.Once(ctx))
	if got := to.got(); got != "" {
		t.Errorf("sent without a lease: %q", got)
	}
	want(d, "mail", "queued no_answer 1 1")
	want(d, "text", "unknown no_answer 1 1")
}

// slow does something between a claim and what follows, once.
type slow struct {
	outbox.Store
	between func()
}

func (s slow) Claim(c context.Context, clinic string, channels []string, most int, lease time.Duration) ([]outbox.Message, error) {
	got, err := s.Store.Claim(c, clinic, channels, most, lease)
	if len(got) > 0 {
		s.between()
	}
	return got, err
}

// Of a visit's messages the first goes first, by version and then by when it is due; a reminder of tomorrow blocks nobody,
// and one that waits for its next try blocks those after it.
func TestMessagesOfAVisitKeepTheirOrder(t *testing.T) {
	d := desktest.New(t)
	soon, tomorrow := time.Now().Add(-time.Minute).Truncate(time.Second), time.Now().Add(24*time.Hour).Truncate(time.Second)
	row := func(id, kind string, version int64, at *time.Time) letter {
		l := toMaria(id)
		l.kind, l.version, l.sendAt = kind, version, at
		return l
	}
	plant(d, row("d", "cancellation", 3, nil), row("c", "change", 2, nil), row("b", "reminder", 1, &tomorrow), row("a", "confirmation", 1, nil), row("e", "reminder", 3, &soon), toSoren("s"))
	d.Exec(`UPDATE outbox SET created_at = now() - interval '1 hour' WHERE id = 'd'`)
	store := db.Outbox{DB: d.DB}
	claim := func() string {
		got, err := store.Claim(ctx, "hav", []string{"email", "sms"}, 8, time.Minute)
		must(t, err)
		var ids []string
		for _, m := range got {
			ids = append(ids, m.ID)
		}
		return strings.Join(ids, " ")
	}
	settle := func(id, state string) {
		d.Exec(`UPDATE outbox SET state = $2, leased_until = NULL, next_at = now() + interval '1 hour' WHERE id = $1`, id, state)
	}
	for _, step := range []struct{ want, then, state string }{{"a s", "s", "sent"}, {"", "a", "queued"}, {"", "a", "failed"}, {"c", "c", "sent"}, {"d", "d", "sent"}, {"e", "e", "sent"}, {"", "", ""}} {
		got := claim()
		if len(got) == 3 && got[0] > got[2] {
			got = got[2:] + " " + got[:1]
		}
		if got != step.want {
			t.Fatalf("claimed %q, want %q", got, step.want)
		}
		if step.then != "" {
			settle(step.then, step.state)
		}
	}
}

// Without a way out for a channel its messages wait, say why, and lose no tries; another channel's go out past them.
func TestAChannelWithoutAWayOut(t *testing.T) {
	d := desktest.New(t)
	plant(d, toMaria("mail"), toSoren("text"))
	to := &post{}
	r := relay(d, to)
	r.Senders = map[string]outbox.Sender{"email": to}
	must(t, r.Once(ctx))
	want(d, "text", "queued no_sender 0 0")
	want(d, "mail", "sent 1 0")
	r.Senders = nil
	plant(d, toMaria("none").free())
	must(t, r.Once(ctx))
	want(d, "text", "queued no_sender 0 0")
	want(d, "none", "queued no_sender 0 0")
	once(d, to)
	want(d, "text", "sent 1 0")
	late := toSoren("late")
	late.kind = "confirmation"
	plant(d, late)
	r = relay(later(d, 30*24*time.Hour), to)
	r.Senders = nil
	must(t, r.Once(ctx))
	want(d, "late", "expired too_late 0 0")
}
