package proposal

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// Saved statuses are HTTP's numbers, because the contract says that a replay has the same status.
const (
	StatusOK       = 200
	StatusCreated  = 201
	StatusAccepted = 202
)

// fingerprint binds a key to what it was used for (contract section 4): route, proposal, revision, hash, decision.
func fingerprint(parts ...string) (string, error) {
	list := make([]any, len(parts))
	for i, p := range parts {
		list[i] = p
	}
	b, err := Canonical(map[string]any{"key": list})
	return Digest(b), err
}

func decisionFingerprint(route string, d Decision) (string, error) {
	return fingerprint(route, d.Proposal, strconv.Itoa(d.Revision), d.PlanHash, route)
}

// proposeFingerprint is over the wish as given, so that the same key with other words is another use of it.
func proposeFingerprint(p Proposing) (string, error) {
	wish, err := Canonical(map[string]any{"parameters": p.Parameters, "reason": p.Reason})
	if err != nil {
		return "", refusal.New(refusal.MalformedRequest)
	}
	return fingerprint("propose", p.Action, string(wish))
}

// answer is what a known key says: reused for something else, still running, or the saved answer (as a replay).
func (k *SavedKey) answer(print string) error {
	switch {
	case k.Fingerprint != print:
		return refusal.New(refusal.IdempotencyKeyReused)
	case k.Status == 0:
		return &refusal.Error{Code: refusal.IdempotencyInProgress, RetryAfter: time.Second}
	default:
		return &replay{k}
	}
}

// replayed gives the saved answer, byte for byte, and today's record beside it.
func (s *Service) replayed(ctx context.Context, by clinic.Actor, k *SavedKey) (Answer, error) {
	var body struct {
		ID       string `json:"id"`
		Proposal *struct {
			ID string `json:"id"`
		} `json:"proposal"`
	}
	if err := json.Unmarshal(k.Body, &body); err != nil {
		return Answer{}, err
	}
	if body.Proposal != nil {
		body.ID = body.Proposal.ID
	}
	r, err := s.Get(ctx, by, body.ID)
	if err == nil && k.Status == StatusAccepted { // today's state
		out, err := today(r)
		out.Replayed = true
		return out, err
	}
	return Answer{Status: k.Status, Body: k.Body, Replayed: true, Record: r}, err
}

func wholeSecond(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
