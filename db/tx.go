package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jmoiron/sqlx"

	"countersign/internal/clinic"
)

// Tx is one transaction of one clinic and the only handle there is: row-level security shows it that clinic's rows and
// no others. It is not safe for use by two goroutines.
type Tx struct {
	conn   *sqlx.Conn
	clinic string
	now    time.Time
	queued bool  // messages were put in the outbox
	failed error // the first error of a statement: PostgreSQL would turn COMMIT into ROLLBACK without a word
}

// Clinic is the clinic whose rows it sees.
func (t *Tx) Clinic() string { return t.clinic }

// Now is the database clock at the start of the transaction, UTC.
func (t *Tx) Now() time.Time { return t.now }

func (t *Tx) get(ctx context.Context, dest any, query string, args ...any) error {
	return t.note(t.conn.GetContext(ctx, dest, query, args...))
}

func (t *Tx) sel(ctx context.Context, dest any, query string, args ...any) error {
	return t.note(t.conn.SelectContext(ctx, dest, query, args...))
}

// exec returns the number of rows touched.
func (t *Tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	r, err := t.conn.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, t.note(err)
	}
	return r.RowsAffected()
}

func (t *Tx) note(err error) error {
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if t.failed == nil {
		t.failed = err
	}
	return err
}

// InClinic runs fn in one read-write transaction of the clinic and commits. It repeats the whole of fn, with a fresh
// clock, when PostgreSQL could not serialise it (40001, 40P01), at most maxTries times. Any error of fn rolls back and is
// returned, translated. Errors: ErrCommitUnknown when the connection was lost while committing.
func (d *DB) InClinic(ctx context.Context, clinicID string, fn func(*Tx) error) error {
	return d.run(ctx, clinicID, "BEGIN", nowQuery, func(t *Tx, row *sqlx.Rows) error {
		if err := row.Scan(&t.now); err != nil {
			return err
		}
		return closeRows(row)
	}, fn)
}

// InSnapshot is InClinic in which all statements see the same moment, so that lists and their numbers agree. What it writes
// must not depend on rows that others may change: the trail.
func (d *DB) InSnapshot(ctx context.Context, clinicID string, fn func(*Tx) error) error {
	return d.run(ctx, clinicID, "BEGIN ISOLATION LEVEL REPEATABLE READ", nowQuery, func(t *Tx, row *sqlx.Rows) error {
		if err := row.Scan(&t.now); err != nil {
			return err
		}
		return closeRows(row)
	}, fn)
}

// Read runs fn in one read-only transaction of the clinic: all its statements see rows of that clinic only.
func (d *DB) Read(ctx context.Context, clinicID string, fn func(*Tx) error) error {
	return d.run(ctx, clinicID, "BEGIN READ ONLY", nowQuery, func(t *Tx, row *sqlx.Rows) error {
		if err := row.Scan(&t.now); err != nil {
			return err
		}
		return closeRows(row)
	}, fn)
}

const (
	maxTries = 5
	nowQuery = "SELECT app_now()"
)

// run opens the transaction, names the clinic and asks the opening query in one round trip.
func (d *DB) run(ctx context.Context, clinicID, begin, opening string, open func(*Tx, *sqlx.Rows) error, fn func(*Tx) error) error {
	if !clinic.ValidID(clinicID) {
		return fmt.Errorf("db: not a clinic id")
	}
	for try := 1; ; try++ {
		err := d.once(ctx, clinicID, begin, opening, open, fn)
		if err == nil || !errors.Is(err, errSerialize) || try == maxTries {
			return err
		}
		wait := time.Duration(rand.Int64N(int64(10*time.Millisecond) << try))
		select {
		case <-ctx.Done():
			return translate(ctx.Err())
		case <-time.After(wait):
		}
	}
}

func (d *DB) once(ctx context.Context, clinicID, begin, opening string, open func(*Tx, *sqlx.Rows) error, fn func(*Tx) error) (err error) {
	conn, rows, err := d.begin(ctx, begin+"; SET LOCAL app.clinic = '"+clinicID+"'; "+opening)
	if err != nil {
		return translate(err)
	}
	t := &Tx{conn: conn, clinic: clinicID}
	done := false
	defer func() {
		if !done {
			rollback(conn)
		}
		conn.Close()
	}()
	if err := open(t, rows); err != nil {
		rows.Close()
		return translate(err)
	}
	t.now = t.now.UTC()
	if err := fn(t); err != nil {
		return translate(err)
	}
	if t.failed != nil {
		return translate(t.failed)
	}
	if _, err := conn.ExecContext(ctx, "COMMIT"); err != nil {
		return commitError(err)
	}
	done = true
	return nil
}

// begin opens a transaction and stands on the first row of its opening query. A connection that died in the pool, or
// before it could open one, is put away for the next: nothing can have been committed on it.
func (d *DB) begin(ctx context.Context, query string) (*sqlx.Conn, *sqlx.Rows, error) {
	for left := d.pool.Stats().MaxOpenConnections; ; left-- {
		conn, err := d.pool.Connx(ctx)
		if err != nil {
			return nil, nil, err
		}
		rows, err := conn.QueryxContext(ctx, query)
		if err == nil && rows.Next() {
			return conn, rows, nil
		}
		if err == nil {
			if err = closeRows(rows); err == nil {
				err = errors.New("db: no answer to the opening query")
			}
		}
		rollback(conn)
		conn.Close()
		if left == 0 || ctx.Err() != nil || !died(err) {
			return nil, nil, err
		}
	}
}

// rollback ends the transaction or, when that cannot be said, the connection.
func rollback(conn *sqlx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if _, err := conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
}

func closeRows(r *sqlx.Rows) error { return errors.Join(r.Err(), r.Close()) }
