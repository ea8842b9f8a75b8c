package handlers

import (
	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/proposal"
	"countersign/views"
)

// reviewOf is who has a card, what was said beside it and, when it is over and was opened from the queue, the next one.
func (s *Server) reviewOf(c echo.Context, t *db.Tx, second bool, p *views.CardPage) error {
	by, ctx, r := actor(c), c.Request().Context(), p.Record
	waits := r.State == proposal.StateProposed
	found, err := t.ReviewOf(ctx, r.ID, waits)
	if err != nil {
		return err
	}
	p.Review = views.CardReview{ClaimedBy: found.ClaimedBy, GivenBy: found.GivenBy, ClaimedUntil: found.Until, Comments: found.Comments, CommentID: s.Desk.IDs("com")}
	if found.Escalated != nil {
		p.Review.Escalated = *found.Escalated
	}
	if waits && p.Revise.Code == "" {
		for _, a := range found.Deciders {
			if a.Person != by.Person && proposal.MayConfirm(a, r, r.Risk, second) == nil {
				p.Review.Deciders = append(p.Review.Deciders, views.Option{Value: a.Person, Label: a.PersonName})
			}
		}
	}
	if cameFrom(c) == "" {
		return nil
	}
	p.From = "queue"
	if p.Back.Href == "" {
		p.Back = views.Link{Href: queuePath, Text: "Back to the queue"}
	}
	if waits && r.ApprovedBy(by.Person) == nil {
		return nil
	}
	policies, err := t.PoliciesNow(ctx)
	if err != nil {
		return err
	}
	f := db.QueueFilter{Viewer: by.Person, Mine: true, Decidable: proposal.DecidableBy(by, second, policies)}
	next, err := t.NextInQueue(ctx, f, r.ExpiresAt, r.ID)
	if err == nil && next != nil {
		p.Next = &views.NextCard{Proposal: next.ID, Title: views.ActionWord(next.Action) + " " + next.Patient.Name, ExpiresAt: next.ExpiresAt}
	}
	return err
}
