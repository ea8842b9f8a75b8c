package db

import (
	"context"
	"encoding/json"
	"time"

	"github.com/lib/pq"

	"countersign/internal/audit"
	"countersign/internal/evidence"
	"countersign/internal/proposal"
)

// mostProved is how many rows of one kind evidence is made of: the first ones.
const mostProved = 5000

// Evidence reads everything that stands about a proposal, unchecked. A fixed number of statements. Errors: not_found.
func (t *Tx) Evidence(ctx context.Context, id string) (src evidence.Source, err error) {
	err = t.get(ctx, &src.Proposal, `SELECT id, action, state, outcome, revision, created_by AS createdby, created_name AS createdname, created_kind AS createdkind,
		created_via AS createdvia, owner, owner_name AS ownername, coalesce(reason, '') AS reason, coalesce(decided_note, '') AS note,
		created_at AS createdat, expires_at AS expiresat FROM proposals WHERE id = $1`, id)
	if err != nil {
		return src, translate(err)
	}
	for _, q := range []struct {
		dest  any
		query string
	}{
		{&src.Revisions, `SELECT revision, plan_hash AS planhash, plan_bytes AS bytes, created_by AS "by.id", created_name AS "by.name", created_at AS at
			FROM revisions WHERE proposal = $1 ORDER BY revision LIMIT $2`},
		{&src.Showings, `SELECT s.id, s.revision, s.plan_hash AS planhash, s.card_hash AS cardhash, c.content AS card, s.person AS "person.id", s.name AS "person.name", s.via, s.at
			FROM showings s LEFT JOIN cards c ON c.clinic = s.clinic AND c.hash = s.card_hash WHERE s.proposal = $1 ORDER BY s.at, s.id LIMIT $2`},
		{&src.Approvals, `SELECT revision, plan_hash AS planhash, person AS "person.id", name AS "person.name", via, at FROM approvals WHERE proposal = $1 ORDER BY at, person LIMIT $2`},
		{&src.Items, `SELECT item, appointment, state, coalesce(code, '') AS code, coalesce(version, 0) AS version FROM bulk_items WHERE proposal = $1 ORDER BY item LIMIT $2`},
		{&src.Policies, `SELECT action, version, least_risk AS leastrisk, people FROM policies WHERE proposal = $1 ORDER BY action, version LIMIT $2`},
		{&src.Keys, `SELECT DISTINCT person FROM idempotency_keys WHERE proposal = $1 AND status IS NOT NULL ORDER BY person LIMIT $2`},
	} {
		if err := t.sel(ctx, q.dest, q.query, id, mostProved); err != nil {
			return src, err
		}
	}
	if src.Trail, err = t.provedTrail(ctx, id); err != nil {
		return src, err
	}
	if src.Messages, err = t.provedMessages(ctx, id); err != nil {
		return src, err
	}
	visits, patients := named(src.Revisions)
	err = t.sel(ctx, &src.History, `SELECT appointment, version, status, practitioner, location, type, lower(during) AS "from", upper(during) AS "to",
		coalesce(reason_code, '') AS reasoncode, coalesce(proposal, '') AS proposal, changed_by AS by, changed_at AS at
		FROM appointment_history WHERE appointment = ANY ($1) ORDER BY appointment, version`, pq.StringArray(visits))
	if err != nil {
		return src, err
	}
	err = t.sel(ctx, &src.Patients, `SELECT id, version, family, given, to_char(birth_date, 'YYYY-MM-DD') AS birthdate, mrn, phone, email, contact FROM patients WHERE id = ANY ($1)`,
		pq.StringArray(patients))
	return src, err
}

func (t *Tx) provedTrail(ctx context.Context, id string) ([]evidence.Entry, error) {
	var rows []struct {
		AuditRow
		Content []byte
		Stored  string
		Seq     int64
	}
	err := t.sel(ctx, &rows, `SELECT `+auditColumns+`, a.content, a.content_hash AS stored, coalesce(c.seq, 0) AS seq FROM audit a
		LEFT JOIN chain c ON c.clinic = a.clinic AND c.entry = a.id`+auditNames+` WHERE a.proposal = $1 ORDER BY a.at, a.n LIMIT $2`, id, mostProved)
	out := make([]evidence.Entry, len(rows))
	for i, r := range rows {
		out[i] = evidence.Entry{Fields: audit.Fields{ID: r.ID, Clinic: t.clinic, At: audit.TimeText(r.At), ActorKind: r.ActorKind, Actor: r.Actor.ID, OnBehalfOf: r.OnBehalfOf.ID,
			Via: r.Via, Action: r.Action, Outcome: r.Outcome, Code: r.Code, ObjectKind: r.ObjectKind, Object: r.Object, Version: r.Version, Patient: r.Patient,
			Proposal: r.Proposal, Revision: r.Revision, PlanHash: r.PlanHash, Risk: r.Risk, Request: r.Request},
			Time: r.At.UTC(), Name: r.Actor.Name, Content: r.Content, Stored: r.Stored, Seq: r.Seq}
	}
	return out, err
}

func (t *Tx) provedMessages(ctx context.Context, id string) ([]evidence.Message, error) {
	var rows []struct {
		ID, Appointment, PlanHash, State, Code, Kind, Channel, Recipient, Text string
		Version                                                                int64
		Revision                                                               int
		Subject, Calendar                                                      *string
		SendAt, SentAt                                                         *time.Time
	}
	err := t.sel(ctx, &rows, `SELECT id, coalesce(appointment, '') AS appointment, version, revision, plan_hash AS planhash, state, coalesce(last_code, '') AS code, kind, channel,
		recipient, subject, body AS text, calendar, send_at AS sendat, sent_at AS sentat FROM outbox WHERE proposal = $1 ORDER BY id LIMIT $2`, id, mostProved)
	out := make([]evidence.Message, len(rows))
	for i, r := range rows {
		out[i] = evidence.Message{ID: r.ID, Appointment: r.Appointment, Version: r.Version, Revision: r.Revision, PlanHash: r.PlanHash, State: r.State, Code: r.Code, SentAt: utc(r.SentAt),
			Message: proposal.Message{Kind: r.Kind, Channel: r.Channel, Recipient: r.Recipient, Subject: r.Subject, Text: r.Text, Calendar: r.Calendar, SendAt: utc(r.SendAt)}}
	}
	return out, err
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// named are the visits and patients that stored plans speak of; a damaged plan speaks of none.
func named(revisions []evidence.Revision) (visits, patients []string) {
	visits, patients = []string{}, []string{}
	for _, r := range revisions {
		var p struct {
			Steps []struct{ Appointment, Patient *string }
		}
		if json.Unmarshal(r.Bytes, &p) != nil {
			continue
		}
		for _, s := range p.Steps {
			if s.Appointment != nil {
				visits = append(visits, *s.Appointment)
			}
			if s.Patient != nil {
				patients = append(patients, *s.Patient)
			}
		}
	}
	return visits, patients
}
