package proposal

import (
	"context"
	"maps"
	"time"

	"countersign/internal/clinic"
)

// wish is what a plan asks for, free text aside: an agent that lost its context asks again in other words (case F6).
func wish(a action, params map[string]any) (string, error) {
	args := maps.Clone(params)
	for _, p := range a.parameters {
		if p.kind == kindText {
			delete(args, p.name)
		}
	}
	b, err := Canonical(map[string]any{"action": a.name, "arguments": args})
	return Digest(b), err
}

// asked gives the proposal of the scope that asks for the same and still waits, nil when there is none. The scope stays
// locked until the transaction ends, so that two who ask at once make one.
func asked(ctx context.Context, tx Tx, scope, wish string) (*Record, error) {
	id, err := tx.Asked(ctx, scope, wish)
	if err != nil || id == "" {
		return nil, err
	}
	r, err := current(ctx, tx, id)
	return &r, err
}

// contradicted is how long a completed move is fresh: another one to another time is then worth a word (case A17).
const contradicted = 24 * time.Hour

const contradicts = "This contradicts "

// contradiction notes that the visit was moved a short while ago, to where it is now: somebody may be repeating an older
// wish. It is said on the card; it changes no risk.
func (d *drafting) contradiction(ctx context.Context, v clinic.Visit) error {
	if d.plan.Before.StartsAt.Equal(d.plan.After.StartsAt) {
		return nil
	}
	done, err := d.tx.MovedSince(ctx, v.ID, v.Patient.ID, d.now.Add(-contradicted))
	if err != nil || done == nil {
		return err
	}
	f := d.plan.Before
	d.why = append(d.why, contradicts+done.ID+", completed less than 24 h ago: it moved the visit to "+
		f.local(f.StartsAt).Format("Monday 2 January 2006, 15:04"))
	return nil
}
