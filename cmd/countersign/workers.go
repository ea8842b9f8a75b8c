package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"countersign/db"
)

// worker does something beside the requests, until its context ends. After an error, which is logged, it is run again.
type worker struct {
	name string
	run  func(context.Context) error
}

// workersOf lists every background worker.
func workersOf(d *db.DB, log *slog.Logger) []worker {
	return []worker{
		{"sessions", every(10*time.Minute, d.SweepSessions)},
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
		c.wait.Go(func() {
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
		})
	}
	return c
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
