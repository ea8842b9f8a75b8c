package db

import (
	"database/sql"
	"time"

	"github.com/lib/pq"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// headColumns is a proposal with its current revision; the tables are named p and r.
const headColumns = `p.id, p.action, p.state, p.outcome, p.revision, p.expires_at, p.risk, p.reason, p.created_by, p.created_kind, p.created_name,
	p.owner, p.owner_name, p.editors, p.created_via, p.created_at, p.decided_by, p.decided_name, p.decided_at, p.decided_note, p.result,
	r.plan_hash, r.plan_bytes`

const headTables = ` FROM proposals p JOIN revisions r ON r.clinic = p.clinic AND r.proposal = p.id AND r.revision = p.revision`

// headRow is headColumns. Every column may be null because a claim may find no proposal.
type headRow struct {
	ID          sql.NullString `db:"id"`
	Action      sql.NullString `db:"action"`
	State       sql.NullString `db:"state"`
	Outcome     sql.NullString `db:"outcome"`
	Revision    sql.NullInt64  `db:"revision"`
	ExpiresAt   sql.NullTime   `db:"expires_at"`
	Risk        sql.NullString `db:"risk"`
	Reason      *string        `db:"reason"`
	CreatedBy   sql.NullString `db:"created_by"`
	CreatedKind sql.NullString `db:"created_kind"`
	CreatedName sql.NullString `db:"created_name"`
	Owner       sql.NullString `db:"owner"`
	OwnerName   sql.NullString `db:"owner_name"`
	Editors     pq.StringArray `db:"editors"`
	CreatedVia  sql.NullString `db:"created_via"`
	CreatedAt   sql.NullTime   `db:"created_at"`
	DecidedBy   sql.NullString `db:"decided_by"`
	DecidedName sql.NullString `db:"decided_name"`
	DecidedAt   sql.NullTime   `db:"decided_at"`
	DecidedNote sql.NullString `db:"decided_note"`
	Result      sql.NullString `db:"result"`
	PlanHash    sql.NullString `db:"plan_hash"`
	PlanBytes   []byte         `db:"plan_bytes"`
}

// record reads the row and its plan; a plan that was tampered with is not read. State is as stored.
func (h headRow) record() (proposal.Record, error) {
	plan, shown := proposal.Unreadable()
	if proposal.Verify(h.PlanBytes, h.PlanHash.String) {
		var err error
		if plan, err = proposal.DecodePlan(h.PlanBytes); err != nil {
			return proposal.Record{}, err
		}
		shown = h.PlanBytes
	}
	r := proposal.Record{ID: h.ID.String, Action: h.Action.String, State: h.State.String, Outcome: h.Outcome.String, Revision: int(h.Revision.Int64),
		ExpiresAt: h.ExpiresAt.Time.UTC(), Risk: h.Risk.String, Reason: h.Reason, Owner: h.Owner.String, OwnerName: h.OwnerName.String,
		Editors: h.Editors, CreatedVia: h.CreatedVia.String, CreatedAt: h.CreatedAt.Time.UTC().Truncate(time.Second), MadeAt: h.CreatedAt.Time.UTC(), DecidedNote: h.DecidedNote.String,
		PlanHash: h.PlanHash.String, Plan: plan, PlanBytes: shown,
		CreatedBy: proposal.Creator{ID: h.CreatedBy.String, Name: h.CreatedName.String, Kind: h.CreatedKind.String}}
	if r.CreatedBy.Kind == clinic.KindAgent {
		r.CreatedBy.OnBehalfOf = &clinic.Ref{ID: r.Owner, Name: r.OwnerName}
	}
	if h.DecidedBy.Valid {
		at := h.DecidedAt.Time.UTC().Truncate(time.Second)
		r.DecidedBy, r.DecidedAt = &clinic.Ref{ID: h.DecidedBy.String, Name: h.DecidedName.String}, &at
	}
	if h.Result.Valid {
		r.Result = []byte(h.Result.String)
	}
	return r, nil
}

// claimColumns is what claim_proposal gives.
const claimColumns = `key_new, key_fingerprint, key_status, key_body, found, id, action, state, outcome, revision, expires_at, risk, reason, created_by,
	created_kind, created_name, owner, owner_name, editors, created_via, created_at, decided_by, decided_name, decided_at, decided_note, result, plan_hash,
	plan_bytes, now, role, able, second_person`

type claimRow struct {
	headRow
	KeyNew         bool           `db:"key_new"`
	KeyFingerprint sql.NullString `db:"key_fingerprint"`
	KeyStatus      sql.NullInt64  `db:"key_status"`
	KeyBody        []byte         `db:"key_body"`
	Found          bool           `db:"found"`
	Now            time.Time      `db:"now"`
	Role           sql.NullString `db:"role"`
	Able           sql.NullBool   `db:"able"`
	SecondPerson   sql.NullBool   `db:"second_person"`
}

func (c claimRow) claim() (proposal.Claim, error) {
	out := proposal.Claim{Found: c.Found, Now: c.Now.UTC(), SecondPerson: c.SecondPerson.Bool}
	if c.Able.Bool {
		out.Role = c.Role.String
	}
	if !c.KeyNew {
		out.Known = &proposal.SavedKey{Fingerprint: c.KeyFingerprint.String, Status: int(c.KeyStatus.Int64), Body: c.KeyBody}
	}
	if !c.Found || out.Known != nil {
		return out, nil
	}
	var err error
	out.Canonical = c.PlanBytes
	out.Record, err = c.record()
	return out, err
}
