package handlers

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// apiProposal is GET /proposals/{id}.
func (s *Server) apiProposal(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	r, err := s.givenProposal(c.Request().Context(), actor(c), id)
	if err != nil {
		return err
	}
	return s.json(c, http.StatusOK, r)
}

// givenProposal reads a proposal for a program, and writes down that it was given.
func (s *Server) givenProposal(ctx context.Context, by clinic.Actor, id string) (r proposal.Record, err error) {
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		if r, err = t.Proposal(ctx, id); err != nil {
			return err
		}
		return s.answerShown(ctx, t, by, r)
	})
	return r, err
}

// givenProposals reads a list of them. A list is no card: the look is written down, and not what each showed.
func (s *Server) givenProposals(ctx context.Context, by clinic.Actor, f proposal.Filter) (items []proposal.Record, err error) {
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		if items, err = t.Proposals(ctx, f); err != nil {
			return err
		}
		return t.Audit(ctx, s.readEvent(t, by, audit.ListProposals, "", "", 0, ""))
	})
	return items, err
}

// apiProposals is GET /proposals?state=&cursor=: newest first, terminal ones too.
func (s *Server) apiProposals(c echo.Context) error {
	if err := onlyQuery(c, "state", "cursor", "limit"); err != nil {
		return err
	}
	limit, err := pageSize(c)
	if err != nil {
		return err
	}
	f := proposal.Filter{State: c.QueryParam("state"), Limit: limit + 1}
	if err := proposal.ValidState(f.State); err != nil {
		return err
	}
	if f.Before, err = proposalCursor(c.QueryParam("cursor")); err != nil {
		return err
	}
	items, err := s.givenProposals(c.Request().Context(), actor(c), f)
	if err != nil {
		return err
	}
	next := ""
	if len(items) > limit {
		items = items[:limit]
		next = db.MakeCursor(items[limit-1].MadeAt, items[limit-1].ID)
	}
	return s.json(c, http.StatusOK, listOf(items, next))
}

func proposalCursor(s string) (*proposal.Cursor, error) {
	if s == "" {
		return nil, nil
	}
	at, id, ok := db.ReadCursor(s)
	if !ok {
		return nil, refusal.Invalid(refusal.Field{Name: "cursor", Message: "This is not the cursor of a list."})
	}
	return &proposal.Cursor{CreatedAt: at, ID: id}, nil
}
