package db

import (
	"context"

	"countersign/internal/clinic"
)

// Actors lists who can stand in the trail of the clinic: its people and their agents, also those whose access has
// ended, by name. One statement.
func (t *Tx) Actors(ctx context.Context) ([]clinic.Ref, error) {
	var found []clinic.Ref
	err := t.sel(ctx, &found, `SELECT id, name FROM accounts WHERE clinic = $1
		UNION ALL SELECT id, name FROM tokens WHERE clinic = $1 AND kind = 'agent' ORDER BY name, id`, t.clinic)
	return found, err
}
