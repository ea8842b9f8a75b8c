package handlers

import (
	"github.com/labstack/echo/v4"

	"countersign/internal/proposal"
)

// apiPropose is POST /proposals.
func (s *Server) apiPropose(c echo.Context) error {
	b, err := bodyOf(c)
	if err != nil {
		return err
	}
	p := proposal.Proposing{Action: b.text("action", true), Parameters: b.object("parameters"), Reason: b.any("reason")}
	key := b.any("idempotency_key")
	if err := b.refuse(); err != nil {
		return err
	}
	if p.Key, err = keyOf(c, key); err != nil {
		return err
	}
	out, err := s.Desk.Propose(c.Request().Context(), actor(c), p)
	return s.answered(c, out, err)
}

// answered gives a service's answer: the saved bytes, and whether they are a replay.
func (s *Server) answered(c echo.Context, a proposal.Answer, err error) error {
	if err != nil {
		return err
	}
	if a.Replayed {
		c.Response().Header().Set("Idempotency-Replayed", "true")
	}
	return c.JSONBlob(a.Status, a.Body)
}
