package db

import (
	"context"

	"countersign/internal/audit"
)

// ExportStart seals what waits, takes a checkpoint, and gives it with the cut that the rows stand behind.
func (d *DB) ExportStart(ctx context.Context, clinic string, key *audit.Key) (note string, upTo int64, cut audit.Cut, err error) {
	if _, err := d.Seal(ctx, clinic); err != nil {
		return "", 0, cut, err
	}
	err = d.InClinic(ctx, clinic, func(t *Tx) error {
		if cut, err = t.lastCut(ctx); err != nil {
			return err
		}
		if note, err = t.Checkpoint(ctx, key); err != nil {
			return err
		}
		c, err := audit.OpenCheckpoint(note, key.Public)
		upTo = c.Size
		return err
	})
	return note, upTo, cut, err
}

// EachSealed gives every link behind the after-th up to the upTo-th that the filter lets through to fn, in order. Each
// window is a transaction of its own: links never change, and a slow reader holds nothing.
func (d *DB) EachSealed(ctx context.Context, clinic string, f AuditFilter, after, upTo int64, fn func(audit.Exported) error) error {
	for ; after < upTo; after += chainWindow {
		var rows []sealedRow
		err := d.Read(ctx, clinic, func(t *Tx) error {
			w := &where{}
			if err := f.narrow(w); err != nil {
				return err
			}
			if f.Appointment != "" {
				w.and(`(a.object_kind = 'appointment' AND a.object = ? OR a.proposal IN (SELECT p.id FROM proposals p WHERE p.appointment = ?))`, f.Appointment, f.Appointment)
			}
			w.and(`c.seq > ? AND c.seq <= ?`, after, min(after+chainWindow, upTo))
			rows = nil
			return t.sel(ctx, &rows, `SELECT `+sealedColumns+sealedNames+` FROM chain c LEFT JOIN audit a ON a.clinic = c.clinic AND a.id = c.entry`+
				auditNames+w.String()+` ORDER BY c.seq`, w.args...)
		})
		if err != nil {
			return err
		}
		for _, r := range rows {
			if err := fn(audit.Exported{Row: r.row(clinic), ActorName: r.ActorName, OnBehalfOfName: r.OnBehalfOfName}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Receipts are the inclusion receipts of one entry or, in their order, of all entries of a proposal, under the newest
// checkpoint that counts them; one is taken when there is none. Errors: sql.ErrNoRows when there is no such entry or it
// is not sealed yet.
func (t *Tx) Receipts(ctx context.Context, key *audit.Key, entry, proposal string) (all []audit.Receipt, err error) {
	var rows []struct {
		Seq     int64
		Prev    []byte
		Content []byte
	}
	err = t.sel(ctx, &rows, `SELECT c.seq, c.prev_hash AS prev, a.content FROM chain c JOIN audit a ON a.clinic = c.clinic AND a.id = c.entry
		WHERE a.id = $1 OR a.proposal = nullif($2, '') ORDER BY c.seq LIMIT 500`, entry, proposal)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	var notes []string
	if err := t.sel(ctx, &notes, `SELECT note FROM checkpoints WHERE size >= $1 ORDER BY size DESC LIMIT 1`, rows[len(rows)-1].Seq); err != nil {
		return nil, err
	}
	if len(notes) == 0 {
		note, err := t.Checkpoint(ctx, key)
		if err != nil {
			return nil, err
		}
		notes = []string{note}
	}
	point, err := audit.OpenCheckpoint(notes[0], key.Public)
	if err != nil {
		return nil, err
	}
	tree, err := t.tree(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		path, err := tree.Inclusion(r.Seq-1, point.Size)
		if err != nil {
			return nil, err
		}
		prev, _ := audit.HashOf(r.Prev)
		receipt, err := audit.NewReceipt(r.Content, r.Seq, prev, path, notes[0], key.Public)
		if err != nil {
			return nil, err
		}
		all = append(all, receipt)
	}
	return all, nil
}
