package handlers

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/refusal"
	"countersign/views"
)

// showCard is GET /proposals/{id}: the card as the proposal stands now.
func (s *Server) showCard(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	typed, err := s.heldFields(c, "/proposals/"+id+"/reject")
	if err != nil {
		return err
	}
	by, ctx := actor(c), c.Request().Context()
	var p views.CardPage
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		if p, err = s.cardPage(c, t, id, pressed{}); err != nil {
			return err
		}
		return s.cardShown(ctx, t, by, p)
	})
	if err != nil {
		return err
	}
	p.Note = typed.Get("reason")
	return s.render(c, http.StatusOK, views.Card(p))
}

// pressed is what was just tried on a card.
type pressed struct {
	refusal  *refusal.Error // nil when it was done
	revision int            // the one the form named
	note     string         // the reason typed into it
}

// decided answers a confirmation or rejection with the outcome card: 303 to it, or for HTMX the card itself.
func (s *Server) decided(c echo.Context, id string, status int, replayed bool) error {
	if replayed {
		c.Response().Header().Set("Idempotency-Replayed", "true")
	}
	if page := pageOf(c, ""); strings.HasPrefix(page, threadPath("")) {
		return redirect(c, page) // it was decided beside its conversation
	}
	if !isHTMX(c) {
		return redirect(c, cardPath(id)+cameFrom(c))
	}
	if err := s.answerCard(c, id, status, pressed{}); err != nil {
		return redirect(c, cardPath(id)) // it was done: what became of it is said by the card alone
	}
	return nil
}

// refusedOnCard answers a refusal with the card as it stands now, without a live Confirm. What the card does not speak
// of goes to fail: 404 is the same whatever exists, and what broke is no matter of this proposal.
func (s *Server) refusedOnCard(c echo.Context, id string, err error, try pressed) error {
	r := refusal.Of(err)
	if r == nil || r.Cause != nil && r.Code != refusal.PlanHashMismatch {
		return err
	}
	switch r.Code {
	case refusal.NotFound, refusal.Busy, refusal.Internal, refusal.Unauthenticated:
		return err
	}
	try.refusal = r
	if answers[r.Code].later {
		c.Response().Header().Set("Retry-After", strconv.Itoa(retryAfter(r)))
	}
	if failed := s.answerCard(c, id, answers[r.Code].status, try); failed != nil {
		if x := refusal.Of(failed); x != nil && x.Code == refusal.NotFound {
			return err
		}
		return failed
	}
	c.Set(codeKey, r.Code)
	return nil
}

// answerCard draws the card after something was tried on it.
func (s *Server) answerCard(c echo.Context, id string, status int, try pressed) error {
	var p views.CardPage
	err := s.DB.InClinic(c.Request().Context(), actor(c).Clinic, func(t *db.Tx) (err error) {
		if p, err = s.cardPage(c, t, id, try); err != nil {
			return err
		}
		return s.cardShown(c.Request().Context(), t, actor(c), p)
	})
	if err != nil {
		return err
	}
	if isHTMX(c) {
		c.Response().Header().Set("HX-Push-Url", cardPath(id)+cameFrom(c))
	}
	return s.render(c, status, views.Card(p))
}

// cardPath is the page of a proposal that exists.
func cardPath(id string) string { return "/proposals/" + id }
