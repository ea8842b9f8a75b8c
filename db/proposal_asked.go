package db

import (
	"context"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// LockAgent implements proposal.Tx. A space of its own: a decision takes no such lock.
func (t proposalTx) LockAgent(ctx context.Context, agent string) error {
	_, err := t.exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('agent ' || $1 || ' ' || $2, 0))`, t.clinic, agent)
	return translate(err)
}

// Volume implements proposal.Tx. One statement; each part reads at most its limit of an index on created_at.
func (t proposalTx) Volume(ctx context.Context, by clinic.Actor, l proposal.Limits) (proposal.Volume, error) {
	agent := l.Agent
	if by.Kind != clinic.KindAgent {
		agent = 0
	}
	var v struct {
		Agent, Person, Clinic                int
		AgentSince, PersonSince, ClinicSince *time.Time
	}
	err := t.get(ctx, &v, `SELECT a.n AS agent, a.since AS agentsince, o.n AS person, o.since AS personsince, c.n AS clinic, c.since AS clinicsince FROM
		(SELECT count(*) AS n, min(at) AS since FROM (SELECT created_at AS at FROM proposals WHERE created_kind = 'agent' AND created_by = $2
			AND (created_at > $1 OR (state = 'proposed' AND expires_at > $7)) ORDER BY created_at DESC LIMIT $4) x) a,
		(SELECT count(*) AS n, min(at) AS since FROM (SELECT created_at AS at FROM proposals WHERE owner = $3 AND created_at > $1 ORDER BY created_at DESC LIMIT $5) x) o,
		(SELECT count(*) AS n, min(at) AS since FROM (SELECT created_at AS at FROM proposals WHERE created_at > $1 ORDER BY created_at DESC LIMIT $6) x) c`,
		t.now.Add(-l.Window), by.ID(), by.Person, agent, l.Person, l.Clinic, t.now)
	out := proposal.Volume{Agent: v.Agent, Person: v.Person, Clinic: v.Clinic}
	for _, s := range []struct {
		from *time.Time
		to   *time.Time
	}{{v.AgentSince, &out.AgentSince}, {v.PersonSince, &out.PersonSince}, {v.ClinicSince, &out.ClinicSince}} {
		if s.from != nil {
			*s.to = s.from.UTC()
		}
	}
	return out, translate(err)
}

// Asked implements proposal.Tx. The lock is on the scope's name in a space of its own.
func (t proposalTx) Asked(ctx context.Context, scope, wish string) (string, error) {
	if _, err := t.exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('asked ' || $1 || ' ' || $2, 0))`, t.clinic, scope); err != nil {
		return "", translate(err)
	}
	var ids []string
	err := t.sel(ctx, &ids, `SELECT id FROM proposals WHERE scope = $1 AND wish = $2 AND state = 'proposed' AND expires_at > $3 ORDER BY created_at LIMIT 1`,
		scope, wish, t.now)
	if err != nil || len(ids) == 0 {
		return "", translate(err)
	}
	return ids[0], nil
}

// MovedSince implements proposal.Tx. The patient is for the index.
func (t proposalTx) MovedSince(ctx context.Context, appointment, patient string, after time.Time) (*clinic.Ref, error) {
	var found []clinic.Ref
	err := t.sel(ctx, &found, `SELECT id, action AS name FROM proposals WHERE patient = $2 AND appointment = $1 AND state = 'completed'
		AND action LIKE 'reschedule_appointment@%' AND decided_at > $3 ORDER BY decided_at DESC LIMIT 1`, appointment, patient, after)
	if err != nil || len(found) == 0 {
		return nil, translate(err)
	}
	return &found[0], nil
}
