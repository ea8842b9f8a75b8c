//go:build unix

// Package dbtest gives each test a PostgreSQL database of its own: a copy of a prepared one, in a private cluster that
// the test process starts when first asked and that ends with it.
package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/db/embedded"

	"github.com/lib/pq"
)

// patience bounds starting the cluster, preparing the template and making one copy.
const patience = 2 * time.Minute

const template = "countersign_template"

// shared is what the tests of one process share. Only the process as a whole ends it.
var shared struct {
	once    sync.Once
	dir     string
	alive   *os.File // see makeDir
	cluster *embedded.Cluster
	admin   *sql.DB
	err     error

	mu   sync.Mutex
	made int
}

// URL is the superuser's URL of a new database with what prepare made (schema, seed data) in it, dropped when the test
// ends. Parallel tests may call it, and test processes may run beside each other.
//
// prepare gets the URL of an empty database, fills it and leaves no session open. It runs once per process, for the
// first caller: every test of a package passes the same one. Roles belong to the cluster, not to one database, so what
// prepare creates of them is there for all tests.
func URL(t testing.TB, prepare func(ctx context.Context, url string) error) string {
	t.Helper()
	shared.once.Do(func() { shared.err = start(prepare) })
	if shared.err != nil {
		t.Fatalf("test database: %v", shared.err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	name := nextName(t.Name())
	if _, err := shared.admin.ExecContext(ctx, "CREATE DATABASE "+pq.QuoteIdentifier(name)+" TEMPLATE "+template); err != nil {
		t.Fatalf("test database: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		// FORCE: a pool the test forgot must not keep the next test from its room.
		if _, err := shared.admin.ExecContext(ctx, "DROP DATABASE "+pq.QuoteIdentifier(name)+" WITH (FORCE)"); err != nil {
			t.Errorf("drop test database: %v", err)
		}
	})
	return shared.cluster.URLFor(name)
}

// start brings the cluster up and makes the template.
func start(prepare func(ctx context.Context, url string) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	removeAbandoned(root)
	dir, alive, err := makeDir(root)
	if err != nil {
		return err
	}
	shared.dir, shared.alive = dir, alive
	shared.cluster, err = embedded.Start(ctx, embedded.Options{
		DataDir:  dir,
		NoSync:   true,
		Settings: map[string]string{"max_connections": "200"},
	})
	if err != nil {
		return err
	}
	if shared.admin, err = sql.Open("postgres", shared.cluster.URLFor("postgres")); err != nil {
		return err
	}
	if _, err := shared.admin.ExecContext(ctx, "CREATE DATABASE "+template); err != nil {
		return err
	}
	if err := prepare(ctx, shared.cluster.URLFor(template)); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	return seal(ctx)
}

// seal keeps sessions out of the template, since a database in use cannot be copied, and waits for those that prepare
// has closed but that the server has not yet ended.
func seal(ctx context.Context) error {
	if _, err := shared.admin.ExecContext(ctx, "ALTER DATABASE "+template+" ALLOW_CONNECTIONS false"); err != nil {
		return err
	}
	for wait := time.Millisecond; ; wait *= 2 {
		var open int
		err := shared.admin.QueryRowContext(ctx,
			`SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'`, template).Scan(&open)
		if err != nil {
			return err
		}
		if open == 0 {
			return nil
		}
		if wait > 2*time.Second {
			return errors.New("prepare left sessions open in the template")
		}
		time.Sleep(wait)
	}
}

// nextName is a name no other test of this cluster has; the test's name in it is for people.
func nextName(test string) string {
	shared.mu.Lock()
	shared.made++
	n := shared.made
	shared.mu.Unlock()
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(test))
	return fmt.Sprintf("t%d_%.40s", n, plain)
}
