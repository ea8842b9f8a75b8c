package db

import (
	"context"
	"slices"

	"github.com/lib/pq"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// maxSame is the most patients who may be the same that are looked at.
const maxSame = 20

// SamePerson implements proposal.Tx. The search column finds who has every word of the name and the birth date, and
// clinic.NameKey tells whether those words are the whole name. One statement.
func (t proposalTx) SamePerson(ctx context.Context, p clinic.Patient) ([]clinic.Patient, error) {
	terms := clinic.SearchTerms(p.BirthDate)
	for _, word := range clinic.Tokens(p.Given + " " + p.Family) {
		terms = append(terms, " "+word)
	}
	var found []clinic.Patient
	err := t.sel(ctx, &found, `SELECT `+patientColumns+` FROM patients p WHERE p.mrn = $3 OR p.id = ANY (ARRAY(SELECT f.id FROM search_patients($1, $2) f))
		ORDER BY p.family, p.given, p.birth_date, p.id`, pq.StringArray(terms), maxSame, p.MRN)
	key := clinic.NameKey(p)
	return slices.DeleteFunc(found, func(q clinic.Patient) bool { return q.MRN != p.MRN && clinic.NameKey(q) != key }), translate(err)
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
