package seed_test

import (
	"strings"
	"testing"
)

// What the database refuses to everybody, superusers included. Maria is with Dr Holm from 10:00 to 10:30 on Friday.
func TestWhatTheDatabaseRefuses(t *testing.T) {
	w := newWorld(t)
	w.exec(`INSERT INTO accounts (id, clinic, email, name, role, password_hash) VALUES ('a1', 'hav', 'a@example.test', 'A', 'staff', 'x')`)
	w.exec(`INSERT INTO proposals (clinic, id, action, state, outcome, expires_at, risk, created_by, created_kind, created_name, owner, owner_name, created_via, decided_by)
		VALUES ('hav', 'p1', 'reschedule_appointment@1', 'completed', 'completed', now(), 'low', 'a1', 'user', 'A', 'a1', 'A', 'page', 'a1'),
			('hav', 'p2', 'reschedule_appointment@1', 'proposed', 'proposed', now(), 'low', 'a1', 'user', 'A', 'a1', 'A', 'page', NULL)`)
	w.exec(`INSERT INTO revisions (clinic, proposal, revision, plan_hash, plan_bytes, expires_at, created_by, created_name)
		VALUES ('hav', 'p1', 1, repeat('a', 64), '{}', now(), 'a1', 'A')`)
	w.exec(`INSERT INTO audit (clinic, id, actor_kind, actor, via, action, outcome, content, content_hash)
		VALUES ('hav', 'e1', 'user', 'a1', 'page', 'x', 'success', '{}', repeat('b', 64))`)

	const visit = `INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, during, changed_by, changed_via)
		VALUES ('hav', 'x', 'pat_soren', 'prac_holm', 'loc_hav12', 'type_standard', 'STATUS', 'RANGE', 'test', 'status')`
	booking := func(status, during string) string {
		return strings.NewReplacer("STATUS", status, "RANGE", during).Replace(visit)
	}
	const exclusion, check, integrity, notNull = "23P01", "23514", "23000", "23502"
	for _, c := range []struct{ name, query, code string }{
		{"a second visit at the same time", booking("booked", "[2026-06-05 10:15+02,2026-06-05 10:45+02)"), exclusion},
		{"one around it", booking("arrived", "[2026-06-05 09:00+02,2026-06-05 12:00+02)"), exclusion},
		{"an empty range", booking("booked", "[2026-08-05 10:15+02,2026-08-05 10:15+02)"), check},
		{"a closed upper bound", booking("booked", "[2026-08-05 10:15+02,2026-08-05 10:45+02]"), check},
		{"an open lower bound", booking("booked", "(2026-08-05 10:15+02,2026-08-05 10:45+02)"), check},
		{"no end", booking("booked", "[2026-08-05 10:15+02,)"), check},
		{"an unknown status", booking("gone", "[2026-08-05 10:15+02,2026-08-05 10:45+02)"), check},
		{"a second outcome", `UPDATE proposals SET state = 'failed', outcome = 'failed' WHERE id = 'p1'`, integrity},
		{"an outcome taken back", `UPDATE proposals SET state = 'proposed', outcome = 'proposed' WHERE id = 'p1'`, integrity},
		{"a decided proposal deleted", `DELETE FROM proposals WHERE id = 'p1'`, integrity},
		{"an outcome that is not its state's", `UPDATE proposals SET outcome = 'completed' WHERE id = 'p2'`, check},
		{"a decision by nobody", `UPDATE proposals SET state = 'rejected', outcome = 'not_executed' WHERE id = 'p2'`, check},
		{"a changed revision", `UPDATE revisions SET plan_bytes = '[]'`, integrity},
		{"a deleted revision", `DELETE FROM revisions`, integrity},
		{"a changed audit row", `UPDATE audit SET outcome = 'failed'`, integrity},
		{"a deleted audit row", `DELETE FROM audit`, integrity},
		{"a changed version", `UPDATE appointment_history SET status = 'booked' WHERE appointment = 'appt_maria84'`, integrity},
		{"a deleted version", `DELETE FROM appointment_history WHERE appointment = 'appt_maria84'`, integrity},
		{"emptied history", `TRUNCATE appointment_history`, integrity},
		{"emptied revisions", `TRUNCATE revisions CASCADE`, integrity},
		{"emptied audit", `TRUNCATE audit`, integrity},
		{"emptied proposals", `TRUNCATE proposals CASCADE`, integrity},
		{"a location with no zone (T09)", `UPDATE locations SET zone = NULL`, notNull},
		{"an empty zone", `UPDATE locations SET zone = ''`, check},
		{"an abbreviation as zone", `UPDATE locations SET zone = 'EST'`, check},
		{"UTC as zone", `UPDATE locations SET zone = 'UTC'`, check},
		{"a place that is none", `UPDATE locations SET zone = 'Europe/Havnegade'`, check},
		{"a slot that ends before it starts (S21)", `UPDATE slots SET ends_at = starts_at`, check},
		{"an id that is no id", `INSERT INTO clinics (id, name) VALUES ('a b', 'x')`, check},
		{"an id too long", `INSERT INTO clinics (id, name) VALUES (repeat('a', 65), 'x')`, check},
		{"an id of two lines", `INSERT INTO clinics (id, name) VALUES (E'a\nb', 'x')`, check},
	} {
		if got := w.refused(c.query); got != c.code {
			t.Errorf("%s: SQLSTATE %q, not %s", c.name, got, c.code)
		}
	}
	for _, c := range []struct{ name, query string }{
		{"a cancelled visit at the same time", booking("cancelled", "[2026-06-05 10:15+02,2026-06-05 10:45+02)")},
		{"a neighbour", strings.Replace(booking("fulfilled", "[2026-06-05 10:00+02,2026-06-05 10:30+02)"), "'x'", "'y'", 1)},
	} {
		if got := w.refused(c.query); got != "" {
			t.Errorf("%s was refused: %s", c.name, got)
		}
	}
}

// TestWhatRaisesAVersion: it rises when, and only when, something a plan or card can show has changed.
func TestWhatRaisesAVersion(t *testing.T) {
	w := newWorld(t)
	const slot = `slots WHERE id = (SELECT min(id) FROM slots WHERE practitioner = 'prac_dahl' AND day = '2026-06-08')`
	for _, c := range []struct {
		row, change string
		raised      string // by how much
	}{
		{`patients WHERE id = 'pat_maria84'`, `UPDATE patients SET phone = '+4500999999' WHERE id = 'pat_maria84'`, "1"},
		{`patients WHERE id = 'pat_maria84'`, `UPDATE patients SET phone = NULL WHERE id = 'pat_maria84'`, "1"},
		{`patients WHERE id = 'pat_maria84'`, `UPDATE patients SET deceased = true WHERE id = 'pat_maria84'`, "1"},
		{`patients WHERE id = 'pat_maria84'`, `UPDATE patients SET search_text = 'x', family = family WHERE id = 'pat_maria84'`, "0"},
		{`practitioners WHERE id = 'prac_holm'`, `UPDATE practitioners SET name = 'Dr A Holm' WHERE id = 'prac_holm'`, "1"},
		{`practitioners WHERE id = 'prac_holm'`, `UPDATE practitioners SET active = false WHERE id = 'prac_holm'`, "1"},
		{`practitioners WHERE id = 'prac_holm'`, `UPDATE practitioners SET active = false WHERE id = 'prac_holm'`, "0"},
		{`locations WHERE id = 'loc_hav12'`, `UPDATE locations SET phone = '+4500000000' WHERE id = 'loc_hav12'`, "1"},
		{slot, `UPDATE locations SET phone = '+4500000001' WHERE id = 'loc_hav12'`, "0"},
		{slot, `UPDATE locations SET address = 'Havnegade 13' WHERE id = 'loc_hav12'`, "1"},
		{`appointment_types WHERE id = 'type_injection'`, `UPDATE appointment_types SET name = 'Jab' WHERE id = 'type_injection'`, "1"},
		{slot, `UPDATE appointment_types SET name = 'Shot' WHERE id = 'type_injection'`, "0"},
		{slot, `UPDATE appointment_types SET minutes = 20 WHERE id = 'type_injection'`, "1"},
		{slot, `UPDATE appointment_types SET minutes = 90 WHERE id = 'type_long'`, "0"},
		{slot, `UPDATE slots SET appointment = 'appt_aoife' WHERE practitioner = 'prac_dahl' AND day = '2026-06-08'`, "1"},
		{slot, `UPDATE slots SET types = '{type_standard}' WHERE practitioner = 'prac_dahl'`, "1"},
		{slot, `UPDATE slots SET state = 'leave' WHERE practitioner = 'prac_dahl'`, "1"},
		{slot, `UPDATE slots SET state = state, day = day WHERE practitioner = 'prac_dahl'`, "0"},
		{slot, `UPDATE slots SET version = 1 WHERE practitioner = 'prac_dahl' AND state = 'closed'`, "0"},
		{`appointments WHERE id = 'appt_maria84'`, `UPDATE appointments SET status = 'arrived' WHERE id = 'appt_maria84'`, "1"},
		{`appointments WHERE id = 'appt_maria84'`, `UPDATE appointments SET version = 1 WHERE id = 'appt_maria84'`, "1"},
		{`appointments WHERE id = 'appt_maria84'`, `UPDATE slots SET state = 'leave' WHERE appointment = 'appt_maria84'`, "0"},
	} {
		before := w.text(`SELECT version FROM ` + c.row)
		w.exec(c.change)
		if got := w.text(`SELECT version - $1::bigint FROM `+c.row, before); got != c.raised {
			t.Errorf("%s\nraised the version of %.40s by %s, not %s", c.change, c.row, got, c.raised)
		}
	}
	if got := w.text(`SELECT count(*) || ' ' || max(version) FROM appointment_history WHERE appointment = 'appt_maria84'`); got != "3 3" {
		t.Error("history:", got)
	}
}
