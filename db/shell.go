package db

import (
	"context"
	"encoding/json"
	"time"
)

// Frame is what every page shows around its work.
type Frame struct {
	Waiting int    // proposals of the clinic that are neither decided nor past their deadline
	Manual  int    // operations that wait for a person to look in the EHR, or are past their deadline
	Zone    string // of the clinic's first location by name; "" for a clinic without any
	KeysOff bool   // the person switched single keys off
	Told    []Told `db:"-"`
}

// Told is a proposal of somebody's that somebody else, or the deadline, has ended since they last looked.
type Told struct {
	ID, Action, State, Patient string
	By                         string // name; "" = the deadline
	At                         time.Time
}

// mostTold is how many a page shows.
const mostTold = 5

// Frame reads it for a person in one statement.
func (t *Tx) Frame(ctx context.Context, person string) (Frame, error) {
	var f struct {
		Frame
		List []byte
	}
	err := t.get(ctx, &f, `SELECT (SELECT count(*) FROM proposals WHERE state = 'proposed' AND expires_at > $1) AS waiting,
		(SELECT count(*) FROM ehr_operations WHERE ended_at IS NULL AND (state = 'manual' OR deadline <= app_now())) AS manual,
		coalesce((SELECT zone FROM locations ORDER BY name, id LIMIT 1), '') AS zone,
		coalesce((SELECT keys_off FROM preferences WHERE person = $2), false) AS keysoff,
		(SELECT json_agg(x) FROM (SELECT p.id, p.action, CASE p.state WHEN 'proposed' THEN 'expired' ELSE p.state END AS state,
			coalesce(q.given || ' ' || q.family, '') AS patient, coalesce(p.decided_name, '') AS by, coalesce(p.decided_at, p.expires_at) AS at
			FROM proposals p LEFT JOIN patients q ON q.clinic = p.clinic AND q.id = p.patient
			WHERE p.owner = $2 AND p.created_at > $4 AND p.state <> 'executing' AND (p.state <> 'proposed' OR p.expires_at <= $1)
			AND p.decided_by IS DISTINCT FROM $2
			AND coalesce(p.decided_at, p.expires_at) > coalesce((SELECT told_until FROM preferences WHERE person = $2), $3)
			ORDER BY coalesce(p.decided_at, p.expires_at) DESC, p.id LIMIT $5) x) AS list`,
		t.now, person, t.now.Add(-24*time.Hour), t.now.Add(-7*24*time.Hour), mostTold)
	if err == nil && f.List != nil {
		err = json.Unmarshal(f.List, &f.Told)
	}
	return f.Frame, err
}

// SetKeysOff keeps whether single keys work for a person.
func (t *Tx) SetKeysOff(ctx context.Context, person string, off bool) error {
	n, err := t.exec(ctx, `INSERT INTO preferences (clinic, person, keys_off) VALUES ($1, $2, $3)
		ON CONFLICT (clinic, person) DO UPDATE SET keys_off = excluded.keys_off`, t.clinic, person, off)
	return touched(n, 1, err)
}

// SetTold keeps up to when a person knows what became of their proposals; it never goes back.
func (t *Tx) SetTold(ctx context.Context, person string, until time.Time) error {
	n, err := t.exec(ctx, `INSERT INTO preferences AS p (clinic, person, told_until) VALUES ($1, $2, $3)
		ON CONFLICT (clinic, person) DO UPDATE SET told_until = greatest(p.told_until, excluded.told_until)`, t.clinic, person, until)
	return touched(n, 1, err)
}
