package db

import (
	"context"
	"slices"
	"time"

	"github.com/lib/pq"

	"countersign/internal/clinic"
)

// NewVisit is an appointment that comes into the clinic whole, with its past.
type NewVisit struct {
	ID, Patient, Practitioner, Location, Type string // ids
	Status                                    string
	StartsAt, EndsAt                          time.Time
	ReasonCode                                string // why it was cancelled, else ""
	ChangedAt                                 time.Time
	Before                                    []PastVersion // oldest first; the appointment's version is one more than these
}

// PastVersion is what an appointment was before. The type, which never changes, is the appointment's.
type PastVersion struct {
	Status                 string
	Practitioner, Location string
	StartsAt, EndsAt       time.Time
	ChangedAt              time.Time
}

// AddVisits adds appointments, their history, and takes the slots they cover when their status holds time. by is a
// system name and via a word of the schema (seed, import), the same for all. An overlap is proposal.ErrOverlap.
func (t *Tx) AddVisits(ctx context.Context, by, via string, list []NewVisit) error {
	for part := range slices.Chunk(list, batch) {
		for _, put := range []func(context.Context, string, string, []NewVisit) error{t.putVisits, t.putHistory, t.takeSlots} {
			if err := put(ctx, by, via, part); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *Tx) putVisits(ctx context.Context, by, via string, list []NewVisit) error {
	var starts, ends, changed []time.Time
	var versions pq.Int64Array
	for _, v := range list {
		starts, ends, changed = append(starts, v.StartsAt), append(ends, v.EndsAt), append(changed, v.ChangedAt)
		versions = append(versions, int64(len(v.Before)+1))
	}
	c := columns(list, func(v NewVisit) []string {
		return []string{v.ID, v.Patient, v.Practitioner, v.Location, v.Type, v.Status, v.ReasonCode}
	})
	c = append(c, pq.Array(starts), pq.Array(ends), pq.Array(changed), versions, by, via)
	return t.add(ctx, c, `INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, reason_code, during,
			changed_at, version, changed_by, changed_via)
		SELECT $1, id, patient, practitioner, location, type, status, nullif(reason, ''), tstzrange(starts_at, ends_at), at, version, $13, $14
		FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::timestamptz[],
			$10::timestamptz[], $11::timestamptz[], $12::bigint[])
			AS x(id, patient, practitioner, location, type, status, reason, starts_at, ends_at, at, version)`)
}

func (t *Tx) putHistory(ctx context.Context, by, via string, list []NewVisit) error {
	type row struct {
		visit NewVisit
		PastVersion
	}
	var rows []row
	var starts, ends, changed []time.Time
	var versions pq.Int64Array
	for _, v := range list {
		for i, p := range v.Before {
			rows, versions = append(rows, row{v, p}), append(versions, int64(i+1))
			starts, ends, changed = append(starts, p.StartsAt), append(ends, p.EndsAt), append(changed, p.ChangedAt)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	c := columns(rows, func(r row) []string {
		return []string{r.visit.ID, r.Status, r.Practitioner, r.Location, r.visit.Type}
	})
	c = append(c, pq.Array(starts), pq.Array(ends), pq.Array(changed), versions, by, via)
	return t.add(ctx, c, `INSERT INTO appointment_history (clinic, appointment, version, status, practitioner, location, type, during,
			changed_by, changed_via, changed_at)
		SELECT $1, id, version, status, practitioner, location, type, tstzrange(starts_at, ends_at), $11, $12, at
		FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::timestamptz[], $9::timestamptz[],
			$10::bigint[]) AS x(id, status, practitioner, location, type, starts_at, ends_at, at, version)`)
}

func (t *Tx) takeSlots(ctx context.Context, _, _ string, list []NewVisit) error {
	var ids, practitioners pq.StringArray
	var starts, ends, after []time.Time
	for _, v := range list {
		if clinic.HoldsTime(v.Status) {
			ids, practitioners = append(ids, v.ID), append(practitioners, v.Practitioner)
			starts, ends, after = append(starts, v.StartsAt), append(ends, v.EndsAt), append(after, v.StartsAt.Add(-longestSlot))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	_, err := t.exec(ctx, `UPDATE slots s SET appointment = m.visit
		FROM (SELECT v.id AS visit, x.id
			FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[]) AS v(id, practitioner, starts_at, ends_at, after)
			CROSS JOIN LATERAL (SELECT x.id FROM slots x WHERE x.practitioner = v.practitioner AND x.starts_at < v.ends_at
				AND x.starts_at > v.after AND x.ends_at > v.starts_at AND x.state <> 'closed' OFFSET 0) x) m
		WHERE s.id = m.id`,
		ids, practitioners, pq.Array(starts), pq.Array(ends), pq.Array(after))
	return err
}
