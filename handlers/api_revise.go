package handlers

import (
	"github.com/labstack/echo/v4"

	"countersign/internal/proposal"
)

// apiRevise is POST /proposals/{id}/revisions.
func (s *Server) apiRevise(c echo.Context) error {
	b, err := bodyOf(c)
	if err != nil {
		return err
	}
	r := proposal.Revising{Proposal: c.Param("id"), Revision: b.number("revision"), PlanHash: b.text("plan_hash", true), Parameters: b.object("parameters")}
	if err := b.refuse(); err != nil {
		return err
	}
	out, err := s.Desk.Revise(c.Request().Context(), actor(c), r)
	return s.answered(c, out, err)
}
