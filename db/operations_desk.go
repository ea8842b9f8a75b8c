package db

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// DeskOperation is an open operation as the reconciliation desk shows it, with what was approved.
type DeskOperation struct {
	ID, Proposal, Kind, Appointment string
	Revision, Item                  int
	PlanHash                        string
	State, Phase, Code              string
	RemoteID, OldRemoteID, Refusal  string
	Attempts, Looks                 int
	LookedAt, AttemptedAt           time.Time // zero = never
	SendUntil, Deadline, NextAt, At time.Time // At: confirmed
	By                              clinic.Ref
	AskedBy                         clinic.Ref // who asks to have it looked for; zero = nobody
	LookOnly                        bool
	Held                            bool // the program has it in hand
	EndedAt                         time.Time
	Version                         int64
	Rank                            int
	Resolution                      string         // the proposal that waits to resolve it, "" = none
	Plan                            *proposal.Plan // of its visit alone; nil when the stored one is not what was approved
}

// Late reports that it is open past its deadline.
func (o DeskOperation) Late() bool { return o.Rank == rankLate }

// The order of the desk: what is past its deadline, then what nobody knows, then what the EHR works on, then what waits.
const rankLate = 0

const deskRank = `CASE WHEN o.ended_at IS NULL AND o.deadline <= app_now() THEN 0 WHEN o.state IN ('unknown', 'manual') THEN 1 WHEN o.state = 'pending' THEN 2 ELSE 3 END`

const deskColumns = `o.id, o.proposal, o.kind, o.appointment, o.revision, o.item, o.plan_hash AS planhash, o.state, o.phase, coalesce(o.code, '') AS code, coalesce(o.remote_id, '') AS remoteid,
	coalesce(o.old_remote_id, '') AS oldremoteid, coalesce(o.refusal, '') AS refusal, o.attempts, o.looks, coalesce(o.looked_at, '0001-01-01Z') AS lookedat,
	coalesce(o.attempted_at, '0001-01-01Z') AS attemptedat, o.send_until AS senduntil, o.deadline, o.next_at AS nextat, o.created_at AS at, o.person AS "by.id", o.person_name AS "by.name",
	coalesce(o.asked_by, '') AS "askedby.id", coalesce((SELECT name FROM accounts WHERE id = o.asked_by), o.asked_by, '') AS "askedby.name", o.look_only AS lookonly, coalesce(o.leased_until > app_now(), false) AS held,
	coalesce(o.ended_at, '0001-01-01Z') AS endedat, o.version, ` + deskRank + ` AS rank,
	coalesce((SELECT p.id FROM proposals p WHERE p.action = 'resolve_operation@1' AND p.state = 'proposed' AND p.expires_at > app_now() AND p.appointment = o.appointment
		ORDER BY p.created_at DESC LIMIT 1), '') AS resolution, r.plan_bytes`

const deskTables = ` FROM ehr_operations o JOIN revisions r ON r.clinic = o.clinic AND r.proposal = o.proposal AND r.revision = o.revision`

type deskRow struct {
	DeskOperation
	PlanBytes []byte `db:"plan_bytes"`
}

func (r deskRow) operation() (DeskOperation, error) {
	o := r.DeskOperation
	allUTC(&o.LookedAt, &o.AttemptedAt, &o.SendUntil, &o.Deadline, &o.NextAt, &o.At, &o.EndedAt)
	if !proposal.Verify(r.PlanBytes, o.PlanHash) {
		return o, nil
	}
	p, err := proposal.DecodePlan(r.PlanBytes)
	if err == nil && o.Item > 0 {
		p = p.Item(o.Item - 1)
	}
	o.Plan = &p
	return o, err
}

// OperationFilter narrows DeskOperations. State is a state that an open operation can have, or late; "" = all.
type OperationFilter struct {
	State  string
	Cursor string
	Limit  int
}

// OperationStates are the filter's.
var OperationStates = []string{"late", "unknown", "manual", "pending", "ready"}

// DeskOperations lists what the EHR has left open: what is late first, then what nobody knows, the oldest first. next is
// the cursor of the page after, "" at the end. One statement. Errors: validation_failed for a cursor that is none of ours.
func (t *Tx) DeskOperations(ctx context.Context, f OperationFilter) (out []DeskOperation, next string, err error) {
	w := &where{}
	w.and(`o.ended_at IS NULL`)
	switch f.State {
	case "":
	case "late":
		w.and(`o.deadline <= app_now()`)
	default:
		w.and(`o.state = ?`, f.State)
	}
	if f.Cursor != "" {
		rank, rest, _ := strings.Cut(f.Cursor, "-")
		n, bad := strconv.Atoi(rank)
		at, id, ok := ReadCursor(rest)
		if !ok || bad != nil {
			return nil, "", refusal.Invalid(refusal.Field{Name: "cursor", Message: "This is not the cursor of a list."})
		}
		w.and(`(`+deskRank+`, o.created_at, o.id) > (?, ?, ?)`, n, at, id)
	}
	var rows []deskRow
	err = t.sel(ctx, &rows, `SELECT `+deskColumns+deskTables+w.String()+` ORDER BY rank, o.created_at, o.id LIMIT `+strconv.Itoa(f.Limit+1), w.args...)
	if err != nil {
		return nil, "", err
	}
	if len(rows) > f.Limit {
		rows = rows[:f.Limit]
		last := rows[f.Limit-1]
		next = fmt.Sprintf("%d-%s", last.Rank, MakeCursor(last.At, last.ID))
	}
	for _, r := range rows {
		o, err := r.operation()
		if err != nil {
			return nil, "", err
		}
		out = append(out, o)
	}
	return out, next, nil
}

// AttemptRow is one call that wrote, with the body as it was sent.
type AttemptRow struct {
	N                   int
	Phase, Method, Hash string
	Request             []byte
	RequestID           string    `db:"request_id"`
	StartedAt           time.Time `db:"started_at"`
	FinishedAt          time.Time `db:"finished_at"` // zero = it has not ended, or nobody knows
	HTTPStatus          *int      `db:"http_status"`
	Outcome, Code       string
}

// LookRow is one look into the EHR.
type LookRow struct {
	N                       int
	At                      time.Time
	How, Verdict, Code      string
	Matches                 *int
	RemoteID, RemoteVersion string
	AskedBy                 clinic.Ref
}

// OperationEvidence is one operation, open or not: attempts and looks in their order. Three statements. Errors: a missing row (see Missing).
func (t *Tx) OperationEvidence(ctx context.Context, id string) (o DeskOperation, attempts []AttemptRow, looks []LookRow, err error) {
	var row deskRow
	if err = t.get(ctx, &row, `SELECT `+deskColumns+deskTables+` WHERE o.id = $1`, id); err != nil {
		return o, nil, nil, err
	}
	if o, err = row.operation(); err != nil {
		return o, nil, nil, err
	}
	err = t.sel(ctx, &attempts, `SELECT n, phase, method, request_hash AS hash, request, request_id, started_at, coalesce(finished_at, '0001-01-01Z') AS finished_at, http_status,
		coalesce(outcome, '') AS outcome, coalesce(code, '') AS code FROM ehr_attempts WHERE operation = $1 ORDER BY n`, id)
	if err != nil {
		return o, nil, nil, err
	}
	for i := range attempts {
		allUTC(&attempts[i].StartedAt, &attempts[i].FinishedAt)
	}
	err = t.sel(ctx, &looks, `SELECT n, at, how, verdict, coalesce(code, '') AS code, matches, coalesce(remote_id, '') AS remoteid, coalesce(remote_version, '') AS remoteversion,
		coalesce(l.asked_by, '') AS "askedby.id", coalesce((SELECT name FROM accounts WHERE id = l.asked_by), l.asked_by, '') AS "askedby.name" FROM ehr_looks l WHERE operation = $1 ORDER BY n`, id)
	for i := range looks {
		allUTC(&looks[i].At)
	}
	return o, attempts, looks, err
}

// Lane is the way to the clinic's EHR. Until is zero while it is open.
type Lane struct {
	Until, Since time.Time // nothing is sent before Until; it has not answered since Since
	Failures     int
	Code         string
}

// EHRLane reads it.
func (t *Tx) EHRLane(ctx context.Context) (Lane, error) {
	var found []Lane
	err := t.sel(ctx, &found, `SELECT CASE WHEN paused_until > app_now() THEN paused_until ELSE '0001-01-01Z' END AS until, coalesce(failing_since, '0001-01-01Z') AS since,
		failures, coalesce(code, '') AS code FROM ehr_lanes`)
	if err != nil || len(found) == 0 {
		return Lane{}, err
	}
	allUTC(&found[0].Until, &found[0].Since)
	return found[0], nil
}

// Drift is what the EHR and this desk say differently, counted by kind of row and why.
type Drift struct {
	Kind, Code string
	Count      int
	IDs        pq.StringArray // in the EHR, or ours where it is known here only; the last seen first, at most five
}

// Drifts lists it, the most first. One statement.
func (t *Tx) Drifts(ctx context.Context) (out []Drift, err error) {
	err = t.sel(ctx, &out, `SELECT kind, code, count(*) AS count, (array_agg(CASE WHEN remote_id <> '' THEN remote_id ELSE id END ORDER BY last_at DESC, remote_id, id))[1:5] AS ids
		FROM ehr_drift GROUP BY kind, code ORDER BY count(*) DESC, kind, code LIMIT 50`)
	return out, err
}

// LateOperations counts those of the clinic that are open past their deadline.
func (t *Tx) LateOperations(ctx context.Context) (n int, err error) {
	err = t.get(ctx, &n, `SELECT count(*) FROM ehr_operations WHERE ended_at IS NULL AND deadline <= app_now()`)
	return n, err
}
