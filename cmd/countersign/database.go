package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"countersign/db"
	"countersign/db/embedded"
)

const stopWithin = 20 * time.Second

// database gives the owner's URL: the one set, or that of the private PostgreSQL, which stop ends. alone is for serve:
// any other command works beside the process that runs the private server.
func (c *config) database(ctx context.Context, log *slog.Logger, alone bool) (url string, stop func() error, err error) {
	nothing := func() error { return nil }
	if c.databaseURL != "" {
		return c.databaseURL, nothing, nil
	}
	cluster, err := embedded.Start(ctx, embedded.Options{DataDir: c.dataDir, Log: log})
	if errors.Is(err, embedded.ErrInUse) && !alone {
		b, readErr := os.ReadFile(filepath.Join(c.dataDir, "database-url"))
		if readErr != nil {
			return "", nil, errors.Join(err, readErr)
		}
		return strings.TrimSpace(string(b)), nothing, nil
	}
	if err != nil {
		return "", nil, err
	}
	return cluster.URL(), func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
		defer cancel()
		return cluster.Stop(ctx)
	}, nil
}

// serversDatabase gives the migrated database as the app's role, with the limits of a server; stop closes it and ends what
// was started for it. alone is that of database.
func (c *config) serversDatabase(ctx context.Context, log *slog.Logger, alone bool) (d *db.DB, stop func() error, err error) {
	url, end, err := c.database(ctx, log, alone)
	if err != nil {
		return nil, nil, err
	}
	if err = db.Migrate(ctx, url); err == nil {
		d, err = db.Open(ctx, url, db.Options{})
	}
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return d, func() error { return errors.Join(d.Close(), end()) }, nil
}

// commandTimeout lets a command's statements, such as those of a large seed, run as long as they need on a busy machine.
const commandTimeout = 10 * time.Minute

// withDatabase runs fn on the database as the app's role. The database must be at this program's version, unless
// migrate says to bring it there.
func (c *config) withDatabase(ctx context.Context, log *slog.Logger, migrate bool, fn func(d *db.DB, ownersURL string) error) (err error) {
	url, stop, err := c.database(ctx, log, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if migrate {
		if err := db.Migrate(ctx, url); err != nil {
			return err
		}
	}
	d, err := db.Open(ctx, url, db.Options{StatementTimeout: commandTimeout})
	if err != nil {
		return fmt.Errorf("opening the database (has it been migrated?): %w", err)
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.Ready(ctx); err != nil {
		return err
	}
	return fn(d, url)
}
