package proposal

import (
	"context"
	"time"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// MayListOperations: the desk. Only reviewers see what was sent and act on it (MayResolve).
func MayListOperations(a clinic.Actor) error {
	if a.Role == clinic.RoleStaff || a.Role == clinic.RoleReviewer {
		return nil
	}
	return refusal.New(refusal.PermissionDenied, "Only the desk sees what waits for the EHR.")
}

// MayReadOperation: what was sent holds the patient's data.
func MayReadOperation(a clinic.Actor) error {
	if a.Role == clinic.RoleReviewer {
		return nil
	}
	return refusal.New(refusal.PermissionDenied, "Only reviewers see what was sent to the EHR and what was seen there.")
}

// LookAgain has an open operation looked for in the EHR at once. Nothing is sent for one that waits for a person.
// Refusals: not_found; permission_denied; validation_failed when there is nothing to look for.
func (s *Service) LookAgain(ctx context.Context, by clinic.Actor, id string) error {
	err := s.Store.InTx(ctx, by.Clinic, func(tx Tx) error {
		o, err := tx.OperationNow(ctx, id)
		if err != nil {
			return err
		}
		if err := MayPropose(by, resolveName); err != nil {
			return err
		}
		switch o.State {
		case "unknown", "pending", "manual":
		case "ready":
			return refusal.New(refusal.ValidationFailed, "Nothing of this change was sent yet, so there is nothing to look for.")
		default:
			return refusal.New(refusal.ValidationFailed, "The outcome of this change is known already. There is nothing to look for.")
		}
		if err := tx.LookAgain(ctx, id, by.Person); err != nil {
			return err
		}
		return tx.Audit(ctx, s.lookEvent(tx.Now(), by, id, audit.Success, ""))
	})
	r := refusal.Of(err)
	if r == nil || r.Code == refusal.Busy || r.Code == refusal.Internal {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if r.Code == refusal.NotFound {
		id = "" // it may be anything somebody typed
	}
	note := s.Store.InTx(ctx, by.Clinic, func(tx Tx) error {
		return tx.Audit(ctx, s.lookEvent(tx.Now(), by, id, audit.Denied, r.Code))
	})
	if note != nil {
		s.Log.ErrorContext(ctx, "a refusal could not be audited", "request", by.Request, "code", r.Code)
	}
	return err
}

func (s *Service) lookEvent(now time.Time, by clinic.Actor, id, outcome, code string) audit.Event {
	e := audit.Event{ID: s.IDs("aud"), At: now, Actor: by, Action: audit.LookOperation, Outcome: outcome, Code: code, Object: id}
	if id != "" {
		e.ObjectKind = PinOperation
	}
	return e
}
