package handlers

import (
	"fmt"
	"time"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// toolPropose is each propose tool: the arguments are the action's parameters, checked by the service as every door's.
// An agent that lost its context and asks again, in whatever words, gets the card that waits (case F6).
func (s *Server) toolPropose(c *call, action string, parameters []member) (told, error) {
	p := proposal.Proposing{Action: action, Parameters: map[string]any{}, Reason: c.any("reason"), Key: c.text("idempotency_key", false),
		Scope: c.by.ID()}
	for _, m := range parameters {
		if v := c.any(m.name); v != nil {
			p.Parameters[m.name] = v
		}
	}
	if err := c.refuse(); err != nil {
		return told{}, err
	}
	out, err := s.Desk.Propose(c, c.by, p)
	if err != nil {
		return told{}, err
	}
	card := c.card(out.Record)
	if again := out.Status == proposal.StatusOK || out.Replayed; again && out.Record.State == proposal.StateProposed {
		card.words += " You asked for this before: it is the same proposal that waits already, and nothing new was made."
	}
	return card, nil
}

// toolProposal is get_proposal.
func (s *Server) toolProposal(c *call) (told, error) {
	id, err := c.id("proposal")
	if err != nil {
		return told{}, err
	}
	r, err := s.givenProposal(c, c.by, id)
	if err != nil {
		return told{}, err
	}
	return c.card(r), nil
}

// card tells of a proposal: what has happened, above all when nothing has, and where a person decides.
func (c *call) card(r proposal.Record) told {
	link := c.link(r)
	hash := shortHash(r)
	about := fmt.Sprintf("proposal %s, revision %d, hash %s, risk %s", r.ID, r.Revision, hash, r.Risk)
	words := "This " + about + " is " + r.State + "."
	switch {
	case r.State == proposal.StateProposed:
		words = fmt.Sprintf("Nothing has happened yet: %s waits for a person, who decides at %s until %s. You cannot decide it. Give the person the link.",
			about, link, r.ExpiresAt.UTC().Format(time.RFC3339))
		if r.Stale {
			words += " What it rests on has changed since; a person must review it anew."
		}
	case r.Outcome == proposal.OutcomeNotExecuted:
		words += " Nothing has happened, and nothing will."
	case r.Outcome == proposal.OutcomeFailed:
		words += " It was confirmed and could not be done; nothing has changed."
	}
	return told{words, map[string]any{"executed": r.Outcome == proposal.OutcomeCompleted, "decide_at": link, "plan_hash_short": hash, "proposal": r}}
}

func (c *call) link(r proposal.Record) string { return c.base + "/proposals/" + r.ID }

// shortHash is enough of the plan's hash for people to compare.
func shortHash(r proposal.Record) string { return r.PlanHash[:min(len(r.PlanHash), 12)] }

// ownProposal is a proposal in a list: the card without its plan.
type ownProposal struct {
	ID        string           `json:"id"`
	Revision  int              `json:"revision"`
	PlanHash  string           `json:"plan_hash"`
	State     string           `json:"state"`
	Outcome   string           `json:"outcome"`
	Action    string           `json:"action"`
	Risk      string           `json:"risk"`
	Summary   proposal.Summary `json:"summary"`
	Stale     bool             `json:"stale"`
	CreatedAt time.Time        `json:"created_at"`
	ExpiresAt time.Time        `json:"expires_at"`
	DecideAt  string           `json:"decide_at"`
}

// toolProposals is list_my_proposals: what the token, or the person whose token it is, proposed itself.
func (s *Server) toolProposals(c *call) (told, error) {
	const most = 20
	f := proposal.Filter{State: c.text("state", false), CreatedBy: c.by.ID(), Limit: most + 1}
	cursor := c.text("cursor", false)
	err := c.refuse()
	if err == nil {
		err = proposal.ValidState(f.State)
	}
	if err == nil {
		f.Before, err = proposalCursor(cursor)
	}
	if err != nil {
		return told{}, err
	}
	found, err := s.givenProposals(c, c.by, f)
	if err != nil {
		return told{}, err
	}
	next := ""
	if len(found) > most {
		found = found[:most]
		next = db.MakeCursor(found[most-1].MadeAt, found[most-1].ID)
	}
	items, waiting := []ownProposal{}, 0
	for _, r := range found {
		if r.State == proposal.StateProposed {
			waiting++
		}
		items = append(items, ownProposal{r.ID, r.Revision, r.PlanHash, r.State, r.Outcome, r.Action, r.Risk, r.Summary, r.Stale, r.CreatedAt, r.ExpiresAt, c.link(r)})
	}
	words := fmt.Sprintf("%d proposals of yours, the newest first; %d of them wait for a person and have changed nothing.", len(items), waiting)
	return told{words, map[string]any{"items": items, "next_cursor": orNull(next)}}, nil
}

// toolWithdraw is withdraw_proposal. The key is made from what is withdrawn, so that asking again is a replay.
func (s *Server) toolWithdraw(c *call) (told, error) {
	reason := c.any("reason")
	id, err := c.id("proposal")
	if err != nil {
		return told{}, err
	}
	r, err := s.Desk.Get(c, c.by, id)
	if err != nil {
		return told{}, err
	}
	if r.CreatedBy.ID != c.by.ID() {
		return told{}, s.notYours(c, r)
	}
	out, err := s.Desk.Reject(c, c.by, proposal.Decision{Proposal: id, Revision: r.Revision, PlanHash: r.PlanHash,
		Key: fmt.Sprintf("mcp.withdraw.%s.%d", id, r.Revision), Reason: reason})
	if err != nil {
		return told{}, err
	}
	return c.card(out.Record), nil
}

// notYours refuses, and writes down, that somebody would take back what is not theirs.
func (s *Server) notYours(c *call, r proposal.Record) error {
	no := refusal.New(refusal.PermissionDenied, "Only what you proposed yourself can be taken back here.")
	err := s.DB.InClinic(c, c.by.Clinic, func(t *db.Tx) error {
		e := s.readEvent(t, c.by, audit.Withdraw, "proposal", r.ID, 0, "")
		e.Outcome, e.Code, e.Proposal, e.Revision, e.PlanHash, e.Risk = audit.Denied, no.Code, r.ID, r.Revision, r.PlanHash, r.Risk
		return t.Audit(c, e)
	})
	if err != nil {
		return err
	}
	return no
}
