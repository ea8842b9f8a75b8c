package db

import (
	"context"
	"time"
)

// OperationState is how far an operation has come.
type OperationState struct {
	ID, State, Phase, Code string
	Attempts               int
	SendUntil, Deadline    time.Time
}

// OperationOf is the open operation of a proposal about one visit; zero when there is none.
func (t *Tx) OperationOf(ctx context.Context, proposalID string) (OperationState, error) {
	var found []OperationState
	err := t.sel(ctx, &found, `SELECT id, state, phase, coalesce(code, '') AS code, attempts, send_until AS senduntil, deadline
		FROM ehr_operations WHERE proposal = $1 AND item = 0 AND ended_at IS NULL`, proposalID)
	if err != nil || len(found) == 0 {
		return OperationState{}, err
	}
	return found[0], nil
}
