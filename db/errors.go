package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/lib/pq"

	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

var errSerialize = errors.New("db: could not serialise")

// translate turns what PostgreSQL or the connection said into our errors, once. Unknown errors pass through and end as
// `internal`. A missing row is not_found.
func translate(err error) error {
	if err == nil || refusal.Of(err) != nil {
		return err
	}
	var pe *pq.Error
	if errors.As(err, &pe) {
		switch {
		case pe.Code == "40001" || pe.Code == "40P01":
			return fmt.Errorf("%w: %w", errSerialize, busy(err))
		case pe.Code == "23P01":
			return fmt.Errorf("%w: %w", proposal.ErrOverlap, err)
		case pe.Code == "23505" && pe.Constraint == "patients_clinic_mrn_key":
			return fmt.Errorf("%w: %w", proposal.ErrMRNTaken, &sqlError{pe})
		case pe.Code.Class() == "08" || pe.Code.Class() == "57" || pe.Code.Class() == "53" || pe.Code == "55P03" || pe.Code == "25P03":
			return busy(err)
		}
		return &sqlError{pe}
	}
	if errors.Is(err, sql.ErrNoRows) {
		return refusal.New(refusal.NotFound)
	}
	if lost(err) {
		return busy(err)
	}
	return err
}

// Missing reports that a read inside a transaction found no row. Returned from the transaction it becomes not_found.
func Missing(err error) bool { return errors.Is(err, sql.ErrNoRows) }

// commitError: a connection that died while committing leaves the question open.
func commitError(err error) error {
	var pe *pq.Error
	if errors.As(err, &pe) && pe.Code.Class() != "08" && pe.Code.Class() != "57" {
		return translate(err)
	}
	return fmt.Errorf("%w: %w", proposal.ErrCommitUnknown, busy(err))
}

func busy(cause error) error {
	return &refusal.Error{Code: refusal.Busy, RetryAfter: time.Second, Cause: cause}
}

// sqlError is an error of PostgreSQL for a log: its own text may quote values ("invalid input syntax ... ").
type sqlError struct{ cause *pq.Error }

func (e *sqlError) Error() string {
	return fmt.Sprintf("db: SQLSTATE %s, table %s, constraint %s, in %s", e.cause.Code, e.cause.Table, e.cause.Constraint, e.cause.Routine)
}

func (e *sqlError) Unwrap() error { return e.cause }

// died reports that the server ended the session, or that the connection to it was found broken.
func died(err error) bool {
	var pe *pq.Error
	return errors.As(err, &pe) && pe.Code == "57P01" || lost(err)
}

func lost(err error) bool {
	var ne net.Error
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.As(err, &ne)
}
