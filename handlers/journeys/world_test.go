// Package journeys walks through the desk as people do: a real browser, the whole application over a real PostgreSQL
// with the demo's world in it. Each journey looks at the page and at the stored rows.
package journeys

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/lib/pq" // the superuser's handle

	"countersign/db"
	"countersign/db/dbtest"
	"countersign/db/desktest"
	"countersign/db/seed"
	"countersign/handlers"
	"countersign/internal/account"
	"countersign/internal/assistant"
	"countersign/internal/audit"
	"countersign/internal/outbox"
	"countersign/internal/proposal"
)

// world is the demo as it runs, on a database of its own.
type world struct {
	t     *testing.T
	url   string // of the site
	db    string // superuser's
	root  *sql.DB
	pool  *db.DB
	demo  *outbox.DemoSender
	desk  *proposal.Service
	relay *outbox.Relay
	log   *logBuffer
	app   atomic.Pointer[http.Handler]
	line  line
	reads assistant.Interpreter // messages; nil is the built-in grammar, and then answers are waited for
}

// line is the network between browser and desk.
type line struct {
	delay time.Duration // before an answer to a confirmation
	dead  atomic.Bool   // confirmations arrive and run, and their answers are lost
	seen  atomic.Int64  // confirmations that arrived
}

// demoWorld fills the template that every journey's database is a copy of.
func demoWorld(ctx context.Context, url string) error {
	if err := db.Migrate(ctx, url); err != nil {
		return err
	}
	d, err := db.Open(ctx, url, db.Options{MaxConns: 4})
	if err != nil {
		return err
	}
	defer d.Close()
	if _, err := seed.Run(ctx, d, seed.Options{Size: "small", Seed: 1, Now: time.Now()}); err != nil {
		return err
	}
	accounts, err := account.NewService(d, rand.Reader, true, account.DefaultLimits)
	if err != nil {
		return err
	}
	if err := accounts.AddDemo(ctx, seed.Havnegade, seed.Lakeview); err != nil {
		return err
	}
	return db.Analyze(ctx, url)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, db: dbtest.URL(t, demoWorld), demo: &outbox.DemoSender{}, log: &logBuffer{}}
	var err error
	w.root, err = sql.Open("postgres", w.db)
	w.must(err)
	t.Cleanup(func() { w.root.Close() })
	w.pool = w.at(0)
	w.relay = &outbox.Relay{Store: db.Outbox{DB: w.pool}, Senders: outbox.OnEveryChannel(w.demo), Log: slog.New(slog.NewJSONHandler(w.log, nil))}
	server := httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

// at serves the same world at a later hour: its database clock is ahead by so much.
func (w *world) at(ahead time.Duration) *db.DB {
	w.t.Helper()
	ctx := context.Background()
	d, err := db.Open(ctx, w.db, db.Options{ClockShift: ahead, MaxConns: 8})
	w.must(err)
	w.t.Cleanup(func() { d.Close() })
	log := slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	accounts, err := account.NewService(d, rand.Reader, true, account.DefaultLimits)
	w.must(err)
	rules := account.DefaultRules
	rules.Demo = true
	grammar, err := assistant.NewGrammar("en")
	w.must(err)
	desk := &proposal.Service{Store: db.Proposals{DB: d}, IDs: desktest.ID, Log: log}
	w.desk = desk
	talk := &assistant.Service{Store: db.Threads{DB: d}, Desk: desk, Interpreter: grammar, IDs: desktest.ID, Log: log, Patience: 20 * time.Second}
	if w.reads != nil {
		talk.Interpreter, talk.Patience = w.reads, 0
	}
	w.t.Cleanup(talk.Stop)
	var app http.Handler = handlers.New(handlers.Deps{DB: d, AuditKey: audit.KeyOfProcess(rand.Reader), Desk: desk, Talk: talk, Demo: w.demo,
		Accounts: accounts, Sessions: d, Rules: rules, Ready: d.Ready, Log: log, Random: rand.Reader, Now: func() time.Time { return time.Now().Add(ahead) }, Closing: ctx})
	w.app.Store(&app)
	return d
}

// serve is the site behind its network.
func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	app := *w.app.Load()
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/confirm") {
		app.ServeHTTP(rw, r)
		return
	}
	w.line.seen.Add(1)
	if w.line.dead.Load() {
		app.ServeHTTP(httptest.NewRecorder(), r) // it runs and commits
		panic(http.ErrAbortHandler)              // and its answer gets nowhere
	}
	time.Sleep(w.line.delay)
	app.ServeHTTP(rw, r)
}

// deliver sends what is due, as the outbox worker does every second.
func (w *world) deliver() {
	w.t.Helper()
	w.must(w.relay.Once(context.Background()))
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// row is one row of a query as text, its columns joined by spaces; "" when there is none. It is read as superuser.
func (w *world) row(query string, args ...any) string {
	w.t.Helper()
	rows, err := w.root.Query(query, args...)
	w.must(err)
	defer rows.Close()
	columns, err := rows.Columns()
	w.must(err)
	if !rows.Next() {
		w.must(rows.Err())
		return ""
	}
	values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	w.must(rows.Scan(into...))
	var words []string
	for _, v := range values {
		words = append(words, v.String)
	}
	return strings.Join(words, " ")
}

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	_, err := w.root.Exec(query, args...)
	w.must(err)
}

// stored fails unless the row reads as wanted.
func (w *world) stored(want, query string, args ...any) {
	w.t.Helper()
	if got := w.row(query, args...); got != want {
		w.t.Errorf("stored: %q, want %q\n%s %v", got, want, query, args)
	}
}

const utc = `'YYYY-MM-DD"T"HH24:MI:SS"Z"'`

// visit is where a visit stands: status, practitioner, start in UTC, version.
func (w *world) visit(id string) string {
	w.t.Helper()
	return w.row(`SELECT status, practitioner, to_char(starts_at AT TIME ZONE 'UTC', `+utc+`), version FROM inspect.appointments WHERE id = $1`, id)
}

func (w *world) version(id string) int {
	w.t.Helper()
	var n int
	_, err := fmt.Sscan(w.row(`SELECT version FROM inspect.appointments WHERE id = $1`, id), &n)
	w.must(err)
	return n
}

// start of a visit.
func (w *world) start(id string) time.Time {
	w.t.Helper()
	at, err := time.Parse(time.RFC3339, w.row(`SELECT to_char(starts_at AT TIME ZONE 'UTC', `+utc+`) FROM inspect.appointments WHERE id = $1`, id))
	w.must(err)
	return at
}

// sheet is the path of the day sheet that a visit is on.
func (w *world) sheet(visit string) string {
	w.t.Helper()
	place, date, _ := strings.Cut(w.row(`SELECT a.location, (a.starts_at AT TIME ZONE l.zone)::date::text FROM appointments a JOIN locations l USING (clinic) WHERE a.id = $1 AND l.id = a.location`, visit), " ")
	return "/?" + url.Values{"location": {place}, "date": {date}}.Encode()
}

// free is the nth start at which every one of the practitioners has half an hour free at Havnegade 12, at least two
// days ahead.
func (w *world) free(n int, practitioners ...string) time.Time {
	w.t.Helper()
	var args []any
	var q strings.Builder
	q.WriteString(`SELECT to_char(s0.starts_at AT TIME ZONE 'UTC', ` + utc + `) FROM `)
	for i, p := range practitioners {
		args = append(args, p)
		if i > 0 {
			q.WriteString(` JOIN `)
		}
		fmt.Fprintf(&q, `(SELECT a.starts_at FROM slots a JOIN slots b ON b.clinic = a.clinic AND b.practitioner = a.practitioner AND b.starts_at = a.ends_at
			AND b.location = a.location WHERE a.practitioner = $%d AND a.location = 'loc_hav12' AND a.state = 'open' AND b.state = 'open'
			AND a.appointment IS NULL AND b.appointment IS NULL AND a.starts_at > now() + interval '3 days') s%d`, i+1, i)
		if i > 0 {
			fmt.Fprintf(&q, ` USING (starts_at)`)
		}
	}
	query := strings.ReplaceAll(q.String(), "SELECT to_char(s0.starts_at", "SELECT to_char(starts_at")
	at, err := time.Parse(time.RFC3339, w.row(query+` ORDER BY starts_at OFFSET `+fmt.Sprint(n)+` LIMIT 1`, args...))
	w.must(err)
	return at
}

type logBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
