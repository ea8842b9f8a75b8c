package db

import (
	"context"
	"time"

	"github.com/lib/pq"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// Links implements proposal.Operations.
func (t proposalTx) Links(ctx context.Context, ids map[string][]string) ([]proposal.Link, error) {
	var kinds, all pq.StringArray
	for kind, list := range ids {
		for _, id := range list {
			kinds, all = append(kinds, kind), append(all, id)
		}
	}
	var out []proposal.Link
	err := t.sel(ctx, &out, `SELECT k.kind, k.id, k.remote_id AS remote, coalesce(k.remote_version, '') AS version
		FROM unnest($1::text[], $2::text[]) AS w(kind, id) JOIN ehr_links k ON k.clinic = $3 AND k.kind = w.kind AND k.id = w.id`, kinds, all, t.clinic)
	return out, translate(err)
}

// OpenOperation implements proposal.Operations.
func (t proposalTx) OpenOperation(ctx context.Context, appointment string) (string, error) {
	var found []string
	err := t.sel(ctx, &found, `SELECT proposal FROM ehr_operations WHERE appointment = $1 AND ended_at IS NULL`, appointment)
	if err != nil || len(found) == 0 {
		return "", translate(err)
	}
	return found[0], nil
}

// laneDownAfter is how many failures in a row make it known that an EHR does not answer.
const laneDownAfter = 3

// LaneDown implements proposal.Operations.
func (t proposalTx) LaneDown(ctx context.Context) (time.Duration, error) {
	var seconds []float64
	err := t.sel(ctx, &seconds, `SELECT extract(epoch FROM paused_until - app_now()) FROM ehr_lanes WHERE failures >= $1 AND paused_until > app_now()`, laneDownAfter)
	if err != nil || len(seconds) == 0 {
		return 0, translate(err)
	}
	return time.Duration(seconds[0]*float64(time.Second)) + time.Second, nil
}

// StartOperation implements proposal.Operations.
func (t proposalTx) StartOperation(ctx context.Context, o proposal.Operation) error {
	e := o.Step.EHR
	n, err := t.exec(ctx, `INSERT INTO ehr_operations (clinic, id, proposal, revision, plan_hash, item, kind, appointment, remote_id, remote_version, send_until, deadline,
			person, person_name, role, via, request)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
		t.clinic, o.ID, o.Proposal, o.Revision, o.PlanHash, o.Item, e.Kind, *o.Step.Appointment, e.Appointment, e.Version, o.SendUntil, o.Deadline,
		o.By.Person, o.By.PersonName, o.By.Role, o.By.Via, o.By.Request)
	if err := touched(n, 1, err); err != nil {
		return err
	}
	n, err = t.exec(ctx, `UPDATE slots SET held_by = $1 WHERE id = ANY ($2) AND appointment IS NULL AND held_by IS NULL AND state = 'open'`, o.Proposal, pq.StringArray(o.Step.TakeSlots))
	return touched(n, int64(len(o.Step.TakeSlots)), err)
}

// EndOperation implements proposal.Operations.
func (t proposalTx) EndOperation(ctx context.Context, e proposal.OperationEnd) (o proposal.Operation, mine bool, err error) {
	var rows []struct {
		Proposal, Kind, Appointment string
		PlanHash                    string `db:"plan_hash"`
		Revision, Item              int
		By                          struct{ Person, PersonName, Role, Via, Request string }
		PlanBytes                   []byte `db:"plan_bytes"`
	}
	err = t.sel(ctx, &rows, `UPDATE ehr_operations o SET state = $3, code = $4, remote_id = coalesce($5, remote_id), ended_at = app_now(), leased_until = NULL
		FROM revisions r WHERE o.id = $1 AND ($2 = 0 OR o.lease = $2) AND o.ended_at IS NULL AND r.clinic = o.clinic AND r.proposal = o.proposal AND r.revision = o.revision
		RETURNING o.proposal, o.kind, o.appointment, o.plan_hash, o.revision, o.item, r.plan_bytes,
			o.person AS "by.person", o.person_name AS "by.personname", o.role AS "by.role", o.via AS "by.via", o.request AS "by.request"`,
		e.ID, e.Lease, e.State, orNull(e.Code), orNull(e.RemoteID))
	if err != nil || len(rows) == 0 {
		return o, false, translate(err)
	}
	r := rows[0]
	o = proposal.Operation{ID: e.ID, Proposal: r.Proposal, Revision: r.Revision, PlanHash: r.PlanHash, Item: r.Item,
		By: clinic.Actor{Clinic: t.clinic, Kind: clinic.KindUser, Person: r.By.Person, PersonName: r.By.PersonName, Role: r.By.Role, Via: r.By.Via, Request: r.By.Request}}
	if o.Step, err = stepOf(r.PlanBytes, r.Item); err != nil {
		return o, true, err
	}
	if e.State == "refused" {
		_, err = t.exec(ctx, `UPDATE slots SET held_by = NULL WHERE held_by = $1 AND id = ANY ($2)`, o.Proposal, pq.StringArray(o.Step.TakeSlots))
		return o, true, translate(err)
	}
	if e.RemoteID != "" {
		err = t.putLink(ctx, "Appointment", r.Appointment, e.RemoteID, e.RemoteVersion)
	}
	return o, true, translate(err)
}

// putLink keeps what a row of ours is in the EHR.
func (t *Tx) putLink(ctx context.Context, kind, id, remote, version string) error {
	_, err := t.exec(ctx, `INSERT INTO ehr_links (clinic, kind, id, remote_id, remote_version) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (clinic, kind, id) DO UPDATE SET remote_id = excluded.remote_id, remote_version = excluded.remote_version`,
		t.clinic, kind, id, remote, orNull(version))
	return err
}

// stepOf is the step of a stored plan that is about a visit; of item, from 1, in a bulk.
func stepOf(planBytes []byte, item int) (proposal.Step, error) {
	p, err := proposal.DecodePlan(planBytes)
	if err != nil {
		return proposal.Step{}, err
	}
	return p.VisitStep(item)
}
