package handlers

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

type auditJSON struct {
	ID         string      `json:"id"`
	At         time.Time   `json:"at"`
	Actor      clinic.Ref  `json:"actor"`
	ActorKind  string      `json:"actor_kind"`
	OnBehalfOf *clinic.Ref `json:"on_behalf_of"`
	Via        string      `json:"via"`
	Action     string      `json:"action"`
	Outcome    string      `json:"outcome"`
	Code       *string     `json:"code"`
	ObjectKind *string     `json:"object_kind"`
	Object     *string     `json:"object"`
	Version    *int64      `json:"version"`
	Patient    *string     `json:"patient"`
	Proposal   *string     `json:"proposal"`
	Revision   *int        `json:"revision"`
	PlanHash   *string     `json:"plan_hash"`
	Risk       *string     `json:"risk"`
	Request    *string     `json:"request"`
}

// apiAudit is GET /audit.
func (s *Server) apiAudit(c echo.Context) error {
	limit, err := pageSize(c)
	if err != nil {
		return err
	}
	var rows []db.AuditRow
	next := ""
	err = s.DB.InClinic(c.Request().Context(), actor(c).Clinic, func(t *db.Tx) error {
		rows, next, err = s.trail(c, t, limit)
		return err
	})
	if err != nil {
		return err
	}
	items := make([]auditJSON, len(rows))
	for i, r := range rows {
		items[i] = auditJSON{ID: r.ID, At: r.At, Actor: r.Actor, ActorKind: r.ActorKind, Via: r.Via, Action: r.Action, Outcome: r.Outcome,
			Code: orNull(r.Code), ObjectKind: orNull(r.ObjectKind), Object: orNull(r.Object), Patient: orNull(r.Patient), Proposal: orNull(r.Proposal),
			PlanHash: orNull(r.PlanHash), Risk: orNull(r.Risk), Request: orNull(r.Request)}
		if r.OnBehalfOf.ID != "" {
			items[i].OnBehalfOf = &rows[i].OnBehalfOf
		}
		if r.Version != 0 {
			items[i].Version = &rows[i].Version
		}
		if r.Revision != 0 {
			items[i].Revision = &rows[i].Revision
		}
	}
	return s.json(c, http.StatusOK, listOf(items, next))
}

// trail reads the audit trail as far as the actor's role reaches (contract section 7): staff their own rows, reviewers
// scheduling, admins all. Looking is itself written down.
func (s *Server) trail(c echo.Context, t *db.Tx, limit int) (rows []db.AuditRow, next string, err error) {
	by, ctx := actor(c), c.Request().Context()
	locations, err := t.Locations(ctx)
	if err != nil {
		return nil, "", err
	}
	f, err := trailFilter(c, locations, "cursor", "limit")
	if err != nil {
		return nil, "", err
	}
	f.Limit = limit
	switch by.Role {
	case clinic.RoleStaff:
		f.OwnOf = by.Person
	case clinic.RoleReviewer:
		f.Scheduling = true
	}
	if rows, next, err = t.AuditRows(ctx, f); err != nil {
		return nil, "", err
	}
	return rows, next, t.Audit(ctx, s.readEvent(t, by, audit.ReadAudit, "", "", 0, ""))
}

// trailFilter reads the filters of the page and the API: ids, codes and times, never a name. Errors: validation_failed.
func trailFilter(c echo.Context, locations []clinic.Location, more ...string) (db.AuditFilter, error) {
	f := db.AuditFilter{Cursor: c.QueryParam("cursor")}
	texts := map[string]*string{"actor": &f.Actor, "on_behalf_of": &f.OnBehalfOf, "agent": &f.Agent, "action": &f.Action, "outcome": &f.Outcome, "risk": &f.Risk,
		"patient": &f.Patient, "appointment": &f.Appointment, "proposal": &f.Proposal, "hash": &f.Hash, "request": &f.Request}
	others := append(more, "location", "from", "to", "fast")
	if err := onlyQuery(c, slices.AppendSeq(others, maps.Keys(texts))...); err != nil {
		return f, err
	}
	for name, to := range texts {
		*to = strings.TrimSpace(c.QueryParam(name))
	}
	var wrong []refusal.Field
	if f.Agent != "" && f.Agent != db.AgentYes && f.Agent != db.AgentNo {
		wrong = append(wrong, refusal.Field{Name: "agent", Message: "Say yes or no."})
	}
	switch fast := c.QueryParam("fast"); fast {
	case "":
	case "1":
		f.Within = fastDecision
	default:
		wrong = append(wrong, refusal.Field{Name: "fast", Message: "Say 1, or leave it out."})
	}
	if len(wrong) > 0 {
		return f, refusal.Invalid(wrong...)
	}
	var err error
	f.From, f.To, err = trailRange(c, locations)
	return f, err
}

func trailRange(c echo.Context, locations []clinic.Location) (from, to time.Time, err error) {
	zone, err := zoneFor(locations, c.QueryParam("location"))
	if err != nil {
		return from, to, err
	}
	for name, at := range map[string]*time.Time{"from": &from, "to": &to} {
		q := c.QueryParam(name)
		if q == "" {
			continue
		}
		t, ok := instantOf(q, zone, name == "to")
		if !ok {
			return from, to, refusal.Invalid(refusal.Field{Name: name, Message: "Give a date such as 2027-03-28, or a time with its offset."})
		}
		*at = t
	}
	return from, to, nil
}
