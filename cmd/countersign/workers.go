package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"countersign/db"
	"countersign/internal/assistant"
	"countersign/internal/audit"
	"countersign/internal/proposal"
)

// worker does something beside the requests, until its context ends. After an error, which is logged, it is run again.
type worker struct {
	name string
	run  func(context.Context) error
}

// horizon is how many days ahead slots exist.
const horizon = 120

// sealPause keeps the promise that an entry of the trail is sealed within a second.
const sealPause = 400 * time.Millisecond

// workersOf lists every background worker but the relay of messages.
func workersOf(d *db.DB, desk *proposal.Service, talk *assistant.Service, key func() (*audit.Key, error), log *slog.Logger) []worker {
	return []worker{
		{"sessions", every(10*time.Minute, d.SweepSessions)},
		{"deadlines", every(30*time.Second, forClinics(d, func(ctx context.Context, clinic string) error {
			for _, pass := range []func(context.Context, string) (bool, error){desk.Expire, desk.EscalateDue} {
				for more := true; more; {
					var err error
					if more, err = pass(ctx, clinic); err != nil {
						return err
					}
				}
			}
			return nil
		}))},
		{"late operations", every(10*time.Minute, forClinics(d, lateAlarm(d, log)))},
		{"bulk", every(time.Second, forClinics(d, func(ctx context.Context, clinic string) error {
			for found := true; found; {
				var err error
				if found, err = desk.CarryOn(ctx, clinic); err != nil {
					return err
				}
			}
			return nil
		}))},
		{"receipts", every(time.Second, forClinics(d, func(ctx context.Context, clinic string) error {
			for more := true; more; {
				var err error
				if more, err = d.TakeReceipts(ctx, clinic, newID); err != nil {
					return err
				}
			}
			return nil
		}))},
		{"sealer", every(sealPause, forClinics(d, func(ctx context.Context, clinic string) error {
			_, err := d.Seal(ctx, clinic)
			return err
		}))},
		{"checkpoints", every(time.Hour, forClinics(d, func(ctx context.Context, clinic string) error {
			k, err := key()
			if err != nil {
				return err
			}
			return d.InClinic(ctx, clinic, func(t *db.Tx) error {
				_, err := t.Checkpoint(ctx, k)
				if errors.Is(err, audit.ErrRewritten) {
					log.Error("ALARM: the audit trail was changed behind its last checkpoint; run countersign audit verify", "clinic", clinic)
				}
				return err
			})
		}))},
		{"runs", every(time.Second, forClinics(d, talk.Settle))},
		{"events", every(time.Hour, forClinics(d, func(ctx context.Context, clinic string) error {
			return d.InClinic(ctx, clinic, func(t *db.Tx) error { return t.SweepEvents(ctx, 7*24*time.Hour) })
		}))},
		{"slots", every(6*time.Hour, forClinics(d, func(ctx context.Context, clinic string) error {
			return d.InClinic(ctx, clinic, func(t *db.Tx) error { return t.ExtendSlots(ctx, horizon) })
		}))},
	}
}

// forClinics does something clinic by clinic: a worker sees one clinic's rows at a time, as everybody does.
func forClinics(d *db.DB, do func(ctx context.Context, clinic string) error) func(context.Context) error {
	return func(ctx context.Context) error {
		clinics, err := d.Clinics(ctx)
		for _, c := range clinics {
			err = errors.Join(err, do(ctx, c))
		}
		return err
	}
}

// every runs do now and then again and again, with the pause between.
func every(pause time.Duration, do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		for {
			if err := do(ctx); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(pause):
			}
		}
	}
}

// crew is the workers as they run.
type crew struct {
	cancel context.CancelFunc
	wait   sync.WaitGroup
}

func startWorkers(ctx context.Context, log *slog.Logger, all []worker) *crew {
	// They outlive the signal to stop: requests that still run may need them.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &crew{cancel: cancel}
	for _, w := range all {
		c.wait.Go(func() { w.keepRunning(ctx, log) })
	}
	return c
}

func (w worker) keepRunning(ctx context.Context, log *slog.Logger) {
	for {
		err := w.safely(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		log.Error("worker failed and is run again", "worker", w.name, "error", err.Error())
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
	}
}

func (w worker) safely(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %T", p) // its value may hold what is nobody's business in a log
		}
	}()
	return w.run(ctx)
}

func (c *crew) stop() {
	c.cancel()
	c.wait.Wait()
}
