package handlers

import "github.com/labstack/echo/v4"

// rejectProposal is POST /proposals/{id}/reject, from the card.
func (s *Server) rejectProposal(c echo.Context) error {
	d, err := pageDecision(c, true)
	if err == nil {
		out, failed := s.Desk.Reject(c.Request().Context(), actor(c), d)
		if failed == nil {
			return s.decided(c, d.Proposal, out.Status, out.Replayed)
		}
		err = failed
	}
	return s.refusedOnCard(c, d.Proposal, err, pressed{revision: d.Revision, note: form(c).Get("reason")})
}
