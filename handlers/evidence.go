package handlers

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/evidence"
	"countersign/internal/refusal"
	"countersign/views"
)

// showEvidence is GET /proposals/{id}/evidence: what exactly was approved, and did exactly that run.
func (s *Server) showEvidence(c echo.Context) error {
	var p views.EvidencePage
	e, err := s.evidenceOf(c, func(t *db.Tx) (err error) {
		p.Shell, err = s.shell(c, t, views.NavAudit, "")
		return err
	})
	if err != nil {
		return err
	}
	p.Evidence = e
	return s.render(c, http.StatusOK, views.EvidenceOf(p))
}

// apiEvidence is GET /proposals/{id}/evidence.
func (s *Server) apiEvidence(c echo.Context) error {
	e, err := s.evidenceOf(c, nil)
	if err != nil {
		return err
	}
	return s.json(c, http.StatusOK, e)
}

// evidenceOf reads and examines, and writes down who asked; who may not is written down too. What does not exist and
// what is another clinic's is not_found before anybody's role is looked at. Errors: not_found, permission_denied.
func (s *Server) evidenceOf(c echo.Context, more func(*db.Tx) error) (e evidence.Evidence, err error) {
	id, err := pathID(c)
	if err != nil {
		return e, err
	}
	by, ctx := actor(c), c.Request().Context()
	var no error
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		src, err := t.Evidence(ctx, id)
		if err != nil {
			return err
		}
		read := s.readEvent(t, by, audit.ReadEvidence, "proposal", id, 0, "")
		read.Proposal = id
		no = nil
		if policy := strings.HasPrefix(src.Proposal.Action, "change_policy"); !mayProve(by.Role) || policy && by.Role != clinic.RoleAdmin {
			no = refusal.New(refusal.PermissionDenied, "Evidence is read by admins, and for scheduling by reviewers.")
			read.Outcome, read.Code = audit.Denied, refusal.PermissionDenied
			return t.Audit(ctx, read)
		}
		if more != nil {
			if err := more(t); err != nil {
				return err
			}
		}
		e = evidence.Examine(src, t.Now())
		return t.Audit(ctx, read)
	})
	if err == nil {
		err = no
	}
	return e, err
}
