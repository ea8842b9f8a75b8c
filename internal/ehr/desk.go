package ehr

import (
	"context"

	"countersign/internal/proposal"
)

// ProposalDesk is the Desk of the proposal service.
type ProposalDesk struct{ *proposal.Service }

var _ Desk = ProposalDesk{}

// Applied implements Desk. Errors: proposal.ErrClash.
func (d ProposalDesk) Applied(ctx context.Context, op Operation, f Found) (bool, error) {
	return d.Service.Applied(ctx, op.Clinic, op.Proposal, proposal.OperationEnd{ID: op.ID, Lease: op.Lease, RemoteID: f.RemoteID, RemoteVersion: f.RemoteVersion})
}

// Refused implements Desk.
func (d ProposalDesk) Refused(ctx context.Context, op Operation, code string) (bool, error) {
	return d.Service.Refused(ctx, op.Clinic, op.Proposal, proposal.OperationEnd{ID: op.ID, Lease: op.Lease, Code: code})
}
