package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"time"

	"countersign/db"
	"countersign/db/seed"
	"countersign/internal/account"
	"countersign/internal/refusal"
)

// seed fills an empty database with the demo's world; a filled one it leaves as it is.
func (p *program) seed(ctx context.Context, args []string) error {
	var c config
	opt := seed.Options{Now: time.Now(), Progress: func(line string) { fmt.Fprintln(p.stderr, line) }}
	f := flag.NewFlagSet("seed", flag.ContinueOnError)
	c.databaseFlags(f)
	f.StringVar(&opt.Size, "size", "small", "small, medium or large")
	f.Uint64Var(&opt.Seed, "seed", 1, "the same `number` makes the same data")
	if err := p.parse(f, args); err != nil {
		return err
	}
	if _, ok := seed.Sizes[opt.Size]; !ok {
		return p.wrong("no size %q: small, medium or large", opt.Size)
	}
	return c.withDatabase(ctx, p.log(), true, func(d *db.DB, ownersURL string) error {
		made, err := seed.Run(ctx, d, opt)
		if err != nil {
			return err
		}
		if !made {
			fmt.Fprintln(p.stderr, "there is data already; nothing was changed")
			return nil
		}
		return db.Analyze(ctx, ownersURL)
	})
}

// demo fills an empty database and makes the demo's accounts and tokens where they are missing.
func demo(ctx context.Context, d *db.DB, accounts *account.Service, log *slog.Logger) error {
	if _, err := seed.Run(ctx, d, seed.Options{Size: "small", Seed: 1, Now: time.Now(), Progress: func(line string) { log.Info("demo: " + line) }}); err != nil {
		return err
	}
	for _, id := range []string{seed.Havnegade, seed.Lakeview} {
		if _, err := d.ClinicByName(ctx, id); err != nil {
			if r := refusal.Of(err); r != nil && r.Code == refusal.NotFound {
				return errors.New("this database holds other clinics and not the demo's: --demo needs an empty one")
			}
			return err
		}
	}
	return accounts.AddDemo(ctx, seed.Havnegade, seed.Lakeview)
}
