package db

import (
	"context"
	"encoding/json"
	"time"

	"countersign/internal/audit"
)

// Audit writes rows of the trail in this transaction: when they cannot be written, nothing is.
func (t *Tx) Audit(ctx context.Context, events ...audit.Event) error {
	rows, err := auditRows(events)
	if err != nil {
		return err
	}
	n, err := t.exec(ctx, insertAudit+` FROM json_to_recordset($1::json) `+auditShape, rows)
	return touched(n, int64(len(events)), err)
}

const insertAudit = `INSERT INTO audit (clinic, id, at, actor_kind, actor, on_behalf_of, via, action, outcome, code, object_kind, object, version,
	patient, proposal, revision, plan_hash, risk, request, content, content_hash)
	SELECT current_setting('app.clinic'), x.id, x.at, x.actor_kind, x.actor, x.on_behalf_of, x.via, x.action, x.outcome, x.code, x.object_kind, x.object,
	x.version, x.patient, x.proposal, x.revision, x.plan_hash, x.risk, x.request, convert_to(x.content, 'UTF8'), x.content_hash`

// auditShape names the columns of auditRows in SQL.
const auditShape = `AS x(id text, at timestamptz, actor_kind text, actor text, on_behalf_of text, via text, action text, outcome text, code text,
	object_kind text, object text, version bigint, patient text, proposal text, revision integer, plan_hash text, risk text, request text,
	content text, content_hash text)`

// auditRow is one event as a parameter: null where it has no value.
type auditRow struct {
	ID          string    `json:"id"`
	At          time.Time `json:"at"`
	ActorKind   string    `json:"actor_kind"`
	Actor       string    `json:"actor"`
	OnBehalfOf  *string   `json:"on_behalf_of"`
	Via         string    `json:"via"`
	Action      string    `json:"action"`
	Outcome     string    `json:"outcome"`
	Code        *string   `json:"code"`
	ObjectKind  *string   `json:"object_kind"`
	Object      *string   `json:"object"`
	Version     *int64    `json:"version"`
	Patient     *string   `json:"patient"`
	Proposal    *string   `json:"proposal"`
	Revision    *int      `json:"revision"`
	PlanHash    *string   `json:"plan_hash"`
	Risk        *string   `json:"risk"`
	Request     *string   `json:"request"`
	Content     string    `json:"content"`
	ContentHash string    `json:"content_hash"`
}

func auditRows(events []audit.Event) (string, error) {
	rows := make([]auditRow, len(events))
	for i, e := range events {
		content, hash := e.Content()
		rows[i] = auditRow{e.ID, e.At.UTC().Truncate(time.Microsecond), e.Actor.Kind, e.Actor.ID(), orNull(e.Actor.OnBehalfOf()), e.Actor.Via, e.Action, e.Outcome,
			orNull(e.Code), orNull(e.ObjectKind), orNull(e.Object), orNull(e.Version), orNull(e.Patient), orNull(e.Proposal), orNull(e.Revision),
			orNull(e.PlanHash), orNull(e.Risk), orNull(e.Actor.Request), string(content), hash}
	}
	b, err := json.Marshal(rows)
	return string(b), err
}

func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
