package db

import (
	"context"
	"fmt"

	"countersign/internal/audit"
)

// lastCut is the newest anchor; Size 0 and the chain's start when nothing was ever cut.
func (t *Tx) lastCut(ctx context.Context) (c audit.Cut, err error) {
	all, err := t.cuts(ctx)
	if err != nil || len(all) == 0 {
		return audit.Cut{Head: audit.ChainStart(t.clinic)}, err
	}
	return all[len(all)-1], nil
}

// cuts are the anchors, oldest first. Their heads are what their checkpoints say, unchecked.
func (t *Tx) cuts(ctx context.Context) ([]audit.Cut, error) {
	var rows []struct {
		audit.Cut
		Frontier []byte
	}
	if err := t.sel(ctx, &rows, `SELECT n.size, n.before, n.frontier, c.note FROM anchors n JOIN checkpoints c ON c.clinic = n.clinic AND c.size = n.size
		ORDER BY n.size`); err != nil {
		return nil, err
	}
	out := make([]audit.Cut, len(rows))
	for i, r := range rows {
		out[i] = r.Cut
		out[i].Before = r.Before.UTC()
		out[i].Frontier = hashes(r.Frontier)
		out[i].Head = audit.HeadOf(r.Note)
	}
	return out, nil
}

func hashes(b []byte) (out []audit.Hash) {
	for ; len(b) >= len(audit.Hash{}); b = b[len(audit.Hash{}):] {
		h, _ := audit.HashOf(b[:len(audit.Hash{})])
		out = append(out, h)
	}
	return out
}

func bytesOf(hashes []audit.Hash) []byte {
	out := []byte{}
	for _, h := range hashes {
		out = append(out, h[:]...)
	}
	return out
}

// tree is the clinic's Merkle tree as it is stored.
func (t *Tx) tree(ctx context.Context) (*audit.Stored, error) {
	cut, err := t.lastCut(ctx)
	if err != nil {
		return nil, err
	}
	s := &audit.Stored{Cut: cut.Size, Front: cut.Frontier,
		Leaves: func(from, to int64) ([]audit.Hash, error) { return t.leaves(ctx, from, to) }}
	var roots [][]byte
	if err := t.sel(ctx, &roots, `SELECT root FROM tiles ORDER BY n`); err != nil {
		return nil, err
	}
	for _, r := range roots {
		h, _ := audit.HashOf(r)
		s.Tiles = append(s.Tiles, h)
	}
	return s, nil
}

// Checkpoint takes a checkpoint of the chain as it stands, or gives the one there is of this size. It signs nothing that
// does not begin with what it signed last: then somebody has changed the past.
func (t *Tx) Checkpoint(ctx context.Context, key *audit.Key) (note string, err error) {
	end, err := t.chainEnd(ctx)
	if err != nil {
		return "", err
	}
	return t.checkpointAt(ctx, key, end.Seq, end.Head)
}

func (t *Tx) checkpointAt(ctx context.Context, key *audit.Key, size int64, head audit.Hash) (note string, err error) {
	s, err := t.tree(ctx)
	if err != nil {
		return "", err
	}
	tree, err := s.At(size)
	if err != nil {
		return "", err
	}
	c := audit.Checkpoint{Clinic: t.clinic, Size: size, Root: tree.Root(), Head: head, At: t.now}
	var last []string
	if err := t.sel(ctx, &last, `SELECT note FROM checkpoints WHERE size <= $1 ORDER BY size DESC LIMIT 1`, size); err != nil {
		return "", err
	}
	for _, n := range last {
		before, err := audit.OpenCheckpoint(n, key.Public)
		if err != nil {
			return "", fmt.Errorf("the last checkpoint: %w", err)
		}
		if before.Size == size && before.Root == c.Root && before.Head == head {
			return n, nil
		}
		if before.Size < s.Cut {
			continue
		}
		was, err := s.At(before.Size)
		if err != nil {
			return "", err
		}
		if was.Root() != before.Root {
			return "", audit.ErrRewritten
		}
	}
	if note, err = c.Sign(key); err != nil {
		return "", err
	}
	n, err := t.exec(ctx, `INSERT INTO checkpoints (clinic, size, note) VALUES (current_setting('app.clinic'), $1, $2) ON CONFLICT DO NOTHING`, size, note)
	if err == nil && n == 0 { // somebody else took it meanwhile
		err = t.get(ctx, &note, `SELECT note FROM checkpoints WHERE size = $1`, size)
	}
	return note, err
}
