//go:build unix

package outboxtest

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/lib/pq" // the receiver's own handle

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/outbox"
)

// Points at which a worker is killed.
const (
	beforeCommit = "claimed, not committed"
	afterClaim   = "claimed"
	whileSending = "sending, nothing taken"
	afterSending = "taken, not settled"
)

// childWork makes this test binary a worker that stops for ever at one point.
const childWork = "OUTBOX_CHILD_WORK"

type work struct{ URL, At string }

func child(text string) {
	var w work
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		panic(err)
	}
	pool, err := db.Open(ctx, w.URL, db.Options{MaxConns: 4})
	if err != nil {
		panic(err)
	}
	stop := func(at string) {
		if w.At == at {
			fmt.Println("stopped")
			select {}
		}
	}
	root, err := sql.Open("postgres", w.URL)
	if err != nil {
		panic(err)
	}
	r := &outbox.Relay{Store: stopping{db.Outbox{DB: pool}, stop}, Senders: outbox.OnEveryChannel(mailbox{root, stop})}
	panic(r.Once(ctx))
}

type stopping struct {
	outbox.Store
	stop func(at string)
}

func (s stopping) Claim(ctx context.Context, clinic string, channels []string, most int, lease time.Duration) ([]outbox.Message, error) {
	got, err := s.Store.Claim(ctx, clinic, channels, most, lease)
	if len(got) > 0 {
		s.stop(afterClaim)
	}
	return got, err
}

func (s stopping) Settle(ctx context.Context, m outbox.Message, r outbox.Result) (bool, error) {
	s.stop(afterSending)
	return s.Store.Settle(ctx, m, r)
}

// mailbox is a receiver that outlives whoever sends to it.
type mailbox struct {
	db   *sql.DB
	stop func(at string)
}

func (b mailbox) Send(_ context.Context, m outbox.Message) (string, error) {
	b.stop(whileSending)
	_, err := b.db.Exec(`INSERT INTO mailbox VALUES ($1)`, m.ID)
	return "", err
}

// kill -9 at every step: an e-mail comes, at worst twice as the same mail, an SMS at most once, and what nobody knows is
// said to be unknown.
func TestKillNineOfAWorkerAtEveryStep(t *testing.T) {
	for _, c := range []struct {
		at, mail, text string // what became of it, and how often it came
	}{
		{beforeCommit, "sent 1 0, came 1", "sent 1 0, came 1"},
		{afterClaim, "sent 2 1, came 1", "unknown no_answer 1 1, came 0"},
		{whileSending, "sent 2 1, came 1", "unknown no_answer 1 1, came 0"},
		{afterSending, "sent 2 1, came 2", "unknown no_answer 1 1, came 1"},
	} {
		for channel, wanted := range map[string]string{"mail": c.mail, "text": c.text} {
			t.Run(c.at+" "+channel, func(t *testing.T) {
				t.Parallel()
				d := desktest.New(t)
				plant(d, map[string]letter{"mail": toMaria("mail"), "text": toSoren("text")}[channel])
				d.Exec(`CREATE TABLE mailbox (id text NOT NULL)`)
				var lock *sql.Tx
				if c.at == beforeCommit {
					lock = holdClaims(d)
				}
				kill(t, d, c.at, lock)
				for _, ahead := range []time.Duration{0, 2 * time.Minute, 4 * time.Minute, time.Hour} {
					once(later(d, ahead), mailbox{d.Root, func(string) {}})
				}
				if got := d.Text(rowState, channel) + ", came " + d.Text(`SELECT count(*) FROM mailbox`); got != wanted {
					t.Errorf("%q, want %q", got, wanted)
				}
			})
		}
	}
}

// holdClaims lets no claim commit until the lock is given back.
func holdClaims(d *desktest.Desk) *sql.Tx {
	d.T.Helper()
	d.Exec(`CREATE FUNCTION hold_claim() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NULL; END'`)
	d.Exec(`CREATE TRIGGER hold_claim AFTER UPDATE ON outbox FOR EACH ROW EXECUTE FUNCTION hold_claim()`)
	tx, err := d.Root.Begin()
	must(d.T, err)
	_, err = tx.Exec(`SELECT pg_advisory_xact_lock(4711)`)
	must(d.T, err)
	return tx
}

// kill starts a worker, waits until it stands at that point, and kills it.
func kill(t *testing.T, d *desktest.Desk, at string, lock *sql.Tx) {
	t.Helper()
	text, err := json.Marshal(work{d.URL, at})
	must(t, err)
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childWork+"="+string(text))
	var complaint strings.Builder
	c.Stderr = &complaint
	says, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	t.Cleanup(func() { c.Process.Kill() })
	if lock != nil {
		waitFor(d, "1", `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
	} else if line, err := bufio.NewReader(says).ReadString('\n'); line != "stopped\n" {
		t.Fatal(line, err, complaint.String())
	}
	must(t, c.Process.Signal(syscall.SIGKILL))
	if err := c.Wait(); err == nil {
		t.Fatal("it was not killed")
	}
	if lock != nil {
		must(t, lock.Rollback())
		waitFor(d, "0", `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`)
	}
}
