package handlers

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/views"
)

const auditPath = "/audit"

// showAudit is GET /audit: the trail as far as one's role reaches, newest first. Filters are those of the API.
func (s *Server) showAudit(c echo.Context) error {
	var p views.AuditPage
	by, ctx := actor(c), c.Request().Context()
	limit, err := pageSize(c)
	if err != nil {
		return err
	}
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		p = views.AuditPage{Own: by.Role == clinic.RoleStaff, MayProve: mayProve(by.Role)}
		if p.Shell, err = s.shell(c, t, views.NavAudit, ""); err != nil {
			return err
		}
		if mayExport(by) == nil {
			key, err := s.AuditKey()
			if err != nil {
				return err
			}
			p.Key, p.ExportQuery = key.Public, filterText(c.QueryParams())
		}
		if err := s.trailChoices(c, t, &p); err != nil {
			return err
		}
		rows, older, err := s.trail(c, t, limit)
		if err != nil {
			return err
		}
		if older != "" {
			p.OlderURL = trailURL(c, older)
		}
		for _, r := range rows {
			p.Rows = append(p.Rows, views.AuditRow{ID: r.ID, At: r.At, Who: r.Actor.Name, Actor: r.Actor.ID, OnBehalfOf: r.OnBehalfOf.Name, Kind: r.ActorKind, Via: r.Via,
				Action: r.Action, Outcome: r.Outcome, Code: r.Code, ObjectKind: r.ObjectKind, Object: r.Object, Version: r.Version, Patient: r.Patient,
				Proposal: r.Proposal, Revision: r.Revision, PlanHash: r.PlanHash, Risk: r.Risk, Request: r.Request})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, views.Audit(p))
}

// trailChoices fills what can be chosen and what was.
func (s *Server) trailChoices(c echo.Context, t *db.Tx, p *views.AuditPage) error {
	ctx, q := c.Request().Context(), c.QueryParam
	p.Proposal, p.Appointment, p.Patient, p.Request, p.From, p.To, p.Fast = q("proposal"), q("appointment"), q("patient"), q("request"), q("from"), q("to"), q("fast") == "1"
	if p.Proposal == "" {
		p.Proposal = q("hash")
	}
	if !p.Own { // whoever sees only their own entries needs no choice of people
		all, err := t.Actors(ctx)
		if err != nil {
			return err
		}
		p.Actor = actorOptions(all, q("actor"))
		p.OnBehalfOf = actorOptions(slices.DeleteFunc(all, func(a db.Actor) bool { return a.Agent }), q("on_behalf_of"))
	}
	locations, err := t.Locations(ctx)
	if err != nil {
		return err
	}
	zones := map[string]bool{}
	for _, l := range locations {
		zones[l.Zone] = true
		p.Location = append(p.Location, views.Option{Value: l.ID, Label: l.Name + " (" + l.Zone + ")", Selected: l.ID == q("location")})
		if l.ID == q("location") {
			p.Zone = l.Zone
		}
	}
	if len(zones) < 2 {
		p.Location = nil // one zone: no choice
	}
	choose := func(chosen string, word func(string) string, codes ...string) (out []views.Option) {
		for _, code := range codes {
			out = append(out, views.Option{Value: code, Label: word(code), Selected: code == chosen})
		}
		return out
	}
	p.Action = choose(q("action"), views.AuditWord, audit.Actions()...)
	p.Outcome = choose(q("outcome"), views.AuditWord, audit.Success, audit.Denied, audit.Failed, audit.Partial)
	p.Risk = choose(q("risk"), views.RiskWord, proposal.Low, proposal.Medium, proposal.High, proposal.Critical)
	p.Agent = choose(q("agent"), views.AgentWord, db.AgentYes, db.AgentNo)
	for name, values := range c.QueryParams() {
		p.Filtered = p.Filtered || name != "cursor" && name != "limit" && values[0] != ""
	}
	return nil
}

// actorOptions are people and agents to choose from. Somebody who is gone altogether can still be asked for by id.
func actorOptions(all []db.Actor, chosen string) (out []views.Option) {
	known := chosen == ""
	for _, a := range all {
		o := views.Option{Value: a.ID, Label: a.Name, Selected: a.ID == chosen}
		if a.Agent {
			o.Label += " (agent)"
		}
		if a.Ended {
			o.Label += ", access ended"
		}
		known = known || o.Selected
		out = append(out, o)
	}
	if !known {
		out = append(out, views.Option{Value: chosen, Label: chosen, Selected: true})
	}
	return out
}

// trailURL is the page of the same filters from a cursor on.
func trailURL(c echo.Context, cursor string) string {
	next := url.Values{"cursor": {cursor}}
	for name, values := range c.QueryParams() {
		if name != "cursor" && name != "limit" && values[0] != "" {
			next[name] = values
		}
	}
	return auditPath + "?" + next.Encode()
}

// mayProve: whoever reads more of the trail than their own reads evidence (contract section 7).
func mayProve(role string) bool { return role == clinic.RoleAdmin || role == clinic.RoleReviewer }
