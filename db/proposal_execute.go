package db

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

var errRows = errors.New("db: a write did not touch the rows it was to touch")

// stillProposed says state = 'proposed' in words that no partial index of waiting proposals answers to: the planner took
// one over the primary key while the tables were young, and read every waiting proposal to decide one.
const stillProposed = `(state <> 'executing' AND outcome = 'proposed')`

// One statement writes a whole decision: fewer round trips, and the locks are held briefly. Its parts see one snapshot;
// the rows are locked already. $1-$14 are the decision, the rest the step about a row. $14 is how it was judged: the risk
// and, where more than one person must approve, what is kept of that.
const (
	decideParts = `head AS (UPDATE proposals SET state = $4, outcome = $5, risk = $14::json->>'risk', approved_by = $14::json->>'given', decided_by = $6, decided_name = $7, decided_at = $8, decided_note = $9, result = $10
		WHERE id = $1 AND revision = $2 AND ` + stillProposed + ` AND $4 <> '' RETURNING 1),
	saved AS (UPDATE idempotency_keys SET proposal = $1, status = $11, body = $12 WHERE person = $6 AND key = $3 AND status IS NULL RETURNING 1),
	approval AS (INSERT INTO approvals (clinic, proposal, revision, plan_hash, person, name, via, at)
		SELECT current_setting('app.clinic'), $1, $2, $14::json->>'approves', $6, $7, $14::json->>'via', $8 WHERE $14::json->>'approves' IS NOT NULL RETURNING 1),
	trail AS (` + insertAudit + ` FROM json_to_recordset($13::json) ` + auditShape + ` RETURNING 1)`
	decideCounts = `(SELECT count(*) FROM approval) AS approved, (SELECT count(*) FROM head) AS head, (SELECT count(*) FROM saved) AS saved, (SELECT count(*) FROM trail) AS trail`

	messageParts = `, messages AS (INSERT INTO outbox (clinic, id, appointment, version, kind, channel, recipient, subject, body, calendar, send_at, proposal, revision, plan_hash, next_at)
		SELECT current_setting('app.clinic'), m.id, m.appointment, m.version, m.kind, m.channel, m.recipient, m.subject, m.text, m.calendar, m.send_at, $1, $2, $15, coalesce(m.send_at, $8)
		FROM json_to_recordset($16::json) AS m(id text, appointment text, version bigint, kind text, channel text, recipient text, subject text, text text, calendar text, send_at timestamptz) RETURNING 1)`

	slotParts = `, freed AS (UPDATE slots SET appointment = NULL WHERE id = ANY ($17) AND appointment = $18 RETURNING 1),
	taken AS (UPDATE slots SET appointment = $18, held_by = NULL WHERE id = ANY ($19) AND appointment IS NULL
		AND (held_by IS NULL AND state = 'open' OR held_by = $1) RETURNING 1)`
	stepCounts = `, (SELECT count(*) FROM messages) AS messages, (SELECT count(*) FROM freed) AS freed, (SELECT count(*) FROM taken) AS taken,
	coalesce((SELECT version FROM visit), 0) AS version`

	moveVisit = `, visit AS (UPDATE appointments SET practitioner = $20, location = $21, type = $22, during = tstzrange($23, $24),
		changed_by = $6, changed_via = 'plan', proposal = $1, changed_at = $8 WHERE id = $18 AND version = $25 AND patient = $26 AND status = 'booked' RETURNING version)`
	createVisit = `, visit AS (INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, during, changed_by, changed_via, proposal, changed_at)
		VALUES (current_setting('app.clinic'), $18, $25, $20, $21, $22, 'booked', tstzrange($23, $24), $6, 'plan', $1, $8) RETURNING version)`
	cancelVisit = `, visit AS (UPDATE appointments SET status = 'cancelled', reason_code = $20, changed_by = $6, changed_via = 'plan', proposal = $1, changed_at = $8
		WHERE id = $18 AND version = $21 AND patient = $22 AND status = 'booked' RETURNING version)`

	// The messages of before, written by this same statement: it does not see the new ones.
	overtaken = `, overtaken AS (` + overtakeMessages + `$18)`

	decideOnly  = `WITH ` + decideParts + ` SELECT ` + decideCounts
	executeTail = ` SELECT ` + decideCounts + stepCounts
	executeMove = `WITH ` + decideParts + messageParts + slotParts + moveVisit + overtaken + executeTail
	executeMake = `WITH ` + decideParts + messageParts + slotParts + createVisit + executeTail
	executeEnd  = `WITH ` + decideParts + messageParts + slotParts + cancelVisit + overtaken + executeTail
)

// Execute implements proposal.Tx. Errors: proposal.ErrOverlap when another active appointment lies there;
// proposal.ErrMRNTaken.
func (t proposalTx) Execute(ctx context.Context, e proposal.Execution) (int64, error) {
	trail, err := auditRows(e.Audit)
	if err != nil {
		return 0, err
	}
	judged, err := judgedOf(e)
	if err != nil {
		return 0, err
	}
	args := []any{e.Proposal, e.Revision, e.Key, e.State, e.Outcome, e.By.ID(), e.By.Name(), e.DecidedAt, orNull(e.Note), nullJSON(e.Result),
		e.Status, e.Body, trail, judged}
	query := decideOnly
	var step proposal.Step
	if len(e.Steps) > 0 {
		step = e.Steps[0]
		messages, err := messageRows(e.Messages)
		if err != nil {
			return 0, err
		}
		args = append(args, e.PlanHash, messages)
		if step.Appointment != nil {
			args = append(args, pq.StringArray(step.FreeSlots), *step.Appointment, pq.StringArray(step.TakeSlots))
		}
		switch step.Op {
		case proposal.OpMove:
			query = executeMove
			args = append(args, step.Practitioner, step.Location, step.Type, step.StartsAt, step.EndsAt, step.ExpectVersion, step.Patient)
		case proposal.OpCreate:
			query = executeMake
			args = append(args, step.Practitioner, step.Location, step.Type, step.StartsAt, step.EndsAt, step.Patient)
		case proposal.OpCancel:
			query = executeEnd
			args = append(args, step.ReasonCode, step.ExpectVersion, step.Patient)
		case proposal.OpRegister, proposal.OpContact, proposal.OpSend:
			var own []any
			query, own = patientStep(step)
			args = append(args, own...)
		case proposal.OpPolicy:
			query = executePolicy
			args = append(args, step.Policy.Action, step.ExpectVersion, step.Policy.LeastRisk, step.Policy.People)
		default:
			return 0, fmt.Errorf("db: no such step %q", step.Op)
		}
	}
	var n struct {
		Head, Approved, Saved, Trail, Messages, Freed, Taken int
		Version                                              int64
	}
	if err := t.get(ctx, &n, query, args...); err != nil {
		return 0, translate(err)
	}
	head := 1
	if e.State == "" {
		head = 0
	}
	saved, approved := 1, 0
	if e.Key == "" { // an item of a bulk: its decision was saved when it was claimed
		saved = 0
	}
	if e.Approves {
		approved = 1
	}
	whole := n.Head == head && n.Approved == approved && n.Saved == saved && n.Trail == len(e.Audit) && n.Messages == len(e.Messages) &&
		n.Freed == len(step.FreeSlots) && n.Taken == len(step.TakeSlots)
	if !whole {
		return 0, &refusal.Error{Code: refusal.Internal, Cause: errRows}
	}
	t.queued = t.queued || n.Messages > 0
	return n.Version, nil
}

// judgedOf is $14. Approves is the plan hash that By approves, null where one person decides alone.
func judgedOf(e proposal.Execution) (string, error) {
	j := struct {
		Risk     string       `json:"risk"`
		Approves *string      `json:"approves"`
		Via      string       `json:"via"`
		Given    []clinic.Ref `json:"given"`
	}{Risk: e.Risk, Via: e.By.Via, Given: e.Given}
	if e.Approves {
		j.Approves = &e.PlanHash
	}
	b, err := json.Marshal(j)
	return string(b), err
}

func nullJSON(b []byte) *string {
	if len(b) == 0 {
		return nil
	}
	s := string(b)
	return &s
}

// messageRow is one outbox row as a parameter.
type messageRow struct {
	ID          string     `json:"id"`
	Appointment *string    `json:"appointment"`
	Version     int64      `json:"version"`
	Kind        string     `json:"kind"`
	Channel     string     `json:"channel"`
	Recipient   string     `json:"recipient"`
	Subject     *string    `json:"subject"`
	Text        string     `json:"text"`
	Calendar    *string    `json:"calendar"`
	SendAt      *time.Time `json:"send_at"`
}

func messageRows(rows []proposal.OutboxRow) (string, error) {
	out := make([]messageRow, len(rows))
	for i, r := range rows {
		m := r.Message
		out[i] = messageRow{r.ID, orNull(r.Appointment), r.Version, m.Kind, m.Channel, m.Recipient, m.Subject, m.Text, m.Calendar, m.SendAt}
	}
	b, err := json.Marshal(out)
	return string(b), err
}
