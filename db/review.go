package db

import (
	"context"
	"encoding/json"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// Lease implements proposal.Tx.
func (t proposalTx) Lease(ctx context.Context, id string) (*proposal.Lease, error) {
	var rows []proposal.Lease
	err := t.sel(ctx, &rows, `SELECT p.id AS proposal, l.person AS "holder.id", l.person_name AS "holder.name", coalesce(l.given_by, '') AS givenby, l.until
		FROM proposals p JOIN LATERAL `+lease+` l ON true WHERE p.id = $2 AND l.until > $1`, t.now, id)
	if err != nil || len(rows) == 0 {
		return nil, translate(err)
	}
	rows[0].Until = rows[0].Until.UTC()
	return &rows[0], nil
}

// SetLease implements proposal.Tx.
func (t proposalTx) SetLease(ctx context.Context, l proposal.Lease) error {
	n, err := t.exec(ctx, `INSERT INTO leases (clinic, proposal, person, person_name, given_by, until) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (clinic, proposal) DO UPDATE SET person = excluded.person, person_name = excluded.person_name, given_by = excluded.given_by, until = excluded.until`,
		t.clinic, l.Proposal, l.Holder.ID, l.Holder.Name, orNull(l.GivenBy), l.Until)
	return touched(n, 1, err)
}

// DropLease implements proposal.Tx.
func (t proposalTx) DropLease(ctx context.Context, id string) error {
	n, err := t.exec(ctx, `DELETE FROM leases WHERE proposal = $1`, id)
	return touched(n, 1, err)
}

// Person implements proposal.Tx.
func (t proposalTx) Person(ctx context.Context, id string) (clinic.Actor, error) {
	a := clinic.Actor{Clinic: t.clinic, Kind: clinic.KindUser, MayDecide: true}
	err := t.get(ctx, &a, `SELECT id AS person, name AS personname, role FROM accounts WHERE clinic = $1 AND id = $2 AND disabled_at IS NULL`, t.clinic, id)
	return a, translate(err)
}

// AddComment implements proposal.Tx.
func (t proposalTx) AddComment(ctx context.Context, c proposal.Comment) error {
	_, err := t.exec(ctx, `INSERT INTO comments (clinic, id, proposal, revision, person, person_name, text, at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (clinic, id) DO NOTHING`, t.clinic, c.ID, c.Proposal, c.Revision, c.By.ID, c.By.Name, c.Text, c.At)
	return translate(err)
}

// Escalate implements proposal.Tx.
func (t proposalTx) Escalate(ctx context.Context, e proposal.Escalation) (bool, error) {
	n, err := t.exec(ctx, `WITH e AS (INSERT INTO escalations (clinic, proposal, revision, person, person_name, reason, at) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT DO NOTHING RETURNING 1)
		UPDATE proposals SET escalated_revision = $3 WHERE id = $2 AND EXISTS (SELECT FROM e)`,
		t.clinic, e.Proposal, e.Revision, orNull(e.By.ID), orNull(e.By.Name), orNull(e.Reason), e.At)
	return n == 1, translate(err)
}

// DueForEscalation implements proposal.Tx.
func (t proposalTx) DueForEscalation(ctx context.Context, most int) ([]proposal.Record, error) {
	var heads []headRow
	err := t.sel(ctx, &heads, `SELECT `+headColumns+headTables+` WHERE p.state = 'proposed' AND p.risk IN ('high', 'critical') AND p.expires_at > $1
		AND p.expires_at - (p.expires_at - r.created_at) / 4 <= $1 AND p.escalated_revision IS DISTINCT FROM p.revision
		ORDER BY p.expires_at LIMIT $2 FOR NO KEY UPDATE OF p SKIP LOCKED`, t.now, most)
	if err != nil {
		return nil, translate(err)
	}
	return records(heads)
}

// Review is what a card shows of the work around it.
type Review struct {
	ClaimedBy clinic.Ref // zero = nobody
	GivenBy   string     // name of who handed it over
	Until     time.Time
	Escalated *proposal.Escalation // of the current revision
	Comments  []proposal.Comment   // the first first
	Deciders  []clinic.Actor       // who works at this clinic, for handing over
}

// ReviewOf reads it in one statement, and who could take it over in a second.
func (t *Tx) ReviewOf(ctx context.Context, id string, deciders bool) (Review, error) {
	var v Review
	var head struct {
		proposal.Lease
		Marked     bool
		Escalation proposal.Escalation
		Said       []byte
	}
	err := t.get(ctx, &head, `SELECT p.id AS proposal, coalesce(l.person, '') AS "holder.id", coalesce(l.person_name, '') AS "holder.name", coalesce(l.given_by, '') AS givenby,
		coalesce(l.until, $1) AS until, e.revision IS NOT NULL AS marked, p.revision AS "escalation.revision", coalesce(e.person, '') AS "escalation.by.id",
		coalesce(e.person_name, '') AS "escalation.by.name", coalesce(e.reason, '') AS "escalation.reason", coalesce(e.at, $1) AS "escalation.at",
		(SELECT json_agg(json_build_object('ID', c.id, 'Proposal', c.proposal, 'Revision', c.revision, 'By', json_build_object('id', c.person, 'name', c.person_name),
			'Text', c.text, 'At', c.at) ORDER BY c.at, c.id) FROM comments c WHERE c.proposal = p.id) AS said
		FROM proposals p LEFT JOIN LATERAL `+lease+` l ON l.until > $1 AND p.state = 'proposed'
		LEFT JOIN escalations e ON e.clinic = p.clinic AND e.proposal = p.id AND e.revision = p.revision WHERE p.id = $2`, t.now, id)
	if err != nil {
		return v, err
	}
	v.ClaimedBy, v.GivenBy, v.Until = head.Holder, head.GivenBy, head.Until.UTC()
	if head.Marked {
		v.Escalated = &head.Escalation
	}
	if head.Said != nil {
		err = json.Unmarshal(head.Said, &v.Comments)
	}
	if err != nil || !deciders {
		return v, err
	}
	err = t.sel(ctx, &v.Deciders, `SELECT id AS person, name AS personname, role FROM accounts WHERE clinic = $1 AND disabled_at IS NULL AND role <> 'admin' ORDER BY name, id`, t.clinic)
	for i := range v.Deciders {
		v.Deciders[i].Clinic, v.Deciders[i].Kind, v.Deciders[i].MayDecide = t.clinic, clinic.KindUser, true
	}
	return v, err
}
