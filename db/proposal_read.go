package db

import (
	"context"

	"github.com/lib/pq"

	"countersign/internal/proposal"
)

// Get implements proposal.Tx: State as stored.
func (t proposalTx) Get(ctx context.Context, id string) (proposal.Record, error) {
	var h headRow
	if err := t.get(ctx, &h, `SELECT `+headColumns+headTables+` WHERE p.id = $1`, id); err != nil {
		return proposal.Record{}, translate(err)
	}
	return h.record()
}

// Revision implements proposal.Tx.
func (t proposalTx) Revision(ctx context.Context, id string, revision int) (canonical []byte, hash string, err error) {
	var row struct {
		Bytes []byte `db:"plan_bytes"`
		Hash  string `db:"plan_hash"`
	}
	err = t.get(ctx, &row, `SELECT plan_bytes, plan_hash FROM revisions WHERE proposal = $1 AND revision = $2`, id, revision)
	return row.Bytes, row.Hash, translate(err)
}

// List implements proposal.Tx. One statement.
func (t proposalTx) List(ctx context.Context, f proposal.Filter) ([]proposal.Record, error) {
	w := &where{}
	switch f.State {
	case "":
	case proposal.StateProposed:
		w.and(`p.state = 'proposed' AND p.expires_at > ?`, t.now)
	case proposal.StateExpired:
		w.and(`(p.state = 'expired' OR (p.state = 'proposed' AND p.expires_at <= ?))`, t.now)
	default:
		w.and(`p.state = ?`, f.State)
	}
	if f.IDs != nil {
		w.and(`p.id = ANY (?)`, pq.StringArray(f.IDs))
	}
	if f.Appointment != "" {
		w.and(`p.appointment = ?`, f.Appointment)
	}
	if f.Patient != "" {
		w.and(`p.patient = ?`, f.Patient)
	}
	if f.CreatedBy != "" {
		w.and(`p.created_by = ?`, f.CreatedBy)
	}
	order := ` ORDER BY p.created_at DESC, p.id DESC`
	if f.ByDeadline {
		order = ` ORDER BY p.expires_at, p.id`
	} else if f.Before != nil {
		w.and(`(p.created_at, p.id) < (?, ?)`, f.Before.CreatedAt, f.Before.ID)
	}
	w.args = append(w.args, f.Limit)
	var heads []headRow
	if err := t.sel(ctx, &heads, `SELECT `+headColumns+headTables+w.String()+order+` LIMIT `+w.last(), w.args...); err != nil {
		return nil, translate(err)
	}
	return records(heads)
}

func records(heads []headRow) ([]proposal.Record, error) {
	out := make([]proposal.Record, 0, len(heads))
	for _, h := range heads {
		r, err := h.record()
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
