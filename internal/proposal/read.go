package proposal

import (
	"context"

	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// Get reads a proposal of the actor's clinic as it stands now, with what has moved under it.
func (s *Service) Get(ctx context.Context, by clinic.Actor, id string) (Record, error) {
	var r Record
	err := s.Store.ReadTx(ctx, by.Clinic, func(tx Tx) (err error) {
		r, err = current(ctx, tx, id)
		return err
	})
	return r, err
}

// Current is Get inside a transaction of the caller, for pages that read more beside it. Two queries.
func Current(ctx context.Context, tx Tx, id string) (Record, error) { return current(ctx, tx, id) }

// Revision reads the plan of one revision, checked against its hash.
func (s *Service) Revision(ctx context.Context, by clinic.Actor, id string, revision int) (Plan, string, error) {
	var p Plan
	var hash string
	err := s.Store.ReadTx(ctx, by.Clinic, func(tx Tx) error {
		canonical, h, err := tx.Revision(ctx, id, revision)
		if err != nil {
			return err
		}
		hash = h
		p, err = DecodePlan(canonical)
		return err
	})
	return p, hash, err
}

// List gives a page of the clinic's proposals, terminal ones too.
func (s *Service) List(ctx context.Context, by clinic.Actor, f Filter) ([]Record, error) {
	var out []Record
	err := s.Store.ReadTx(ctx, by.Clinic, func(tx Tx) (err error) {
		out, err = Select(ctx, tx, f)
		return err
	})
	return out, err
}

// Select is List inside a transaction of the caller. Two queries.
func Select(ctx context.Context, tx Tx, f Filter) ([]Record, error) {
	out, err := tx.List(ctx, f)
	if err != nil {
		return nil, err
	}
	refs := make([]*Record, len(out))
	for i := range out {
		refs[i] = &out[i]
	}
	return out, settleRecords(ctx, tx, refs)
}

// ValidState refuses a state that proposals cannot have.
func ValidState(state string) error {
	switch state {
	case "", StateProposed, StateExecuting, StateCompleted, StateFailed, StatePartial, StateRejected, StateWithdrawn, StateExpired:
		return nil
	}
	return refusal.Invalid(refusal.Field{Name: "state", Message: "There is no such state."})
}
