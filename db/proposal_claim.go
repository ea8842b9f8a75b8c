package db

import (
	"database/sql"
	"encoding/json"
	"time"

	"github.com/lib/pq"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// headColumns is a proposal with its current revision; the tables are named p and r.
const headColumns = `p.id, p.action, p.state, p.outcome, p.revision, p.expires_at, p.risk, p.reason, p.created_by, p.created_kind, p.created_name,
	p.owner, p.owner_name, p.editors, p.created_via, p.created_at, p.decided_by, p.decided_name, p.decided_at, p.decided_note, p.result,
	r.plan_hash, r.plan_bytes, r.people, p.approved_by,
	(SELECT json_agg(json_build_object('id', g.person, 'name', g.name, 'via', g.via, 'at', g.at, 'role', CASE WHEN ga.disabled_at IS NULL THEN ga.role END) ORDER BY g.at, g.person)
	 FROM approvals g LEFT JOIN accounts ga ON ga.id = g.person AND ga.clinic = g.clinic
	 WHERE g.clinic = p.clinic AND g.proposal = p.id AND g.revision = p.revision AND g.plan_hash = r.plan_hash)::text AS approvals,
	(SELECT json_build_object('version', o.version, 'least_risk', o.least_risk, 'people', o.people) FROM policies o
	 WHERE o.clinic = p.clinic AND o.action = p.action ORDER BY o.version DESC LIMIT 1)::text AS policy,
	(SELECT second_person_decides_high FROM clinics WHERE clinics.id = p.clinic) AS second_person`

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

	People       sql.NullInt64  `db:"people"`
	ApprovedBy   sql.NullString `db:"approved_by"` // JSON
	Approvals    sql.NullString `db:"approvals"`   // JSON
	Policy       sql.NullString `db:"policy"`      // JSON
	SecondPerson sql.NullBool   `db:"second_person"`
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
	return r, h.judged(&r)
}

// judged reads who has approved and what the clinic asks.
func (h headRow) judged(r *proposal.Record) error {
	r.People, r.SecondPerson = int(h.People.Int64), h.SecondPerson.Bool
	var approvals []struct {
		clinic.Ref
		Via  string
		At   time.Time
		Role *string
	}
	for _, read := range []struct {
		from sql.NullString
		into any
	}{{h.Approvals, &approvals}, {h.Policy, &r.Policy}, {h.ApprovedBy, &r.Deciders}} {
		if read.from.Valid {
			if err := json.Unmarshal([]byte(read.from.String), read.into); err != nil {
				return err
			}
		}
	}
	for _, a := range approvals {
		got := proposal.Approval{Person: a.Ref, Via: a.Via, At: a.At.UTC().Truncate(time.Second)}
		if a.Role != nil {
			got.Role = *a.Role
		}
		r.Approved = append(r.Approved, got)
	}
	return nil
}

// claimColumns is what claim_proposal gives.
const claimColumns = `key_new, key_fingerprint, key_status, key_body, found, id, action, state, outcome, revision, expires_at, risk, reason, created_by,
	created_kind, created_name, owner, owner_name, editors, created_via, created_at, decided_by, decided_name, decided_at, decided_note, result, plan_hash,
	plan_bytes, people, approved_by, approvals, policy, now, role, able, second_person`

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
