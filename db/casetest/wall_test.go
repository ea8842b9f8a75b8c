package casetest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/seed"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// T02: booked in February, moved to after the clocks go forward. Card, database, message and day sheet say 10:00.
func TestAMoveOverTheClockChangeKeepsItsWallTime(t *testing.T) {
	w := worldAt(t, "2026-02-11 09:00")
	r := w.propose(ana, move("appt_maria84", "2026-03-30T10:00"))
	p := r.Plan
	if p.Before.OffsetMinutes != 60 || p.After.OffsetMinutes != 120 || !p.After.StartsAt.Equal(at(t, "2026-03-30 10:00")) || p.After.StartsAt.Hour() != 8 {
		t.Errorf("from %s (%d) to %s (%d)", p.Before.StartsAt, p.Before.OffsetMinutes, p.After.StartsAt, p.After.OffsetMinutes)
	}
	row := func(label string) string {
		i := slices.IndexFunc(r.Summary.Fields, func(f proposal.Field) bool { return strings.Contains(*f.New, label) })
		if i < 0 {
			return ""
		}
		return *r.Summary.Fields[i].New
	}
	if line := row("10:00"); !strings.Contains(line, "30") || !strings.Contains(line, "UTC+02:00") {
		t.Errorf("the card says %q of %v", line, r.Summary.Fields)
	}
	if text := p.Messages[0].Text; !strings.Contains(text, "Monday 30 March 2026 at 10am (Copenhagen time)") {
		t.Errorf("the message says %q", text)
	}
	w.confirm(ana, r, "k")
	if w.text(`SELECT starts_at = '2026-03-30T08:00:00Z' FROM inspect.appointments WHERE id = 'appt_maria84'`) != "true" || w.held("appt_maria84") != "2/0" {
		t.Error("stored:", w.stands("appt_maria84"), w.held("appt_maria84"))
	}
	if w.text(`SELECT body FROM inspect.outbox WHERE appointment = 'appt_maria84' AND kind = 'change'`) != p.Messages[0].Text {
		t.Error("the mail is not the plan's")
	}
	w.in(func(tx *db.Tx) error {
		sheet, err := tx.DaySheet(ctx, "loc_hav12", clinic.Date{Year: 2026, Month: 3, Day: 30})
		i := slices.IndexFunc(sheet.Visits, func(v db.DayVisit) bool { return v.ID == "appt_maria84" })
		if err != nil || i < 0 || sheet.Visits[i].StartsAt.In(copenhagen(t)).Format("15:04") != "10:00" {
			t.Errorf("the day sheet: %v %d %v", sheet.Visits, i, err)
		}
		return err
	})
}

// openNights makes an urgent clinic that is open through the night of a Saturday.
func (w *world) openNights(until clinic.Date) {
	w.Helper()
	w.in(func(tx *db.Tx) error {
		if err := tx.AddPractitioners(ctx, []clinic.Practitioner{{ID: "prac_night", Name: "Dr Nina Night"}}); err != nil {
			return err
		}
		s := clinic.Schedule{ID: "sched_night", Practitioner: "prac_night", Location: "loc_hav12", From: clinic.Date{Year: 2026, Month: 1, Day: 1}, Grid: 15, Types: []string{"type_standard"}}
		if err := tx.AddSchedules(ctx, []clinic.Schedule{s}); err != nil {
			return err
		}
		if err := tx.SaveHours(ctx, s.ID, []clinic.Hours{{Weekday: time.Saturday, Opens: 22 * 60, Closes: 30 * 60}}); err != nil {
			return err
		}
		return tx.MakeSlots(ctx, s.ID, until)
	})
}

func labels(r *refusal.Error) (out []string) {
	choices, _ := r.Details["choices"].([]proposal.Choice)
	for _, c := range choices {
		out = append(out, c.StartsAt.Format("15:04Z ")+c.Label)
	}
	return out
}

// T05: 02:30 does not exist that night. No proposal, two times beside it, none chosen.
func TestATimeThatIsSkippedIsAQuestion(t *testing.T) {
	w := worldAt(t, "2026-03-16 09:00")
	w.openNights(clinic.Date{Year: 2026, Month: 4, Day: 12})
	got := labels(w.refusedPropose(refusal.TimeDoesNotExist, move("appt_maria84", "2026-03-29T02:30", "practitioner", "prac_night")))
	want := []string{"00:30Z Sunday 29 March 2026, 01:30 (UTC+01:00)", "01:30Z Sunday 29 March 2026, 03:30 (UTC+02:00)"}
	if !slices.Equal(got, want) {
		t.Errorf("offered %q", got)
	}
	if r := w.propose(ana, move("appt_maria84", "2026-03-29T03:30", "practitioner", "prac_night")); !r.Plan.After.StartsAt.Equal(time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)) {
		t.Error(r.Plan.After.StartsAt)
	}
}

// T06: 02:30 comes twice that night. Each choice is shown with its offset; the chosen instant is what is booked, and
// the patient reads which of the two it is.
func TestATimeThatComesTwiceIsAQuestion(t *testing.T) {
	w := worldAt(t, "2026-10-12 09:00")
	w.openNights(clinic.Date{Year: 2026, Month: 11, Day: 8})
	got := labels(w.refusedPropose(refusal.TimeIsAmbiguous, move("appt_maria84", "2026-10-25T02:30", "practitioner", "prac_night")))
	want := []string{"00:30Z Sunday 25 October 2026, 02:30 (UTC+02:00)", "01:30Z Sunday 25 October 2026, 02:30 (UTC+01:00)"}
	if !slices.Equal(got, want) {
		t.Errorf("offered %q", got)
	}
	for _, c := range []struct {
		startsAt string
		offset   int
		says     string
	}{{"2026-10-25T02:30:00+02:00", 120, "2:30am UTC+02:00"}, {"2026-10-25T01:30:00Z", 60, "2:30am UTC+01:00"}} {
		r := w.propose(ana, move("appt_maria84", c.startsAt, "practitioner", "prac_night"))
		if r.Plan.After.OffsetMinutes != c.offset || !strings.Contains(r.Plan.Messages[0].Text, c.says) {
			t.Errorf("%s: %d, %q", c.startsAt, r.Plan.After.OffsetMinutes, r.Plan.Messages[0].Text)
		}
	}
}

// T09, T08: Kona's 08:00 is 18:00Z, whoever looks, and its plan says so.
func TestAPlanSpeaksInTheZoneOfItsPlace(t *testing.T) {
	w := worldAt(t, "2026-05-18 09:00")
	carla := person("carla", clinic.RoleStaff)
	carla.Clinic = seed.Lakeview
	w.exec(`INSERT INTO patients (clinic, id, family, given, birth_date, mrn, email, contact, search_text) VALUES ('lake', 'pat_x', 'Akana', 'Lani', '1980-01-01', 'X1', 'x@example.test', 'email', 'lani akana')`)
	for _, minute := range []string{"00", "30"} {
		p := proposal.Proposing{Action: "book_appointment@1", Parameters: map[string]any{"patient": "pat_x", "type": "type_lake_standard", "practitioner": "prac_reyes",
			"location": "loc_kona", "starts_at": "2026-05-22T08:" + minute}}
		w.exec(`UPDATE slots SET appointment = NULL WHERE clinic = 'lake' AND practitioner = 'prac_reyes' AND day = '2026-05-22'`)
		r := w.propose(carla, p)
		if a := r.Plan.After; a.StartsAt.Format("15:04") != "18:"+minute || a.OffsetMinutes != -600 || a.Zone != "Pacific/Honolulu" || !strings.Contains(r.Plan.Messages[0].Text, "(Honolulu time)") {
			t.Errorf("%s %d %s: %s", a.StartsAt, a.OffsetMinutes, a.Zone, r.Plan.Messages[0].Text)
		}
	}
}
