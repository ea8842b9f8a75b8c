package proposal

import (
	"context"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// Proposing is a wish: an action's name, its parameters, and why.
type Proposing struct {
	Action     string
	Parameters map[string]any
	Reason     any    // text or nil
	Key        string // optional
	// Scope is a conversation's id or, at a door without conversations, an agent's; "" = none. Within it the same wish, free text aside, is not proposed twice while it
	// waits: the answer is then the proposal that waits, with StatusOK.
	Scope string
}

// Propose saves a proposal at revision 1. Nothing else has happened then. Refusals in the order of contract section 6;
// under a known key the saved answer is replayed.
func (s *Service) Propose(ctx context.Context, by clinic.Actor, p Proposing) (Answer, error) {
	out, err := s.propose(ctx, by, p)
	if err != nil {
		return Answer{}, s.refuse(ctx, by, audit.Propose, "", err)
	}
	return out, nil
}

func (s *Service) propose(ctx context.Context, by clinic.Actor, p Proposing) (Answer, error) {
	if p.Key != "" && !ValidKey(p.Key) {
		return Answer{}, refusal.New(refusal.IdempotencyKeyMissing)
	}
	a, err := actionNamed(p.Action)
	if err != nil {
		return Answer{}, err
	}
	if err := MayPropose(by, a.name); err != nil {
		return Answer{}, err
	}
	reason, wrong := readReason(p.Reason)
	_, more := a.read(p.Parameters)
	if wrong = append(more, wrong...); len(wrong) > 0 {
		return Answer{}, refusal.Invalid(wrong...)
	}
	var out Answer
	err = s.Store.InTx(ctx, by.Clinic, func(tx Tx) error {
		if p.Key != "" {
			print, err := proposeFingerprint(p)
			if err != nil {
				return err
			}
			known, err := tx.Key(ctx, by.ID(), p.Key, print)
			if err != nil {
				return err
			}
			if known != nil {
				return known.answer(print)
			}
		}
		policy, err := tx.Policy(ctx, a.name)
		if err != nil {
			return err
		}
		r, canonical, err := s.draft(ctx, tx, a, by, s.IDs("prp"), 1, p.Parameters, nil, tx.Now(), policy)
		if err != nil {
			return err
		}
		if r.Scope = p.Scope; p.Scope != "" {
			waiting, err := asked(ctx, tx, p.Scope, r.Wish)
			if err != nil {
				return err
			}
			if waiting != nil {
				out, err = s.askedAgain(ctx, tx, by, p.Key, *waiting)
				return err
			}
		}
		if err := s.insert(ctx, tx, by, &r, reason, canonical); err != nil {
			return err
		}
		if err := s.showAnswer(ctx, tx, by, r); err != nil {
			return err
		}
		body, err := encode(r)
		if err != nil {
			return err
		}
		out = Answer{Status: StatusCreated, Body: body, Record: r}
		if p.Key == "" {
			return nil
		}
		return tx.SaveKey(ctx, by.ID(), p.Key, r.ID, out.Status, body)
	})
	if saved, ok := isReplay(err); ok {
		return s.replayed(ctx, by, saved)
	}
	return out, err
}

// insert saves a drafted record as a new proposal, within the limits and audited.
func (s *Service) insert(ctx context.Context, tx Tx, by clinic.Actor, r *Record, reason *string, canonical []byte) (err error) {
	// Last before the writes: an agent's lock is held as short as can be, and asking again for what waits makes nothing.
	if r.Bypass, err = s.Limits.within(ctx, tx, by); err != nil {
		return err
	}
	r.Reason, r.CreatedAt = reason, wholeSecond(tx.Now())
	r.Owner, r.OwnerName, r.CreatedVia, r.CreatedBy = by.Person, by.PersonName, by.Via, creator(by)
	finish(r, tx.Now())
	if err := tx.Insert(ctx, *r, by, canonical); err != nil {
		return err
	}
	made := s.event(tx.Now(), by, audit.Propose, audit.Success, *r)
	if r.Bypass != "" { // what let it through; the proposal has a member of its own
		made.ObjectKind, made.Object = "bypass", r.Bypass
	}
	return tx.Audit(ctx, made)
}

// askedAgain answers with the proposal that waits already, and says on the trail that it was asked for again.
func (s *Service) askedAgain(ctx context.Context, tx Tx, by clinic.Actor, key string, r Record) (Answer, error) {
	if err := tx.Audit(ctx, s.event(tx.Now(), by, audit.Propose, audit.Success, r)); err != nil {
		return Answer{}, err
	}
	if err := s.showAnswer(ctx, tx, by, r); err != nil {
		return Answer{}, err
	}
	body, err := encode(r)
	if err == nil && key != "" {
		err = tx.SaveKey(ctx, by.ID(), key, r.ID, StatusOK, body)
	}
	return Answer{Status: StatusOK, Body: body, Record: r}, err
}

func creator(by clinic.Actor) Creator {
	c := Creator{ID: by.ID(), Name: by.Name(), Kind: by.Kind}
	if by.OnBehalfOf() != "" {
		c.OnBehalfOf = &clinic.Ref{ID: by.Person, Name: by.PersonName}
	}
	return c
}

// readReason checks the asker's words.
func readReason(given any) (*string, []refusal.Field) {
	params, wrong := readParameters([]parameter{{name: "reason", kind: kindText}}, map[string]any{"reason": given})
	if s := text(params, "reason"); s != "" {
		return &s, wrong
	}
	return nil, wrong
}
