//go:build unix

// Package embedded runs the private PostgreSQL server that belongs to one data directory: found on the machine,
// initialised once, reachable only through a Unix socket in a 0700 folder, stopped with the program that started it.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
)

// Database is the database that Start makes sure exists and that URL names.
const Database = "countersign"

// superuser is the role initdb creates. The socket folder is the guard: authentication inside it is trust.
const superuser = "postgres"

// Options says which data directory Start serves and how.
type Options struct {
	// DataDir is created when missing. The cluster lies in DataDir/postgres, its URL in DataDir/database-url.
	DataDir string
	// Log receives what an operator should know; nil discards it.
	Log *slog.Logger
	// NoSync gives up durability for speed. Only for throwaway clusters of tests.
	NoSync bool
	// Settings are further server settings (postgresql.conf names), which win over the package's own.
	Settings map[string]string
}

// Cluster is a running server. It stays ours, and its data directory locked, until Stop or the end of the process. A
// server that ends by itself is started again, at the same URL.
type Cluster struct {
	opts      Options
	log       *slog.Logger
	socketDir string
	server    *server // of keep until kept is closed
	locks     []*os.File

	leave context.CancelFunc // ends keep
	kept  chan struct{}      // closed when keep has ended

	stop    sync.Once
	stopErr error
}

// Start finds the binaries, initialises the cluster when there is none, starts the server and returns when it answers.
//
// It holds a lock on the data directory, so a second Start on it fails. It never deletes or upgrades data: a cluster
// of a major version for which no binaries are found is refused. ctx bounds the start only, not the server's life.
func Start(ctx context.Context, opts Options) (_ *Cluster, err error) {
	c := &Cluster{opts: opts, log: opts.Log}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	dataDir, err := prepareDataDir(opts.DataDir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			if c.socketDir != "" {
				_ = os.Remove(c.socketDir) // only when empty
			}
			c.unlock()
		}
	}()
	if err := c.lock(dataDir); err != nil {
		return nil, err
	}
	home, err := locateHome(dataDir)
	if err != nil {
		return nil, err
	}
	major, err := clusterMajor(clusterDir(home))
	if err != nil {
		return nil, err
	}
	acct, err := serverAccount(clusterDir(home))
	if err != nil {
		return nil, err
	}
	bin, err := findBinaries(ctx, acct, major, c.log)
	if err != nil {
		return nil, err
	}
	if home, err = reachableHome(dataDir, home, major != 0, bin, acct, c.log); err != nil {
		return nil, err
	}
	if home != dataDir {
		if err := c.lock(home); err != nil {
			return nil, err
		}
	}
	if err := initialise(ctx, home, major != 0, bin, acct, opts.NoSync, c.log); err != nil {
		return nil, err
	}
	if c.socketDir, err = makeSocketDir(clusterDir(home), acct); err != nil {
		return nil, err
	}
	begin := func(ctx context.Context) (*server, error) {
		return startServer(ctx, home, c.socketDir, bin, acct, opts, c.log)
	}
	if c.server, err = begin(ctx); err != nil {
		return nil, err
	}
	if err := c.publish(ctx, dataDir); err != nil {
		return nil, errors.Join(err, c.server.stop(context.WithoutCancel(ctx)))
	}
	var keeping context.Context
	keeping, c.leave = context.WithCancel(context.WithoutCancel(ctx))
	c.kept = make(chan struct{})
	go c.keep(keeping, begin)
	return c, nil
}

// publish makes sure the database exists and leaves its URL where the operator's psql finds it.
func (c *Cluster) publish(ctx context.Context, dataDir string) error {
	if err := ensureDatabase(ctx, c.URL(), c.URLFor("postgres")); err != nil {
		return err
	}
	return writePrivate(filepath.Join(dataDir, "database-url"), c.URL()+"\n")
}

// URL is the superuser's URL of Database, as libpq and lib/pq read it.
func (c *Cluster) URL() string { return c.URLFor(Database) }

// URLFor is the superuser's URL of the database db, which need not exist.
func (c *Cluster) URLFor(db string) string { return socketURL(c.socketDir, db) }

// The port only names the socket file; it is spelled out so that PGPORT in the environment cannot change it.
func socketURL(socketDir, db string) string {
	return fmt.Sprintf("postgres://%s@/%s?host=%s&port=%s&sslmode=disable", superuser, url.PathEscape(db), socketDir, socketPort)
}

// Stop ends every session, shuts the server down cleanly and gives the data directory free. When ctx ends first the
// server is stopped at once, and recovers at its next start. Later calls return what the first returned.
func (c *Cluster) Stop(ctx context.Context) error {
	c.stop.Do(func() {
		c.leave()
		<-c.kept
		c.stopErr = c.server.stop(ctx)
		// Only ever an empty folder: a server that is still there keeps its socket in it.
		_ = os.Remove(c.socketDir)
		c.unlock()
	})
	return c.stopErr
}
