package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/views"
)

// showAudit is GET /audit: the trail as far as one's role reaches, newest first. Filters are those of the API.
func (s *Server) showAudit(c echo.Context) error {
	var p views.AuditPage
	by, ctx := actor(c), c.Request().Context()
	limit, err := pageSize(c)
	if err != nil {
		return err
	}
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		p = views.AuditPage{Proposal: c.QueryParam("proposal"), Appointment: c.QueryParam("appointment"), Patient: c.QueryParam("patient"),
			Hash: c.QueryParam("hash"), From: c.QueryParam("from"), To: c.QueryParam("to"), Own: by.Role == clinic.RoleStaff}
		if p.Shell, err = s.shell(c, t, views.NavAudit, ""); err != nil {
			return err
		}
		if !p.Own { // whoever sees only their own entries needs no choice of people
			people, err := t.Actors(ctx)
			if err != nil {
				return err
			}
			for _, a := range people {
				p.Actor = append(p.Actor, views.Option{Value: a.ID, Label: a.Name, Selected: a.ID == c.QueryParam("actor")})
			}
		}
		rows, older, err := s.trail(c, t, limit)
		if err != nil {
			return err
		}
		p.Older = older
		for _, r := range rows {
			p.Rows = append(p.Rows, views.AuditRow{ID: r.ID, At: r.At, Who: r.Actor.Name, OnBehalfOf: r.OnBehalfOf.Name, Kind: r.ActorKind, Via: r.Via,
				Action: r.Action, Outcome: r.Outcome, Code: r.Code, ObjectKind: r.ObjectKind, Object: r.Object, Version: r.Version, Proposal: r.Proposal,
				Revision: r.Revision, PlanHash: r.PlanHash})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, a := range audit.Actions() {
		p.Action = append(p.Action, views.Option{Value: a, Label: views.AuditWord(a), Selected: a == c.QueryParam("action")})
	}
	for _, o := range []string{audit.Success, audit.Denied, audit.Failed} {
		p.Outcome = append(p.Outcome, views.Option{Value: o, Label: views.AuditWord(o), Selected: o == c.QueryParam("outcome")})
	}
	for name, values := range c.QueryParams() {
		p.Filtered = p.Filtered || name != "cursor" && name != "limit" && values[0] != ""
	}
	return s.render(c, http.StatusOK, views.Audit(p))
}
