package db

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// Proposals is the proposal.Store on a pool.
type Proposals struct {
	DB     *DB
	Queued func(clinic string) // told after a commit that queued messages; nil = they are found. It does not wait
}

var _ proposal.Store = Proposals{}

// proposalTx is a Tx as the proposal rules see it: a missing row is not_found, and errors are already ours.
type proposalTx struct{ *Tx }

var _ proposal.Tx = proposalTx{}

// InTx implements proposal.Store.
func (p Proposals) InTx(ctx context.Context, clinicID string, fn func(proposal.Tx) error) error {
	queued := false
	err := p.DB.InClinic(ctx, clinicID, func(t *Tx) error {
		err := fn(proposalTx{t})
		queued = t.queued
		return err
	})
	p.tell(clinicID, err == nil && queued)
	return err
}

func (p Proposals) tell(clinicID string, queued bool) {
	if queued && p.Queued != nil {
		p.Queued(clinicID)
	}
}

// ReadTx implements proposal.Store.
func (p Proposals) ReadTx(ctx context.Context, clinicID string, fn func(proposal.Tx) error) error {
	return p.DB.Read(ctx, clinicID, func(t *Tx) error { return fn(proposalTx{t}) })
}

// InClaim implements proposal.Store. BEGIN, the clinic and the claim are one round trip.
func (p Proposals) InClaim(ctx context.Context, clinicID string, c proposal.ClaimRequest, fn func(proposal.Tx, proposal.Claim) error) error {
	if !clinic.ValidID(c.Proposal) {
		c.Proposal = "" // cannot exist
	}
	opening := `SELECT ` + claimColumns + ` FROM claim_proposal(`
	for i, s := range []string{clinicID, c.Person, c.Key, c.Fingerprint, c.Proposal, c.Account} {
		if i > 0 {
			opening += ", "
		}
		opening += pq.QuoteLiteral(s)
	}
	var claim proposal.Claim
	queued := false
	err := p.DB.run(ctx, clinicID, "BEGIN", opening+")", func(t *Tx, rows *sqlx.Rows) (err error) {
		var r claimRow
		if err := rows.StructScan(&r); err != nil {
			return err
		}
		t.now = r.Now
		if claim, err = r.claim(); err != nil {
			return err
		}
		return closeRows(rows)
	}, func(t *Tx) error {
		err := fn(proposalTx{t}, claim)
		queued = t.queued
		return err
	})
	p.tell(clinicID, err == nil && queued)
	return err
}

func (t proposalTx) Visit(ctx context.Context, id string) (clinic.Visit, error) {
	v, err := t.Tx.Visit(ctx, id)
	return v, translate(err)
}

func (t proposalTx) Patient(ctx context.Context, id string) (clinic.Patient, error) {
	p, err := t.Tx.Patient(ctx, id)
	return p, translate(err)
}

func (t proposalTx) Location(ctx context.Context, id string) (clinic.Location, error) {
	l, err := t.Tx.Location(ctx, id)
	return l, translate(err)
}

func (t proposalTx) Practitioner(ctx context.Context, id string) (p clinic.Practitioner, err error) {
	err = t.get(ctx, &p, `SELECT id, name, active, version FROM practitioners WHERE id = $1`, id)
	return p, translate(err)
}

func (t proposalTx) Type(ctx context.Context, id string) (y clinic.Type, err error) {
	err = t.get(ctx, &y, `SELECT id, name, minutes, version FROM appointment_types WHERE id = $1`, id)
	return y, translate(err)
}

func (t proposalTx) SlotsOf(ctx context.Context, practitioner, location string, from, to time.Time) ([]clinic.Slot, error) {
	s, err := t.Tx.SlotsOf(ctx, practitioner, location, from, to)
	return s, translate(err)
}

func (t proposalTx) DoubleBooked(ctx context.Context, s proposal.Stay) (twice bool, err error) {
	err = t.get(ctx, &twice, `SELECT is_double_booked($1, $2, $3, $4, $5)`, t.clinic, s.Patient, s.Except, s.From, s.To)
	return twice, translate(err)
}
