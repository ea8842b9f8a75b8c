//go:build unix

package prooftest

import (
	"bytes"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"countersign/db/desktest"
	"countersign/internal/proposal"
)

// broken are questions whose right answer is no row.
var broken = map[string]string{
	"a plan without its hash": `SELECT proposal || '/' || revision FROM revisions
		WHERE encode(sha256(convert_to(E'countersign.plan.v1\n', 'UTF8') || plan_bytes), 'hex') <> plan_hash`,
	"revisions with a hole": `SELECT p.id FROM proposals p WHERE p.revision <> (SELECT count(*) FROM revisions r WHERE r.clinic = p.clinic AND r.proposal = p.id)
		OR p.revision <> (SELECT max(r.revision) FROM revisions r WHERE r.clinic = p.clinic AND r.proposal = p.id)`,
	"a key without an answer, or of a proposal that still waits": `SELECT k.key FROM idempotency_keys k LEFT JOIN proposals p ON p.clinic = k.clinic AND p.id = k.proposal
		WHERE k.status IS NULL OR k.body IS NULL OR p.id IS NULL OR (k.status = 200 AND p.state = 'proposed' AND p.expires_at > app_now())`,
	"a decided proposal without exactly one key": `SELECT p.id FROM proposals p WHERE p.state NOT IN ('proposed', 'expired')
		AND (p.approved_by IS NULL)::int + (SELECT count(*) FROM approvals g WHERE g.clinic = p.clinic AND g.proposal = p.id)
			<> (SELECT count(*) FROM idempotency_keys k WHERE k.clinic = p.clinic AND k.proposal = p.id AND k.status = 200)`,
	"an approval that is not of the plan it names": `SELECT g.proposal FROM approvals g JOIN revisions r ON r.clinic = g.clinic AND r.proposal = g.proposal AND r.revision = g.revision WHERE r.plan_hash <> g.plan_hash`,
	"approvals and not the same number of rows in the trail": `SELECT g.proposal FROM approvals g JOIN proposals p ON p.clinic = g.clinic AND p.id = g.proposal GROUP BY g.clinic, g.proposal, p.approved_by
		HAVING count(*) <> (p.approved_by IS NOT NULL)::int + (SELECT count(*) FROM audit a WHERE a.clinic = g.clinic AND a.proposal = g.proposal AND a.action = 'proposal.approve')`,
	"critical, and run by one person": `SELECT id FROM proposals WHERE risk = 'critical' AND state = 'completed' AND coalesce(json_array_length(approved_by::json), 1) < 2`,
	"a completed proposal without exactly one version of a visit": `SELECT p.id FROM proposals p WHERE p.state = 'completed'
		AND 1 <> (SELECT count(*) FROM appointment_history h WHERE h.clinic = p.clinic AND h.proposal = p.id)`,
	"a visit changed by a proposal that is not completed": `SELECT h.appointment FROM appointment_history h LEFT JOIN proposals p ON p.clinic = h.clinic AND p.id = h.proposal
		WHERE h.changed_via = 'plan' AND p.state IS DISTINCT FROM 'completed'`,
	"versions with a hole": `SELECT a.id FROM appointments a WHERE a.version <> (SELECT count(*) FROM appointment_history h WHERE h.clinic = a.clinic AND h.appointment = a.id)
		OR a.version <> (SELECT max(h.version) FROM appointment_history h WHERE h.clinic = a.clinic AND h.appointment = a.id)`,
	"a message of a proposal that is not completed": `SELECT o.id FROM outbox o LEFT JOIN proposals p ON p.clinic = o.clinic AND p.id = o.proposal
		WHERE p.state IS DISTINCT FROM 'completed' OR p.revision <> o.revision`,
	"a visit that does not hold the slots it covers": `SELECT a.id || ' ' || s.id FROM appointments a JOIN slots s ON s.clinic = a.clinic AND s.practitioner = a.practitioner
		AND s.starts_at < a.ends_at AND s.ends_at > a.starts_at WHERE a.status IN ('booked', 'arrived', 'checked-in') AND s.appointment IS DISTINCT FROM a.id`,
	"a slot held by no visit there": `SELECT s.id FROM slots s LEFT JOIN appointments a ON a.clinic = s.clinic AND a.id = s.appointment AND a.practitioner = s.practitioner
		AND a.status IN ('booked', 'arrived', 'checked-in') AND s.starts_at < a.ends_at AND s.ends_at > a.starts_at WHERE s.appointment IS NOT NULL AND a.id IS NULL`,
	"a practitioner double-booked": `SELECT a.id FROM appointments a JOIN appointments b ON b.clinic = a.clinic AND b.practitioner = a.practitioner AND b.id > a.id AND b.during && a.during
		WHERE a.status IN ('booked', 'arrived', 'checked-in') AND b.status IN ('booked', 'arrived', 'checked-in')`,
	"a decision without exactly one row of the trail": `SELECT p.id || ' ' || p.state FROM proposals p WHERE p.state NOT IN ('proposed', 'expired') AND 1 <> (SELECT count(*) FROM audit a
		WHERE a.clinic = p.clinic AND a.proposal = p.id AND a.outcome IN ('success', 'failed') AND a.action IN ('proposal.confirm', 'proposal.reject', 'proposal.withdraw'))`,
	"an execution without exactly one row of the trail": `SELECT p.id FROM proposals p WHERE (p.state = 'completed')::int <> (SELECT count(*) FROM audit a
		WHERE a.clinic = p.clinic AND a.proposal = p.id AND a.outcome = 'success' AND a.action IN ('appointment.move', 'appointment.book', 'appointment.cancel'))`,
	"a row of the trail without its hash": `SELECT id FROM audit WHERE encode(sha256(content), 'hex') <> content_hash`,
}

// wantWhole checks what must hold after any history of decisions: nothing half written, nothing twice, nothing else.
func wantWhole(t tester, d *desktest.Desk) {
	t.Helper()
	for name, query := range broken {
		var found sql.NullString
		if err := d.Root.QueryRow(query + ` LIMIT 1`).Scan(&found); err != sql.ErrNoRows {
			t.Errorf("%s: %s (%v)", name, found.String, err)
		}
	}
	rows, err := d.Root.Query(`SELECT p.id, r.plan_bytes FROM proposals p JOIN revisions r ON r.clinic = p.clinic AND r.proposal = p.id AND r.revision = p.revision WHERE p.state = 'completed'`)
	must(t, err)
	plans := map[string][]byte{}
	for rows.Next() {
		var id string
		var plan []byte
		must(t, rows.Scan(&id, &plan))
		plans[id] = bytes.Clone(plan)
	}
	must(t, rows.Err())
	must(t, rows.Close())
	for id, plan := range plans {
		wantEffects(t, d, id, plan)
	}
}

// wantEffects compares what a completed proposal did with its stored plan: the version of the visit it made, and the
// bytes of its messages.
func wantEffects(t tester, d *desktest.Desk, id string, canonical []byte) {
	t.Helper()
	p, err := proposal.DecodePlan(canonical)
	must(t, err)
	a := p.After
	version := "1"
	for _, s := range p.Steps {
		if s.ExpectVersion != nil {
			version = fmt.Sprint(*s.ExpectVersion + 1)
		}
	}
	if got := d.Text(`SELECT count(*) FROM appointment_history h JOIN appointments a ON a.clinic = h.clinic AND a.id = h.appointment WHERE h.proposal = $1
		AND h.appointment = $2 AND h.version = $3 AND h.status = $4 AND h.practitioner = $5 AND h.location = $6 AND h.type = $7 AND h.during = tstzrange($8, $9) AND a.patient = $10`,
		id, a.Appointment, version, a.Status, a.Practitioner.ID, a.Location.ID, a.Type.ID, a.StartsAt, a.EndsAt, a.Patient.ID); got != "1" {
		t.Errorf("proposal %s did not do what its plan says", id)
	}
	if got := d.Text(`SELECT count(*) FROM outbox WHERE proposal = $1`, id); got != fmt.Sprint(len(p.Messages)) {
		t.Errorf("proposal %s: %s messages, the plan has %d", id, got, len(p.Messages))
	}
	for _, m := range p.Messages {
		if got := d.Text(`SELECT count(*) FROM outbox WHERE proposal = $1 AND appointment = $2 AND version = $3 AND kind = $4 AND channel = $5 AND recipient = $6
			AND subject IS NOT DISTINCT FROM $7 AND body = $8 AND calendar IS NOT DISTINCT FROM $9 AND send_at IS NOT DISTINCT FROM $10 AND plan_hash = $11`,
			id, a.Appointment, version, m.Kind, m.Channel, m.Recipient, m.Subject, m.Text, m.Calendar, m.SendAt, proposal.HashPlan(canonical)); got != "1" {
			t.Errorf("proposal %s: the outbox does not hold the plan's bytes", id)
		}
	}
}

// pictured are the tables that a refusal leaves alone: all but the trail of audit.
var pictured = []string{"appointments", "appointment_history", "slots", "patients", "practitioners", "locations", "appointment_types", "proposals", "revisions",
	"idempotency_keys", "outbox", "accounts"}

// picture is the content of every pictured table, as a digest.
func picture(t testing.TB, d *desktest.Desk) map[string]string {
	t.Helper()
	query := `SELECT concat_ws(' '`
	for _, table := range pictured {
		query += `, (SELECT md5(coalesce(string_agg(x::text, '|' ORDER BY x::text COLLATE "C"), '')) FROM ` + table + ` x)`
	}
	out := map[string]string{}
	for i, digest := range strings.Fields(d.Text(query + `)`)) {
		out[pictured[i]] = digest
	}
	return out
}

func wantUnchanged(t testing.TB, before, after map[string]string) {
	t.Helper()
	for table, was := range before {
		if after[table] != was {
			t.Errorf("%s changed", table)
		}
	}
}
