package proposal

import (
	"context"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// Expire writes down which proposals of the clinic have passed their deadline, some at a time, and says whether there
// may be more. Nothing waits for it: reads and decisions judge by the clock, swept or not.
func (s *Service) Expire(ctx context.Context, clinicID string) (more bool, err error) {
	const some = 100
	by := clinic.Actor{Clinic: clinicID, Person: "deadline", Kind: clinic.KindSystem, Via: "worker"}
	err = s.Store.InTx(ctx, clinicID, func(tx Tx) error {
		over, err := tx.Expire(ctx, some)
		if err != nil || len(over) == 0 {
			more = false
			return err
		}
		more = len(over) == some
		events := make([]audit.Event, len(over))
		for i, r := range over {
			events[i] = s.event(tx.Now(), by, audit.Expire, audit.Success, r)
			events[i].Code = refusal.ProposalExpired // the cause: nobody's act, the deadline's
		}
		return tx.Audit(ctx, events...)
	})
	return more, err
}
