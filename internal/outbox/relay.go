// Package outbox sends the messages that plans queued, after the commit that queued them. Nothing in it can reach the
// booking path: it knows messages, and of a visit only whether a message about it is still right.
package outbox

import (
	"context"
	"log/slog"
	"time"
)

// Store claims and settles. A claim is committed before the call it is for, skips rows that others hold, and gives a
// fencing token: nothing is read for, and nothing settled by, an older lease.
type Store interface {
	Clinics(ctx context.Context) ([]string, error)
	// Claim takes at most so many messages that are due and whose channel is one of these, oldest first; of one appointment
	// only the first that is on its way, by version and then by when it is due. A message whose lease ran out comes
	// back as Lost. What waits for another channel's sender gets the code no_sender, and is claimed only once its visit
	// has begun.
	Claim(ctx context.Context, clinic string, channels []string, most int, lease time.Duration) ([]Message, error)
	// Facts reads what Check asks for; mine is false when the lease is over.
	Facts(ctx context.Context, m Message) (f Facts, mine bool, err error)
	// Settle writes the result of a claim; mine is false, and nothing written, when it has another lease by now.
	Settle(ctx context.Context, m Message, r Result) (mine bool, err error)
}

// Relay sends what is due. Any number of them may work on one database.
type Relay struct {
	Store   Store
	Senders map[string]Sender // by channel
	Log     *slog.Logger
	Every   time.Duration  // between looks; 1 s when zero
	Quiet   Quiet          // zero = no quiet hours
	Random  func() float64 // in [0, 1); nil = no jitter
	Wake    <-chan string  // clinics that have a new message; nil = found at the next look
}

const (
	lanes      = 16 // messages on the way at once
	perClinic  = 8  // of them of one clinic, so that a receiver that hangs keeps the others' lanes free
	sendWithin = 20 * time.Second
	leaseFor   = time.Minute // what is claimed is begun at once
)

// Run sends until ctx ends, and then lets what is on the way come to its end.
func (r *Relay) Run(ctx context.Context) error { return r.work(ctx, false) }

// Once sends everything that is due now.
func (r *Relay) Once(ctx context.Context) error { return r.work(ctx, true) }

// work is one dispatcher: it alone claims, and starts every claimed message on its lane.
func (r *Relay) work(ctx context.Context, once bool) error {
	every := r.Every
	if every == 0 {
		every = time.Second
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	var channels []string
	for _, c := range []string{Email, SMS} {
		if r.Senders[c] != nil {
			channels = append(channels, c)
		}
	}
	var todo rota
	clinics, err := r.Store.Clinics(ctx)
	if err != nil {
		return err
	}
	todo.add(clinics...)
	var first error
	fail := func(what string, err error) {
		if err == nil || ctx.Err() != nil {
			return
		}
		if first == nil {
			first = err
		}
		r.Log.WarnContext(ctx, "outbox: "+what, "error", err.Error())
	}
	type end struct {
		clinic string
		err    error
	}
	running, total, done := map[string]int{}, 0, make(chan end, lanes)
	for {
		for total <= lanes/2 && ctx.Err() == nil { // few claims of several, not many of one
			c, any := todo.next()
			if !any {
				break
			}
			room := min(perClinic-running[c], lanes-total)
			if room < perClinic/2 {
				continue // the next that ends adds it again
			}
			claimed, err := r.Store.Claim(ctx, c, channels, room, leaseFor)
			fail("claiming messages failed", err)
			for _, m := range claimed {
				running[c]++
				total++
				go func() { done <- end{c, r.deliver(ctx, m)} }()
			}
			if len(claimed) == room {
				todo.add(c)
			}
		}
		if total == 0 && todo.empty() && once {
			return first
		}
		over := ctx.Done()
		if ctx.Err() != nil {
			if total == 0 {
				return nil
			}
			over = nil
		}
		select {
		case <-over:
		case e := <-done:
			running[e.clinic]--
			total--
			todo.add(e.clinic) // its next may have waited for this one
			fail("sending a message failed", e.err)
		case c := <-r.Wake:
			todo.add(c)
		case <-tick.C:
			clinics, err := r.Store.Clinics(ctx)
			fail("looking for clinics failed", err)
			if !once {
				todo.add(clinics...)
			}
		}
	}
}

// rota is the clinics to look at, each once, in turn.
type rota struct{ list []string }

func (r *rota) add(clinics ...string) {
	for _, c := range clinics {
		known := false
		for _, k := range r.list {
			known = known || k == c
		}
		if !known {
			r.list = append(r.list, c)
		}
	}
}

func (r *rota) next() (string, bool) {
	if len(r.list) == 0 {
		return "", false
	}
	c := r.list[0]
	r.list = r.list[1:]
	return c, true
}

func (r *rota) empty() bool { return len(r.list) == 0 }
