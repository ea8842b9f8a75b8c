package db

import (
	"context"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// operationNow is proposal.OperationNow as a row.
const operationNow = `SELECT id, proposal, kind, appointment, item, state, phase, coalesce(code, '') AS code, coalesce(remote_id, '') AS remoteid,
	coalesce(old_remote_id, '') AS oldremoteid, attempts, person AS "by.id", person_name AS "by.name", created_at AS at, version, look_only AS lookonly,
	greatest(extract(epoch FROM leased_until - app_now()), 0)::float8 AS sendingfor
	FROM ehr_operations WHERE id = $1`

// OperationNow implements proposal.Operations.
func (t proposalTx) OperationNow(ctx context.Context, id string) (proposal.OperationNow, error) {
	if !clinic.ValidID(id) {
		return proposal.OperationNow{}, refusal.New(refusal.NotFound)
	}
	var row struct {
		proposal.OperationNow
		SendingFor *float64
	}
	if err := t.get(ctx, &row, operationNow, id); err != nil {
		return proposal.OperationNow{}, translate(err)
	}
	o := row.OperationNow
	o.At = o.At.UTC().Truncate(time.Second)
	if row.SendingFor != nil && *row.SendingFor > 0 {
		o.Sending = time.Duration(*row.SendingFor*float64(time.Second)) + time.Second
	}
	err := t.sel(ctx, &o.Seen, `SELECT verdict, matches, coalesce(code, '') AS code, coalesce(remote_id, '') AS remoteid, coalesce(remote_version, '') AS remoteversion
		FROM ehr_looks WHERE operation = $1 AND verdict <> 'failed' ORDER BY n DESC LIMIT 50`, id)
	return o, translate(err)
}

// LookAgain implements proposal.Operations.
func (t proposalTx) LookAgain(ctx context.Context, id, askedBy string) error {
	n, err := t.exec(ctx, `UPDATE ehr_operations SET next_at = app_now(), asked_by = $2, look_only = (state = 'manual') WHERE id = $1 AND ended_at IS NULL`, id, askedBy)
	return touched(n, 1, err)
}

// Linked implements proposal.Operations.
func (t proposalTx) Linked(ctx context.Context, kind, remote string) (string, error) {
	var found []string
	err := t.sel(ctx, &found, `SELECT id FROM ehr_links WHERE kind = $1 AND remote_id = $2`, kind, remote)
	if err != nil || len(found) == 0 {
		return "", translate(err)
	}
	return found[0], nil
}
