package db

import (
	"context"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// Proposal is a proposal as it stands now, with what has moved under it. Two statements. Errors: not_found.
func (t *Tx) Proposal(ctx context.Context, id string) (proposal.Record, error) {
	return proposal.Current(ctx, proposalTx{t}, id)
}

// Proposals is a page of the clinic's proposals, terminal ones too. Two statements.
func (t *Tx) Proposals(ctx context.Context, f proposal.Filter) ([]proposal.Record, error) {
	return proposal.Select(ctx, proposalTx{t}, f)
}

// RevisionPlan is the plan of one revision with its hash, as stored. One statement. Errors: not_found.
func (t *Tx) RevisionPlan(ctx context.Context, id string, revision int) (proposal.Plan, string, error) {
	canonical, hash, err := proposalTx{t}.Revision(ctx, id, revision)
	if err != nil {
		return proposal.Plan{}, "", err
	}
	p, err := proposal.DecodePlan(canonical)
	return p, hash, err
}

// RevisionRow names one revision and who made it.
type RevisionRow struct {
	Revision int
	PlanHash string
	By       clinic.Ref // account or token
	At       time.Time
}

// Revisions lists those of a proposal, the first first. One statement.
func (t *Tx) Revisions(ctx context.Context, id string) ([]RevisionRow, error) {
	var rows []RevisionRow
	err := t.sel(ctx, &rows, `SELECT revision, plan_hash AS planhash, created_by AS "by.id", created_name AS "by.name", created_at AS at
		FROM revisions WHERE proposal = $1 ORDER BY revision`, id)
	return rows, err
}

// mostTrail is how much of a trail a card shows.
const mostTrail = 200

// ProposalTrail is what the trail says was done or refused on a proposal, the first first; looking at it is left out.
// One statement.
func (t *Tx) ProposalTrail(ctx context.Context, id string) ([]AuditRow, error) {
	var rows []AuditRow
	err := t.sel(ctx, &rows, `SELECT `+auditColumns+auditTables+` WHERE a.proposal = $1 AND a.action NOT LIKE '%.read' ORDER BY a.at, a.n LIMIT $2`,
		id, mostTrail)
	return rows, err
}

// Rivals lists the other waiting proposals that want part of a practitioner's time, the first to ask first. One statement.
func (t *Tx) Rivals(ctx context.Context, id, practitioner string, from, to time.Time) ([]Waiting, error) {
	var found []Waiting
	err := t.sel(ctx, &found, `SELECT `+waitingColumns+waitingTables+` AND w.practitioner = $2 AND w.starts_at < $4 AND w.ends_at > $3 AND w.id <> $5
		ORDER BY w.created_at, w.id`, t.now, practitioner, from, to, id)
	return found, err
}

// SecondPersonDecides reports whether any second person of this clinic may decide high risk (contract section 7).
func (t *Tx) SecondPersonDecides(ctx context.Context) (may bool, err error) {
	err = t.get(ctx, &may, `SELECT second_person_decides_high FROM clinics`)
	return may, err
}
