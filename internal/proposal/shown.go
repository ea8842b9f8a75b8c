package proposal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"countersign/internal/clinic"
)

// Showing is that somebody was shown one revision: the facts of its card exactly as they went out, and through which
// door. A card that cannot be recorded is not shown.
type Showing struct {
	ID       string
	Proposal string
	Revision int
	PlanHash string
	Card     []byte
	By       clinic.Actor
	Via      string // page, api, assistant, mcp
}

// CardHash is the lower-case hex sha256 of a card's bytes.
func CardHash(card []byte) string {
	sum := sha256.Sum256(card)
	return hex.EncodeToString(sum[:])
}

// shownAnswer is what a program was given of a proposal, without what changes while it waits: the same bytes for one
// revision and risk. The plan itself is kept with its revision.
type shownAnswer struct {
	Proposal    string    `json:"id"`
	Revision    int       `json:"revision"`
	PlanHash    string    `json:"plan_hash"`
	Action      string    `json:"action"`
	Risk        string    `json:"risk"`
	RiskReasons []string  `json:"risk_reasons"`
	Warnings    []string  `json:"warnings"`
	Summary     Summary   `json:"summary"`
	ExpiresAt   time.Time `json:"expires_at"`
	Reason      *string   `json:"reason"`
}

// Shown is a showing of the record as a JSON answer through a door.
func Shown(id string, by clinic.Actor, via string, r Record) (Showing, error) {
	card, err := encode(shownAnswer{r.ID, r.Revision, r.PlanHash, r.Action, r.Risk, r.RiskReasons, r.Warnings, r.Summary, r.ExpiresAt, r.Reason})
	return Showing{ID: id, Proposal: r.ID, Revision: r.Revision, PlanHash: r.PlanHash, Card: card, By: by, Via: via}, err
}

// showAnswer records what a program is given when it proposes or edits. A page draws the card itself, and records that.
func (s *Service) showAnswer(ctx context.Context, tx Tx, by clinic.Actor, r Record) error {
	if by.Via != "api" && by.Via != "mcp" {
		return nil
	}
	shown, err := Shown(s.IDs("shw"), by, by.Via, r)
	if err == nil {
		_, err = tx.Show(ctx, false, shown)
	}
	return err
}
