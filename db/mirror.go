package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lib/pq"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/ehr/intake"
	"countersign/internal/ehr/mirror"
	"countersign/internal/proposal"
)

// Mirror keeps how far a clinic's EHR has been read, and where it differs from what is here. It implements mirror.Store.
type Mirror struct {
	DB  *DB
	IDs func(prefix string) string
}

var errOverlap = errors.New("db: rows taken in overlap")

// Cursor implements mirror.Store.
func (m Mirror) Cursor(ctx context.Context, clinicID, kind string) (c mirror.Cursor, err error) {
	err = m.DB.Read(ctx, clinicID, func(t *Tx) error {
		var found []struct{ Since, FullAt, ReadAt *time.Time }
		if err := t.sel(ctx, &found, `SELECT since, full_at AS fullat, read_at AS readat FROM ehr_cursors WHERE kind = $1`, kind); err != nil {
			return err
		}
		c = mirror.Cursor{Now: t.now}
		for _, f := range found {
			for to, from := range map[*time.Time]*time.Time{&c.Since: f.Since, &c.FullAt: f.FullAt, &c.ReadAt: f.ReadAt} {
				if from != nil {
					*to = from.UTC()
				}
			}
		}
		return nil
	})
	return c, err
}

// Take implements mirror.Store. When a row breaks a rule of the schema, each is tried by itself, so that no other waits for
// it; that one is drift.
func (m Mirror) Take(ctx context.Context, clinicID, kind string, rows []intake.Row, broken []mirror.Broken, full bool) (changed, drift int, err error) {
	changed, drift, err = m.takeTogether(ctx, clinicID, kind, rows, broken, full)
	if !breaksRule(err) || len(rows) == 0 {
		return changed, drift, err
	}
	changed, drift = 0, 0
	if len(rows) == 1 {
		broken = append(slices.Clone(broken), mirror.Broken{Remote: rows[0].Header().Remote, Problem: &intake.Problem{Code: intake.CodeIncomplete}})
		return m.takeTogether(ctx, clinicID, kind, nil, broken, full)
	}
	for _, r := range rows {
		c, d, err := m.Take(ctx, clinicID, kind, []intake.Row{r}, nil, full)
		if changed, drift = changed+c, drift+d; err != nil {
			return changed, drift, err
		}
	}
	_, d, err := m.takeTogether(ctx, clinicID, kind, nil, broken, full)
	return changed, drift + d, err
}

// breaksRule reports whether PostgreSQL refused a value or a row, by its class of errors.
func breaksRule(err error) bool {
	var refused *sqlError
	return errors.As(err, &refused) && (refused.cause.Code.Class() == "22" || refused.cause.Code.Class() == "23")
}

// takeTogether takes rows in one transaction. Where visits would overlap, those that came first in the batch stay and the
// others are drift: the whole is tried without them.
func (m Mirror) takeTogether(ctx context.Context, clinicID, kind string, rows []intake.Row, broken []mirror.Broken, full bool) (changed, drift int, err error) {
	overlapping := map[string]bool{}
	for {
		var more []string
		err = m.DB.InClinic(ctx, clinicID, func(t *Tx) (err error) {
			changed, drift, more, err = t.mirror(ctx, kind, rows, broken, full, overlapping)
			if err == nil && len(more) > 0 {
				err = errOverlap
			}
			return err
		})
		// Another's commit may have come between the look and ours: all the visits that were written could be in its way.
		if errors.Is(err, proposal.ErrOverlap) && len(overlapping) < len(rows) {
			for _, r := range rows {
				overlapping[r.Header().Remote] = true
			}
			continue
		}
		if !errors.Is(err, errOverlap) {
			return changed, drift, err
		}
		if len(more) > 1 {
			more = exceptFirst(rows, more)
		}
		for _, id := range more {
			overlapping[id] = true
		}
	}
}

// exceptFirst leaves out the one that comes first among the rows.
func exceptFirst(rows []intake.Row, ids []string) (rest []string) {
	those := map[string]bool{}
	for _, id := range ids {
		those[id] = true
	}
	first := true
	for _, r := range rows {
		if id := r.Header().Remote; those[id] {
			if !first {
				rest = append(rest, id)
			}
			first = false
		}
	}
	return rest
}

// mirror takes rows in and keeps what it did not take as drift. more are visits that overlap: then all is to be rolled back.
func (t *Tx) mirror(ctx context.Context, kind string, rows []intake.Row, broken []mirror.Broken, full bool, without map[string]bool) (changed, drift int, more []string, err error) {
	var these []intake.Row
	faults, solved := map[string]string{}, pq.StringArray{}
	for _, r := range rows {
		if without[r.Header().Remote] {
			faults[r.Header().Remote] = intake.CodeOverlap
			if a, ok := r.(*intake.Appointment); ok && len(a.Operations) > 0 {
				faults[r.Header().Remote] = intake.CodeDuplicate
			}
		} else {
			these = append(these, r)
		}
	}
	zone, err := t.onlyZone(ctx)
	if err != nil {
		return 0, 0, nil, err
	}
	in := t.Intake(IntakeOptions{By: "mirror", Via: "mirror", Zone: zone, Echo: true, Seen: full})
	if err = in.TakeTypes(ctx, intake.TypesOf(these)); err != nil {
		return 0, 0, nil, err
	}
	changed, problems, err := in.Take(ctx, these)
	if err != nil {
		return 0, 0, nil, err
	}
	if more, err = in.Settle(ctx); err != nil || len(more) > 0 {
		return 0, 0, more, err
	}
	left := pq.StringArray{}
	note := func(remote string, p *intake.Problem) {
		switch {
		case p == nil:
			solved = append(solved, remote)
		case p.Left:
			left = append(left, remote)
			faults[remote] = p.Code
		default:
			faults[remote] = p.Code
		}
	}
	for i, p := range problems {
		note(these[i].Header().Remote, p)
	}
	for _, b := range broken {
		note(b.Remote, b.Problem)
	}
	// What is left out by intention is drift only where it is known here.
	var unknown []string
	err = t.sel(ctx, &unknown, `SELECT r.remote FROM unnest($2::text[]) AS r(remote) WHERE NOT EXISTS (SELECT FROM ehr_links l WHERE l.kind = $1 AND l.remote_id = r.remote)`, kind, left)
	if err != nil {
		return 0, 0, nil, err
	}
	for _, id := range unknown {
		delete(faults, id)
		solved = append(solved, id)
	}
	if _, err := t.exec(ctx, `DELETE FROM ehr_drift WHERE kind = $1 AND remote_id = ANY ($2)`, kind, solved); err != nil {
		return 0, 0, nil, err
	}
	return changed, len(faults), nil, t.putDrift(ctx, kind, faults)
}

// onlyZone is the zone of all the clinic's locations, "" when they have several or there are none.
func (t *Tx) onlyZone(ctx context.Context) (zone string, err error) {
	var zones []string
	if err := t.sel(ctx, &zones, `SELECT DISTINCT zone FROM locations LIMIT 2`); err != nil || len(zones) != 1 {
		return "", err
	}
	return zones[0], nil
}

// putDrift keeps why resources were not taken, by id in the EHR.
func (t *Tx) putDrift(ctx context.Context, kind string, codes map[string]string) error {
	var remotes, reasons pq.StringArray
	for remote, code := range codes {
		remotes, reasons = append(remotes, remote), append(reasons, code)
	}
	if len(remotes) == 0 {
		return nil
	}
	_, err := t.exec(ctx, `INSERT INTO ehr_drift AS o (clinic, kind, remote_id, id, code, first_at, last_at)
		SELECT $1, $2, x.remote, coalesce(l.id, ''), x.code, $5, $5 FROM unnest($3::text[], $4::text[]) AS x(remote, code)
		LEFT JOIN ehr_links l ON l.kind = $2 AND l.remote_id = x.remote ORDER BY x.remote
		ON CONFLICT (clinic, kind, remote_id, id) DO UPDATE SET code = excluded.code, last_at = excluded.last_at, tries = o.tries + 1`,
		t.clinic, kind, remotes, reasons, t.now)
	return err
}

// Retry implements mirror.Store.
func (m Mirror) Retry(ctx context.Context, clinicID, kind string, before time.Time, most int) (ids []string, err error) {
	err = m.DB.Read(ctx, clinicID, func(t *Tx) error {
		ids = nil
		return t.sel(ctx, &ids, `SELECT remote_id FROM ehr_drift WHERE kind = $1 AND remote_id <> '' AND code <> '`+intake.CodeBadID+`' AND last_at < $2 ORDER BY last_at, remote_id LIMIT $3`, kind, before, most)
	})
	return ids, err
}

// Unseen implements mirror.Store. Slots that are over are of no use to anybody, and many EHRs list them no more.
func (m Mirror) Unseen(ctx context.Context, clinicID, kind string, since time.Time, most int) (ids []string, err error) {
	err = m.DB.Read(ctx, clinicID, func(t *Tx) error {
		ids = nil
		return t.sel(ctx, &ids, `SELECT l.remote_id FROM ehr_links l WHERE l.kind = $1 AND (l.seen_at IS NULL OR l.seen_at < $2)
			AND NOT EXISTS (SELECT FROM ehr_drift d WHERE d.clinic = l.clinic AND d.kind = l.kind AND d.remote_id = l.remote_id)
			AND NOT (l.kind = 'Slot' AND EXISTS (SELECT FROM slots s WHERE s.id = l.id AND s.ends_at < app_now())) ORDER BY l.remote_id LIMIT $3`, kind, since, most)
	})
	return ids, err
}

// Gone implements mirror.Store.
func (m Mirror) Gone(ctx context.Context, clinicID, kind, remote string) error {
	return m.DB.InClinic(ctx, clinicID, func(t *Tx) error {
		var ids []string
		if err := t.sel(ctx, &ids, `SELECT id::text FROM ehr_links WHERE kind = $1 AND remote_id = $2`, kind, remote); err != nil {
			return err
		}
		if len(ids) > 0 && kind != intake.KindSlot {
			return t.putDrift(ctx, kind, map[string]string{remote: intake.CodeGone})
		}
		if len(ids) > 0 {
			if _, err := t.exec(ctx, `UPDATE slots SET remote_status = 'entered-in-error' WHERE id = ANY ($1)`, pq.StringArray(ids)); err != nil {
				return err
			}
			if err := t.settleSlots(ctx, ids); err != nil {
				return err
			}
			if _, err := t.exec(ctx, `DELETE FROM ehr_links WHERE kind = $1 AND remote_id = $2`, kind, remote); err != nil {
				return err
			}
		}
		_, err := t.exec(ctx, `DELETE FROM ehr_drift WHERE kind = $1 AND remote_id = $2`, kind, remote)
		return err
	})
}

// Finish implements mirror.Store.
func (m Mirror) Finish(ctx context.Context, clinicID, kind string, since time.Time, full bool, started time.Time) error {
	return m.DB.InClinic(ctx, clinicID, func(t *Tx) error {
		_, err := t.exec(ctx, `INSERT INTO ehr_cursors AS o (clinic, kind, since, full_at, read_at) VALUES ($1, $2, $3, CASE WHEN $4::boolean THEN $5::timestamptz END, $5)
			ON CONFLICT (clinic, kind) DO UPDATE SET since = excluded.since, full_at = coalesce(excluded.full_at, o.full_at), read_at = excluded.read_at, code = NULL`,
			t.clinic, kind, since, full, started)
		if err == nil && full { // what has no id can be neither asked for nor named: it was there, or not
			_, err = t.exec(ctx, `DELETE FROM ehr_drift WHERE kind = $1 AND code = $2 AND last_at < $3`, kind, intake.CodeBadID, started)
		}
		return err
	})
}

// Fail implements mirror.Store.
func (m Mirror) Fail(ctx context.Context, clinicID, kind, code string) error {
	return m.DB.InClinic(ctx, clinicID, func(t *Tx) error {
		_, err := t.exec(ctx, `INSERT INTO ehr_cursors (clinic, kind, code) VALUES ($1, $2, $3) ON CONFLICT (clinic, kind) DO UPDATE SET code = excluded.code`, t.clinic, kind, code)
		return err
	})
}

// mostLoose slots are given to their visits in one run.
const mostLoose = 1000

// Close implements mirror.Store.
func (m Mirror) Close(ctx context.Context, clinicID, via string, full bool, changed int) error {
	return m.DB.InClinic(ctx, clinicID, func(t *Tx) error {
		var loose []string
		err := t.sel(ctx, &loose, fmt.Sprintf(`SELECT s.id::text FROM appointments a %s
			CROSS JOIN LATERAL (SELECT s.id FROM slots s WHERE %s AND s.appointment IS NULL AND s.held_by IS NULL
				AND (s.state <> 'closed' OR s.remote_status IN ('busy', 'busy-tentative')) OFFSET 0) s
			WHERE a.starts_at > $1 AND a.status IN ('booked', 'arrived', 'checked-in') LIMIT %d`, dayBefore("a"), overlaps("s", "a"), mostLoose), t.now)
		if err != nil {
			return err
		}
		if err := t.settleSlots(ctx, loose); err != nil {
			return err
		}
		if full {
			if err := t.driftOfOurs(ctx); err != nil {
				return err
			}
		}
		if changed == 0 {
			return nil
		}
		return t.Audit(ctx, audit.Event{ID: m.IDs("aud"), At: t.now, Actor: clinic.Actor{Clinic: t.clinic, Person: "mirror", Kind: clinic.KindSystem, Via: via},
			Action: audit.SyncEHR, Outcome: audit.Success, ObjectKind: "rows", Object: fmt.Sprint(changed)})
	})
}

// driftOfOurs lists the coming visits that the EHR does not have and that no change is on its way to.
func (t *Tx) driftOfOurs(ctx context.Context) error {
	const ours = `SELECT a.id FROM appointments a WHERE a.starts_at > $1 AND a.status IN ('booked', 'arrived', 'checked-in')
		AND NOT EXISTS (SELECT FROM ehr_links l WHERE l.clinic = a.clinic AND l.kind = 'Appointment' AND l.id = a.id)
		AND NOT EXISTS (SELECT FROM ehr_operations o WHERE o.clinic = a.clinic AND o.appointment = a.id AND o.ended_at IS NULL)`
	if _, err := t.exec(ctx, `DELETE FROM ehr_drift WHERE kind = 'Appointment' AND remote_id = '' AND id NOT IN (`+ours+`)`, t.now); err != nil {
		return err
	}
	_, err := t.exec(ctx, `INSERT INTO ehr_drift AS o (clinic, kind, remote_id, id, code, first_at, last_at)
		SELECT $2, 'Appointment', '', x.id, '`+intake.CodeUnknownThere+`', $1, $1 FROM (`+ours+`) x
		ON CONFLICT (clinic, kind, remote_id, id) DO UPDATE SET last_at = excluded.last_at, tries = o.tries + 1`, t.now, t.clinic)
	return err
}

// Drift lists where the EHR and we differ, the longest first, at most so many; all is how many there are of each code.
func (t *Tx) Drift(ctx context.Context, most int) (list []mirror.Drift, all map[string]int, err error) {
	err = t.sel(ctx, &list, `SELECT kind, remote_id AS remote, id, code, first_at AS firstat, last_at AS lastat, tries FROM ehr_drift
		ORDER BY first_at, kind, remote_id, id LIMIT $1`, most)
	if err != nil {
		return nil, nil, err
	}
	var counts []struct {
		Code string
		N    int
	}
	err = t.sel(ctx, &counts, `SELECT code, count(*) AS n FROM ehr_drift GROUP BY code`)
	all = map[string]int{}
	for _, c := range counts {
		all[c.Code] = c.N
	}
	return list, all, err
}
