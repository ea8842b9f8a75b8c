package handlers

import (
	"bytes"
	"context"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/views"
)

// cardShown writes down, in the transaction that read the card, that it was looked at and what it showed: the facts byte
// for byte as the page will hold them. What shows no facts, an unreadable plan or the comparison of a stale tab, leaves
// the look alone.
func (s *Server) cardShown(ctx context.Context, t *db.Tx, by clinic.Actor, p views.CardPage) error {
	if err := t.Audit(ctx, s.proposalRead(t, by, p.Record)); err != nil || p.Record.Tampered() || p.Seen != nil {
		return err
	}
	var card bytes.Buffer
	if err := views.ShownCard(p).Render(ctx, &card); err != nil {
		return err
	}
	via := by.Via
	if p.Thread != "" {
		via = "assistant"
	}
	_, err := t.Show(ctx, false, proposal.Showing{ID: s.Desk.IDs("shw"), Proposal: p.Record.ID, Revision: p.Record.Revision, PlanHash: p.Record.PlanHash,
		Card: card.Bytes(), By: by, Via: via})
	return err
}

// answerShown is cardShown for a proposal given as JSON.
func (s *Server) answerShown(ctx context.Context, t *db.Tx, by clinic.Actor, r proposal.Record) error {
	if err := t.Audit(ctx, s.proposalRead(t, by, r)); err != nil || r.Tampered() {
		return err
	}
	shown, err := proposal.Shown(s.Desk.IDs("shw"), by, by.Via, r)
	if err == nil {
		_, err = t.Show(ctx, false, shown)
	}
	return err
}

// pendingShown is answerShown for the confirmation that a conversation waits for, given with the conversation. Programs
// ask for that every other second: what they have seen is not written down again.
func (s *Server) pendingShown(ctx context.Context, t *db.Tx, by clinic.Actor, r proposal.Record) error {
	if r.Tampered() {
		return nil
	}
	shown, err := proposal.Shown(s.Desk.IDs("shw"), by, "assistant", r)
	if err != nil {
		return err
	}
	n, err := t.Show(ctx, true, shown)
	if err != nil || n == 0 {
		return err
	}
	return t.Audit(ctx, s.proposalRead(t, by, r))
}

func (s *Server) proposalRead(t *db.Tx, by clinic.Actor, r proposal.Record) audit.Event {
	read := s.readEvent(t, by, audit.ReadProposal, "proposal", r.ID, 0, "")
	read.Proposal, read.Revision, read.PlanHash, read.Risk = r.ID, r.Revision, r.PlanHash, r.Risk
	if r.Plan.After != nil {
		read.Patient = r.Plan.After.Patient.ID
	}
	return read
}
