package db

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"countersign/migrations"
)

// Ready reports whether the database answers and holds every migration of this program.
func (d *DB) Ready(ctx context.Context) error {
	names, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		return err
	}
	newest := int64(0)
	for _, name := range names {
		number, _, _ := strings.Cut(path.Base(name), "_")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return err
		}
		newest = max(newest, n)
	}
	var applied int64
	if err := d.pool.GetContext(ctx, &applied, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`); err != nil {
		return translate(err)
	}
	if applied < newest {
		return errors.New("the database lacks migrations of this program: run countersign migrate up")
	}
	return nil
}
