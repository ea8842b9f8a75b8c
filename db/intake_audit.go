package db

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/lib/pq"

	"countersign/internal/audit"
	"countersign/internal/clinic"
)

// tell writes an entry of the trail for every new version of visits that were here: nothing else would tell it from one
// made behind the program's back. A visit that is new owes none.
func (s *intakeTx) tell(ctx context.Context, visits pq.StringArray) error {
	var made []struct {
		ID, Patient string
		Version     int64
	}
	err := s.t.sel(ctx, &made, `SELECT a.id, a.patient, a.version FROM unnest($1::text[]) AS x(id)
		CROSS JOIN LATERAL (SELECT a.id, a.patient, a.version, a.changed_at, a.changed_via FROM appointments a WHERE a.id = x.id OFFSET 0) a
		WHERE a.version > 1 AND a.changed_at = $2 AND a.changed_via = $3 ORDER BY a.id`, visits, s.t.now, s.Via)
	if err != nil || len(made) == 0 {
		return err
	}
	action, via := audit.ImportAppointment, "cli"
	if s.Via == "mirror" {
		action, via = audit.MirrorAppointment, "worker"
	}
	events := make([]audit.Event, len(made))
	for i, m := range made {
		events[i] = audit.Event{ID: versionEntry(m.ID, m.Version), At: s.t.now, Actor: clinic.Actor{Clinic: s.t.clinic, Person: s.By, Kind: clinic.KindSystem, Via: via},
			Action: action, Outcome: audit.Success, ObjectKind: "appointment", Object: m.ID, Version: m.Version, Patient: m.Patient}
	}
	return s.t.Audit(ctx, events...)
}

// versionEntry is the id of the entry of a version: there is one of each.
func versionEntry(appointment string, version int64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "version\n%s\n%d", appointment, version))
	return "aud_" + hex.EncodeToString(sum[:10])
}
