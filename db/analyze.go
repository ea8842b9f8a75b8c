package db

import (
	"context"
	"database/sql"
)

// Analyze gathers statistics of all tables and files what the patients' index has waiting, as the role of the URL (the
// owner): after a large seed or import searches would otherwise be slow until PostgreSQL does so by itself.
func Analyze(ctx context.Context, url string) error {
	pool, err := sql.Open("postgres", url)
	if err != nil {
		return err
	}
	defer pool.Close()
	_, err = pool.ExecContext(ctx, "SELECT gin_clean_pending_list('patients_search'); ANALYZE")
	return err
}
