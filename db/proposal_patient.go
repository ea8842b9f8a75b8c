package db

import (
	"cmp"
	"context"
	"slices"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// maxSame is the most patients who may be the same that are shown.
const maxSame = 20

// samePeople are those who can be the same at all, found in two indexes: clinic.SamePerson asks for one of the two.
const samePeople = `SELECT ` + patientColumns + ` FROM patients p WHERE p.mrn = $1
	UNION SELECT ` + patientColumns + ` FROM patients p WHERE p.birth_date = $2 ORDER BY family, given, birthdate, id`

// SamePerson implements proposal.Tx. One statement.
func (t proposalTx) SamePerson(ctx context.Context, p clinic.Patient) ([]clinic.Patient, error) {
	var found []clinic.Patient
	err := t.sel(ctx, &found, samePeople, p.MRN, p.BirthDate)
	found = slices.DeleteFunc(found, func(q clinic.Patient) bool { return !clinic.SamePerson(p, q) })
	if len(found) > maxSame { // whoever has the record number is never cut off
		slices.SortStableFunc(found, func(a, b clinic.Patient) int { return cmp.Compare(rank(p, a), rank(p, b)) })
		found = found[:maxSame]
	}
	return found, translate(err)
}

func rank(p, q clinic.Patient) int {
	if q.MRN == p.MRN {
		return 0
	}
	return 1
}

// LockRegistrations implements proposal.Tx. The lock is on the clinic's name in a space of its own.
func (t proposalTx) LockRegistrations(ctx context.Context) error {
	_, err := t.exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('registrations ' || $1, 0))`, t.clinic)
	return translate(err)
}

// Zones implements proposal.Tx.
func (t proposalTx) Zones(ctx context.Context) ([]string, error) {
	var names []string
	err := t.sel(ctx, &names, `SELECT DISTINCT zone FROM locations ORDER BY zone`)
	return names, translate(err)
}

// What a step about a patient writes: $17 is the patient; one row comes of it.
const (
	noSlots = `, 0 AS freed, 0 AS taken`

	addPatient = `, row AS (INSERT INTO patients (clinic, id, family, given, birth_date, mrn, phone, email, contact, search_text)
		VALUES (current_setting('app.clinic'), $17, $18, $19, $20, $21, $22, $23, $24, $25) RETURNING version)`
	setContact = `, row AS (UPDATE patients SET phone = $19, email = $20, contact = $21, search_text = $22 WHERE id = $17 AND version = $18 RETURNING version)`
	seePatient = `, row AS (SELECT version FROM patients WHERE id = $17 AND version = $18)`

	patientTail     = ` SELECT ` + decideCounts + `, (SELECT count(*) FROM messages) AS messages` + noSlots + `, coalesce((SELECT version FROM row), 0) AS version`
	executeRegister = `WITH ` + decideParts + messageParts + addPatient + patientTail
	executeContact  = `WITH ` + decideParts + messageParts + setContact + patientTail
	executeMessage  = `WITH ` + decideParts + messageParts + seePatient + patientTail
)

// patientStep is the statement of a step about a patient, with its own arguments.
func patientStep(s proposal.Step) (query string, args []any) {
	switch s.Op {
	case proposal.OpRegister:
		r := s.Record
		return executeRegister, []any{s.Patient, r.Family, r.Given, r.BirthDate, r.MRN, r.Phone, r.Email, r.Contact, clinic.SearchText(r.Patient(*s.Patient))}
	case proposal.OpContact:
		r := s.Record
		return executeContact, []any{s.Patient, s.ExpectVersion, r.Phone, r.Email, r.Contact, clinic.SearchText(r.Patient(*s.Patient))}
	default:
		return executeMessage, []any{s.Patient, s.ExpectVersion}
	}
}
