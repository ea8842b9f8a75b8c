package db

import (
	"context"
	"database/sql"
	"errors"

	"countersign/internal/account"
	"countersign/internal/clinic"
)

// FindToken implements account.SessionStore.
func (d *DB) FindToken(ctx context.Context, hash []byte, rules account.Rules) (*account.Session, error) {
	var t struct {
		holder
		ID     string `db:"id"`
		Label  string `db:"label"`
		Kind   string `db:"kind"`
		Decide bool   `db:"decide"`
	}
	err := d.pool.GetContext(ctx, &t, `SELECT t.id::text, t.name AS label, t.kind, t.decide, a.id::text AS account, a.clinic::text,
			a.name, a.role, coalesce(clinic_name(a.clinic), '') AS clinic_name
		FROM tokens t JOIN accounts a ON a.id = t.account AND a.clinic = t.clinic
		WHERE t.secret_hash = $1 AND t.revoked_at IS NULL AND a.disabled_at IS NULL AND ($2 OR NOT (t.demo OR a.demo))`, hash, rules.Demo)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, translate(err)
	}
	actor := t.person()
	actor.MayDecide = t.Decide
	if t.Kind == clinic.KindAgent {
		actor.Kind, actor.Agent, actor.AgentName, actor.MayDecide = clinic.KindAgent, t.ID, t.Label, false
	}
	return &account.Session{Actor: actor, Account: t.Account}, nil
}
