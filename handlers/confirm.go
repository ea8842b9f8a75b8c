package handlers

import "github.com/labstack/echo/v4"

// confirmProposal is POST /proposals/{id}/confirm, from the card.
func (s *Server) confirmProposal(c echo.Context) error {
	d, err := pageDecision(c, false)
	if err == nil {
		out, failed := s.Desk.Confirm(c.Request().Context(), actor(c), d)
		if failed == nil {
			return s.decided(c, d.Proposal, out.Status, out.Replayed)
		}
		err = failed
	}
	return s.refusedOnCard(c, d.Proposal, err, pressed{revision: d.Revision})
}
