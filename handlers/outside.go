package handlers

import (
	"context"

	"countersign/db"
	"countersign/internal/clinic"
	"countersign/internal/ehr"
	"countersign/internal/proposal"
	"countersign/views"
)

// outsideOf is how far a confirmed change has come on its way into the EHR; nothing for any other. One statement where
// there is one.
func outsideOf(ctx context.Context, t *db.Tx, by clinic.Actor, r proposal.Record) (views.Outside, error) {
	if r.State != proposal.StateExecuting || r.Plan.IsBulk() {
		return views.Outside{}, nil
	}
	o, err := t.OperationOf(ctx, r.ID)
	return views.Outside{Operation: o.ID, State: o.State, Code: o.Code, TwoBookings: o.Phase == ehr.PhaseCancelOld, Attempts: o.Attempts,
		SendUntil: o.SendUntil, AskAt: o.Deadline, MayResolve: by.Role == clinic.RoleReviewer}, err
}
