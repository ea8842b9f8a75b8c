//go:build unix

// Package outboxtest holds no product code. Its tests send real rows through real workers on a real PostgreSQL, and kill,
// pause and overtake them.
package outboxtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/outbox"
)

var ctx = context.Background()

// TestMain is also the worker that a test kills: see kill_test.go.
func TestMain(m *testing.M) {
	if work := os.Getenv(childWork); work != "" {
		child(work)
	}
	os.Exit(m.Run())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// letter is a message to plant.
type letter struct {
	id, appointment, kind, channel, recipient, text string
	version                                         int64
	sendAt                                          *time.Time
	action, patient                                 string
}

// toMaria is a change of apt_maria as it stands, by e-mail.
func toMaria(id string) letter {
	return letter{id: id, appointment: "apt_maria", kind: "change", channel: "email", recipient: "maria.jensen.84@example.test", text: "Dear Maria, " + id, version: 1, action: "reschedule_appointment@1", patient: "maria"}
}

// toSoren is the same of apt_soren, by SMS.
func toSoren(id string) letter {
	return letter{id: id, appointment: "apt_soren", kind: "change", channel: "sms", recipient: "+45 00 20 03 00", text: "Dear Søren, " + id, version: 1, action: "reschedule_appointment@1", patient: "soren"}
}

func (l letter) free() letter {
	l.appointment, l.kind, l.action = "", "message", "send_message@1"
	return l
}

// plant writes a completed proposal whose plan holds the letter, and the letter's row, behind the desk's back.
func plant(d *desktest.Desk, all ...letter) {
	d.T.Helper()
	for _, l := range all {
		var about, at any
		if l.appointment != "" {
			about = l.appointment
		}
		if l.sendAt != nil {
			at = l.sendAt.UTC().Format(time.RFC3339)
		}
		plan, err := json.Marshal(map[string]any{"proposal": "p_" + l.id, "revision": 1, "steps": []any{map[string]any{"appointment": about}},
			"messages": []any{map[string]any{"kind": l.kind, "channel": l.channel, "recipient": l.recipient, "subject": nil, "text": l.text, "calendar": nil, "send_at": at}}})
		must(d.T, err)
		sum := sha256.Sum256(append([]byte("countersign.plan.v1\n"), plan...))
		hash := hex.EncodeToString(sum[:])
		d.Exec(`INSERT INTO proposals (clinic, id, action, state, outcome, expires_at, risk, created_by, created_kind, created_name, owner, owner_name, created_via, patient, decided_by)
			VALUES ('hav', $1, $2, 'completed', 'completed', now() + interval '1 hour', 'low', 'ana', 'user', 'ana', 'ana', 'ana', 'page', $3, 'ana')`, "p_"+l.id, l.action, l.patient)
		d.Exec(`INSERT INTO revisions (clinic, proposal, revision, plan_hash, plan_bytes, expires_at, created_by, created_name) VALUES ('hav', $1, 1, $2, $3, now(), 'ana', 'ana')`, "p_"+l.id, hash, plan)
		d.Exec(`INSERT INTO outbox (clinic, id, appointment, version, kind, channel, recipient, body, send_at, proposal, revision, plan_hash, next_at)
			VALUES ('hav', $1, $2, $3, $4, $5, $6, $7, $8, $9, 1, $10, coalesce($8, now() - interval '1 second'))`, l.id, about, l.version, l.kind, l.channel, l.recipient, l.text, at, "p_"+l.id, hash)
	}
}

// post is a receiver: it keeps what it took, and answers as it is told.
type post struct {
	mu     sync.Mutex
	taken  []outbox.Message
	answer func(outbox.Message) error // nil = yes
}

func (p *post) Send(_ context.Context, m outbox.Message) (string, error) {
	if p.answer != nil {
		if err := p.answer(m); err != nil {
			return "", err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken = append(p.taken, m)
	return "at-" + m.ID, nil
}

// got is the ids it took, in order.
func (p *post) got() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var ids []string
	for _, m := range p.taken {
		ids = append(ids, m.ID)
	}
	return strings.Join(ids, " ")
}

// relay works on the desk's database.
func relay(d *desktest.Desk, to outbox.Sender) *outbox.Relay {
	return &outbox.Relay{Store: db.Outbox{DB: d.DB}, Senders: outbox.OnEveryChannel(to), Log: slog.New(slog.NewJSONHandler(d.Log, nil))}
}

// later is the same world so much later: its database clock is ahead.
func later(d *desktest.Desk, by time.Duration) *desktest.Desk {
	d.T.Helper()
	pool, err := db.Open(ctx, d.URL, db.Options{ClockShift: d.Shift + by, MaxConns: 4})
	must(d.T, err)
	d.T.Cleanup(func() { pool.Close() })
	ahead := *d
	ahead.DB, ahead.Shift = pool, d.Shift+by
	return &ahead
}

func once(d *desktest.Desk, to outbox.Sender) {
	d.T.Helper()
	must(d.T, relay(d, to).Once(ctx))
}

const rowState = `SELECT concat_ws(' ', state, last_code, attempts, unanswered) FROM outbox WHERE id = $1`

func want(d *desktest.Desk, id, state string) {
	d.T.Helper()
	if got := d.Text(rowState, id); got != state {
		d.T.Errorf("%s is %q, want %q", id, got, state)
	}
}

// waitFor asks until the query gives the wanted text.
func waitFor(d *desktest.Desk, want, query string, args ...any) {
	d.T.Helper()
	for deadline := time.Now().Add(20 * time.Second); d.Text(query, args...) != want; time.Sleep(3 * time.Millisecond) {
		if time.Now().After(deadline) {
			d.T.Fatalf("never became %q: %s", want, query)
		}
	}
}

// saysNobody fails when a log holds anything of a patient.
func saysNobody(d *desktest.Desk, log string) {
	d.T.Helper()
	for _, word := range []string{"Maria", "Søren", "maria.jensen", "@", "00 20 03 00", "Dear"} {
		if strings.Contains(log, word) {
			d.T.Errorf("the log says %q: %s", word, log)
		}
	}
}

// many are letters to patients of their own, each about a visit of their own.
func many(d *desktest.Desk, n int, kind string, at *time.Time) (all []letter) {
	d.T.Helper()
	for i := range n {
		p, a := fmt.Sprintf("pat%03d", i), fmt.Sprintf("apt%03d", i)
		start := d.At(i/32, 8, i%32*15)
		d.Exec(`INSERT INTO patients (clinic, id, family, given, birth_date, mrn, email, contact, search_text)
			VALUES ('hav', $1, 'Berg', 'Liv', '1990-01-01', $2, $3, 'email', 'liv berg')`, p, p, p+"@example.test")
		d.Exec(`INSERT INTO practitioners (clinic, id, name) VALUES ('hav', $1, 'Dr') ON CONFLICT DO NOTHING`, "doc"+p)
		d.Exec(`INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, during, changed_by, changed_via)
			VALUES ('hav', $1, $2, $3, 'main', 'std', 'booked', tstzrange($4, $5), 'seed', 'seed')`, a, p, "doc"+p, start, start.Add(30*time.Minute))
		all = append(all, letter{id: fmt.Sprintf("m%03d", i), appointment: a, kind: kind, channel: "email", recipient: p + "@example.test", text: "Dear Liv, " + p, version: 1, sendAt: at, action: "book_appointment@1", patient: p})
	}
	plant(d, all...)
	return all
}

func unique(words string) int {
	list := strings.Fields(words)
	slices.Sort(list)
	return len(slices.Compact(list))
}
