package main

import (
	"context"
	"database/sql"
	"time"
)

// The confirm is measured on a clinic of its own: 64 practitioners, 30 days, eight visits a practitioner and day, each
// followed by the half hour it is moved to. Nobody is anybody's rival.
const (
	practitioners = 64
	days          = 30
)

func fillConfirmWorld(ctx context.Context, root *sql.DB) error {
	first := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 3).Format(time.RFC3339)
	for _, q := range []string{
		`INSERT INTO clinics (id, name) VALUES ('bench', 'Bench')`,
		`INSERT INTO accounts (id, clinic, email, name, role, password_hash) VALUES ('ana', 'bench', 'ana@example.test', 'Ana', 'staff', 'x')`,
		`INSERT INTO locations (clinic, id, name, address, phone, zone) VALUES ('bench', 'main', 'Main', 'Main Street 1', '+45 00 00 00 00', 'Atlantic/Reykjavik')`,
		`INSERT INTO appointment_types (clinic, id, name, minutes) VALUES ('bench', 'std', 'Standard', 30)`,
		`INSERT INTO practitioners (clinic, id, name) SELECT 'bench', 'p' || n, 'Dr Number ' || n FROM generate_series(1, 64) n`,
		`INSERT INTO schedules (clinic, id, practitioner, location, valid_from, types) SELECT 'bench', 's' || n, 'p' || n, 'main', '2020-01-01', '{std}' FROM generate_series(1, 64) n`,
		`INSERT INTO patients (clinic, id, family, given, birth_date, mrn, email, contact, search_text)
			SELECT 'bench', 'pat' || n, 'Family' || n, 'Given', '1980-01-01', n::text, 'p' || n || '@example.test', 'email', 'x' FROM generate_series(1, 15360) n`,
		`INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, during, changed_by, changed_via)
			SELECT 'bench', 'a' || (row_number() OVER ()), 'pat' || (row_number() OVER ()), 'p' || n, 'main', 'std', 'booked',
				tstzrange(t, t + interval '30 min'), 'seed', 'seed'
			FROM generate_series(1, 64) n, generate_series(0, 29) d, generate_series(8, 15) h, LATERAL (SELECT timestamptz '` + first + `' + d * interval '1 day' + h * interval '1 hour') AS at(t)`,
		`INSERT INTO slots (clinic, id, practitioner, location, schedule, day, starts_at, ends_at, types)
			SELECT 'bench', 'p' || n || '_' || to_char(t AT TIME ZONE 'UTC', 'MMDD_HH24MI'), 'p' || n, 'main', 's' || n, (t AT TIME ZONE 'UTC')::date, t, t + interval '15 min', '{std}'
			FROM generate_series(1, 64) n, generate_series(timestamptz '` + first + `', timestamptz '` + first + `' + interval '29 days 23 hours 45 minutes', interval '15 min') t
			WHERE extract(hour FROM t AT TIME ZONE 'UTC') BETWEEN 8 AND 15`,
		`UPDATE slots s SET appointment = a.id FROM appointments a WHERE a.practitioner = s.practitioner AND s.starts_at >= a.starts_at AND s.starts_at < a.ends_at`,
		`VACUUM ANALYZE`,
	} {
		if _, err := root.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return nil
}
