package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/lib/pq"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"countersign/migrations"
)

// Migration is one numbered file and whether it has been applied.
type Migration struct {
	Name    string
	Applied bool
}

// Migrate applies what is missing, as the role of the URL (the owner). Forward only; two instances at once wait for
// each other.
func Migrate(ctx context.Context, url string) error {
	return withProvider(url, func(p *goose.Provider) error {
		if _, err := p.Up(ctx); err != nil {
			return fmt.Errorf("migrating: %w", err)
		}
		return nil
	})
}

// MigrationStatus lists every migration in order.
func MigrationStatus(ctx context.Context, url string) ([]Migration, error) {
	var out []Migration
	err := withProvider(url, func(p *goose.Provider) error {
		all, err := p.Status(ctx)
		for _, m := range all {
			out = append(out, Migration{Name: m.Source.Path, Applied: m.State == goose.StateApplied})
		}
		return err
	})
	return out, err
}

func withProvider(url string, fn func(*goose.Provider) error) error {
	pc, err := pq.NewConnector(url)
	if err != nil {
		return errors.New("the database URL cannot be read")
	}
	pool := sql.OpenDB(pc)
	defer pool.Close()
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectPostgres, pool, migrations.FS, goose.WithSessionLocker(locker))
	if err != nil {
		return err
	}
	return fn(p)
}
