package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"countersign/db"
)

// migrateUp brings the database to this program's version.
func (p *program) migrateUp(ctx context.Context, args []string) error {
	return p.withOwner(ctx, "migrate up", args, func(url string) error { return db.Migrate(ctx, url) })
}

// migrateStatus lists every migration and whether it is applied.
func (p *program) migrateStatus(ctx context.Context, args []string) error {
	return p.withOwner(ctx, "migrate status", args, func(url string) error {
		all, err := db.MigrationStatus(ctx, url)
		for _, m := range all {
			state := "pending"
			if m.Applied {
				state = "applied"
			}
			fmt.Fprintf(p.stdout, "%-8s %s\n", state, m.Name)
		}
		return err
	})
}

func (p *program) withOwner(ctx context.Context, command string, args []string, fn func(url string) error) (err error) {
	var c config
	f := flag.NewFlagSet(command, flag.ContinueOnError)
	c.databaseFlags(f)
	if err := p.parse(f, args); err != nil {
		return err
	}
	url, stop, err := c.database(ctx, p.log(), false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	return fn(url)
}
