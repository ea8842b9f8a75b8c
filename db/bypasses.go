package db

import (
	"context"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

const bypassQuery = `SELECT b.id, b.agent, b.agent_name, b.reason, b.most, (SELECT count(*) FROM proposals p WHERE p.bypass = b.id) AS used,
	b.granted_by, b.granted_name, b.granted_at, b.ends_at, b.ended_name, b.ended_at FROM bypasses b `

// AgentName implements proposal.Tx. Tokens stand outside row-level security.
func (t proposalTx) AgentName(ctx context.Context, agent string) (name string, err error) {
	err = t.get(ctx, &name, `SELECT name FROM tokens WHERE clinic = $1 AND id = $2 AND kind = 'agent' AND revoked_at IS NULL`, t.clinic, agent)
	return name, translate(err)
}

// RunningBypass implements proposal.Tx. The clock is read after the agent's lock.
func (t proposalTx) RunningBypass(ctx context.Context, agent string) (*proposal.Bypass, error) {
	var found []proposal.Bypass
	err := t.sel(ctx, &found, bypassQuery+`WHERE b.agent = $1 AND b.ended_at IS NULL AND b.ends_at > app_now()
		AND (SELECT count(*) FROM proposals p WHERE p.bypass = b.id) < b.most LIMIT 1`, agent)
	if err != nil || len(found) == 0 {
		return nil, translate(err)
	}
	return &found[0], nil
}

// Bypass implements proposal.Tx.
func (t proposalTx) Bypass(ctx context.Context, id string) (b proposal.Bypass, err error) {
	err = t.get(ctx, &b, bypassQuery+`WHERE b.id = $1`, id)
	return b, translate(err)
}

// InsertBypass implements proposal.Tx.
func (t proposalTx) InsertBypass(ctx context.Context, b proposal.Bypass) error {
	n, err := t.exec(ctx, `INSERT INTO bypasses (clinic, id, agent, agent_name, reason, most, granted_by, granted_name, granted_at, ends_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, t.clinic, b.ID, b.Agent, b.AgentName, b.Reason, b.Most, b.By, b.ByName, b.GrantedAt, b.EndsAt)
	return touched(n, 1, err)
}

// EndBypass implements proposal.Tx.
func (t proposalTx) EndBypass(ctx context.Context, id string, by clinic.Actor) (bool, error) {
	n, err := t.exec(ctx, `UPDATE bypasses b SET ended_by = $2, ended_name = $3, ended_at = app_now() WHERE id = $1 AND ended_at IS NULL AND ends_at > app_now()
		AND (SELECT count(*) FROM proposals p WHERE p.bypass = b.id) < most`, id, by.Person, by.PersonName)
	return n == 1, translate(err)
}

// Bypasses lists the clinic's bypasses, those that nobody ended and whose time is not over first, then the newest. At
// most 50.
func (t *Tx) Bypasses(ctx context.Context) (list []proposal.Bypass, err error) {
	err = t.sel(ctx, &list, bypassQuery+`ORDER BY (b.ended_at IS NULL AND b.ends_at > $1) DESC, b.granted_at DESC, b.id DESC LIMIT 50`, t.now)
	return list, err
}

// AgentRow is a token of kind agent that works. Made since then, and Waiting now, are its own proposals.
type AgentRow struct {
	ID      string `db:"id"`
	Name    string `db:"name"`
	Owner   string `db:"owner"`
	Made    int    `db:"made"`
	Waiting int    `db:"waiting"`
}

// Agents lists the clinic's agents by name, at most 500; those of the demo only where they work.
func (t *Tx) Agents(ctx context.Context, since time.Time, demo bool) (list []AgentRow, err error) {
	err = t.sel(ctx, &list, `SELECT t.id, t.name, a.name AS owner, coalesce(m.n, 0) AS made, coalesce(w.n, 0) AS waiting
		FROM tokens t JOIN accounts a ON a.id = t.account AND a.clinic = t.clinic
		LEFT JOIN (SELECT created_by, count(*) AS n FROM proposals WHERE created_kind = 'agent' AND created_at > $2 GROUP BY created_by) m ON m.created_by = t.id
		LEFT JOIN (SELECT created_by, count(*) AS n FROM proposals WHERE created_kind = 'agent' AND state = 'proposed' AND expires_at > $4 GROUP BY created_by) w ON w.created_by = t.id
		WHERE t.clinic = $1 AND t.kind = 'agent' AND t.revoked_at IS NULL AND a.disabled_at IS NULL AND ($3 OR NOT (t.demo OR a.demo))
		ORDER BY t.name, t.id LIMIT 500`, t.clinic, since, demo, t.now)
	return list, err
}
