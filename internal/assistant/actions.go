package assistant

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"

	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// looking are what a conversation does without asking anybody: it only reads. None of them can wait for a confirmation.
var looking = []string{"find_patient", "find_slots", "get_appointment"}

// MayWait refuses what cannot become a waiting call: an action that is not registered, and one that needs no
// confirmation. Every registered action needs one.
func MayWait(action string) error {
	switch {
	case slices.Contains(proposal.Actions(), action):
		return nil
	case slices.Contains(looking, action):
		return refusal.Invalid(refusal.Field{Name: "action", Message: "This only reads, so there is nothing to confirm."})
	default:
		return refusal.New(refusal.UnknownAction).With("actions", proposal.Actions())
	}
}

// choiceID is of the content and its place, so that an id that somebody holds never comes to mean something else.
func choiceID(n int, c Choice) string {
	c.ID = ""
	b, _ := json.Marshal(c) // plain values always encode
	sum := sha256.Sum256(append(strconv.AppendInt(nil, int64(n), 10), b...))
	return "cho_" + hex.EncodeToString(sum[:12])
}
