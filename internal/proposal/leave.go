package proposal

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// LeaveReasons say why somebody is away.
var LeaveReasons = []string{"sickness", "holiday", "training", "other"}

// Leaves is what leave needs of a transaction.
type Leaves interface {
	// SaveLeave writes leave and marks the slots under it: their versions rise, whoever holds them keeps them. Errors:
	// not_found for an unknown practitioner; validation_failed for days in the wrong order.
	SaveLeave(ctx context.Context, l clinic.Leave) error
	// NoteLeave adds why, and who said so.
	NoteLeave(ctx context.Context, id, reason string, by clinic.Actor) error
	// HitBy lists the booked visits to come that the leave touches, by start, judged in each location's zone.
	HitBy(ctx context.Context, l clinic.Leave) ([]clinic.Visit, error)
}

// TakingLeave is leave as a person saves it, with what they chose for each visit it hits.
type TakingLeave struct {
	Leave   clinic.Leave
	Reason  string   // one of LeaveReasons
	Seen    []string // ids of the visits that the form listed, all of them
	Items   []any    // of the bulk: those that shall change
	Notify  bool
	Message any
	Why     any // for whoever decides
	Key     string
}

// TakeLeave saves leave and, when visits shall change because of it, proposes one bulk for them: both or neither. No
// visit changes (case D08). It gives the proposal's id, "" when there is none. A visit that the form did not list
// refuses the whole with resource_changed.
func (s *Service) TakeLeave(ctx context.Context, by clinic.Actor, l TakingLeave) (proposalID string, err error) {
	proposalID, err = s.takeLeave(ctx, by, l)
	if saved, ok := isReplay(err); ok {
		var body struct {
			ID string `json:"id"`
		}
		return body.ID, json.Unmarshal(saved.Body, &body)
	}
	if err != nil {
		return "", s.refuse(ctx, by, audit.SaveLeave, "", err)
	}
	return proposalID, nil
}

func (s *Service) takeLeave(ctx context.Context, by clinic.Actor, l TakingLeave) (proposalID string, err error) {
	if !by.WorksTheDesk() {
		return "", refusal.New(refusal.PermissionDenied, "Your role does not enter leave. Nothing was done.")
	}
	if !ValidKey(l.Key) {
		return "", refusal.New(refusal.IdempotencyKeyMissing)
	}
	why, wrong := readReason(l.Why)
	if !slices.Contains(LeaveReasons, l.Reason) {
		wrong = append(wrong, refusal.Field{Name: "reason_code", Message: "Choose why."})
	}
	if len(wrong) > 0 {
		return "", refusal.Invalid(wrong...)
	}
	params := map[string]any{"items": l.Items, "notify": l.Notify, "message": l.Message}
	print, err := fingerprint("leave", l.Leave.Practitioner, l.Leave.From.String(), l.Leave.To.String(), strconv.Itoa(l.Leave.Opens), strconv.Itoa(l.Leave.Closes))
	if err != nil {
		return "", err
	}
	err = s.Store.InTx(ctx, by.Clinic, func(tx Tx) error {
		known, err := tx.Key(ctx, by.ID(), l.Key, print)
		if err != nil {
			return err
		}
		if known != nil {
			return known.answer(print)
		}
		if err := tx.SaveLeave(ctx, l.Leave); err != nil { // first: it locks the slots, so nothing is booked in them meanwhile
			return err
		}
		if err := tx.NoteLeave(ctx, l.Leave.ID, l.Reason, by); err != nil {
			return err
		}
		hits, err := tx.HitBy(ctx, l.Leave)
		if err != nil {
			return err
		}
		for _, v := range hits {
			if !slices.Contains(l.Seen, v.ID) {
				return refusal.New(refusal.ResourceChanged, "The visits in that time have changed since this list was made. Nothing was saved: look at the list again.")
			}
		}
		e := audit.Event{ID: s.IDs("aud"), At: tx.Now(), Actor: by, Action: audit.SaveLeave, Outcome: audit.Success, Code: l.Reason, ObjectKind: "leave", Object: l.Leave.ID}
		if len(l.Items) > 0 {
			policy, err := tx.Policy(ctx, bulkName)
			if err != nil {
				return err
			}
			r, canonical, err := s.draft(ctx, tx, bulk, by, s.IDs("prp"), 1, params, nil, tx.Now(), policy)
			if err != nil {
				return err
			}
			if err := s.insert(ctx, tx, by, &r, why, canonical); err != nil {
				return err
			}
			proposalID, e.Proposal = r.ID, r.ID
		}
		if err := tx.Audit(ctx, e); err != nil {
			return err
		}
		body, err := encode(map[string]any{"id": proposalID})
		if err != nil {
			return err
		}
		return tx.SaveKey(ctx, by.ID(), l.Key, proposalID, StatusCreated, body)
	})
	return proposalID, err
}
