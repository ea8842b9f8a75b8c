package db

import (
	"context"
	"time"

	"github.com/lib/pq"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// runColumns is a bulk_runs row as proposal.Run.
const runColumns = `proposal, lease, ended_at IS NOT NULL AS ended, person AS "by.person", person_name AS "by.personname", role AS "by.role", via AS "by.via", request AS "by.request"`

func (t proposalTx) asRun(r proposal.Run) proposal.Run {
	r.By.Clinic, r.By.Kind, r.By.MayDecide = t.clinic, clinic.KindUser, true
	return r
}

// run reads the one row of a query, or the zero Run.
func (t proposalTx) run(ctx context.Context, query string, args ...any) (proposal.Run, error) {
	var rows []proposal.Run
	if err := t.sel(ctx, &rows, query, args...); err != nil || len(rows) == 0 {
		return proposal.Run{}, translate(err)
	}
	return t.asRun(rows[0]), nil
}

// StartRun implements proposal.Runs.
func (t proposalTx) StartRun(ctx context.Context, r proposal.Run, appointments []string, lease time.Duration) error {
	n, err := t.exec(ctx, `INSERT INTO bulk_runs (clinic, proposal, lease, leased_until, person, person_name, role, via, request)
		VALUES ($1, $2, $3, app_now() + make_interval(secs => $4), $5, $6, $7, $8, $9)`,
		t.clinic, r.Proposal, r.Lease, lease.Seconds(), r.By.ID(), r.By.Name(), r.By.Role, r.By.Via, r.By.Request)
	if err := touched(n, 1, err); err != nil {
		return err
	}
	n, err = t.exec(ctx, `INSERT INTO bulk_items (clinic, proposal, item, appointment)
		SELECT $1, $2, x.item, x.appointment FROM unnest($3::text[]) WITH ORDINALITY AS x(appointment, item)`, t.clinic, r.Proposal, pq.StringArray(appointments))
	return touched(n, int64(len(appointments)), err)
}

// TakeRun implements proposal.Runs.
func (t proposalTx) TakeRun(ctx context.Context, lease time.Duration) (proposal.Run, error) {
	return t.run(ctx, `UPDATE bulk_runs b SET lease = lease + 1, leased_until = app_now() + make_interval(secs => $1)
		FROM (SELECT proposal AS p FROM bulk_runs WHERE ended_at IS NULL AND leased_until <= app_now() ORDER BY leased_until LIMIT 1 FOR UPDATE SKIP LOCKED) next
		WHERE b.proposal = next.p RETURNING `+runColumns, lease.Seconds())
}

// HoldRun implements proposal.Runs.
func (t proposalTx) HoldRun(ctx context.Context, id string, lease int64, more time.Duration) (proposal.Run, bool, error) {
	r, err := t.run(ctx, `UPDATE bulk_runs SET leased_until = app_now() + make_interval(secs => $3)
		WHERE proposal = $1 AND lease = $2 AND ended_at IS NULL RETURNING `+runColumns, id, lease, more.Seconds())
	return r, r.Proposal != "", err
}

// LockRun implements proposal.Runs.
func (t proposalTx) LockRun(ctx context.Context, id string) (proposal.Run, error) {
	var r proposal.Run
	err := t.get(ctx, &r, `SELECT `+runColumns+` FROM bulk_runs WHERE proposal = $1 FOR UPDATE`, id)
	return t.asRun(r), translate(err)
}

// LetGo implements proposal.Runs.
func (t proposalTx) LetGo(ctx context.Context, id string, lease int64) error {
	_, err := t.exec(ctx, `UPDATE bulk_runs SET leased_until = app_now() WHERE proposal = $1 AND lease = $2 AND ended_at IS NULL`, id, lease)
	return translate(err)
}

// Items implements proposal.Runs.
func (t proposalTx) Items(ctx context.Context, id string) ([]proposal.ItemResult, error) {
	items := []proposal.ItemResult{}
	err := t.sel(ctx, &items, `SELECT item, appointment, state, code, message, version FROM bulk_items WHERE proposal = $1 ORDER BY item`, id)
	return items, translate(err)
}

// SetItem implements proposal.Runs.
func (t proposalTx) SetItem(ctx context.Context, id string, r proposal.ItemResult) error {
	n, err := t.exec(ctx, `UPDATE bulk_items SET state = $3, code = $4, message = $5, version = $6, ended_at = CASE WHEN $3 <> 'executing' THEN app_now() END
		WHERE proposal = $1 AND item = $2 AND state IN ('waiting', 'executing')`, id, r.Item, r.State, r.Code, r.Message, r.Version)
	return touched(n, 1, err)
}

// EndRun implements proposal.Runs.
func (t proposalTx) EndRun(ctx context.Context, id, state, outcome string, result []byte) error {
	n, err := t.exec(ctx, `UPDATE bulk_runs SET ended_at = app_now() WHERE proposal = $1 AND ended_at IS NULL`, id)
	if err := touched(n, 1, err); err != nil {
		return err
	}
	return t.EndProposal(ctx, id, state, outcome, result)
}

// EndProposal implements proposal.Operations.
func (t proposalTx) EndProposal(ctx context.Context, id, state, outcome string, result []byte) error {
	n, err := t.exec(ctx, `UPDATE proposals SET state = $2, outcome = $3, result = $4 WHERE id = $1 AND state = 'executing'`, id, state, outcome, nullJSON(result))
	return touched(n, 1, err)
}

// WakeRun implements proposal.Runs.
func (t proposalTx) WakeRun(ctx context.Context, id string) error {
	_, err := t.exec(ctx, `UPDATE bulk_runs SET leased_until = app_now() WHERE proposal = $1 AND ended_at IS NULL`, id)
	return translate(err)
}
