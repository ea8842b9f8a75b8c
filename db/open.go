// Package db holds all SQL: connections, transactions bound to one clinic, and the translation of PostgreSQL's errors
// to ours. Nothing outside it sees a connection.
package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// Role is what every pool works as. It owns nothing and bypasses no policy.
const Role = "countersign_app"

// Options for Open. Zero values are the defaults.
type Options struct {
	MaxConns         int           // four for each core, at least 8: more would only wait for each other
	StatementTimeout time.Duration // 10 s
	ClockShift       time.Duration // tests only: what app_now() adds to the database clock
}

// DB is a pool that works as Role.
type DB struct{ pool *sqlx.DB }

// Open connects and refuses to work as a superuser, as a role that bypasses row-level security, or as an owner.
func Open(ctx context.Context, url string, opt Options) (*DB, error) {
	if opt.MaxConns == 0 {
		opt.MaxConns = max(8, 4*runtime.NumCPU())
	}
	if opt.StatementTimeout == 0 {
		opt.StatementTimeout = 10 * time.Second
	}
	pc, err := pq.NewConnector(url)
	if err != nil {
		return nil, errors.New("the database URL cannot be read") // pq's text may hold the password
	}
	setup := fmt.Sprintf(`SET ROLE %s; SET TIME ZONE 'UTC'; SET plan_cache_mode = force_generic_plan; SET statement_timeout = %d;
SET idle_in_transaction_session_timeout = %d; SET app.clock_shift = '%d milliseconds'`,
		Role, opt.StatementTimeout.Milliseconds(), 3*opt.StatementTimeout.Milliseconds(), opt.ClockShift.Milliseconds())
	pool := sqlx.NewDb(sql.OpenDB(&connector{pq: pc, setup: setup}), "postgres")
	pool.SetMaxOpenConns(opt.MaxConns)
	pool.SetMaxIdleConns(opt.MaxConns) // fewer costs a connection per request under load
	d := &DB{pool: pool}
	if err := d.checkRole(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return d, nil
}

func (d *DB) checkRole(ctx context.Context) error {
	var r struct {
		Name   string `db:"name"`
		Super  bool   `db:"super"`
		Bypass bool   `db:"bypass"`
		Owns   int    `db:"owns"`
	}
	err := d.pool.GetContext(ctx, &r, `SELECT r.rolname AS name, r.rolsuper AS super, r.rolbypassrls AS bypass,
		(SELECT count(*) FROM pg_class c WHERE c.relowner = r.oid AND c.relkind IN ('r', 'p')) AS owns
		FROM pg_roles r WHERE r.rolname = current_user`)
	var pe *pq.Error
	if errors.As(err, &pe) && pe.Code == "22023" { // SET ROLE on a database, or a cluster, that was never migrated
		return fmt.Errorf("the role %s is not there: run `countersign migrate up` on this database first", Role)
	}
	if err != nil {
		return fmt.Errorf("asking the database who we are: %w", translate(err))
	}
	if r.Super || r.Bypass || r.Owns > 0 || r.Name != Role {
		return fmt.Errorf("refusing to work: the database role %q owns tables, bypasses row-level security or is a superuser", r.Name)
	}
	return nil
}

// Close gives all connections back.
func (d *DB) Close() error { return d.pool.Close() }

// Ping reports whether the database answers, for /readyz.
func (d *DB) Ping(ctx context.Context) error { return translate(d.pool.PingContext(ctx)) }

// Stats is the pool's state, for metrics.
func (d *DB) Stats() sql.DBStats { return d.pool.Stats() }

// Clinics lists the clinics that have accounts, for workers, which then work clinic by clinic.
func (d *DB) Clinics(ctx context.Context) ([]string, error) {
	var ids []string
	err := d.pool.SelectContext(ctx, &ids, `SELECT DISTINCT clinic::text FROM accounts ORDER BY 1`)
	return ids, translate(err)
}
