package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/internal/proposal"
)

// stopProposal is POST /proposals/{id}/stop, from the card of a bulk that is being carried out.
func (s *Server) stopProposal(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	if _, err := s.Desk.Stop(c.Request().Context(), actor(c), id); err != nil {
		return s.refusedOnCard(c, id, err, pressed{})
	}
	return s.decided(c, id, http.StatusOK, false)
}

// stopped is the API's answer to it.
type stopped struct {
	Outcome  string          `json:"outcome"`
	Proposal proposal.Record `json:"proposal"`
}

// apiStop is POST /proposals/{id}/stop.
func (s *Server) apiStop(c echo.Context) error {
	b, err := bodyOf(c)
	if err != nil {
		return err
	}
	if err := b.refuse(); err != nil {
		return err
	}
	r, err := s.Desk.Stop(c.Request().Context(), actor(c), c.Param("id"))
	if err != nil {
		return err
	}
	return s.json(c, http.StatusOK, stopped{r.Outcome, r})
}
