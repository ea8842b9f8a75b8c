package db

import (
	"context"
	"database/sql/driver"
	"errors"

	"github.com/lib/pq"
)

// connector opens lib/pq connections, sets each one up once, and lets each keep its own prepared statements: a
// statement with parameters is prepared at its first use on a connection and then costs one round trip. database/sql's
// own statements cannot do that inside a transaction without asking the pool for a second connection.
type connector struct {
	pq    *pq.Connector
	setup string // simple query run on every new connection
}

func (c *connector) Driver() driver.Driver { return c.pq.Driver() }

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	raw, err := c.pq.Connect(ctx)
	if err != nil {
		return nil, err
	}
	pc, ok := raw.(pqConn)
	if !ok {
		raw.Close()
		return nil, errors.New("db: this lib/pq lacks an interface that the statement cache stands on")
	}
	if _, err := pc.ExecContext(ctx, c.setup, nil); err != nil {
		raw.Close()
		return nil, err
	}
	return &conn{pqConn: pc, stmts: map[string]driver.Stmt{}}, nil
}

type pqConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.QueryerContext
	driver.ExecerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
	driver.NamedValueChecker
}

// maxStatements bounds a connection's cache; statements beyond it are prepared for one use.
const maxStatements = 256

type conn struct {
	pqConn
	stmts map[string]driver.Stmt
}

func (c *conn) statement(ctx context.Context, query string) (stmt driver.Stmt, once bool, err error) {
	if s, ok := c.stmts[query]; ok {
		return s, false, nil
	}
	s, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, false, err
	}
	if len(c.stmts) >= maxStatements {
		return s, true, nil
	}
	c.stmts[query] = s
	return s, false, nil
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if len(args) == 0 {
		return c.pqConn.QueryContext(ctx, query, nil)
	}
	s, once, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if once {
		s.Close()
		return c.pqConn.QueryContext(ctx, query, args)
	}
	return s.(driver.StmtQueryContext).QueryContext(ctx, args)
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if len(args) == 0 {
		return c.pqConn.ExecContext(ctx, query, nil)
	}
	s, once, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if once {
		s.Close()
		return c.pqConn.ExecContext(ctx, query, args)
	}
	return s.(driver.StmtExecContext).ExecContext(ctx, args)
}
