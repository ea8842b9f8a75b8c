package db

import (
	"context"
	"database/sql"
	"slices"

	"github.com/lib/pq"

	"countersign/internal/clinic"
)

// The Add functions put many rows of one kind into the transaction's clinic, for seed and import: a few thousand a
// statement. Ids are the caller's. What is there already is an error.

// AddClinic makes the clinic the transaction is of; made is false when it is there already.
func (t *Tx) AddClinic(ctx context.Context, name string, secondPersonDecidesHigh bool) (made bool, err error) {
	n, err := t.exec(ctx, `INSERT INTO clinics (id, name, second_person_decides_high) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		t.clinic, name, secondPersonDecidesHigh)
	return n == 1, err
}

// AddLocations adds locations. One whose zone is not an IANA name is refused (check locations_zone_check).
func (t *Tx) AddLocations(ctx context.Context, list []clinic.Location) error {
	c := columns(list, func(l clinic.Location) []string { return []string{l.ID, l.Name, l.Address, l.Phone, l.Zone} })
	return t.add(ctx, c, `INSERT INTO locations (clinic, id, name, address, phone, zone)
		SELECT $1, x.* FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) x`)
}

// AddPractitioners adds active practitioners.
func (t *Tx) AddPractitioners(ctx context.Context, list []clinic.Practitioner) error {
	c := columns(list, func(p clinic.Practitioner) []string { return []string{p.ID, p.Name} })
	return t.add(ctx, c, `INSERT INTO practitioners (clinic, id, name) SELECT $1, x.* FROM unnest($2::text[], $3::text[]) x`)
}

// AddTypes adds appointment types.
func (t *Tx) AddTypes(ctx context.Context, list []clinic.Type) error {
	var minutes pq.Int64Array
	for _, y := range list {
		minutes = append(minutes, int64(y.Minutes))
	}
	c := columns(list, func(y clinic.Type) []string { return []string{y.ID, y.Name} })
	return t.add(ctx, append(c, minutes), `INSERT INTO appointment_types (clinic, id, name, minutes)
		SELECT $1, x.* FROM unnest($2::text[], $3::text[], $4::integer[]) x`)
}

// AddSchedules adds schedules with their hours and no slots: MakeSlots and MakeSlotsBetween make those.
func (t *Tx) AddSchedules(ctx context.Context, list []clinic.Schedule) error {
	for _, s := range list {
		to := sql.NullString{}
		if s.To != nil {
			to = sql.NullString{String: s.To.String(), Valid: true}
		}
		_, err := t.exec(ctx, `INSERT INTO schedules (clinic, id, practitioner, location, valid_from, valid_to, grid_minutes, types)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			t.clinic, s.ID, s.Practitioner, s.Location, s.From.String(), to, s.Grid, pq.StringArray(s.Types))
		if err != nil {
			return err
		}
	}
	return t.putHours(ctx, list)
}

func (t *Tx) putHours(ctx context.Context, list []clinic.Schedule) error {
	var schedules pq.StringArray
	var weekdays, opens, closes pq.Int64Array
	for _, s := range list {
		for _, h := range s.Hours {
			schedules, weekdays = append(schedules, s.ID), append(weekdays, int64(h.Weekday))
			opens, closes = append(opens, int64(h.Opens)), append(closes, int64(h.Closes))
		}
	}
	return t.add(ctx, []any{schedules, weekdays, opens, closes}, `INSERT INTO schedule_hours (clinic, schedule, weekday, opens, closes)
		SELECT $1, x.* FROM unnest($2::text[], $3::smallint[], $4::integer[], $5::integer[]) x`)
}

// AddPatients adds patients and writes their search text. An absent phone or e-mail is "".
func (t *Tx) AddPatients(ctx context.Context, list []clinic.Patient) error {
	for part := range slices.Chunk(list, batch) {
		var deceased pq.BoolArray
		for _, p := range part {
			deceased = append(deceased, p.Deceased)
		}
		c := columns(part, func(p clinic.Patient) []string {
			return []string{p.ID, p.Family, p.Given, p.BirthDate, p.MRN, p.Phone, p.Email, p.Contact, p.Language, clinic.SearchText(p)}
		})
		err := t.add(ctx, append(c, deceased), `INSERT INTO patients
			(clinic, id, family, given, birth_date, mrn, phone, email, contact, language, search_text, deceased)
			SELECT $1, id, family, given, birth::date, mrn, nullif(phone, ''), nullif(email, ''), contact, language, text, dead
			FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
				$11::text[], $12::boolean[]) AS x(id, family, given, birth, mrn, phone, email, contact, language, text, dead)`)
		if err != nil {
			return err
		}
	}
	return nil
}

// add runs an insert of $1 = the clinic and the columns.
func (t *Tx) add(ctx context.Context, columns []any, insert string) error {
	_, err := t.exec(ctx, insert, append([]any{t.clinic}, columns...)...)
	return err
}

// columns turns rows of texts into arrays, one for each column; none for no rows.
func columns[T any](list []T, row func(T) []string) []any {
	var arrays []pq.StringArray
	for _, x := range list {
		for i, text := range row(x) {
			if i == len(arrays) {
				arrays = append(arrays, make(pq.StringArray, 0, len(list)))
			}
			arrays[i] = append(arrays[i], text)
		}
	}
	args := make([]any, len(arrays))
	for i, a := range arrays {
		args[i] = a
	}
	return args
}
