package seed_test

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/seed"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

func TestStatusIsSetOnceAVersion(t *testing.T) {
	w := newWorld(t)
	set := func(appointment, status string, version int64) (got int64, err error) {
		err = w.db.InClinic(ctx, seed.Havnegade, func(tx *db.Tx) error {
			got, err = tx.SetStatus(ctx, "ana", appointment, status, version)
			return err
		})
		return got, err
	}
	slots := func() string {
		return w.text(`SELECT count(*) FROM slots WHERE appointment = 'appt_maria84'`)
	}
	if v, err := set("appt_maria84", clinic.StatusArrived, 1); v != 2 || err != nil || slots() != "2" {
		t.Fatal(v, err, slots())
	}
	_, err := set("appt_maria84", clinic.StatusFulfilled, 1)
	r := refusal.Of(err)
	if r == nil || r.Code != refusal.ResourceChanged {
		t.Fatal(err)
	}
	if c := r.Details["changed"].([]proposal.Change)[0]; c.Kind != "appointment" || c.ID != "appt_maria84" || c.Expected != 1 || c.Current != 2 {
		t.Errorf("%+v", c)
	}
	if v, err := set("appt_maria84", clinic.StatusBooked, 2); v != 3 || err != nil {
		t.Fatal("undoing an arrival:", v, err)
	}
	if v, err := set("appt_maria84", clinic.StatusNoShow, 3); v != 4 || err != nil || slots() != "0" {
		t.Fatal("a missed visit gives its time back:", v, err, slots())
	}
	if v, err := set("appt_maria84", clinic.StatusBooked, 4); v != 5 || err != nil || slots() != "2" {
		t.Fatal("she came after all:", v, err, slots())
	}
	for _, status := range []string{clinic.StatusBooked, clinic.StatusCancelled, "gone", ""} {
		if _, err := set("appt_maria84", status, 5); refusal.Of(err) == nil || refusal.Of(err).Code != refusal.ValidationFailed || refusal.Of(err).Fields[0].Name != "status" {
			t.Errorf("%q: %v", status, err)
		}
	}
	if _, err := set("appt_nobody", clinic.StatusArrived, 1); refusal.Of(err) == nil || refusal.Of(err).Code != refusal.NotFound {
		t.Error(err)
	}
	var rows []db.HistoryRow
	w.in(seed.Havnegade, func(tx *db.Tx) error {
		rows, err = tx.History(ctx, "appt_maria84")
		return err
	})
	if len(rows) != 5 || rows[0].Version != 5 || rows[0].By.Name != "ana" || rows[0].Via != "status" || rows[1].Status != clinic.StatusNoShow || rows[4].Via != "seed" ||
		rows[0].Practitioner.Name != "Dr Anna Holm" || rows[0].Zone != "Europe/Copenhagen" {
		t.Errorf("%+v", rows)
	}
}

// TestATimeThatIsGivenAwayStaysGiven is case S15: cancel 10:00, book it again, and the first cannot come back.
func TestATimeThatIsGivenAwayStaysGiven(t *testing.T) {
	w := newWorld(t)
	w.exec(`UPDATE appointments SET status = 'cancelled' WHERE id = 'appt_maria84'`)
	w.exec(`UPDATE slots SET appointment = NULL WHERE appointment = 'appt_maria84'`)
	start := time.Date(2026, 6, 5, 8, 0, 0, 0, time.UTC)
	w.in(seed.Havnegade, func(tx *db.Tx) error { // rebooking works
		return tx.AddVisits(ctx, "test", "import", []db.NewVisit{{ID: "appt_next", Patient: "pat_soren", Practitioner: "prac_holm", Location: "loc_hav12",
			Type: "type_standard", Status: clinic.StatusBooked, StartsAt: start, EndsAt: start.Add(30 * time.Minute), ChangedAt: now}})
	})
	undo := func(version int64) *refusal.Error {
		err := w.db.InClinic(ctx, seed.Havnegade, func(tx *db.Tx) error {
			_, err := tx.SetStatus(ctx, "ana", "appt_maria84", clinic.StatusBooked, version)
			return err
		})
		r := refusal.Of(err)
		if r == nil || r.Code != refusal.ValidationFailed {
			t.Fatal(err)
		}
		return r
	}
	if h := undo(2).Details["holder"].(db.Holder); h.Appointment != "appt_next" || h.Patient.Name != "Søren Łukasz Groß" || !h.StartsAt.Equal(start) {
		t.Errorf("%+v", h)
	}
	w.exec(`UPDATE appointments SET status = 'noshow' WHERE id = 'appt_maria84'`)
	if h := undo(3).Details["holder"].(db.Holder); h.Appointment != "appt_next" {
		t.Errorf("a missed visit came back into a time that is taken: %+v", h)
	}
	w.exec(`UPDATE appointments SET status = 'cancelled' WHERE id IN ('appt_maria84', 'appt_next')`)
	if r := undo(4); r.Details["holder"] != nil {
		t.Error("cancelled stays cancelled, with nobody in the way:", r.Details)
	}
	if got := w.text(`SELECT string_agg(appointment, ' ') FROM slots WHERE starts_at >= $1 AND ends_at <= $2 AND practitioner = 'prac_holm'`,
		start, start.Add(30*time.Minute)); got != "appt_next appt_next" {
		t.Error(got)
	}
}

// TestAnOverlapIsKnownForWhatItIs: the exclusion constraint speaks through proposal.ErrOverlap.
func TestAnOverlapIsKnownForWhatItIs(t *testing.T) {
	w := newWorld(t)
	start := time.Date(2026, 6, 5, 8, 0, 0, 0, time.UTC)
	err := w.db.InClinic(ctx, seed.Havnegade, func(tx *db.Tx) error {
		return tx.AddVisits(ctx, "test", "import", []db.NewVisit{{ID: "appt_next", Patient: "pat_soren", Practitioner: "prac_holm", Location: "loc_hav12",
			Type: "type_standard", Status: clinic.StatusBooked, StartsAt: start, EndsAt: start.Add(30 * time.Minute), ChangedAt: now}})
	})
	if !errors.Is(err, proposal.ErrOverlap) || errors.Is(err, sql.ErrNoRows) {
		t.Error(err)
	}
}
