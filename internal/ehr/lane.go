package ehr

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Lane is the way to one clinic's EHR: a few calls at a time, and none while the EHR is throttled or does not answer.
// What goes wrong in it is no other clinic's matter. Any number of processes may run the same lane.
type Lane struct {
	Clinic string
	Client *Client
	Store  Store
	Desk   Desk
	Settle time.Duration // how long a look that finds nothing proves nothing; 2 min when zero
	Every  time.Duration // between looks for work when there is none; 1 s when zero
	IDs    func(prefix string) string
	Jitter func(time.Duration) time.Duration // what is added to a pause, so that not all come back at once; nil = none
	Log    *slog.Logger

	probe prober

	mu       sync.Mutex
	failures int  // calls in a row that the EHR did not answer
	open     bool // the store knows of no failures
}

const (
	defaultSettle = 2 * time.Minute
	// leaseFor is longer than one step can take: a look, a write, and what is committed between them.
	leaseFor = 3 * time.Minute

	breaksAfter      = 3 // failures in a row: then one call at a time tries
	leastPause       = time.Second
	mostPause        = 5 * time.Minute
	certificatePause = 15 * time.Minute
)

func (l *Lane) settle() time.Duration {
	if l.Settle > 0 {
		return l.Settle
	}
	return defaultSettle
}

func (l *Lane) jittered(d time.Duration) time.Duration {
	if l.Jitter == nil {
		return d
	}
	return d + l.Jitter(d)
}

// Run carries out the clinic's operations until ctx ends; it returns when what was begun has ended.
func (l *Lane) Run(ctx context.Context) error {
	every := l.Every
	if every == 0 {
		every = time.Second
	}
	most := l.Client.conn.Parallel
	ended := make(chan struct{}, most)
	running := 0
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		claimed := 0
		if room := l.room(most) - running; room > 0 {
			ops, err := l.Store.Claim(ctx, l.Clinic, room, leaseFor)
			if err != nil && ctx.Err() == nil {
				l.Log.WarnContext(ctx, "ehr: looking for operations failed", "clinic", l.Clinic, "error", err.Error())
			}
			claimed = len(ops)
			for _, op := range ops {
				running++
				go func() {
					defer func() { ended <- struct{}{} }()
					l.one(context.WithoutCancel(ctx), op)
				}()
			}
		}
		if claimed == 0 || running >= most {
			timer.Reset(every)
			select {
			case <-ctx.Done():
			case <-timer.C:
			case <-ended:
				running--
			}
		}
	}
	for ; running > 0; running-- {
		<-ended
	}
	return nil
}

// Once carries out one step of every operation that is due now, one after the other, and says how many there were.
func (l *Lane) Once(ctx context.Context) (steps int, err error) {
	for {
		ops, err := l.Store.Claim(ctx, l.Clinic, 1, leaseFor)
		if err != nil || len(ops) == 0 {
			return steps, err
		}
		if err := l.Step(ctx, ops[0]); err != nil {
			return steps, err
		}
		steps++
	}
}

func (l *Lane) one(ctx context.Context, op Operation) {
	defer func() {
		if p := recover(); p != nil { // its value may hold what is nobody's business in a log
			l.Log.ErrorContext(ctx, "ehr: a step broke off; it is taken again when its lease has run out", "clinic", op.Clinic, "operation", op.ID, "panic", fmt.Sprintf("%T", p))
		}
	}()
	if err := l.Step(ctx, op); err != nil {
		l.Log.ErrorContext(ctx, "ehr: a step failed; it is taken again when its lease has run out", "clinic", op.Clinic, "operation", op.ID, "error", err.Error())
	}
}

// room is how many calls may be on their way: all, or one to try with after failures.
func (l *Lane) room(most int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failures >= breaksAfter {
		return 1
	}
	return most
}

// answered notes that the EHR is there. What another process noted before this one began is forgotten too.
func (l *Lane) answered(ctx context.Context) error {
	l.mu.Lock()
	noted := l.failures > 0 || !l.open
	l.failures, l.open = 0, true
	l.mu.Unlock()
	if !noted {
		return nil
	}
	return l.Store.Open(ctx, l.Clinic)
}

// throttled closes the lane for as long as the EHR asks for.
func (l *Lane) throttled(ctx context.Context, d time.Duration) error {
	l.mu.Lock()
	l.open = false
	l.mu.Unlock()
	return l.Store.Pause(ctx, l.Clinic, l.jittered(d), CodeBusy)
}

// failed notes that it is not, and closes the lane, each time for longer; for a certificate at once for long: what is
// wrong with it does not go away by trying.
func (l *Lane) failed(ctx context.Context, code string) error {
	l.mu.Lock()
	l.failures++
	pause := mostPause
	if doublings := l.failures - 1; doublings < 10 {
		pause = min(leastPause<<doublings, mostPause)
	}
	l.mu.Unlock()
	if code == CodeCertificate {
		l.Log.ErrorContext(ctx, "ALARM: the certificate of the EHR is not valid; nothing is sent", "clinic", l.Clinic)
		return l.Store.Pause(ctx, l.Clinic, certificatePause, code)
	}
	return l.Store.Pause(ctx, l.Clinic, l.jittered(pause), code)
}

// trouble sorts a look that failed: the lane's, or this operation's alone.
func (l *Lane) trouble(ctx context.Context, err error) (code string, _ error) {
	var f *failure
	if !errors.As(err, &f) {
		return "", err
	}
	switch {
	case f.Wait > 0:
		return f.Code, l.throttled(ctx, f.Wait)
	case f.Transport:
		return f.Code, l.failed(ctx, f.Code)
	}
	return f.Code, l.answered(ctx)
}
