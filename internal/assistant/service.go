package assistant

import (
	"context"
	"log/slog"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// Service holds conversations. It changes nothing by itself: what it comes to is a proposal, made by the one service
// that forms use, and a person decides.
type Service struct {
	Store       Store
	Desk        *proposal.Service
	Interpreter Interpreter
	IDs         func(prefix string) string // random, URL-safe, at most 64 characters
	Log         *slog.Logger
	Patience    time.Duration // how long Say waits for the answer; 0 is DefaultPatience

	crew crew
}

// MaxMessage is the most characters of one message.
const MaxMessage = 2000

// Start opens an empty conversation of the actor's person.
func (s *Service) Start(ctx context.Context, by clinic.Actor) (Thread, error) {
	t := Thread{ID: s.IDs("thr"), Person: by.Person}
	err := s.Store.InTx(ctx, by.Clinic, func(tx Tx) error {
		t.CreatedAt, t.UpdatedAt = tx.Now(), tx.Now()
		return tx.Save(ctx, Change{Thread: t, New: true})
	})
	return t, err
}

// Thread reads a conversation as it stands now: a decision or a deadline that nobody has told it of yet is told in the
// answer, and nothing is written.
func (s *Service) Thread(ctx context.Context, by clinic.Actor, id string) (t Thread, err error) {
	err = s.Store.ReadTx(ctx, by.Clinic, func(tx Tx) error {
		t, err = s.Read(ctx, tx, by, id)
		return err
	})
	return t, err
}

// Read is Thread inside a transaction of the caller, for pages that read more beside it.
func (s *Service) Read(ctx context.Context, tx Tx, by clinic.Actor, id string) (Thread, error) {
	t, err := own(ctx, tx, by, id, false)
	if err != nil {
		return t, err
	}
	_, err = s.settle(ctx, tx, &t)
	return t, err
}

// own is a thread of the actor's person. Anybody else's does not exist.
func own(ctx context.Context, tx Tx, by clinic.Actor, id string, lock bool) (Thread, error) {
	if !clinic.ValidID(id) {
		return Thread{}, refusal.New(refusal.NotFound)
	}
	t, err := tx.Thread(ctx, id, lock)
	if err == nil && t.Person != by.Person {
		err = refusal.New(refusal.NotFound)
	}
	return t, err
}

// Threads is a page of the person's conversations, newest first.
func (s *Service) Threads(ctx context.Context, by clinic.Actor, f ThreadFilter) (list []Thread, err error) {
	err = s.Store.ReadTx(ctx, by.Clinic, func(tx Tx) error {
		list, err = s.List(ctx, tx, by, f)
		return err
	})
	return list, err
}

// List is Threads inside a transaction of the caller.
func (s *Service) List(ctx context.Context, tx Tx, by clinic.Actor, f ThreadFilter) ([]Thread, error) {
	list, err := tx.Threads(ctx, by.Person, f)
	for i := range list {
		if err == nil {
			_, err = s.settle(ctx, tx, &list[i])
		}
	}
	return list, err
}

// Run reads one run of the person's with its calls, as it stands now.
func (s *Service) Run(ctx context.Context, by clinic.Actor, id string) (run Run, err error) {
	if !clinic.ValidID(id) {
		return run, refusal.New(refusal.NotFound)
	}
	err = s.Store.ReadTx(ctx, by.Clinic, func(tx Tx) error {
		if run, err = tx.Run(ctx, id); err != nil {
			return err
		}
		t, err := s.Read(ctx, tx, by, run.Thread)
		if err == nil && t.Run.ID == id {
			run = *t.Run
			run.State, run.Calls = t.State(), t.Calls
		}
		return err
	})
	return run, err
}
