package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/proposal"
	"countersign/views"
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

// cardChanged is GET /proposals/{id}/changed?seen=: 204 while what was confirmed stands where it was seen, else its card as it is
// now. The page asks by itself and has been written down as read, so this leaves no row in the trail.
func (s *Server) cardChanged(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	var p views.CardPage
	err = s.read(c, func(t *db.Tx) (err error) {
		p, err = s.cardPage(c, t, id, pressed{})
		return err
	})
	if err != nil {
		return err
	}
	if p.Progress() == c.QueryParam("seen") {
		return c.NoContent(http.StatusNoContent)
	}
	p.Polled = true
	return s.render(c, http.StatusOK, views.Card(p))
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
