// Package outbox sends the messages that plans queued, after the commit that queued them. Nothing in it can reach the
// booking path: it knows messages, not appointments.
package outbox

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Result is what became of one attempt.
type Result struct {
	State  string // sent, failed, queued
	Code   string // of a failure
	NextAt time.Duration
}

// Store claims and settles. A claim is committed before the call it is for, skips rows that others hold, and gives a
// fencing token: Settle of an older lease changes nothing and says so.
type Store interface {
	Clinics(ctx context.Context) ([]string, error)
	Claim(ctx context.Context, clinic string, most int, lease time.Duration) ([]Message, error)
	Settle(ctx context.Context, m Message, r Result) (mine bool, err error)
}

// Relay sends what is due, clinic by clinic.
type Relay struct {
	Store   Store
	Senders map[string]Sender // by channel
	Log     *slog.Logger
	Every   time.Duration // between looks; 1 s when zero
}

const (
	batch       = 20
	leaseFor    = time.Minute
	sendWithin  = 20 * time.Second
	maxAttempts = 4
)

// Run looks for due messages until ctx ends.
func (r *Relay) Run(ctx context.Context) error {
	every := r.Every
	if every == 0 {
		every = time.Second
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := r.Once(ctx); err != nil && ctx.Err() == nil {
			r.Log.WarnContext(ctx, "outbox: looking for messages failed", "error", err.Error())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Once sends everything that is due now. One failing message stops nobody else.
func (r *Relay) Once(ctx context.Context) error {
	clinics, err := r.Store.Clinics(ctx)
	if err != nil {
		return err
	}
	for _, c := range clinics {
		for {
			claimed, err := r.Store.Claim(ctx, c, batch, leaseFor)
			if err != nil {
				return err
			}
			for _, m := range claimed {
				if err := r.send(ctx, m); err != nil {
					return err
				}
			}
			if len(claimed) < batch {
				break
			}
		}
	}
	return nil
}

func (r *Relay) send(ctx context.Context, m Message) error {
	attempt, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	sender, there := r.Senders[m.Channel]
	if !there {
		return nil
	}
	_, err := sender.Send(attempt, m)
	result := outcome(err, m.Attempts)
	mine, err := r.Store.Settle(context.WithoutCancel(ctx), m, result)
	if err == nil && !mine {
		r.Log.WarnContext(ctx, "outbox: a lease ran out while sending", "message", m.ID)
	}
	return err
}

// outcome: final refusals and the last attempt fail; the rest waits longer each time.
func outcome(err error, attempts int) Result {
	if err == nil {
		return Result{State: "sent"}
	}
	code := "not_reachable"
	var no *Refused
	if errors.As(err, &no) {
		return Result{State: "failed", Code: no.Code}
	}
	if attempts >= maxAttempts {
		return Result{State: "failed", Code: code}
	}
	return Result{State: "queued", Code: code, NextAt: 5 * time.Second << (2 * (attempts - 1))}
}
