package db

import (
	"context"

	"github.com/lib/pq"

	"countersign/internal/clinic"
)

const patientColumns = `p.id, p.family, p.given, p.birth_date::text AS birthdate, p.mrn, coalesce(p.phone, '') AS phone,
	coalesce(p.email, '') AS email, p.contact, p.language, p.deceased, p.version`

// SearchPatients finds those whose search text holds every term (clinic.SearchTerms), by name, at most that many; more
// tells that there are others. No terms find nobody. One statement.
func (t *Tx) SearchPatients(ctx context.Context, terms []string, most int) (found []clinic.Patient, more bool, err error) {
	err = t.sel(ctx, &found, `SELECT `+patientColumns+` FROM search_patients($1, $2) f JOIN patients p ON p.id = f.id
		ORDER BY p.family, p.given, p.birth_date, p.id`, pq.StringArray(terms), most+1)
	if more = len(found) > most; more {
		found = found[:most]
	}
	return found, more, err
}

// Patient is one of the clinic's. Errors: sql.ErrNoRows.
func (t *Tx) Patient(ctx context.Context, id string) (clinic.Patient, error) {
	var p clinic.Patient
	err := t.get(ctx, &p, `SELECT `+patientColumns+` FROM patients p WHERE p.id = $1`, id)
	return p, err
}

// PatientVisits is each visit of the patient once: upcoming (not over yet) ascending, all of them, and past, newest
// first, at most so many; more tells that there are older ones. The visits carry no slots. Two statements.
func (t *Tx) PatientVisits(ctx context.Context, patient string, mostPast int) (upcoming, past []clinic.Visit, more bool, err error) {
	err = t.sel(ctx, &upcoming, `SELECT `+visitColumns+visitTables+` WHERE a.patient = $1 AND a.ends_at > $2 AND a.starts_at > $3
		ORDER BY a.starts_at, a.id`, patient, t.now, t.now.Add(-longestVisit))
	if err != nil {
		return nil, nil, false, err
	}
	err = t.sel(ctx, &past, `SELECT `+visitColumns+visitTables+` WHERE a.patient = $1 AND a.ends_at <= $2 AND a.starts_at < $2
		ORDER BY a.starts_at DESC, a.id DESC LIMIT $3`, patient, t.now, mostPast+1)
	if more = len(past) > mostPast; more {
		past = past[:mostPast]
	}
	return upcoming, past, more, err
}
