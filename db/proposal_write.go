package db

import (
	"context"
	"time"

	"github.com/lib/pq"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// Key implements proposal.Tx. It waits for a twin that holds the key.
func (t proposalTx) Key(ctx context.Context, person, key, fingerprint string) (*proposal.SavedKey, error) {
	n, err := t.exec(ctx, `INSERT INTO idempotency_keys (clinic, person, key, fingerprint) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
		t.clinic, person, key, fingerprint)
	if err != nil || n == 1 {
		return nil, translate(err)
	}
	var row struct {
		Fingerprint string `db:"fingerprint"`
		Status      int    `db:"status"`
		Body        []byte `db:"body"`
	}
	err = t.get(ctx, &row, `SELECT fingerprint, coalesce(status, 0) AS status, body FROM idempotency_keys WHERE person = $1 AND key = $2`, person, key)
	return &proposal.SavedKey{Fingerprint: row.Fingerprint, Status: row.Status, Body: row.Body}, translate(err)
}

// SaveKey implements proposal.Tx.
func (t proposalTx) SaveKey(ctx context.Context, person, key, proposalID string, status int, body []byte) error {
	n, err := t.exec(ctx, `UPDATE idempotency_keys SET proposal = $3, status = $4, body = $5 WHERE person = $1 AND key = $2 AND status IS NULL`,
		person, key, orNull(proposalID), status, body)
	return touched(n, 1, err)
}

// touched turns a wrong number of rows into an error: nothing is half written.
func touched(n, want int64, err error) error {
	if err == nil && n != want {
		return &refusal.Error{Code: refusal.Internal, Cause: errRows}
	}
	return translate(err)
}

// Insert implements proposal.Tx: the proposal and its first revision.
func (t proposalTx) Insert(ctx context.Context, r proposal.Record, by clinic.Actor, canonical []byte) error {
	to := targetOf(r.Plan)
	n, err := t.exec(ctx, `INSERT INTO proposals (clinic, id, action, revision, expires_at, risk, reason, created_by, created_kind, created_name, owner,
		owner_name, created_via, created_at, patient, appointment, practitioner, location, starts_at, ends_at, scope, wish, bypass)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)`,
		t.clinic, r.ID, r.Action, r.Revision, r.ExpiresAt, r.Risk, r.Reason, by.ID(), by.Kind, by.Name(), r.Owner, r.OwnerName, r.CreatedVia, t.now,
		to.patient, to.appointment, to.practitioner, to.location, to.starts, to.ends, orNull(r.Scope), r.Wish, orNull(r.Bypass))
	if err := touched(n, 1, err); err != nil {
		return err
	}
	return t.insertRevision(ctx, r, by, canonical)
}

// AddRevision implements proposal.Tx: the caller holds the proposal's row.
func (t proposalTx) AddRevision(ctx context.Context, r proposal.Record, by clinic.Actor, canonical []byte) error {
	if err := t.insertRevision(ctx, r, by, canonical); err != nil {
		return err
	}
	to := targetOf(r.Plan)
	n, err := t.exec(ctx, `UPDATE proposals SET revision = $2, expires_at = $3, risk = $4, editors = $5, patient = $6, appointment = $7, practitioner = $8,
		location = $9, starts_at = $10, ends_at = $11, wish = $12 WHERE id = $1 AND `+stillProposed+` AND revision = $2 - 1`,
		r.ID, r.Revision, r.ExpiresAt, r.Risk, pq.StringArray(r.Editors), to.patient, to.appointment, to.practitioner, to.location, to.starts, to.ends, r.Wish)
	return touched(n, 1, err)
}

// Expire implements proposal.Tx.
func (t proposalTx) Expire(ctx context.Context, most int) ([]proposal.Record, error) {
	var heads []headRow
	err := t.sel(ctx, &heads, `WITH over AS (SELECT id FROM proposals WHERE state = 'proposed' AND expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED),
		done AS (UPDATE proposals p SET state = 'expired', outcome = 'not_executed' FROM over WHERE p.id = over.id RETURNING p.*)
		SELECT `+headColumns+` FROM done p JOIN revisions r ON r.clinic = p.clinic AND r.proposal = p.id AND r.revision = p.revision`, t.now, most)
	if err != nil {
		return nil, translate(err)
	}
	return records(heads)
}

// target is what a plan touches, for lists and for marks on the day sheet. A cancellation has no new place, and what is
// about a patient alone none at all.
type target struct {
	patient, appointment, practitioner, location *string
	starts, ends                                 *time.Time
}

func targetOf(p proposal.Plan) target {
	if p.After.Items != nil {
		return target{}
	}
	to := target{patient: orNull(p.After.Patient.ID)}
	if p.After.Operation != nil {
		to.appointment = &p.After.Operation.Wanted.Appointment
	}
	if !p.After.OfVisit() {
		return to
	}
	to.appointment = &p.After.Appointment
	if p.After.Status != "cancelled" {
		to.practitioner, to.location, to.starts, to.ends = &p.After.Practitioner.ID, &p.After.Location.ID, &p.After.StartsAt, &p.After.EndsAt
	}
	return to
}

func (t proposalTx) insertRevision(ctx context.Context, r proposal.Record, by clinic.Actor, canonical []byte) error {
	n, err := t.exec(ctx, `INSERT INTO revisions (clinic, proposal, revision, plan_hash, plan_bytes, expires_at, created_by, created_name, people)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, t.clinic, r.ID, r.Revision, r.PlanHash, canonical, r.ExpiresAt, by.ID(), by.Name(), r.People)
	return touched(n, 1, err)
}
