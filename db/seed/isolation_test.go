package seed_test

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/seed"
	"countersign/internal/clinic"
)

func TestWithoutAClinicThereAreNoRows(t *testing.T) {
	w := newWorld(t)
	tx, err := w.root.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.Exec(`SET ROLE countersign_app`); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"clinics", "locations", "practitioners", "appointment_types", "schedules", "schedule_hours", "leave", "patients",
		"appointments", "appointment_history", "slots", "proposals", "revisions", "outbox", "audit"} {
		var n int
		if err := tx.QueryRow(`SELECT count(*) FROM ` + table).Scan(&n); err != nil || n != 0 {
			t.Error(table, n, err)
		}
	}
	var n int
	if err := tx.QueryRow(`SELECT count(*) FROM search_patients(ARRAY['jensen'], 20)`).Scan(&n); err != nil || n != 0 {
		t.Error("search_patients", n, err)
	}
	// The function sees all patients, and gives only the clinic's.
	if err := tx.QueryRow(`SELECT count(*) FROM set_config('app.clinic', 'lake', true), search_patients(ARRAY['100234'], 20)`).Scan(&n); err != nil || n != 0 {
		t.Error("search_patients finds Maria from Lakeview", n, err)
	}
	if err := tx.QueryRow(`SELECT count(*) FROM set_config('app.clinic', 'hav', true), search_patients(ARRAY['100234'], 20)`).Scan(&n); err != nil || n != 1 {
		t.Error("search_patients does not find Maria at home", n, err)
	}
	if _, err := tx.Exec(`SELECT count(*) FROM inspect.appointments`); err == nil {
		t.Error("the app reads inspect")
	}
}

// TestAnotherClinicsIDsDoNotExist asks each read for what is Havnegade's, from Lakeview (case A02).
func TestAnotherClinicsIDsDoNotExist(t *testing.T) {
	w := newWorld(t)
	from, to := now, now.AddDate(0, 0, 14)
	w.in(seed.Lakeview, func(tx *db.Tx) error {
		nothing := func(name string, n int, err error) {
			t.Helper()
			if n != 0 || err != nil && !errors.Is(err, sql.ErrNoRows) {
				t.Error(name, n, err)
			}
		}
		missing := func(name string, err error) {
			t.Helper()
			if !errors.Is(err, sql.ErrNoRows) {
				t.Error(name, err)
			}
		}
		_, err := tx.Visit(ctx, "appt_maria84")
		missing("Visit", err)
		_, err = tx.Patient(ctx, "pat_maria84")
		missing("Patient", err)
		_, err = tx.Location(ctx, "loc_hav12")
		missing("Location", err)
		_, err = tx.DaySheet(ctx, "loc_hav12", date("2026-06-05"))
		missing("DaySheet", err)
		_, err = tx.FreeStarts(ctx, db.StartFilter{Type: "type_standard", From: from, To: to})
		missing("FreeStarts", err)
		_, err = tx.SetStatus(ctx, "somebody", "appt_maria84", clinic.StatusArrived, 1)
		missing("SetStatus", err)
		missing("MakeSlots", tx.MakeSlots(ctx, "sched_holm_hav12", date("2026-07-01")))
		missing("SaveLeave", tx.SaveLeave(ctx, clinic.Leave{ID: "l1", Practitioner: "prac_holm", From: date("2026-06-09"), To: date("2026-06-09")}))
		missing("RemoveLeave", tx.RemoveLeave(ctx, "leave_okafor"))
		missing("SaveException", tx.SaveException(ctx, "sched_holm_hav12", date("2026-06-09"), clinic.Exception{Closed: true}))
		missing("EndSchedule", tx.EndSchedule(ctx, "sched_holm_hav12", date("2026-06-30")))
		starts, err := tx.FreeStarts(ctx, db.StartFilter{Type: "type_lake_standard", Practitioner: "prac_holm", From: from, To: to})
		nothing("FreeStarts of a practitioner", len(starts), err)
		slots, err := tx.SlotsOf(ctx, "prac_holm", "", from, to)
		nothing("SlotsOf", len(slots), err)
		history, err := tx.History(ctx, "appt_maria84")
		nothing("History", len(history), err)
		leave, err := tx.Leave(ctx, "prac_okafor", date("2026-06-01"))
		nothing("Leave", len(leave), err)
		coming, past, _, err := tx.PatientVisits(ctx, "pat_maria84", 5)
		nothing("PatientVisits", len(coming)+len(past), err)
		found, _, err := tx.SearchPatients(ctx, clinic.SearchTerms("100234"), 20)
		nothing("SearchPatients", len(found), err)
		visits, _, err := tx.Appointments(ctx, db.VisitFilter{Patient: "pat_maria84"})
		nothing("Appointments", len(visits), err)
		waiting, err := tx.WaitingFor(ctx, "appt_maria84")
		nothing("WaitingFor", len(waiting), err)
		offers, err := tx.Practitioners(ctx)
		if err != nil || len(offers) != 1 || offers[0].Name != "Dr Sam Reyes" || len(offers[0].Locations) != 2 {
			t.Errorf("%+v %v", offers, err)
		}
		return nil
	})
	if got := w.text(`SELECT count(*) FROM appointments WHERE id = 'appt_maria84' AND status = 'booked' AND version = 1`); got != "1" {
		t.Error("another clinic's visit was changed")
	}
}

// TestNobodyWritesIntoAnotherClinic: the policy holds for writing too.
func TestNobodyWritesIntoAnotherClinic(t *testing.T) {
	w := newWorld(t)
	err := w.db.InClinic(ctx, seed.Lakeview, func(tx *db.Tx) error {
		return tx.AddVisits(ctx, "x", "seed", []db.NewVisit{{ID: "appt_x", Patient: "pat_maria84", Practitioner: "prac_reyes", Location: "loc_lakeview",
			Type: "type_lake_standard", Status: clinic.StatusBooked, StartsAt: now, EndsAt: now.Add(time.Hour), ChangedAt: now}})
	})
	if err == nil {
		t.Error("a visit of another clinic's patient was written")
	}
}
