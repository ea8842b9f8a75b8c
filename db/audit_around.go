package db

import (
	"context"

	"countersign/internal/audit"
)

// verifyAround checks what is not in the chain itself: entries that were never sealed, the appointments the entries speak
// of, and the guards of the tables.
func (t *Tx) verifyAround(ctx context.Context, cut audit.Cut, find func(kind, words string, args ...any)) error {
	for _, q := range []struct {
		kind, words, query string
		args               []any
	}{
		{audit.NotSealed, "entry %s was not sealed within a minute", `SELECT a.id FROM audit a LEFT JOIN chain c ON c.clinic = a.clinic AND c.entry = a.id
			LEFT JOIN unsealed u ON u.clinic = a.clinic AND u.entry = a.id
			WHERE c.entry IS NULL AND (u.entry IS NULL OR u.queued_at < app_now() - interval '1 minute') ORDER BY a.at, a.id`, nil},
		{audit.EntryGone, "entry %s is gone, and was not sealed yet", `SELECT u.entry FROM unsealed u LEFT JOIN audit a ON a.clinic = u.clinic AND a.id = u.entry
			WHERE a.id IS NULL ORDER BY u.n`, nil},
		// A cut takes the entries of old versions along; their times may differ by a moment.
		{audit.VersionUntold, "version %s came about without an entry of the trail", `SELECT h.version || ' of appointment ' || h.appointment FROM appointment_history h
			WHERE (h.updated OR h.changed_via IN ('plan', 'status')) AND ($1::timestamptz IS NULL OR h.changed_at >= $1::timestamptz + interval '1 minute')
			AND NOT EXISTS (SELECT FROM audit a WHERE a.clinic = h.clinic AND a.object_kind = 'appointment' AND a.object = h.appointment AND a.version = h.version
				AND a.outcome = 'success' AND a.action LIKE 'appointment.%' AND a.action NOT IN ('appointment.read', 'appointment.list'))
			ORDER BY h.changed_at, h.appointment, h.version`, []any{orNull(cut.Before)}},
		{audit.EntryUnfounded, "entry %s that is not there", `SELECT a.id || ' tells of version ' || a.version || ' of appointment ' || a.object FROM audit a
			LEFT JOIN appointment_history h ON h.clinic = a.clinic AND h.appointment = a.object AND h.version = a.version
			WHERE a.object_kind = 'appointment' AND a.outcome = 'success' AND a.version IS NOT NULL AND h.version IS NULL
			AND a.action LIKE 'appointment.%' AND a.action NOT IN ('appointment.read', 'appointment.list') ORDER BY a.at, a.id`, nil},
		{audit.AppointmentMoved, "appointment %s is not as its last version says", `SELECT a.id FROM appointments a
			LEFT JOIN appointment_history h ON h.clinic = a.clinic AND h.appointment = a.id AND h.version = a.version
			WHERE (h.status, h.practitioner, h.location, h.type, h.during) IS DISTINCT FROM (a.status, a.practitioner, a.location, a.type, a.during)
			OR EXISTS (SELECT FROM appointment_history n WHERE n.clinic = a.clinic AND n.appointment = a.id AND n.version > a.version) ORDER BY a.id`, nil},
		{audit.GuardMissing, "table %s", `SELECT g.t || ' is without its trigger ' || g.name FROM (VALUES
				('audit', 'never_changes'), ('audit', 'never_emptied'), ('audit', 'queue_for_sealing'), ('chain', 'never_changes'), ('chain', 'never_emptied'),
				('tiles', 'never_changes'), ('tiles', 'never_emptied'), ('checkpoints', 'never_changes'), ('checkpoints', 'never_emptied'),
				('anchors', 'never_changes'), ('anchors', 'never_emptied'), ('consistency', 'never_changes'), ('consistency', 'never_emptied'),
				('appointments', 'history'), ('appointments', 'version'), ('appointment_history', 'never_changes'), ('appointment_history', 'never_emptied'),
				('revisions', 'never_changes'), ('revisions', 'never_emptied'), ('proposals', 'one_outcome'), ('proposals', 'never_emptied')) AS g(t, name)
			WHERE NOT EXISTS (SELECT FROM pg_trigger x JOIN pg_class c ON c.oid = x.tgrelid AND c.relnamespace = 'public'::regnamespace
				WHERE c.relname = g.t AND x.tgname = g.name AND x.tgenabled IN ('O', 'A'))
			UNION ALL
			SELECT c.relname || ' is not under a forced row policy' FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace
				AND c.relname IN ('audit', 'chain', 'unsealed', 'tiles', 'checkpoints', 'anchors', 'consistency') AND NOT (c.relrowsecurity AND c.relforcerowsecurity)
			ORDER BY 1`, nil},
	} {
		var found []string
		if err := t.sel(ctx, &found, q.query+` LIMIT 1000`, q.args...); err != nil {
			return err
		}
		for _, f := range found {
			find(q.kind, q.words, f)
		}
	}
	return nil
}
