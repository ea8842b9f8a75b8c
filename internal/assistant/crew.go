package assistant

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// DefaultPatience is how long a request waits for the answer to its message before it says that it is being worked on.
	DefaultPatience = 1500 * time.Millisecond
	// lease is how long a run may stand still before somebody else goes on with it. Whoever works on it renews it.
	lease = 12 * time.Second
	// longest is what reading one message may take, with all attempts at a language model.
	longest = time.Minute
	// longestWrite is what writing down its outcome may take.
	longestWrite = 30 * time.Second
	// mostTakeovers is how often a message is taken up again: one that stops every server that reads it must end.
	mostTakeovers = 3
	// mostAtWork are worked on at once by one server; others wait for their turn.
	mostAtWork = 64
)

// errLeft says that this server does not go on with a run: it stops, or another has taken the run over.
var errLeft = errors.New("the run is left to another server")

// crew is the runs that a server works on, beside the requests. The zero value is ready.
type crew struct {
	mu     sync.Mutex
	all    sync.WaitGroup
	closed bool
	leave  chan struct{} // closed when the server stops
	places chan struct{} // one for each that works
}

// enter counts one more in, unless the server stops.
func (c *crew) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leave == nil {
		c.leave, c.places = make(chan struct{}), make(chan struct{}, mostAtWork)
	}
	if !c.closed {
		c.all.Add(1)
	}
	return !c.closed
}

// Stop leaves the runs that are still being read to other servers, or to the next start, and waits until nothing here
// writes any more. Messages are taken in after it, and read by others.
func (s *Service) Stop() {
	if s.crew.enter() {
		s.crew.all.Done()
	}
	s.crew.mu.Lock()
	if !s.crew.closed {
		s.crew.closed = true
		close(s.crew.leave)
	}
	s.crew.mu.Unlock()
	s.crew.all.Wait()
}

// start works on a message in the background and tells where the run stands then. Whoever asked may go away; the run
// does not.
func (s *Service) start(ctx context.Context, run Run) <-chan RunRef {
	done := make(chan RunRef, 1)
	ctx = context.WithoutCancel(ctx)
	if !s.crew.enter() {
		s.release(ctx, run)
		done <- RunRef{run.ID, Running}
		return done
	}
	go func() {
		defer s.crew.all.Done()
		done <- s.attend(ctx, run)
	}()
	return done
}

// attend works on a message while its lease is kept.
func (s *Service) attend(ctx context.Context, run Run) (ref RunRef) {
	ref = RunRef{run.ID, Running}
	reading, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	go s.keep(reading, run, leave)
	select {
	case s.crew.places <- struct{}{}:
		defer func() { <-s.crew.places }()
	case <-reading.Done():
		s.release(ctx, run)
		return ref
	}
	reading, cancel := context.WithTimeout(reading, longest)
	defer cancel()
	out, err := s.safely(reading, run)
	switch {
	case errors.Is(err, errLeft):
		s.release(ctx, run)
	case err != nil:
		s.Log.ErrorContext(ctx, "a run broke off", "request", run.Input.By.Request, "run", run.ID, "error", err.Error())
	}
	if out.State != "" {
		ref = out
	}
	return ref
}

// safely is work that a fault of ours ends, and not the server.
func (s *Service) safely(ctx context.Context, run Run) (ref RunRef, err error) {
	defer func() {
		if p := recover(); p != nil {
			// Its value may hold what is nobody's business in a log.
			ref, err = s.ended(context.WithoutCancel(ctx), run, ref, fmt.Errorf("panic: %T", p))
		}
	}()
	return s.work(ctx, run)
}

// keep renews the lease until ctx ends, and leaves the run when the server stops or another has taken it over.
func (s *Service) keep(ctx context.Context, run Run, leave context.CancelCauseFunc) {
	tick := time.NewTicker(lease / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.crew.leave:
			leave(errLeft)
			return
		case <-tick.C:
		}
		mine := true
		err := s.Store.InTx(ctx, run.Input.By.Clinic, func(tx Tx) (err error) {
			mine, err = tx.Renew(ctx, run, tx.Now().Add(lease))
			return err
		})
		if err == nil && !mine {
			leave(errLeft)
			return
		}
	}
}

// release lets others go on with a run at once.
func (s *Service) release(ctx context.Context, run Run) {
	ctx, cancel := context.WithTimeout(ctx, longestWrite)
	defer cancel()
	err := s.Store.InTx(ctx, run.Input.By.Clinic, func(tx Tx) error {
		_, err := tx.Renew(ctx, run, tx.Now())
		return err
	})
	if err != nil { // they do when its lease has run out
		s.Log.ErrorContext(ctx, "a run could not be released", "run", run.ID, "error", err.Error())
	}
}

// is reports whether this is still the work on the same message, by the same worker.
func (r *Run) is(other Run) bool {
	return r != nil && r.ID == other.ID && r.Turn == other.Turn && r.Fence == other.Fence && r.State == Running
}

// takeOver goes on with a run that whoever worked on it left behind, in the background. What it came to, and the proposal
// it may have made, are found: by the run's input, and by the proposal's key.
func (s *Service) takeOver(ctx context.Context, clinicID string, left Run) {
	var run Run
	err := s.Store.InTx(ctx, clinicID, func(tx Tx) error {
		run = Run{}
		t, err := tx.Thread(ctx, left.Thread, true)
		if err != nil {
			return err
		}
		if !t.Run.is(left) || tx.Now().Before(t.Run.LeasedUntil) {
			return nil
		}
		c := Change{Run: t.Run}
		t.Run.Fence++
		t.Run.LeasedUntil = tx.Now().Add(lease)
		if t.Run.Fence > mostTakeovers {
			t.fail(&c, tx.Now())
		} else {
			run = *t.Run
		}
		c.Thread = t
		return tx.Save(ctx, c)
	})
	switch {
	case err != nil:
		s.Log.ErrorContext(ctx, "a run could not be taken over", "run", left.ID, "error", err.Error())
	case run.ID != "":
		s.start(ctx, run)
	}
}
