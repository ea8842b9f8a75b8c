package handlers

import (
	"context"

	"github.com/labstack/echo/v4"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// reviewed does one thing beside a card and leads back to it; a refusal is said on the card.
func (s *Server) reviewed(c echo.Context, b *body, do func(ctx context.Context, by clinic.Actor, id string) error) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	b.any("from")
	if err = b.refuse(); err == nil {
		err = do(c.Request().Context(), actor(c), id)
	}
	if err != nil {
		return s.refusedOnCard(c, id, err, pressed{})
	}
	return redirect(c, cardPath(id)+cameFrom(c))
}

// cameFrom is the query of a card that was opened from the queue, so that it leads on to the next.
func cameFrom(c echo.Context) string {
	if c.QueryParam("from") == "queue" || form(c).Get("from") == "queue" {
		return "?from=queue"
	}
	return ""
}

// claimProposal is POST /proposals/{id}/claim: holder is who had it when the form was drawn.
func (s *Server) claimProposal(c echo.Context) error {
	b := formBody(c)
	holder := b.text("holder", false)
	return s.reviewed(c, b, func(ctx context.Context, by clinic.Actor, id string) error { return s.Desk.Claim(ctx, by, id, holder) })
}

// releaseProposal is POST /proposals/{id}/release.
func (s *Server) releaseProposal(c echo.Context) error {
	return s.reviewed(c, formBody(c), s.Desk.Release)
}

// delegateProposal is POST /proposals/{id}/delegate: to is an account's id.
func (s *Server) delegateProposal(c echo.Context) error {
	b := formBody(c)
	to := b.text("to", true)
	return s.reviewed(c, b, func(ctx context.Context, by clinic.Actor, id string) error { return s.Desk.Delegate(ctx, by, id, to) })
}

// escalateProposal is POST /proposals/{id}/escalate.
func (s *Server) escalateProposal(c echo.Context) error {
	b := formBody(c)
	revision, reason := b.number("revision"), b.any("reason")
	return s.reviewed(c, b, func(ctx context.Context, by clinic.Actor, id string) error {
		return s.Desk.Escalate(ctx, by, id, revision, reason)
	})
}

// commentProposal is POST /proposals/{id}/comments: comment is the id that the form was drawn with.
func (s *Server) commentProposal(c echo.Context) error {
	b := formBody(c)
	m := proposal.Comment{Revision: b.number("revision"), Text: b.text("text", true), ID: b.text("comment", true)}
	return s.reviewed(c, b, func(ctx context.Context, by clinic.Actor, id string) error {
		m.Proposal = id
		return s.Desk.Comment(ctx, by, m)
	})
}
