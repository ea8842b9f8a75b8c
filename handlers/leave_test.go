package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/db"
	"countersign/internal/ehr/intake"
	"countersign/internal/proposal"
)

// Leave hits a visit: it is listed first, saved with one proposal in one transaction, and no visit changes (case D08).
func TestLeaveListsWhatItHitsAndChangesNothing(t *testing.T) {
	s := newDeskSite(t)
	b := s.as("ana")
	ask := "/leave/new?" + url.Values{"practitioner": {"holm"}, "from": {s.day(0)}, "to": {s.day(1)}, "reason_code": {"sickness"}}.Encode()
	page := b.get(ask)
	page.says(t, "1 visit in that time", "Maria Jensen", "Cancel the visit")
	if n := s.text(`SELECT count(*) FROM leave`); n != "0" {
		t.Fatal("looking saved something")
	}
	f := mustForm(t, page.body, "/leave/new")
	// A visit that is booked after the list was made stops the whole.
	s.sql(`INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, during, changed_by, changed_via)
		VALUES ('hav', 'apt_new', 'soren', 'holm', 'main', 'std', 'booked', tstzrange($1::timestamptz, $1::timestamptz + interval '30 min'), 'seed', 'seed')`, s.At(1, 9, 0))
	if a := b.sendForm(f, nil); a.status != http.StatusConflict || !strings.Contains(a.body, "2 visits in that time") || s.text(`SELECT count(*) FROM leave`) != "0" {
		t.Fatalf("%d", a.status)
	}
	s.sql(`UPDATE appointments SET status = 'cancelled' WHERE id = 'apt_new'`)
	a := b.sendForm(f, nil)
	if a.status != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), "/proposals/") {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if again := b.sendForm(f, nil); again.header.Get("Location") != a.header.Get("Location") || s.text(`SELECT count(*) FROM leave`) != "1" || s.text(`SELECT count(*) FROM proposals`) != "1" {
		t.Error("a double click saved it twice")
	}
	if got := s.text(`SELECT status || version FROM appointments WHERE clinic = 'hav' AND id = 'apt_maria'`); got != "booked1" {
		t.Errorf("the visit changed: %s", got)
	}
	if got := s.text(`SELECT count(*) FROM slots WHERE clinic = 'hav' AND practitioner = 'holm' AND day BETWEEN $1 AND $2 AND state <> 'leave'`, s.day(0), s.day(1)); got != "0" {
		t.Errorf("%s slots can be booked during leave", got)
	}
	if _, err := s.Desk.Desk.Propose(t.Context(), s.Actor("ana"), s.Move("apt_soren", s.At(1, 11, 0), "practitioner", "holm")); err == nil {
		t.Error("somebody was booked during leave (case D09)")
	}
	b.get(a.header.Get("Location")).says(t, "Nothing has changed yet", "Maria Jensen")
	if s.text(`SELECT count(*) FROM audit WHERE action = 'leave.save' AND outcome = 'success'`) != "1" {
		t.Error("not on the trail once")
	}
	if a := s.as("ada").get("/leave/new"); a.status != http.StatusForbidden {
		t.Errorf("an admin: %d", a.status)
	}
	leave := s.text(`SELECT id FROM leave`)
	if a := s.as("ada").post("/leave/"+leave+"/end", url.Values{}); a.status != http.StatusForbidden {
		t.Errorf("an admin: %d", a.status)
	}
	if a := b.post("/leave/"+leave+"/end", url.Values{}); a.status != http.StatusSeeOther || s.text(`SELECT count(*) FROM slots WHERE state = 'leave'`) != "0" {
		t.Errorf("withdrawn: %d", a.status)
	}
	if a := b.post("/leave/"+leave+"/end", url.Values{}); a.status != http.StatusNotFound {
		t.Errorf("withdrawn twice: %d", a.status)
	}
	for _, wrong := range []url.Values{{"to": {"2020-01-01"}}, {"from": {"soon"}}, {"opens": {"12:00"}, "closes": {"09:00"}}, {"reason_code": {"whim"}}, {"practitioner": {"nobody"}}} {
		v := url.Values{"practitioner": {"holm"}, "from": {s.day(0)}, "to": {s.day(1)}, "reason_code": {"sickness"}, "idempotency_key": {"k" + wrong.Encode()[:2]}}
		for name := range wrong {
			v.Set(name, wrong.Get(name))
		}
		if a := b.post("/leave/new", v); a.status/100 != 4 || s.text(`SELECT count(*) FROM leave`) != "0" {
			t.Errorf("%v: %d", wrong, a.status)
		}
	}
}

// Who waits is shown when time is given back; a cancelled visit waits for a new date; nothing is booked by itself.
func TestWaitingAndRebooking(t *testing.T) {
	s := newDeskSite(t)
	b := s.as("ana")
	f := mustForm(t, b.get("/waiting-list/new?appointment=apt_soren").body, "/waiting-list")
	if a := b.sendForm(f, url.Values{"earliest": {"2030-01-02"}, "latest": {"2030-01-01"}}); a.status != http.StatusUnprocessableEntity {
		t.Errorf("the wrong way round: %d", a.status)
	}
	if a := b.sendForm(f, url.Values{"practitioner": {"holm"}, "note": {"Mornings"}}); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a := b.sendForm(f, url.Values{"type": {"lake_std"}}); a.status != http.StatusNotFound {
		t.Errorf("another clinic's type: %d", a.status)
	}
	s.sql(`UPDATE slots SET state = 'closed' WHERE clinic = 'hav' AND practitioner = 'holm' AND appointment IS NULL AND day = $1`, s.day(0))
	s.sql(`UPDATE appointments SET during = tstzrange(lower(during) + interval '2 hours', upper(during) + interval '2 hours') WHERE clinic = 'hav' AND id = 'apt_soren'`)
	b.get("/waiting-list").says(t, "Mornings", "Nothing that suits is free")
	r := s.Propose(s.Actor("ana"), proposal.Proposing{Action: "cancel_appointment@1", Parameters: map[string]any{"appointment": "apt_maria", "reason_code": "practitioner_unavailable"}})
	before := s.text(`SELECT count(*) FROM proposals`)
	b.post(card(r)+"/confirm", decision(r, "k"))
	b.get(card(r)).says(t, "1 patient wants an earlier time that is free now")
	list := b.get("/waiting-list?freed=" + r.ID)
	list.says(t, "10:00", "Dr Anna Holm", "Propose")
	if !strings.Contains(list.body, "appointment=apt_soren") || s.text(`SELECT count(*) FROM proposals`) != before {
		t.Error("no link to the form, or something was proposed by itself")
	}
	b.get("/rebooking").says(t, "Maria Jensen", "Practitioner not available", "Book a new visit")
	if strings.Contains(b.get("/rebooking").body, "Late cancellation") {
		t.Error("three days before is not late")
	}
	closing := "/rebooking/apt_maria/close"
	if a := b.post(closing, url.Values{}); a.status != http.StatusUnprocessableEntity {
		t.Errorf("without a reason: %d", a.status)
	}
	if a := s.as("lake_ana").post(closing, url.Values{"reason": {"x"}}); a.status != http.StatusNotFound {
		t.Errorf("another clinic: %d", a.status)
	}
	// A new visit of that patient and type takes it off the list; when that one is cancelled late, it is on it, flagged.
	book := s.Propose(s.Actor("ana"), proposal.Proposing{Action: "book_appointment@1", Parameters: map[string]any{"patient": "maria", "type": "std", "practitioner": "okafor", "location": "main", "starts_at": s.At(2, 9, 0).Format(time.RFC3339)}})
	b.post(card(book)+"/confirm", decision(book, "k2"))
	b.get("/rebooking").says(t, "Every cancelled visit has a new date or was closed")
	made := book.Plan.After.Appointment
	s.sql(`UPDATE appointments SET during = tstzrange(app_now() + interval '20 hours', app_now() + interval '20 hours 30 minutes') WHERE id = $1`, made)
	late := s.Propose(s.Actor("ana"), proposal.Proposing{Action: "cancel_appointment@1", Parameters: map[string]any{"appointment": made, "reason_code": "patient_request"}})
	b.post(card(late)+"/confirm", decision(late, "k3"))
	b.get("/rebooking").says(t, "Late cancellation")
	b.get("/appointments/"+made).says(t, "late cancellation")
	if a := b.post("/rebooking/"+made+"/close", url.Values{"reason": {"Went elsewhere"}}); a.status != http.StatusSeeOther {
		t.Errorf("closed: %d", a.status)
	}
	b.get("/rebooking").says(t, "Every cancelled visit has a new date or was closed")
	if s.text(`SELECT count(*) FROM audit WHERE action IN ('rebooking.close', 'waiting.add') AND outcome = 'success'`) != "2" {
		t.Error("not on the trail")
	}
	if a := b.post("/waiting-list/"+s.text(`SELECT id FROM waiting_list`)+"/end", url.Values{}); a.status != http.StatusSeeOther {
		t.Errorf("taken off: %d", a.status)
	}
	b.get("/waiting-list").says(t, "Nobody waits")
}

// Case N11: who has died, as an EHR or a file says, has coming visits on the list to cancel, and none can be proposed.
func TestVisitsOfTheDeadAreListedForCancellation(t *testing.T) {
	s := newDeskSite(t)
	b := s.as("ana")
	if strings.Contains(b.get("/rebooking").body, "the patient has died") {
		t.Error("listed too early")
	}
	dead, err := intake.Open(strings.NewReader(`{"resourceType":"Patient","id":"soren","identifier":[{"value":"100300"}],"name":[{"family":"Groß","given":["Søren","Łukasz"]}],"birthDate":"1970-02-28","deceasedDateTime":"2026-01-02"}`))
	if err != nil {
		t.Fatal(err)
	}
	err = s.DB.InClinic(t.Context(), "hav", func(tx *db.Tx) error {
		r, err := dead.Into(t.Context(), tx.Intake(db.IntakeOptions{By: "import", Via: "import"}))
		if err == nil && !r.Whole() {
			t.Errorf("%+v", r.Refused)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	list := b.get("/rebooking")
	list.says(t, "To cancel: the patient has died", "Søren Łukasz Groß", "Cancel the visit")
	if !strings.Contains(list.body, "apt_soren") || strings.Contains(list.body, "apt_maria") {
		t.Error("the list has other visits")
	}
	for _, p := range []proposal.Proposing{s.Move("apt_soren", s.At(1, 14, 0)),
		{Action: "book_appointment@1", Parameters: map[string]any{"patient": "soren", "type": "std", "practitioner": "holm", "location": "main", "starts_at": s.At(1, 14, 0).Format(time.RFC3339)}}} {
		if _, err := s.Desk.Desk.Propose(t.Context(), s.Actor("ana"), p); err == nil {
			t.Errorf("%s for a patient who has died", p.Action)
		}
	}
	r := s.Propose(s.Actor("ana"), proposal.Proposing{Action: "cancel_appointment@1", Parameters: map[string]any{"appointment": "apt_soren", "reason_code": "patient_deceased"}})
	b.post(card(r)+"/confirm", decision(r, "k"))
	if strings.Contains(b.get("/rebooking").body, "apt_soren") || s.text(`SELECT count(*) FROM outbox`) != "0" {
		t.Error("a cancelled visit is listed still, or something was sent")
	}
}
