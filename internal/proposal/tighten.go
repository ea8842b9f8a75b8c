package proposal

import (
	"context"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// PolicyWish is what an admin wants the clinic to ask of an action, made over the version that was shown.
type PolicyWish struct {
	Parameters map[string]any // of change_policy@1
	Version    int64
	Reason     any    // of a proposal: text or nil
	Key        string // of a proposal
}

// SetPolicy saves at once what only tightens. What loosens anything becomes the critical proposal change_policy@1, which
// is then the answer's record; a saved policy gives none. Saving again what the last version says already, from the page
// that was shown before it, changes nothing and is no error.
func (s *Service) SetPolicy(ctx context.Context, by clinic.Actor, w PolicyWish) (saved bool, out Answer, err error) {
	loosens, err := s.tighten(ctx, by, w)
	if err != nil {
		return false, out, s.refuse(ctx, by, audit.ChangePolicy, "", err)
	}
	if !loosens {
		return true, out, nil
	}
	out, err = s.Propose(ctx, by, Proposing{Action: policyName, Parameters: w.Parameters, Reason: w.Reason, Key: w.Key})
	return false, out, err
}

func (s *Service) tighten(ctx context.Context, by clinic.Actor, w PolicyWish) (loosens bool, err error) {
	if err := MayPropose(by, policyName); err != nil {
		return false, err
	}
	params, wrong := changePolicy.read(w.Parameters)
	if len(wrong) > 0 {
		return false, refusal.Invalid(wrong...)
	}
	action, next := text(params, "action"), readPolicy(params)
	err = s.Store.InTx(ctx, by.Clinic, func(tx Tx) error {
		now, err := tx.LockPolicy(ctx, action)
		if err != nil {
			return err
		}
		var changes bool
		loosens, changes = now.of(action).Loosens(next.of(action))
		switch {
		case !changes && now.Version > w.Version:
			return nil // the second click of a double click
		case !changes:
			return refusal.Invalid(refusal.Field{Name: "action", Message: alreadyAsked})
		case now.Version != w.Version:
			return refusal.New(refusal.ResourceChanged, "Somebody has changed this policy since you looked. Nothing was done.").
				With("changed", []Change{{Kind: PinPolicy, ID: action, Expected: w.Version, Current: now.Version, Label: "The clinic’s policy"}})
		case loosens:
			return nil
		}
		next.Version = now.Version + 1
		if err := tx.SetPolicy(ctx, by, action, next); err != nil {
			return err
		}
		return tx.Audit(ctx, audit.Event{ID: s.IDs("aud"), At: tx.Now(), Actor: by, Action: audit.ChangePolicy, Outcome: audit.Success, Code: policyChange(now, next),
			ObjectKind: PinPolicy, Object: action, Version: next.Version})
	})
	return loosens, err
}
