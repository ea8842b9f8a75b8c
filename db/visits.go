package db

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/lib/pq"

	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

const (
	visitColumns = `a.id, a.status, a.starts_at AS startsat, a.ends_at AS endsat, a.version, coalesce(a.reason_code, '') AS reasoncode,
	p.id AS "patient.id", p.family AS "patient.family", p.given AS "patient.given", p.birth_date::text AS "patient.birthdate",
	p.mrn AS "patient.mrn", coalesce(p.phone, '') AS "patient.phone", coalesce(p.email, '') AS "patient.email", p.contact AS "patient.contact",
	p.language AS "patient.language", p.deceased AS "patient.deceased", p.version AS "patient.version",
	r.id AS "practitioner.id", r.name AS "practitioner.name", r.active AS "practitioner.active", r.version AS "practitioner.version",
	l.id AS "location.id", l.name AS "location.name", l.address AS "location.address", l.phone AS "location.phone",
	l.zone AS "location.zone", l.version AS "location.version",
	y.id AS "type.id", y.name AS "type.name", y.minutes AS "type.minutes", y.version AS "type.version",
	coalesce((SELECT o.proposal FROM ehr_operations o WHERE o.clinic = a.clinic AND o.appointment = a.id AND o.ended_at IS NULL), '') AS waits`
	visitTables = ` FROM appointments a
	JOIN patients p ON p.clinic = a.clinic AND p.id = a.patient
	JOIN practitioners r ON r.clinic = a.clinic AND r.id = a.practitioner
	JOIN locations l ON l.clinic = a.clinic AND l.id = a.location
	JOIN appointment_types y ON y.clinic = a.clinic AND y.id = a.type`
)

// Visit is the appointment with every row that a plan or card shows of it. Two statements. Errors: sql.ErrNoRows.
func (t *Tx) Visit(ctx context.Context, appointment string) (clinic.Visit, error) {
	var found []clinic.Visit
	if err := t.sel(ctx, &found, `SELECT `+visitColumns+visitTables+` WHERE a.id = $1`, appointment); err != nil {
		return clinic.Visit{}, err
	}
	if len(found) == 0 {
		return clinic.Visit{}, sql.ErrNoRows
	}
	err := t.addSlots(ctx, found)
	return found[0], err
}

// VisitFilter narrows Appointments; zero members do not.
type VisitFilter struct {
	Day                   clinic.Date // on which it starts, in the zone of its location
	Practitioner, Patient string      // ids
	Cursor                string      // of the page before
	Limit                 int         // 1 to 200; 0 = 50
}

// Appointments lists visits of every status, the latest start first; next is the cursor of the page after, "" at the
// end. Three statements at most. Errors: validation_failed for a cursor that is none of ours.
func (t *Tx) Appointments(ctx context.Context, f VisitFilter) (items []clinic.Visit, next string, err error) {
	if f.Limit == 0 {
		f.Limit = 50
	}
	w := &where{}
	if !f.Day.IsZero() {
		d, err := t.dayEverywhere(ctx, f.Day)
		if err != nil {
			return nil, "", err
		}
		// The widest bounds are what an index on the start alone can use.
		w.and(`a.starts_at >= ? AND a.starts_at < ?`, d.first, d.last)
		w.and(`EXISTS (SELECT FROM unnest(?::text[], ?::timestamptz[], ?::timestamptz[]) AS d(location, opens, closes)
			WHERE d.location = a.location AND a.starts_at >= d.opens AND a.starts_at < d.closes)`,
			pq.StringArray(d.locations), pq.Array(d.opens), pq.Array(d.closes))
	}
	if f.Practitioner != "" {
		w.and(`a.practitioner = ?`, f.Practitioner)
	}
	if f.Patient != "" {
		w.and(`a.patient = ?`, f.Patient)
	}
	if f.Cursor != "" {
		at, id, ok := ReadCursor(f.Cursor)
		if !ok {
			return nil, "", refusal.Invalid(refusal.Field{Name: "cursor", Message: "This is not the cursor of a list."})
		}
		w.and(`a.starts_at <= ? AND (a.starts_at, a.id) < (?, ?)`, at, at, id)
	}
	err = t.sel(ctx, &items, `SELECT `+visitColumns+visitTables+w.String()+fmt.Sprintf(` ORDER BY a.starts_at DESC, a.id DESC LIMIT %d`, f.Limit+1), w.args...)
	if err != nil {
		return nil, "", err
	}
	if len(items) > f.Limit {
		items = items[:f.Limit]
		last := items[f.Limit-1]
		next = MakeCursor(last.StartsAt, last.ID)
	}
	return items, next, t.addSlots(ctx, items)
}

// HistoryRow is one version of an appointment: what it was from At on, and who made it so.
type HistoryRow struct {
	Version                      int64
	Status                       string
	StartsAt, EndsAt             time.Time // UTC
	Practitioner, Location, Type clinic.Ref
	Zone                         string     // IANA, of Location
	ReasonCode                   string     // why it was cancelled, else ""
	By                           clinic.Ref // account, token or a system name; for a system name both are that name
	Via                          string     // plan, status, import, mirror, seed
	Proposal                     string     // id of the plan that made it, else ""
	At                           time.Time
}

// History is every version of the appointment, newest first. One statement.
func (t *Tx) History(ctx context.Context, appointment string) ([]HistoryRow, error) {
	var rows []HistoryRow
	err := t.sel(ctx, &rows, `SELECT h.version, h.status, lower(h.during) AS startsat, upper(h.during) AS endsat,
		r.id AS "practitioner.id", r.name AS "practitioner.name", l.id AS "location.id", l.name AS "location.name", l.zone,
		y.id AS "type.id", y.name AS "type.name", coalesce(h.reason_code, '') AS reasoncode,
		h.changed_by AS "by.id", coalesce(u.name, k.name, h.changed_by) AS "by.name",
		h.changed_via AS via, coalesce(h.proposal, '') AS proposal, h.changed_at AS at
		FROM appointment_history h
		JOIN practitioners r ON r.clinic = h.clinic AND r.id = h.practitioner
		JOIN locations l ON l.clinic = h.clinic AND l.id = h.location
		JOIN appointment_types y ON y.clinic = h.clinic AND y.id = h.type
		LEFT JOIN accounts u ON u.clinic = h.clinic AND u.id = h.changed_by
		LEFT JOIN tokens k ON k.clinic = h.clinic AND k.id = h.changed_by
		WHERE h.appointment = $1 ORDER BY h.version DESC`, appointment)
	return rows, err
}

// addSlots gives the visits the slot rows they cover, in one statement. A closed slot that nobody holds is no slot.
func (t *Tx) addSlots(ctx context.Context, visits []clinic.Visit) error {
	if len(visits) == 0 {
		return nil
	}
	var ids, practitioners []string
	var starts, ends, after []time.Time
	place := map[string]int{}
	for i, v := range visits {
		place[v.ID] = i
		ids, practitioners = append(ids, v.ID), append(practitioners, v.Practitioner.ID)
		starts, ends, after = append(starts, v.StartsAt), append(ends, v.EndsAt), append(after, v.StartsAt.Add(-longestSlot))
	}
	var rows []struct {
		slotRow
		Visit string
	}
	// OFFSET keeps the planner from joining all slots to the list: it cannot know how few overlap.
	err := t.sel(ctx, &rows, `SELECT v.id AS visit, s.*
		FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[]) AS v(id, practitioner, starts_at, ends_at, after)
		CROSS JOIN LATERAL (SELECT `+slotColumns+` FROM slots s WHERE s.practitioner = v.practitioner AND s.starts_at < v.ends_at
			AND s.starts_at > v.after AND s.ends_at > v.starts_at AND (s.state <> 'closed' OR s.appointment = v.id) OFFSET 0) s
		ORDER BY s.startsat`, pq.StringArray(ids), pq.StringArray(practitioners), pq.Array(starts), pq.Array(ends), pq.Array(after))
	for _, r := range rows {
		v := &visits[place[r.Visit]]
		v.Slots = append(v.Slots, r.slot())
	}
	return err
}
