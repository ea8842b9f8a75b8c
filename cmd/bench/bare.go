package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/lib/pq"

	"countersign/internal/proposal"
)

// statements is the transaction of a confirm as plain SQL, with the parameters of args. The one call runs the same.
var statements = []string{
	`INSERT INTO idempotency_keys (clinic, person, key, fingerprint) VALUES ('bench', 'ana', $1, $2) ON CONFLICT DO NOTHING`,
	`SELECT id FROM proposals WHERE id = $1 FOR NO KEY UPDATE`,
	`SELECT p.state, p.revision, p.expires_at, r.plan_hash, r.plan_bytes, app_now() FROM proposals p JOIN revisions r ON r.clinic = p.clinic AND r.proposal = p.id AND r.revision = p.revision WHERE p.id = $1`,
	`SELECT role FROM accounts WHERE id = $1`,
	`SELECT id, version FROM appointments WHERE id = $1 FOR NO KEY UPDATE`,
	`SELECT id, version FROM slots WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE`,
	`SELECT id, version FROM patients WHERE id = $1 FOR NO KEY UPDATE`,
	`SELECT id, version FROM practitioners WHERE id = $1 FOR SHARE`,
	`SELECT id, version FROM locations WHERE id = $1 FOR SHARE`,
	`SELECT id, version FROM appointment_types WHERE id = $1 FOR SHARE`,
	`UPDATE appointments SET practitioner = $2, during = tstzrange($3, $4), changed_by = 'ana', changed_via = 'plan', proposal = $5, changed_at = app_now() WHERE id = $1`,
	`UPDATE slots SET appointment = NULL WHERE id = ANY ($1)`,
	`UPDATE slots SET appointment = $2 WHERE id = ANY ($1) AND appointment IS NULL`,
	`INSERT INTO outbox (clinic, id, appointment, version, kind, channel, recipient, subject, body, proposal, revision, plan_hash) VALUES ('bench', $1, $2, $3, 'change', 'email', $4, $5, $6, $7, 1, $8)`,
	`INSERT INTO audit (clinic, id, actor_kind, actor, via, action, outcome, proposal, plan_hash, content, content_hash) VALUES ('bench', $1, 'user', 'ana', 'api', 'proposal.confirm', 'success', $2, $3, convert_to($4, 'UTF8'), $3)`,
	`INSERT INTO audit (clinic, id, actor_kind, actor, via, action, outcome, proposal, plan_hash, content, content_hash) VALUES ('bench', $1, 'user', 'ana', 'api', 'appointment.move', 'success', $2, $3, convert_to($4, 'UTF8'), $3)`,
	`UPDATE proposals SET state = 'completed', outcome = 'completed', decided_by = 'ana', decided_name = 'Ana', decided_at = app_now(), result = $2 WHERE id = $1 AND state = 'proposed'`,
	`UPDATE idempotency_keys SET proposal = $2, status = 200, body = $3 WHERE person = 'ana' AND key = $1`,
}

// oneCall is all of it in one round trip.
const oneCall = `CREATE OR REPLACE FUNCTION bench_confirm(p_key text, p_print text, p_id text, p_apt text, p_slots text[], p_patient text, p_practitioner text,
	p_location text, p_type text, p_from timestamptz, p_to timestamptz, p_free text[], p_take text[], p_msg text, p_version bigint, p_recipient text, p_subject text,
	p_body text, p_hash text, p_aud1 text, p_aud2 text, p_content text, p_result text, p_answer bytea) RETURNS void LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
	INSERT INTO idempotency_keys (clinic, person, key, fingerprint) VALUES ('bench', 'ana', p_key, p_print) ON CONFLICT DO NOTHING;
	PERFORM id FROM proposals WHERE id = p_id FOR NO KEY UPDATE;
	SELECT p.state, p.revision, p.expires_at, v.plan_hash, v.plan_bytes, app_now() INTO r FROM proposals p JOIN revisions v ON v.clinic = p.clinic AND v.proposal = p.id AND v.revision = p.revision WHERE p.id = p_id;
	PERFORM role FROM accounts WHERE id = 'ana';
	PERFORM id FROM appointments WHERE id = p_apt FOR NO KEY UPDATE;
	PERFORM id FROM slots WHERE id = ANY (p_slots) ORDER BY id FOR NO KEY UPDATE;
	PERFORM id FROM patients WHERE id = p_patient FOR NO KEY UPDATE;
	PERFORM id FROM practitioners WHERE id = p_practitioner FOR SHARE;
	PERFORM id FROM locations WHERE id = p_location FOR SHARE;
	PERFORM id FROM appointment_types WHERE id = p_type FOR SHARE;
	UPDATE appointments SET practitioner = p_practitioner, during = tstzrange(p_from, p_to), changed_by = 'ana', changed_via = 'plan', proposal = p_id, changed_at = app_now() WHERE id = p_apt;
	UPDATE slots SET appointment = NULL WHERE id = ANY (p_free);
	UPDATE slots SET appointment = p_apt WHERE id = ANY (p_take) AND appointment IS NULL;
	INSERT INTO outbox (clinic, id, appointment, version, kind, channel, recipient, subject, body, proposal, revision, plan_hash) VALUES ('bench', p_msg, p_apt, p_version, 'change', 'email', p_recipient, p_subject, p_body, p_id, 1, p_hash);
	INSERT INTO audit (clinic, id, actor_kind, actor, via, action, outcome, proposal, plan_hash, content, content_hash) VALUES ('bench', p_aud1, 'user', 'ana', 'api', 'proposal.confirm', 'success', p_id, p_hash, convert_to(p_content, 'UTF8'), p_hash);
	INSERT INTO audit (clinic, id, actor_kind, actor, via, action, outcome, proposal, plan_hash, content, content_hash) VALUES ('bench', p_aud2, 'user', 'ana', 'api', 'appointment.move', 'success', p_id, p_hash, convert_to(p_content, 'UTF8'), p_hash);
	UPDATE proposals SET state = 'completed', outcome = 'completed', decided_by = 'ana', decided_name = 'Ana', decided_at = app_now(), result = p_result WHERE id = p_id AND state = 'proposed';
	UPDATE idempotency_keys SET proposal = p_id, status = 200, body = p_answer WHERE person = 'ana' AND key = p_key;
END $$`

// parts is what one confirm writes, made before the clock starts.
type parts struct {
	r       proposal.Record
	step    proposal.Step
	slots   []string
	content string
	answer  []byte
}

func partsOf(r proposal.Record) (parts, error) {
	p := parts{r: r, step: r.Plan.Steps[0]}
	for _, pin := range r.Plan.Resources {
		if pin.Kind == proposal.PinSlot {
			p.slots = append(p.slots, pin.ID)
		}
	}
	var err error
	p.answer, err = json.Marshal(r)
	p.content = string(p.answer[:min(400, len(p.answer))]) // as long as an audit row's
	return p, err
}

// args are the parameters of statements, one list each.
func (p parts) args() [][]any {
	m := p.r.Plan.Messages[0]
	f := p.r.Plan.After
	return [][]any{
		{"k-" + p.r.ID, p.r.PlanHash}, {p.r.ID}, {p.r.ID}, {"ana"}, {f.Appointment}, {pq.StringArray(p.slots)}, {f.Patient.ID}, {f.Practitioner.ID}, {f.Location.ID}, {f.Type.ID},
		{f.Appointment, f.Practitioner.ID, f.StartsAt, f.EndsAt, p.r.ID}, {pq.StringArray(p.step.FreeSlots)}, {pq.StringArray(p.step.TakeSlots), f.Appointment},
		{newID("msg"), f.Appointment, *p.step.ExpectVersion + 1, m.Recipient, m.Subject, m.Text, p.r.ID, p.r.PlanHash},
		{newID("aud"), p.r.ID, p.r.PlanHash, p.content}, {newID("aud"), p.r.ID, p.r.PlanHash, p.content},
		{p.r.ID, p.content}, {"k-" + p.r.ID, p.r.ID, p.answer},
	}
}

func (p parts) oneCallArgs() []any {
	m := p.r.Plan.Messages[0]
	f := p.r.Plan.After
	return []any{"k-" + p.r.ID, p.r.PlanHash, p.r.ID, f.Appointment, pq.StringArray(p.slots), f.Patient.ID, f.Practitioner.ID, f.Location.ID, f.Type.ID, f.StartsAt, f.EndsAt,
		pq.StringArray(p.step.FreeSlots), pq.StringArray(p.step.TakeSlots), newID("msg"), *p.step.ExpectVersion + 1, m.Recipient, m.Subject, m.Text, p.r.PlanHash,
		newID("aud"), newID("aud"), p.content, p.content, p.answer}
}

// benchBare runs the same transaction from as many connections as there are clients, all statements prepared.
func benchBare(ctx context.Context, url string, whole bool, clients int, records []proposal.Record) (series, error) {
	all := make([]parts, len(records))
	for i, r := range records {
		var err error
		if all[i], err = partsOf(r); err != nil {
			return series{}, err
		}
	}
	root, err := raw(url, "")
	if err != nil {
		return series{}, err
	}
	defer root.Close()
	if _, err := root.ExecContext(ctx, oneCall); err != nil {
		return series{}, err
	}
	type session struct {
		conn  *sql.Conn
		stmts []*sql.Stmt
		call  *sql.Stmt
	}
	sessions := make([]session, clients)
	root.SetMaxOpenConns(clients + 1)
	for i := range sessions {
		c, err := root.Conn(ctx)
		if err != nil {
			return series{}, err
		}
		defer c.Close()
		if _, err := c.ExecContext(ctx, `SET ROLE countersign_app; SET plan_cache_mode = force_generic_plan; SET app.clinic = 'bench'; SET TIME ZONE 'UTC'`); err != nil {
			return series{}, err
		}
		sessions[i].conn = c
		if sessions[i].call, err = c.PrepareContext(ctx, `SELECT bench_confirm($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,$24)`); err != nil {
			return series{}, err
		}
		for _, q := range statements {
			st, err := c.PrepareContext(ctx, q)
			if err != nil {
				return series{}, fmt.Errorf("%w: %s", err, q)
			}
			sessions[i].stmts = append(sessions[i].stmts, st)
		}
	}
	return measure(ctx, clients, len(all), func(ctx context.Context, client, i int) error {
		s, p := sessions[client], all[i]
		if whole {
			_, err := s.call.ExecContext(ctx, p.oneCallArgs()...)
			return err
		}
		if _, err := s.conn.ExecContext(ctx, "BEGIN"); err != nil {
			return err
		}
		if _, err := s.conn.ExecContext(ctx, "SET LOCAL app.clinic = 'bench'"); err != nil {
			return err
		}
		for j, args := range p.args() {
			if _, err := s.stmts[j].ExecContext(ctx, args...); err != nil {
				return fmt.Errorf("%w: %s", err, statements[j])
			}
		}
		_, err := s.conn.ExecContext(ctx, "COMMIT")
		return err
	})
}
