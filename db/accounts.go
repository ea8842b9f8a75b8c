package db

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"countersign/internal/account"
)

// FindAccount implements account.Store.
func (d *DB) FindAccount(ctx context.Context, email string) (*account.Account, error) {
	var a struct {
		ID       string `db:"id"`
		Clinic   string `db:"clinic"`
		Email    string `db:"email"`
		Name     string `db:"name"`
		Role     string `db:"role"`
		Hash     string `db:"password_hash"`
		Demo     bool   `db:"demo"`
		Disabled bool   `db:"disabled"`
	}
	err := d.pool.GetContext(ctx, &a, `SELECT id::text, clinic::text, email, name, role, password_hash, demo, disabled_at IS NOT NULL AS disabled
		FROM accounts WHERE email = $1`, email)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, translate(err)
	}
	return &account.Account{ID: a.ID, Clinic: a.Clinic, Email: a.Email, Name: a.Name, Role: a.Role, PasswordHash: a.Hash,
		Demo: a.Demo, Disabled: a.Disabled}, nil
}

// AddAccount implements account.Store.
func (d *DB) AddAccount(ctx context.Context, a account.Account) (bool, error) {
	return d.changed(ctx, `INSERT INTO accounts (id, clinic, email, name, role, password_hash, demo) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (email) DO NOTHING`, a.ID, a.Clinic, a.Email, a.Name, a.Role, a.PasswordHash, a.Demo)
}

// DisableAccount implements account.Store. Tokens stay as rows, for the trail: no token of a disabled account works.
func (d *DB) DisableAccount(ctx context.Context, email string) (bool, error) {
	return d.changed(ctx, `WITH a AS (UPDATE accounts SET disabled_at = coalesce(disabled_at, app_now()) WHERE email = $1 RETURNING id),
		s AS (DELETE FROM sessions WHERE account IN (SELECT id FROM a))
		SELECT id FROM a`, email)
}

// AddToken implements account.Store.
func (d *DB) AddToken(ctx context.Context, t account.Token) (bool, error) {
	return d.changed(ctx, `INSERT INTO tokens (id, clinic, account, name, kind, decide, secret_hash, demo) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (secret_hash) DO NOTHING`, t.ID, t.Clinic, t.Account, t.Name, t.Kind, t.Decide, t.SecretHash, t.Demo)
}

// ClinicByName gives the id of the clinic of exactly this name, or of this id. Refusal: not_found.
func (d *DB) ClinicByName(ctx context.Context, name string) (string, error) {
	tx, err := d.pool.BeginTxx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return "", translate(err)
	}
	defer tx.Rollback() //nolint:errcheck // only read
	if _, err := tx.ExecContext(ctx, `SELECT set_config('app.clinic_name', $1, true), set_config('app.clinic', $1, true)`, name); err != nil {
		return "", translate(err)
	}
	var ids []string
	if err := tx.SelectContext(ctx, &ids, `SELECT id::text FROM clinics ORDER BY id = $1 DESC`, name); err != nil {
		return "", translate(err)
	}
	if len(ids) == 0 {
		return "", translate(sql.ErrNoRows)
	}
	return ids[0], nil
}

// ClinicNames lists the names of the clinics that have accounts, for an operator.
func (d *DB) ClinicNames(ctx context.Context) (names []string, err error) {
	ids, err := d.Clinics(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		err := d.Read(ctx, id, func(t *Tx) error {
			var name string
			err := t.get(ctx, &name, `SELECT name FROM clinics`)
			names = append(names, name)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

// NoteAttempt implements account.Store.
func (d *DB) NoteAttempt(ctx context.Context, person, address string) (int64, error) {
	var id int64
	err := d.pool.GetContext(ctx, &id, `INSERT INTO signin_failures (account, address) VALUES ($1, $2) RETURNING id`, person, address)
	return id, translate(err)
}

// AttemptWait implements account.Store. The row beyond the limit, counted from the newest, must leave the window.
func (d *DB) AttemptWait(ctx context.Context, person, address string, l account.Limits) (time.Duration, error) {
	var seconds float64
	err := d.pool.GetContext(ctx, &seconds, `WITH clock AS (SELECT app_now() AS now, make_interval(secs => $5) AS within),
		over AS (
		(SELECT at FROM signin_failures, clock WHERE account = $1 AND at > now - within ORDER BY at DESC OFFSET $3 LIMIT 1)
		UNION ALL
		(SELECT at FROM signin_failures, clock WHERE address = $2 AND at > now - within ORDER BY at DESC OFFSET $4 LIMIT 1))
		SELECT coalesce(extract(epoch FROM max(at) + max(within) - max(now)), 0)::float8 FROM over, clock`,
		person, address, l.PerAccount, l.PerAddress, l.Window.Seconds())
	return time.Duration(seconds * float64(time.Second)), translate(err)
}

// ForgetAttempt implements account.Store.
func (d *DB) ForgetAttempt(ctx context.Context, id int64) error {
	_, err := d.changed(ctx, `DELETE FROM signin_failures WHERE id = $1`, id)
	return err
}

// ForgetAttempts implements account.Store.
func (d *DB) ForgetAttempts(ctx context.Context, person string) error {
	_, err := d.changed(ctx, `DELETE FROM signin_failures WHERE account = $1`, person)
	return err
}

// SweepSessions deletes sessions that ended more than a day ago and sign-in failures older than a day.
func (d *DB) SweepSessions(ctx context.Context) error {
	_, err := d.changed(ctx, `WITH f AS (DELETE FROM signin_failures WHERE at < app_now() - interval '1 day')
		DELETE FROM sessions WHERE expires_at < app_now() - interval '1 day'`)
	return err
}

// changed runs one statement on the tables that stand outside row-level security, and reports whether it touched a row.
func (d *DB) changed(ctx context.Context, query string, args ...any) (bool, error) {
	r, err := d.pool.ExecContext(ctx, query, args...)
	if err != nil {
		return false, translate(err)
	}
	n, err := r.RowsAffected()
	return n > 0, err
}
