package db

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"countersign/internal/audit"
	"countersign/internal/refusal"
)

// ErrKeptForever: the clinic has no retention period, so nothing is ever old enough.
var ErrKeptForever = errors.New("this clinic has no retention period: set one with countersign audit retain")

// SetRetention sets for how many years the trail is kept, at least 1.
func (t *Tx) SetRetention(ctx context.Context, years int) error {
	n, err := t.exec(ctx, `UPDATE clinics SET audit_years = $1 WHERE id = current_setting('app.clinic')`, years)
	return touched(n, 1, err)
}

// CutTrail removes the sealed entries from the first to the last before one that must be kept, in one transaction of the
// owner (ownersURL): the app's role may not. What it leaves behind: a checkpoint of what goes, the tree's frontier there, and a
// proof for each older checkpoint that it was a beginning of that. It gives how many entries of the chain are gone, 0 when
// nothing was old enough. The cut is told by an entry of its own. Verify before: a cut hides what was wrong.
func CutTrail(ctx context.Context, ownersURL, clinic string, key *audit.Key, told func(t *Tx, size int64) audit.Event) (size int64, err error) {
	pc, err := pq.NewConnector(ownersURL)
	if err != nil {
		return 0, errors.New("the database URL cannot be read")
	}
	pool := sqlx.NewDb(sql.OpenDB(&connector{pq: pc, setup: `SET ROLE ` + Role + `; SET TIME ZONE 'UTC'; SET plan_cache_mode = force_generic_plan`}), "postgres")
	defer pool.Close()
	err = (&DB{pool: pool}).InClinic(ctx, clinic, func(t *Tx) error {
		size, err = t.cut(ctx, key, told)
		return err
	})
	return size, err
}

func (t *Tx) cut(ctx context.Context, key *audit.Key, told func(t *Tx, size int64) audit.Event) (int64, error) {
	if _, err := t.exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('seal ' || current_setting('app.clinic'), 0))`); err != nil {
		return 0, err
	}
	var before *time.Time
	if err := t.get(ctx, &before, `SELECT app_now() - make_interval(years => audit_years) FROM clinics WHERE id = current_setting('app.clinic')`); err != nil {
		return 0, err
	}
	if before == nil {
		return 0, ErrKeptForever
	}
	last, err := t.lastCut(ctx)
	if err != nil {
		return 0, err
	}
	var size int64
	err = t.get(ctx, &size, `SELECT coalesce((SELECT c.seq FROM chain c JOIN audit a ON a.clinic = c.clinic AND a.id = c.entry
			WHERE c.clinic = current_setting('app.clinic') AND a.at >= $1 ORDER BY c.seq LIMIT 1),
		(SELECT max(seq) + 1 FROM chain WHERE clinic = current_setting('app.clinic')), 1) - 1`, *before)
	if err != nil || size <= last.Size {
		return 0, err
	}
	stored, err := t.tree(ctx)
	if err != nil {
		return 0, err
	}
	tree, err := stored.At(size)
	if err != nil {
		return 0, err
	}
	var head []byte
	if err := t.get(ctx, &head, `SELECT chain_hash FROM chain WHERE clinic = current_setting('app.clinic') AND seq = $1`, size); err != nil {
		return 0, err
	}
	h, ok := audit.HashOf(head)
	if !ok {
		return 0, refusal.New(refusal.Internal)
	}
	if _, err := t.checkpointAt(ctx, key, size, h); err != nil {
		return 0, err
	}
	var older []int64
	if err := t.sel(ctx, &older, `SELECT size FROM checkpoints WHERE clinic = current_setting('app.clinic') AND size > 0 AND size >= $1 AND size < $2 ORDER BY size`, last.Size, size); err != nil {
		return 0, err
	}
	paths := make([][]byte, len(older))
	for i, o := range older {
		path, err := stored.Consistency(o, size)
		if err != nil {
			return 0, err
		}
		paths[i] = bytesOf(path)
	}
	if err := t.Audit(ctx, told(t, size)); err != nil {
		return 0, err
	}
	// From here on as the owner, who names the clinic in every statement: a superuser is under no policy.
	for _, s := range []struct {
		query string
		args  []any
	}{
		{`SET LOCAL ROLE NONE`, nil},
		{`SET LOCAL app.cut = '` + t.clinic + `'`, nil}, // its shape was checked
		{`INSERT INTO anchors (clinic, size, before, frontier) VALUES (current_setting('app.clinic'), $1, $2, $3)`, []any{size, *before, bytesOf(tree.Frontier())}},
		{`INSERT INTO consistency (clinic, older, size, path) SELECT current_setting('app.clinic'), x.older, $1, x.path
			FROM unnest($2::bigint[], $3::bytea[]) AS x(older, path)`, []any{size, pq.Array(older), pq.ByteaArray(paths)}},
		{`DELETE FROM audit a USING chain c WHERE c.clinic = current_setting('app.clinic') AND c.seq <= $1 AND a.clinic = c.clinic AND a.id = c.entry`, []any{size}},
		{`DELETE FROM chain WHERE clinic = current_setting('app.clinic') AND seq <= $1`, []any{size}},
	} {
		if _, err := t.exec(ctx, s.query, s.args...); err != nil {
			return 0, err
		}
	}
	return size, nil
}
