package db

import (
	"context"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// AuditFilter narrows the trail; zero members do not.
type AuditFilter struct {
	Actor          string // who did it, or on whose behalf
	Action         string
	Outcome        string
	Patient        string
	Appointment    string
	Proposal       string // id
	Hash           string // prefix of a plan hash
	From, To       time.Time
	OwnOf          string // only rows of this person and their agents
	SchedulingOnly bool   // no sign-ins, no reads of the trail
	Cursor         string
	Limit          int
}

// AuditRow is one row of the trail with the names as they are now; an account that is gone leaves its id.
type AuditRow struct {
	ID         string
	At         time.Time
	Actor      clinic.Ref
	ActorKind  string
	OnBehalfOf clinic.Ref
	Via        string
	Action     string
	Outcome    string
	Code       string
	ObjectKind string
	Object     string
	Version    int64
	Patient    string
	Proposal   string
	Revision   int
	PlanHash   string
	Risk       string
}

const (
	auditColumns = `a.id, a.at, a.actor AS "actor.id", coalesce(u.name, k.name, a.actor) AS "actor.name", a.actor_kind AS actorkind,
	coalesce(a.on_behalf_of, '') AS "onbehalfof.id", coalesce(o.name, a.on_behalf_of, '') AS "onbehalfof.name", a.via, a.action, a.outcome,
	coalesce(a.code, '') AS code, coalesce(a.object_kind, '') AS objectkind, coalesce(a.object, '') AS object, coalesce(a.version, 0) AS version,
	coalesce(a.patient, '') AS patient, coalesce(a.proposal, '') AS proposal, coalesce(a.revision, 0) AS revision,
	coalesce(a.plan_hash, '') AS planhash, coalesce(a.risk, '') AS risk`
	auditTables = ` FROM audit a LEFT JOIN accounts u ON u.id = a.actor AND u.clinic = a.clinic
	LEFT JOIN tokens k ON k.id = a.actor AND k.clinic = a.clinic LEFT JOIN accounts o ON o.id = a.on_behalf_of AND o.clinic = a.clinic`
)

// AuditRows lists the trail, newest first; next is the cursor of the page after, "" at the end. One statement.
// Errors: validation_failed for a cursor that is none of ours.
func (t *Tx) AuditRows(ctx context.Context, f AuditFilter) (rows []AuditRow, next string, err error) {
	w := &where{}
	for _, c := range []struct{ column, value string }{{"a.action", f.Action}, {"a.outcome", f.Outcome}, {"a.patient", f.Patient}, {"a.proposal", f.Proposal}} {
		if c.value != "" {
			w.and(c.column+` = ?`, c.value)
		}
	}
	if f.Actor != "" {
		w.and(`(a.actor = ? OR a.on_behalf_of = ?)`, f.Actor, f.Actor)
	}
	if f.OwnOf != "" {
		w.and(`(a.actor = ? OR a.on_behalf_of = ?)`, f.OwnOf, f.OwnOf)
	}
	if f.Appointment != "" {
		w.and(`a.object_kind = 'appointment' AND a.object = ?`, f.Appointment)
	}
	if f.Hash != "" {
		w.and(`left(a.plan_hash, ?) = ?`, len(f.Hash), f.Hash)
	}
	if f.SchedulingOnly {
		w.and(`a.action NOT LIKE 'sign%' AND a.action NOT LIKE 'audit.%'`)
	}
	if !f.From.IsZero() {
		w.and(`a.at >= ?`, f.From)
	}
	if !f.To.IsZero() {
		w.and(`a.at < ?`, f.To)
	}
	if f.Cursor != "" {
		at, id, ok := ReadCursor(f.Cursor)
		if !ok {
			return nil, "", refusal.Invalid(refusal.Field{Name: "cursor", Message: "This is not the cursor of a list."})
		}
		w.and(`a.at <= ? AND (a.at, a.id) < (?, ?)`, at, at, id)
	}
	w.args = append(w.args, f.Limit+1)
	err = t.sel(ctx, &rows, `SELECT `+auditColumns+auditTables+
		w.String()+` ORDER BY a.at DESC, a.id DESC LIMIT `+w.last(), w.args...)
	if err == nil && len(rows) > f.Limit {
		rows = rows[:f.Limit]
		next = MakeCursor(rows[f.Limit-1].At, rows[f.Limit-1].ID)
	}
	return rows, next, err
}
