package proposal

import (
	"context"
	"fmt"

	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// MostTogether is how many proposals can be decided in one go.
const MostTogether = 50

// One is a decision among others on an explicit list.
type One struct {
	Decision
	Approve bool
}

// Decided is what became of one of them: the answer, or why not.
type Decided struct {
	Proposal string
	Answer   Answer
	Err      error
}

// DecideTogether decides a list that somebody made item by item, each through Confirm or Reject in its own transaction
// and under its own key: what one of them meets is no matter of the others. Only low and medium risk, judged inside the
// transaction. A list that names a proposal or a key twice is refused whole, before any work: validation_failed.
func (s *Service) DecideTogether(ctx context.Context, by clinic.Actor, items []One) ([]Decided, error) {
	var wrong []refusal.Field
	bad := func(i int, name, message string) {
		wrong = append(wrong, refusal.Field{Name: fmt.Sprintf("items.%d.%s", i, name), Message: message})
	}
	if len(items) == 0 || len(items) > MostTogether {
		wrong = append(wrong, refusal.Field{Name: "items", Message: fmt.Sprintf("Give 1 to %d decisions.", MostTogether)})
	}
	seen, keys := map[string]bool{}, map[string]bool{}
	for i, d := range items {
		if seen[d.Proposal] {
			bad(i, "proposal", "This proposal is in the list already.")
		}
		if keys[d.Key] {
			bad(i, "idempotency_key", "Each decision has a key of its own.")
		}
		if !ValidKey(d.Key) {
			bad(i, "idempotency_key", "Give a key of 1 to 200 letters, digits and . _ : -")
		}
		seen[d.Proposal], keys[d.Key] = true, true
	}
	if len(wrong) > 0 {
		return nil, refusal.Invalid(wrong...)
	}
	out := make([]Decided, len(items))
	for i, d := range items {
		d.Together = true
		out[i].Proposal = d.Proposal
		if d.Approve {
			out[i].Answer, out[i].Err = s.Confirm(ctx, by, d.Decision)
		} else {
			out[i].Answer, out[i].Err = s.Reject(ctx, by, d.Decision)
		}
	}
	return out, nil
}

// alone refuses what is decided one by one.
func (d Decision) alone(risk string) error {
	if d.Together && (risk == High || risk == Critical) {
		return refusal.New(refusal.PermissionDenied, "High and critical risk is decided one by one, on its own card. Nothing was done.")
	}
	return nil
}
