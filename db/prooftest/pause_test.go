//go:build unix

package prooftest

import (
	"context"

	"countersign/internal/proposal"
)

// Points at which a confirmation can be stopped.
const (
	afterKey   = "key inserted, waiting for the proposal's row"
	afterClaim = "claimed"
	afterWrite = "written, not committed"
	afterEnd   = "committed, not answered"
)

// pausing is a Store that stops a claim once, at one point, by calling stop.
type pausing struct {
	proposal.Store
	at   string
	stop func()
}

func (p pausing) pause(at string) {
	if p.at == at {
		p.stop()
	}
}

func (p pausing) InClaim(ctx context.Context, clinicID string, c proposal.ClaimRequest, fn func(proposal.Tx, proposal.Claim) error) error {
	err := p.Store.InClaim(ctx, clinicID, c, func(tx proposal.Tx, claim proposal.Claim) error { return fn(pausingTx{tx, p}, claim) })
	if err == nil {
		p.pause(afterEnd)
	}
	return err
}

type pausingTx struct {
	proposal.Tx
	p pausing
}

func (t pausingTx) LockPins(ctx context.Context, pins []proposal.Pin, stay proposal.Stay) (map[proposal.Pin]int64, bool, error) {
	t.p.pause(afterClaim)
	return t.Tx.LockPins(ctx, pins, stay)
}

func (t pausingTx) Execute(ctx context.Context, e proposal.Execution) (int64, error) {
	version, err := t.Tx.Execute(ctx, e)
	t.p.pause(afterWrite)
	return version, err
}
