package db

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"countersign/internal/audit"
)

// Snapshot runs fn in one read-only transaction of the clinic that sees one state of it, however long it takes.
func (d *DB) Snapshot(ctx context.Context, clinic string, fn func(*Tx) error) error {
	return d.run(ctx, clinic, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", nowQuery, func(t *Tx, row *sqlx.Rows) error {
		if err := row.Scan(&t.now); err != nil {
			return err
		}
		return closeRows(row)
	}, fn)
}

// VerifyTrail checks the whole trail of the transaction's clinic (take a Snapshot) and reports what is wrong. keys are
// the public keys that checkpoints may be signed with; outside are checkpoints of this clinic that were kept elsewhere,
// as text. It gives how many entries the chain counts, those that were cut away included.
func (t *Tx) VerifyTrail(ctx context.Context, keys, outside []string, report func(audit.Finding)) (size int64, err error) {
	find := func(kind, words string, args ...any) {
		report(audit.Finding{Clinic: t.clinic, Kind: kind, Words: fmt.Sprintf(words, args...)})
	}
	var stored []struct {
		Size int64
		Note string
	}
	if err := t.sel(ctx, &stored, `SELECT size, note FROM checkpoints ORDER BY size`); err != nil {
		return 0, err
	}
	cuts, err := t.cuts(ctx)
	if err != nil {
		return 0, err
	}
	cut := audit.Cut{}
	if len(cuts) > 0 {
		cut = cuts[len(cuts)-1]
	}
	past, err := t.past(ctx)
	if err != nil {
		return 0, err
	}
	var good []audit.Checkpoint
	for _, s := range stored {
		c, err := audit.OpenCheckpoint(s.Note, keys...)
		if err == nil && (c.Clinic != t.clinic || c.Size != s.Size) {
			err = audit.ErrSignature
		}
		if err != nil {
			find(audit.BadCheckpoint, "the stored checkpoint of %d entries: %v", s.Size, err)
			continue
		}
		good = append(good, c)
	}
	past.known = good
	for _, n := range outside {
		c, err := audit.OpenCheckpoint(n, keys...)
		if err != nil {
			find(audit.BadCheckpoint, "a checkpoint from outside: %v", err)
			continue
		}
		if c.Size < cut.Size {
			past.asked = append(past.asked, c)
		}
		good = append(good, c)
	}
	past.check(cuts, find)
	checker := audit.NewChecker(t.clinic, cut, good, report)
	tiles, err := t.tree(ctx)
	if err != nil {
		return 0, err
	}
	checker.Tile = func(n int64, root audit.Hash) {
		if n >= int64(len(tiles.Tiles)) || tiles.Tiles[n] != root {
			find(audit.ChainBroken, "tile %d of the tree is not that of the entries %d to %d", n, n*audit.TileSize+1, (n+1)*audit.TileSize)
		}
	}
	err = t.eachLink(ctx, cut.Size, func(r audit.Row) error {
		checker.Row(r)
		return ctx.Err()
	})
	if err != nil {
		return 0, err
	}
	checker.End()
	if n := int64(len(tiles.Tiles)) * audit.TileSize; n > checker.Size() {
		find(audit.TailCut, "the trail ends after number %d, and its tree had %d entries: the end was cut off", checker.Size(), n)
	}
	return checker.Size(), t.verifyAround(ctx, cut, find)
}

// pastProofs is what a trail that was cut can say of what it was before.
type pastProofs struct {
	known, asked []audit.Checkpoint
	rows         []struct {
		Older, Size int64
		Path        []byte
	}
}

func (t *Tx) past(ctx context.Context) (p pastProofs, err error) {
	err = t.sel(ctx, &p.rows, `SELECT older, size, path FROM consistency ORDER BY older`)
	return p, err
}

// check holds the cuts against their checkpoints, and the checkpoints of before them, by the proofs the cuts left.
func (p pastProofs) check(cuts []audit.Cut, find func(kind, words string, args ...any)) {
	at := map[int64]audit.Checkpoint{}
	for _, c := range p.known {
		at[c.Size] = c
	}
	for _, cut := range cuts {
		c, ok := at[cut.Size]
		if !ok {
			continue // said already: its checkpoint is not good
		}
		tree, err := audit.NewTree(cut.Size, cut.Frontier)
		if err != nil || tree.Root() != c.Root {
			find(audit.BadCheckpoint, "what the cut after number %d left behind is not what its checkpoint signed", cut.Size)
		}
	}
	if len(cuts) == 0 {
		return
	}
	proven := map[int64]bool{}
	for _, r := range slices.Backward(p.rows) {
		older, ok := at[r.Older]
		if newer, there := at[r.Size]; ok && there {
			proven[r.Older] = audit.ProvesConsistency(r.Older, r.Size, hashes(r.Path), older.Root, newer.Root)
		}
	}
	last := cuts[len(cuts)-1].Size
	for _, c := range append(slices.Clone(p.known), p.asked...) {
		if c.Size < last && (!proven[c.Size] || at[c.Size].Root != c.Root) && c.Size > 0 {
			find(audit.Rewritten, "what was cut away after number %d did not begin with the %d entries that the checkpoint of %s signed", last, c.Size, audit.TimeText(c.At))
		}
	}
}
