package db

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// What a step about a policy writes: $17 is the action. Its version is the next one or the key refuses it.
const (
	nextPolicy = `, row AS (INSERT INTO policies (clinic, action, version, least_risk, people, proposal, set_by, set_name, set_at)
		VALUES (current_setting('app.clinic'), $17, $18::bigint + 1, $19, $20, $1, $6, $7, $8) RETURNING version)`
	executePolicy = `WITH ` + decideParts + messageParts + nextPolicy + patientTail
)

// Policy implements proposal.Tx.
func (t proposalTx) Policy(ctx context.Context, action string) (proposal.Policy, error) {
	var row struct {
		Version   int64
		LeastRisk *string
		People    *int
	}
	err := t.get(ctx, &row, `SELECT version, least_risk AS leastrisk, people FROM policies WHERE clinic = $1 AND action = $2 ORDER BY version DESC LIMIT 1`, t.clinic, action)
	if errors.Is(err, sql.ErrNoRows) {
		return proposal.Policy{}, nil
	}
	return proposal.Policy{Version: row.Version, LeastRisk: row.LeastRisk, People: row.People}, translate(err)
}

// LockPolicy implements proposal.Tx.
func (t proposalTx) LockPolicy(ctx context.Context, action string) (proposal.Policy, error) {
	if _, err := t.exec(ctx, `SELECT FROM clinics WHERE id = $1 FOR NO KEY UPDATE`, t.clinic); err != nil {
		return proposal.Policy{}, translate(err)
	}
	return t.Policy(ctx, action)
}

// SetPolicy implements proposal.Tx.
func (t proposalTx) SetPolicy(ctx context.Context, by clinic.Actor, action string, next proposal.Policy) error {
	n, err := t.exec(ctx, `INSERT INTO policies (clinic, action, version, least_risk, people, set_by, set_name, set_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		t.clinic, action, next.Version, next.LeastRisk, next.People, by.ID(), by.Name(), t.now)
	return touched(n, 1, err)
}

// PolicyRow is one version of a policy. Proposal is "" where an admin tightened it directly.
type PolicyRow struct {
	Action string
	proposal.Policy
	Proposal string
	By       clinic.Ref
	At       time.Time
}

// Policies lists all versions of the clinic's policies, the newest first: people make few. One statement.
func (t *Tx) Policies(ctx context.Context) ([]PolicyRow, error) {
	var rows []struct {
		Action, Proposal string
		Version          int64
		LeastRisk        *string
		People           *int
		By               clinic.Ref
		At               time.Time
	}
	err := t.sel(ctx, &rows, `SELECT action, version, least_risk AS leastrisk, people, coalesce(proposal, '') AS proposal, set_by AS "by.id", set_name AS "by.name", set_at AS at
		FROM policies ORDER BY set_at DESC, action, version DESC`)
	out := make([]PolicyRow, len(rows))
	for i, r := range rows {
		out[i] = PolicyRow{Action: r.Action, Policy: proposal.Policy{Version: r.Version, LeastRisk: r.LeastRisk, People: r.People}, Proposal: r.Proposal, By: r.By, At: r.At}
	}
	return out, err
}

// PoliciesNow is the latest policy of each action that has one. One statement.
func (t *Tx) PoliciesNow(ctx context.Context) (map[string]proposal.Policy, error) {
	var rows []struct {
		Action    string
		Version   int64
		LeastRisk *string
		People    *int
	}
	err := t.sel(ctx, &rows, `SELECT DISTINCT ON (action) action, version, least_risk AS leastrisk, people FROM policies ORDER BY action, version DESC`)
	out := make(map[string]proposal.Policy, len(rows))
	for _, r := range rows {
		out[r.Action] = proposal.Policy{Version: r.Version, LeastRisk: r.LeastRisk, People: r.People}
	}
	return out, err
}
