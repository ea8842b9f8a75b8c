package db

import (
	"context"
	"database/sql"
	"time"

	"countersign/internal/clinic"
)

// WaitingPatient is an entry of the waiting list. Practitioner and Location without id are any.
type WaitingPatient struct {
	ID                           string
	Patient                      clinic.Patient
	Type, Practitioner, Location clinic.Ref
	Earliest, Latest             string // YYYY-MM-DD or ""
	Appointment, Note            string
	BookedFor                    *time.Time // start of Appointment
	By                           string
	At                           time.Time
}

// Wish is what would suit.
func (w WaitingPatient) Wish() (clinic.Wish, error) {
	out := clinic.Wish{Type: w.Type.ID, Practitioner: w.Practitioner.ID, Location: w.Location.ID}
	if w.BookedFor != nil {
		out.Before = *w.BookedFor
	}
	for _, d := range []struct {
		text string
		day  *clinic.Date
	}{{w.Earliest, &out.Earliest}, {w.Latest, &out.Latest}} {
		if d.text == "" {
			continue
		}
		day, err := clinic.ParseDate(d.text)
		if err != nil {
			return out, err
		}
		*d.day = day
	}
	return out, nil
}

// MostWaiting is how many entries are read at most: those that wait longest.
const MostWaiting = 500

// WaitingList is who waits, the longest first. An entry whose visit is not booked any more still waits for one. One statement.
func (t *Tx) WaitingList(ctx context.Context) ([]WaitingPatient, error) {
	var rows []WaitingPatient
	err := t.sel(ctx, &rows, `SELECT w.id, p.id AS "patient.id", p.family AS "patient.family", p.given AS "patient.given", p.birth_date::text AS "patient.birthdate", p.mrn AS "patient.mrn",
		y.id AS "type.id", y.name AS "type.name", coalesce(r.id, '') AS "practitioner.id", coalesce(r.name, '') AS "practitioner.name",
		coalesce(l.id, '') AS "location.id", coalesce(l.name, '') AS "location.name", coalesce(w.earliest::text, '') AS earliest, coalesce(w.latest::text, '') AS latest,
		coalesce(a.id, '') AS appointment, a.starts_at AS bookedfor, coalesce(w.note, '') AS note, w.created_name AS by, w.created_at AS at
		FROM waiting_list w
		JOIN patients p ON p.clinic = w.clinic AND p.id = w.patient
		JOIN appointment_types y ON y.clinic = w.clinic AND y.id = w.type
		LEFT JOIN practitioners r ON r.clinic = w.clinic AND r.id = w.practitioner
		LEFT JOIN locations l ON l.clinic = w.clinic AND l.id = w.location
		LEFT JOIN appointments a ON a.clinic = w.clinic AND a.id = w.appointment AND a.status = 'booked'
		WHERE w.ended_at IS NULL ORDER BY w.created_at, w.id LIMIT $1`, MostWaiting)
	return rows, err
}

// AddWaiting puts a patient on the waiting list. Errors: sql.ErrNoRows when patient, type, practitioner, location or
// visit is not there, or the visit is not this patient's.
func (t *Tx) AddWaiting(ctx context.Context, w WaitingPatient, by clinic.Actor) error {
	n, err := t.exec(ctx, `INSERT INTO waiting_list (clinic, id, patient, type, practitioner, location, earliest, latest, appointment, note, created_by, created_name)
		SELECT p.clinic, $1, p.id, y.id, nullif($4, ''), nullif($5, ''), nullif($6, '')::date, nullif($7, '')::date, nullif($8, ''), nullif($9, ''), $10, $11
		FROM patients p, appointment_types y WHERE p.id = $2 AND y.id = $3
			AND ($4 = '' OR EXISTS (SELECT FROM practitioners r WHERE r.id = $4)) AND ($5 = '' OR EXISTS (SELECT FROM locations l WHERE l.id = $5))
			AND ($8 = '' OR EXISTS (SELECT FROM appointments a WHERE a.id = $8 AND a.patient = p.id))`,
		w.ID, w.Patient.ID, w.Type.ID, w.Practitioner.ID, w.Location.ID, w.Earliest, w.Latest, w.Appointment, w.Note, by.ID(), by.Name())
	if err == nil && n == 0 {
		return sql.ErrNoRows
	}
	return err
}

// EndWaiting takes an entry off the list and gives its patient. Errors: sql.ErrNoRows.
func (t *Tx) EndWaiting(ctx context.Context, id string, by clinic.Actor) (patient string, err error) {
	err = t.get(ctx, &patient, `UPDATE waiting_list SET ended_by = $2, ended_at = app_now() WHERE id = $1 AND ended_at IS NULL RETURNING patient`, id, by.ID())
	return patient, err
}
