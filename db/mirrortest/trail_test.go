package mirrortest

import (
	"slices"
	"strings"
	"testing"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/audit"
	"countersign/internal/ehr/fhirserver"
)

// untold are the versions that came about without an entry of the trail, "VERSION of appointment ID".
func untold(t *testing.T, d *desktest.Desk) (found []string) {
	t.Helper()
	if _, err := d.DB.Seal(ctx, "hav"); err != nil {
		t.Fatal(err)
	}
	err := d.DB.Snapshot(ctx, "hav", func(tx *db.Tx) error {
		_, err := tx.VerifyTrail(ctx, nil, nil, func(f audit.Finding) {
			if f.Kind != audit.VersionUntold {
				t.Errorf("%s: %s", f.Kind, f.Words)
			}
			found = append(found, f.Words)
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Every version that the mirror or an import makes has its entry, and one made behind the back in their name has none.
func TestTheTrailOfWhatTheEHRChangedVerifies(t *testing.T) {
	t.Parallel()
	d := desktest.New(t)
	o := other{t, fhirserver.URL(t)}
	o.put(world()...)
	o.put(visit("n_a2", "n_p1", "n_holm", "11:00:00", "11:30:00"))
	m := mirrorOf(t, d, o.base)
	synced(t, m, false)
	same(t, "new visits", untold(t, d))

	o.put(visit("n_a1", "n_p1", "n_holm", "11:00:00", "11:30:00"), visit("n_a2", "n_p1", "n_holm", "09:00:00", "09:30:00"))
	synced(t, m, false)
	o.put(strings.Replace(visit("n_a1", "n_p1", "n_holm", "11:00:00", "11:30:00"), `"booked"`, `"cancelled"`, 1))
	synced(t, m, false)
	same(t, "changed there", untold(t, d))
	moved := slices.Concat(world()[1:5], []string{visit("n_a2", "n_p1", "n_holm", "14:00:00", "14:30:00")})
	if r := taken(t, d, lines(moved...)); !r.Whole() {
		t.Fatalf("%+v", r.Refused)
	}
	same(t, "changed by a file", untold(t, d))
	if got := one(t, d, `SELECT string_agg(concat_ws(' ', action, object, version, patient, actor), ', ' ORDER BY object, version) FROM audit WHERE object_kind = 'appointment'`); got !=
		"appointment.mirror n_a1 2 n_p1 mirror, appointment.mirror n_a1 3 n_p1 mirror, appointment.mirror n_a2 2 n_p1 mirror, appointment.import n_a2 3 n_p1 import" {
		t.Errorf("the trail says %s", got)
	}

	d.Exec(`UPDATE appointments SET status = 'booked', changed_by = 'mirror', changed_via = 'mirror', changed_at = now() WHERE clinic = 'hav' AND id = 'n_a1'`)
	same(t, "behind the back", untold(t, d), "version 4 of appointment n_a1 came about without an entry of the trail")
}
