package db

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"

	"countersign/internal/audit"
	"countersign/internal/ehr"
	"countersign/internal/proposal"
)

// Operations is the ehr.Store on a pool.
type Operations struct{ DB *DB }

var _ ehr.Store = Operations{}

const operationColumns = `o.id, o.proposal, o.revision, o.plan_hash AS planhash, o.item, o.kind, o.appointment, o.state, o.phase, coalesce(o.code, '') AS code,
	coalesce(o.remote_id, '') AS remoteid, coalesce(o.remote_version, '') AS remoteversion, coalesce(o.old_remote_id, '') AS oldremoteid, coalesce(o.refusal, '') AS refusal,
	o.attempts, o.unsettled, o.looks, o.empty_looks AS emptylooks, coalesce(o.attempted_at, '0001-01-01Z') AS attemptedat, coalesce(o.looked_at, '0001-01-01Z') AS lookedat,
	o.send_until AS senduntil, o.deadline, o.created_at AS createdat, o.lease, coalesce(o.asked_by, '') AS askedby, o.look_only AS lookonly, app_now() AS now`

// operationRow is an operation with the plan that it is of.
type operationRow struct {
	ehr.Operation
	PlanBytes []byte `db:"plan_bytes"`
	RowHash   string `db:"row_hash"` // of the revision
}

// Claim implements ehr.Store.
func (o Operations) Claim(ctx context.Context, clinicID string, most int, lease time.Duration) ([]ehr.Operation, error) {
	var out []ehr.Operation
	err := o.DB.InClinic(ctx, clinicID, func(t *Tx) error {
		var rows []operationRow
		out = nil
		err := t.sel(ctx, &rows, fmt.Sprintf(`WITH due AS (SELECT id FROM ehr_operations
				WHERE ended_at IS NULL AND (state <> 'manual' OR look_only) AND next_at <= app_now() AND (leased_until IS NULL OR leased_until <= app_now())
					AND NOT EXISTS (SELECT FROM ehr_lanes WHERE paused_until > app_now())
				ORDER BY next_at, id LIMIT %d FOR UPDATE SKIP LOCKED),
			o AS (UPDATE ehr_operations SET lease = lease + 1, leased_until = app_now() + make_interval(secs => $1)
				WHERE id IN (SELECT id FROM due) RETURNING *)
			SELECT `+operationColumns+`, r.plan_bytes, r.plan_hash AS row_hash
			FROM o JOIN revisions r ON r.clinic = o.clinic AND r.proposal = o.proposal AND r.revision = o.revision ORDER BY o.next_at, o.id`, most), lease.Seconds())
		if err != nil {
			return err
		}
		for _, r := range rows {
			out = append(out, r.operation(clinicID))
		}
		return t.placesBefore(ctx, out)
	})
	return out, err
}

// placesBefore fills in what the practitioners and places that visits move from are in the EHR: a plan names only those
// that they move to.
func (t *Tx) placesBefore(ctx context.Context, ops []ehr.Operation) error {
	var kinds, ids pq.StringArray
	for _, op := range ops {
		if op.Before != nil {
			kinds, ids = append(kinds, "Practitioner", "Location"), append(ids, op.Before.Practitioner.ID, op.Before.Location.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var rows []struct{ Kind, ID, Remote string }
	err := t.sel(ctx, &rows, `SELECT DISTINCT k.kind, k.id, k.remote_id AS remote FROM unnest($1::text[], $2::text[]) AS w(kind, id)
		JOIN ehr_links k ON k.clinic = $3 AND k.kind = w.kind AND k.id = w.id`, kinds, ids, t.clinic)
	known := map[string]string{}
	for _, r := range rows {
		known[r.Kind+"/"+r.ID] = r.Remote
	}
	for _, op := range ops {
		if b := op.Before; b != nil {
			b.RemotePractitioner, b.RemoteLocation = known["Practitioner/"+b.Practitioner.ID], known["Location/"+b.Location.ID]
		}
	}
	return err
}

// operation reads what the plan approved. A plan that has not its hash approves nothing: code plan_tampered, no visits.
func (r operationRow) operation(clinicID string) ehr.Operation {
	op := r.Operation
	op.Clinic = clinicID
	allUTC(&op.AttemptedAt, &op.LookedAt, &op.SendUntil, &op.Deadline, &op.CreatedAt, &op.Now)
	if !proposal.Verify(r.PlanBytes, op.PlanHash) || r.RowHash != op.PlanHash {
		op.Code = ehr.PlanTampered
		return op
	}
	p, err := proposal.DecodePlan(r.PlanBytes)
	if err == nil && op.Item > 0 {
		p = p.Item(op.Item - 1)
	}
	step, wrong := p.VisitStep(0)
	if err != nil || wrong != nil || step.EHR == nil {
		op.Code = ehr.PlanTampered
		return op
	}
	op.Wanted = visitOf(p.After, step)
	if p.Before != nil {
		before := visitOf(p.Before, proposal.Step{EHR: &proposal.EHRStep{Patient: step.EHR.Patient}})
		op.Before = &before
	}
	return op
}

// allUTC turns times as the driver gives them; a time that is not there stays zero.
func allUTC(times ...*time.Time) {
	for _, t := range times {
		if *t = t.UTC(); t.Year() == 1 {
			*t = time.Time{}
		}
	}
}

func visitOf(f *proposal.Facts, st proposal.Step) ehr.Visit {
	v := ehr.Visit{Appointment: f.Appointment, Status: f.Status, Practitioner: f.Practitioner, StartsAt: f.StartsAt.UTC(), EndsAt: f.EndsAt.UTC(), Slots: st.EHR.Slots,
		RemotePatient: orZeroText(st.EHR.Patient), RemotePractitioner: orZeroText(st.EHR.Practitioner), RemoteLocation: orZeroText(st.EHR.Location), ReasonCode: orZeroText(st.ReasonCode)}
	v.Patient.ID, v.Patient.Name = f.Patient.ID, f.Patient.Name
	v.Location.ID, v.Location.Name = f.Location.ID, f.Location.Name
	v.Type.ID, v.Type.Name = f.Type.ID, f.Type.Name
	return v
}

func orZeroText(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

var errNotMine = errors.New("db: another holds this operation")

// InOperation implements ehr.Store.
func (o Operations) InOperation(ctx context.Context, op ehr.Operation, fn func(ehr.Tx) error) (bool, error) {
	err := o.DB.InClinic(ctx, op.Clinic, func(t *Tx) error {
		var held []string
		err := t.sel(ctx, &held, `SELECT id FROM ehr_operations WHERE id = $1 AND lease = $2 AND ended_at IS NULL FOR UPDATE`, op.ID, op.Lease)
		if err != nil {
			return err
		}
		if len(held) == 0 {
			return errNotMine
		}
		return fn(operationTx{t, op})
	})
	if errors.Is(err, errNotMine) {
		return false, nil
	}
	return err == nil, err
}

// Pause implements ehr.Store.
func (o Operations) Pause(ctx context.Context, clinicID string, d time.Duration, code string) error {
	return o.DB.InClinic(ctx, clinicID, func(t *Tx) error {
		_, err := t.exec(ctx, `INSERT INTO ehr_lanes AS l (clinic, paused_until, failures, failing_since, code)
			VALUES ($1, app_now() + make_interval(secs => $2), 1, app_now(), $3)
			ON CONFLICT (clinic) DO UPDATE SET paused_until = greatest(l.paused_until, excluded.paused_until), failures = l.failures + 1,
				failing_since = coalesce(l.failing_since, excluded.failing_since), code = excluded.code`, clinicID, d.Seconds(), code)
		return err
	})
}

// Open implements ehr.Store.
func (o Operations) Open(ctx context.Context, clinicID string) error {
	return o.DB.InClinic(ctx, clinicID, func(t *Tx) error {
		_, err := t.exec(ctx, `UPDATE ehr_lanes SET paused_until = NULL, failures = 0, failing_since = NULL, code = NULL WHERE clinic = $1 AND failures > 0`, clinicID)
		return err
	})
}

// operationTx is the ehr.Tx of one operation.
type operationTx struct {
	*Tx
	op ehr.Operation
}

// BeginAttempt implements ehr.Tx.
func (t operationTx) BeginAttempt(ctx context.Context, a ehr.Attempt) error {
	hash := sha256.Sum256(a.Request)
	n, err := t.exec(ctx, `INSERT INTO ehr_attempts (clinic, operation, n, phase, method, request, request_hash, request_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		t.clinic, t.op.ID, a.N, a.Phase, a.Method, a.Request, hex.EncodeToString(hash[:]), a.RequestID)
	return touched(n, 1, err)
}

// EndAttempt implements ehr.Tx.
func (t operationTx) EndAttempt(ctx context.Context, a ehr.Attempt) error {
	n, err := t.exec(ctx, `UPDATE ehr_attempts SET finished_at = app_now(), http_status = $3, outcome = $4, code = $5 WHERE operation = $1 AND n = $2 AND outcome IS NULL`,
		t.op.ID, a.N, orNull(a.HTTPStatus), a.Outcome, orNull(a.Code))
	return touched(n, 1, err)
}

// AddLook implements ehr.Tx.
func (t operationTx) AddLook(ctx context.Context, l ehr.Look) error {
	n, err := t.exec(ctx, `INSERT INTO ehr_looks (clinic, operation, n, how, matches, verdict, code, remote_id, remote_version, asked_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		t.clinic, t.op.ID, l.N, l.How, l.Matches, l.Verdict, orNull(l.Code), orNull(l.RemoteID), orNull(l.RemoteVersion), orNull(l.AskedBy))
	return touched(n, 1, err)
}

// Set implements ehr.Tx.
func (t operationTx) Set(ctx context.Context, op ehr.Operation, next time.Time, letGo bool) error {
	n, err := t.exec(ctx, `UPDATE ehr_operations SET state = CASE WHEN look_only THEN state ELSE $2 END, look_only = look_only AND NOT ($17 AND $11 > looks), phase = $3, code = $4, remote_id = $5, remote_version = $6, old_remote_id = $7, refusal = $8,
		attempts = $9, unsettled = $10, looks = $11, empty_looks = $12, attempted_at = $13, looked_at = $14, asked_by = $15, next_at = $16,
		leased_until = CASE WHEN $17 THEN NULL ELSE leased_until END
		WHERE id = $1`, op.ID, op.State, op.Phase, orNull(op.Code), orNull(op.RemoteID), orNull(op.RemoteVersion), orNull(op.OldRemoteID), orNull(op.Refusal),
		op.Attempts, op.Unsettled, op.Looks, op.EmptyLooks, orNull(op.AttemptedAt), orNull(op.LookedAt), orNull(op.AskedBy), next, letGo)
	return touched(n, 1, err)
}

// Audit implements ehr.Tx.
func (t operationTx) Audit(ctx context.Context, events ...audit.Event) error {
	return t.Tx.Audit(ctx, events...)
}
