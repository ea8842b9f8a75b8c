package handlers

import (
	"context"
	"encoding/json"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/clinic"
	"countersign/internal/outbox"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
	"countersign/views"
)

// cardPage reads all that a card shows, in one transaction and a fixed number of statements (ten at most). Who may do
// what is asked of the one policy, with the role the viewer has now. Errors: not_found.
func (s *Server) cardPage(c echo.Context, t *db.Tx, id string, try pressed) (views.CardPage, error) {
	by, ctx := actor(c), c.Request().Context()
	r, err := t.Proposal(ctx, id)
	if err != nil {
		return views.CardPage{}, err
	}
	p := views.CardPage{Record: r, Viewer: by.Person, Note: try.note}
	second, err := t.SecondPersonDecides(ctx)
	if err != nil {
		return p, err
	}
	p.Confirm = permission(proposal.MayConfirm(by, r, r.Risk, second))
	if r.State == proposal.StateProposed && r.ApprovedBy(by.Person) != nil {
		p.Confirm = views.Permission{Code: refusal.AlreadyDecided}
	}
	p.Reject = permission(proposal.MayReject(by, r, r.Risk, second))
	p.Revise = permission(proposal.MayRevise(by, r))
	p.Stop = permission(proposal.MayStop(by, r))
	revisions, err := t.Revisions(ctx, id)
	if err != nil {
		return p, err
	}
	trail, err := t.ProposalTrail(ctx, id)
	if err != nil {
		return p, err
	}
	sent, err := t.MessagesOf(ctx, id)
	if err != nil {
		return p, err
	}
	for _, m := range sent {
		p.Messages = append(p.Messages, messageState(m))
	}
	p.Timeline = timeline(by, r, revisions, trail, p.Messages)
	if p.Rivals, err = rivals(ctx, t, r); err != nil {
		return p, err
	}
	if p.Shell, err = s.shell(c, t, "", ""); err != nil {
		return p, err
	}
	if r.Plan.After.OfVisit() {
		p.Zone = r.Plan.After.Zone
	} else if r.Plan.IsBulk() {
		p.Zone = r.Plan.Before.Items[0].Zone
	}
	if r.CreatedVia == "assistant" && r.Owner == by.Person {
		thread, err := t.ThreadOf(ctx, id, by.Person)
		if err != nil {
			return p, err
		}
		if thread != "" {
			p.Back = views.Link{Href: threadPath(thread), Text: "Back to the conversation"}
		}
	}
	if err := s.reviewOf(c, t, second, &p); err != nil {
		return p, err
	}
	p.Failure, p.Options = failureOf(r)
	if p.Outside, err = outsideOf(ctx, t, by, r); err != nil {
		return p, err
	}
	if p.Freed, err = freedBy(ctx, t, r); err != nil {
		return p, err
	}
	if err := s.sayRefused(ctx, t, by, &p, try, revisions); err != nil {
		return p, err
	}
	if !p.Refusal.Is() {
		p.ConfirmKey = s.Desk.IDs("key")
	}
	p.RejectKey = s.Desk.IDs("key")
	return p, nil
}

// permission is why an act is not offered, or that it is.
func permission(err error) views.Permission {
	if r := refusal.Of(err); r != nil {
		return views.Permission{Code: r.Code}
	}
	return views.Permission{}
}

// sayRefused tells what was refused. Somebody who has decided already gets the outcome of their own decision; an older
// revision is shown beside the current one.
func (s *Server) sayRefused(ctx context.Context, t *db.Tx, by clinic.Actor, p *views.CardPage, try pressed, revisions []db.RevisionRow) error {
	if try.refusal == nil {
		return nil
	}
	r := p.Record
	if try.refusal.Code == refusal.AlreadyDecided && r.DecidedBy != nil && r.DecidedBy.ID == by.ID() {
		p.Flash = views.Flash{Kind: views.FlashNotice, Text: "You had decided this already. This click changed nothing."}
		return nil
	}
	if try.refusal.Code == refusal.AlreadyDecided && r.State == proposal.StateProposed && r.ApprovedBy(by.Person) != nil {
		p.Flash = views.Flash{Kind: views.FlashNotice, Text: try.refusal.Message + " This click changed nothing."}
		return nil
	}
	p.Refusal = pageRefusal(try.refusal)
	if try.refusal.Code != refusal.ResourceChanged || try.revision < 1 || try.revision >= r.Revision {
		return nil
	}
	plan, hash, err := t.RevisionPlan(ctx, r.ID, try.revision)
	if err != nil {
		return err
	}
	p.Seen = &views.SeenRevision{Revision: try.revision, PlanHash: hash, Plan: plan}
	for _, v := range revisions {
		if v.Revision == r.Revision {
			p.Seen.EditedBy, p.Seen.EditedAt = v.By.Name, v.At
		}
	}
	return nil
}

// rivals are the others that want the time of a proposal that still waits.
func rivals(ctx context.Context, t *db.Tx, r proposal.Record) ([]views.Rival, error) {
	to := r.Plan.After
	if r.State != proposal.StateProposed || to == nil || to.Status != clinic.StatusBooked {
		return nil, nil
	}
	found, err := t.Rivals(ctx, r.ID, to.Practitioner.ID, to.StartsAt, to.EndsAt)
	var out []views.Rival
	for _, w := range found {
		out = append(out, views.Rival{Proposal: w.ID, Title: views.ActionWord(w.Action) + " " + w.Patient.Name, StartsAt: w.StartsAt, Zone: to.Zone})
	}
	return out, err
}

// failureOf reads what an approved write that did not happen left: its code, and other times, none chosen.
func failureOf(r proposal.Record) (string, []views.Slot) {
	if r.State != proposal.StateFailed {
		return "", nil
	}
	var result struct {
		Code         string                 `json:"code"`
		Alternatives []proposal.Alternative `json:"alternatives"`
	}
	if json.Unmarshal(r.Result, &result) != nil {
		return "", nil
	}
	if len(result.Alternatives) == 0 {
		return result.Code, nil
	}
	return result.Code, alternativeSlots(result.Alternatives, r.Plan.After.Zone)
}

func messageState(m db.OutboxRow) views.MessageState {
	out := views.MessageState{ID: m.ID, Kind: m.Kind, Channel: m.Channel, Recipient: m.Recipient, State: m.State, At: m.CreatedAt, Attempts: m.Attempts, PlanHash: m.PlanHash}
	switch {
	case m.SentAt != nil:
		out.At = *m.SentAt
	case views.NotTold(m.State), m.State == outbox.Suppressed, m.State == outbox.Expired:
		out.At = m.NextAt // set when it was given up
	}
	if m.LastCode != nil {
		out.Code = *m.LastCode
	}
	return out
}
