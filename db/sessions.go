package db

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"countersign/internal/account"
	"countersign/internal/clinic"
)

// holder is the account behind a session or a token.
type holder struct {
	Account    string `db:"account"`
	Clinic     string `db:"clinic"`
	ClinicName string `db:"clinic_name"`
	Name       string `db:"name"`
	Role       string `db:"role"`
}

func (h holder) person() clinic.Actor {
	return clinic.Actor{Clinic: h.Clinic, ClinicName: h.ClinicName, Person: h.Account, PersonName: h.Name, Role: h.Role,
		Kind: clinic.KindUser, MayDecide: true}
}

// FindSession implements account.SessionStore.
func (d *DB) FindSession(ctx context.Context, hash []byte, rules account.Rules) (*account.Session, error) {
	var s struct {
		holder
		Data    []byte `db:"data"`
		Expired bool   `db:"expired"`
	}
	err := d.pool.GetContext(ctx, &s, `WITH found AS (
		SELECT s.id_hash, s.data, s.seen_at, s.expires_at <= app_now() OR s.seen_at <= app_now() - make_interval(secs => $2) AS expired,
			a.id AS account, a.clinic, a.name, a.role
		FROM sessions s LEFT JOIN accounts a ON a.id = s.account
		WHERE s.id_hash = $1 AND (s.account IS NULL OR (a.disabled_at IS NULL AND ($3 OR NOT a.demo)))
	), seen AS (
		UPDATE sessions s SET seen_at = app_now() FROM found f
		WHERE s.id_hash = f.id_hash AND NOT f.expired AND f.seen_at < app_now() - interval '1 minute' AND NOT $4
	)
	SELECT data, expired, coalesce(account, '') AS account, coalesce(clinic, '') AS clinic, coalesce(name, '') AS name,
		coalesce(role, '') AS role, CASE WHEN clinic IS NULL THEN '' ELSE coalesce(clinic_name(clinic), '') END AS clinic_name
	FROM found`, hash, rules.Idle.Seconds(), rules.Demo, rules.Unseen)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, translate(err)
	}
	out := &account.Session{Account: s.Account, Expired: s.Expired, Data: s.Data}
	if s.Account != "" && !s.Expired {
		out.Actor = s.person()
	}
	return out, nil
}

// StartSession implements account.SessionStore.
func (d *DB) StartSession(ctx context.Context, hash, replaces []byte, accountID string, data []byte, lifetime time.Duration) error {
	_, err := d.changed(ctx, `WITH gone AS (DELETE FROM sessions WHERE id_hash = $2)
		INSERT INTO sessions (id_hash, account, data, expires_at) VALUES ($1, nullif($3, ''), $4, app_now() + make_interval(secs => $5))`,
		hash, replaces, accountID, data, lifetime.Seconds())
	return err
}

// SetSessionData implements account.SessionStore.
func (d *DB) SetSessionData(ctx context.Context, hash, data []byte) error {
	_, err := d.changed(ctx, `UPDATE sessions SET data = $2 WHERE id_hash = $1`, hash, data)
	return err
}

// EndSession implements account.SessionStore.
func (d *DB) EndSession(ctx context.Context, hash []byte) error {
	_, err := d.changed(ctx, `DELETE FROM sessions WHERE id_hash = $1`, hash)
	return err
}
