package handlers

import (
	"github.com/labstack/echo/v4"

	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// apiConfirm is POST /proposals/{id}/confirm. What runs is the stored plan; the body only names it.
func (s *Server) apiConfirm(c echo.Context) error {
	d, err := decisionOf(c, false)
	if err != nil {
		return err
	}
	out, err := s.Desk.Confirm(c.Request().Context(), actor(c), d)
	return s.answered(c, out, err)
}

// apiReject is POST /proposals/{id}/reject; for an agent's own proposal it is withdrawing.
func (s *Server) apiReject(c echo.Context) error {
	d, err := decisionOf(c, true)
	if err != nil {
		return err
	}
	out, err := s.Desk.Reject(c.Request().Context(), actor(c), d)
	return s.answered(c, out, err)
}

func decisionOf(c echo.Context, rejecting bool) (proposal.Decision, error) {
	b, err := bodyOf(c)
	if err != nil {
		return proposal.Decision{}, err
	}
	return decisionIn(c, b, rejecting)
}

// decisionIn reads a decision on the proposal of the path.
func decisionIn(c echo.Context, b *body, rejecting bool) (proposal.Decision, error) {
	d := proposal.Decision{Proposal: c.Param("id"), Revision: b.number("revision"), PlanHash: b.text("plan_hash", true)}
	if id := b.any("proposal_id"); id != nil && id != d.Proposal {
		b.bad("proposal_id", "This is not the proposal of the address.")
	}
	if rejecting {
		d.Reason = b.any("reason")
	}
	field := b.any("idempotency_key")
	if err := b.refuse(); err != nil {
		return d, err
	}
	var err error
	if d.Key, err = keyOf(c, field); err == nil && !proposal.ValidKey(d.Key) {
		err = refusal.New(refusal.IdempotencyKeyMissing)
	}
	return d, err
}
