package db

import (
	"context"
	"database/sql"
)

// Analyze gathers statistics of all tables, as the role of the URL (the owner): after a large seed or import the
// planner would otherwise know nothing for a minute.
func Analyze(ctx context.Context, url string) error {
	pool, err := sql.Open("postgres", url)
	if err != nil {
		return err
	}
	defer pool.Close()
	_, err = pool.ExecContext(ctx, "ANALYZE")
	return err
}
