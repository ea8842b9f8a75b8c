package db

import (
	"context"
)

// Actor is somebody who can stand in the trail.
type Actor struct {
	ID, Name string
	Agent    bool
	Ended    bool // disabled or revoked: the entries stay
}

// Actors lists who can stand in the trail of the clinic: its people and their agents, also those whose access has
// ended, by name. One statement.
func (t *Tx) Actors(ctx context.Context) ([]Actor, error) {
	var found []Actor
	err := t.sel(ctx, &found, `SELECT id, name, false AS agent, disabled_at IS NOT NULL AS ended FROM accounts WHERE clinic = $1
		UNION ALL SELECT id, name, true, revoked_at IS NOT NULL FROM tokens WHERE clinic = $1 AND kind = 'agent' ORDER BY name, id`, t.clinic)
	return found, err
}
