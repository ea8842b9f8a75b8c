package db

import (
	"context"
	"fmt"

	"github.com/lib/pq"

	"countersign/internal/audit"
)

// sealBatch bounds one transaction of the sealer: its locks last some milliseconds.
const sealBatch = 1000

// Seal gives the entries that wait their place in the clinic's chain, a batch a transaction, until none waits. Of two
// sealers of one clinic the second finds nothing to do. What a killed one had not committed is sealed by the next.
func (d *DB) Seal(ctx context.Context, clinic string) (sealed int, err error) {
	for n := sealBatch; n == sealBatch; sealed += n {
		if err := d.InClinic(ctx, clinic, func(t *Tx) (err error) {
			n, err = t.seal(ctx, sealBatch)
			return err
		}); err != nil {
			return sealed, err
		}
	}
	return sealed, nil
}

func (t *Tx) seal(ctx context.Context, most int) (sealed int, err error) {
	var mine bool
	if err := t.get(ctx, &mine, `SELECT EXISTS (SELECT FROM unsealed) AND pg_try_advisory_xact_lock(hashtextextended('seal ' || current_setting('app.clinic'), 0))`); err != nil || !mine {
		return 0, err
	}
	// The queue is mostly empty when it is analysed, and a plan for an empty table reads all of a long one for every batch.
	if _, err := t.exec(ctx, `SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off`); err != nil {
		return 0, err
	}
	end, err := t.chainEnd(ctx) // after the lock: nobody else moves it now
	if err != nil {
		return 0, err
	}
	var taken []struct {
		Entry string
		Hash  string
	}
	err = t.sel(ctx, &taken, `WITH next AS (
			SELECT u.n, u.entry, a.content_hash FROM unsealed u JOIN audit a ON a.clinic = u.clinic AND a.id = u.entry ORDER BY u.n LIMIT $1),
		gone AS (DELETE FROM unsealed u USING next WHERE u.n = next.n)
		SELECT entry, content_hash AS hash FROM next ORDER BY n`, most)
	if err != nil || len(taken) == 0 {
		return 0, err
	}
	tree, err := audit.NewTileTree(end.tileBegin(), end.Seq, end.tile)
	if err != nil {
		return 0, err
	}
	var tiles pq.Int64Array
	var roots pq.ByteaArray
	tree.Tile = func(n int64, root audit.Hash) { tiles, roots = append(tiles, n), append(roots, root[:]) }
	entries, links := make(pq.StringArray, len(taken)), make([]audit.Link, len(taken))
	var contents, prevs, hashes pq.ByteaArray
	seq, head := end.Seq, end.Head
	for i, e := range taken {
		content, ok := audit.ParseHash(e.Hash)
		if !ok {
			return 0, fmt.Errorf("db: entry %s has no content hash", e.Entry)
		}
		seq++
		links[i] = audit.Link{Clinic: t.clinic, Seq: seq, Entry: e.Entry, Content: content, Prev: head}
		head = links[i].Hash()
		tree.Append(links[i].Leaf())
		hash := head
		entries[i] = e.Entry
		contents, prevs, hashes = append(contents, links[i].Content[:]), append(prevs, links[i].Prev[:]), append(hashes, hash[:])
	}
	n, err := t.exec(ctx, `INSERT INTO chain (clinic, seq, entry, content_hash, prev_hash, chain_hash)
		SELECT current_setting('app.clinic'), $1 + x.n, x.entry, x.content, x.prev, x.hash
		FROM unnest($2::text[], $3::bytea[], $4::bytea[], $5::bytea[]) WITH ORDINALITY AS x(entry, content, prev, hash, n)`,
		end.Seq, entries, contents, prevs, hashes)
	if err := touched(n, int64(len(taken)), err); err != nil {
		return 0, err
	}
	if len(tiles) > 0 {
		n, err := t.exec(ctx, `INSERT INTO tiles (clinic, n, root) SELECT current_setting('app.clinic'), x.n, x.root
			FROM unnest($1::bigint[], $2::bytea[]) AS x(n, root)`, tiles, roots)
		if err := touched(n, int64(len(tiles)), err); err != nil {
			return 0, err
		}
	}
	return len(taken), nil
}

// chainEnd is where a clinic's chain ends.
type chainEnd struct {
	Seq  int64
	Head audit.Hash
	tile []audit.Hash // the frontier of the last tile, which is not full
}

func (e chainEnd) tileBegin() int64 { return e.Seq / audit.TileSize * audit.TileSize }

func (t *Tx) chainEnd(ctx context.Context) (end chainEnd, err error) {
	cut, err := t.lastCut(ctx)
	if err != nil {
		return end, err
	}
	end.Seq, end.Head = cut.Size, cut.Head
	var last []struct {
		Seq  int64
		Hash []byte
	}
	err = t.sel(ctx, &last, `SELECT seq, chain_hash AS hash FROM chain ORDER BY seq DESC LIMIT 1`)
	if err != nil {
		return end, err
	}
	for _, l := range last {
		end.Seq = l.Seq
		end.Head, _ = audit.HashOf(l.Hash)
	}
	from := end.tileBegin()
	var tile []audit.Hash
	if cut.Size > from {
		from, tile = cut.Size, audit.PartialTile(cut.Size, cut.Frontier)
	}
	tree, err := audit.NewTileTree(end.tileBegin(), from, tile)
	if err != nil {
		return end, err
	}
	leaves, err := t.leaves(ctx, from, end.Seq)
	for _, l := range leaves {
		tree.Append(l)
	}
	end.tile = tree.Frontier()
	return end, err
}

// leaves are the leaf hashes of the from-th link, from 0, to before the to-th.
func (t *Tx) leaves(ctx context.Context, from, to int64) ([]audit.Hash, error) {
	if from >= to {
		return nil, nil
	}
	var rows []linkRow
	err := t.sel(ctx, &rows, `SELECT seq, entry, content_hash AS content, prev_hash AS prev FROM chain WHERE seq > $1 AND seq <= $2 ORDER BY seq`, from, to)
	out := make([]audit.Hash, len(rows))
	for i, r := range rows {
		out[i] = r.link(t.clinic).Leaf()
	}
	return out, err
}

// linkRow is a row of the chain.
type linkRow struct {
	Seq           int64
	Entry         string
	Content, Prev []byte
}

func (r linkRow) link(clinic string) audit.Link {
	l := audit.Link{Clinic: clinic, Seq: r.Seq, Entry: r.Entry}
	l.Content, _ = audit.HashOf(r.Content)
	l.Prev, _ = audit.HashOf(r.Prev)
	return l
}
