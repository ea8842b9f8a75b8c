package handlers

import (
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

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
	r, err := s.Desk.Get(c.Request().Context(), actor(c), id)
	if err != nil {
		return err
	}
	return s.json(c, http.StatusOK, r)
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
	items, err := s.Desk.List(c.Request().Context(), actor(c), f)
	if err != nil {
		return err
	}
	next := ""
	if len(items) > limit {
		items = items[:limit]
		next = cursorOf(items[limit-1].MadeAt, items[limit-1].ID)
	}
	return s.json(c, http.StatusOK, listOf(items, next))
}

// cursorOf names the last row of a page; it holds a time and an id and nothing of a patient.
func cursorOf(at time.Time, id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(at.UTC().Format(time.RFC3339Nano) + " " + id))
}

func proposalCursor(s string) (*proposal.Cursor, error) {
	if s == "" {
		return nil, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(s)
	stamp, id, ok := strings.Cut(string(raw), " ")
	at, bad := time.Parse(time.RFC3339Nano, stamp)
	if err != nil || !ok || bad != nil || !clinic.ValidID(id) {
		return nil, refusal.Invalid(refusal.Field{Name: "cursor", Message: "This is not the cursor of a list."})
	}
	return &proposal.Cursor{CreatedAt: at.UTC(), ID: id}, nil
}
