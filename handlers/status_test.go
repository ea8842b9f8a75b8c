package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func statusForm(status, version string) url.Values {
	return url.Values{"status": {status}, "version": {version}}
}

func (s *deskSite) visitNow(id string) string {
	return s.Text(`SELECT status || ' ' || version FROM appointments WHERE clinic = 'hav' AND id = $1`, id)
}

// lastStatus is the newest row of the trail about a status.
func (s *deskSite) lastStatus() string {
	return s.Text(`SELECT concat_ws(' ', actor, outcome, code, object, version, patient) FROM audit WHERE clinic = 'hav' AND action = 'appointment.status' ORDER BY at DESC, id DESC LIMIT 1`)
}

func TestSettingAStatus(t *testing.T) {
	s := newDeskSite(t)
	b := s.as("ana")
	const path = "/appointments/apt_maria/status"
	a := b.post(path, statusForm("arrived", "1"))
	if a.status != http.StatusSeeOther || a.header.Get("Location") != "/appointments/apt_maria" {
		t.Fatalf("%d to %s", a.status, a.header.Get("Location"))
	}
	if got := s.visitNow("apt_maria"); got != "arrived 2" {
		t.Errorf("the visit is %s", got)
	}
	if got := s.lastStatus(); got != "ana success apt_maria 2 maria" {
		t.Errorf("the trail says %q", got)
	}
	shown := b.get("/appointments/apt_maria")
	shown.says(t, "Arrived", "Undo arrival", "version 2", "ana")
	f := mustForm(t, shown.body, "/status")
	if f.fields.Get("version") != "2" {
		t.Errorf("the form holds version %s", f.fields.Get("version"))
	}

	// HTMX: a fragment with a notice, and the buttons of the new version.
	part := b.post(path, statusForm("fulfilled", "2"), htmx...)
	if part.status != http.StatusOK || !fragment(part) {
		t.Fatalf("%d", part.status)
	}
	part.says(t, "Maria Jensen: Fulfilled.", "Undo, back to booked")
	if f := mustForm(t, part.body, "/status"); f.fields.Get("version") != "3" {
		t.Errorf("the form holds version %s", f.fields.Get("version"))
	}
	// Undo.
	b.post(path, statusForm("booked", "3"))
	if got := s.visitNow("apt_maria"); got != "booked 4" {
		t.Errorf("the visit is %s", got)
	}
	b.get("/appointments/apt_maria").says(t, "Back to booked", "Move", "Cancel the visit")
}

func TestAStaleStatusShowsWhatIsNow(t *testing.T) {
	s := newDeskSite(t)
	s.as("emil").post("/appointments/apt_maria/status", statusForm("arrived", "1"))
	for _, headers := range [][]string{nil, htmx} {
		a := s.as("ana").post("/appointments/apt_maria/status", statusForm("noshow", "1"), headers...)
		if a.status != http.StatusConflict {
			t.Fatalf("%d", a.status)
		}
		a.says(t, "This changed while you had it open", "Arrived", "version 2")
		if f := mustForm(t, a.body, "/status"); f.fields.Get("version") != "2" {
			t.Errorf("the form holds version %s", f.fields.Get("version"))
		}
		if headers != nil && !fragment(a) {
			t.Error("no fragment")
		}
		if got := s.lastStatus(); got != "ana denied resource_changed apt_maria 2 maria" {
			t.Errorf("the trail says %q", got)
		}
	}
	if got := s.visitNow("apt_maria"); got != "arrived 2" {
		t.Errorf("the visit is %s", got)
	}
}

func TestOfTwentyClicksOneSetsTheStatus(t *testing.T) {
	s := newDeskSite(t)
	answers := make(chan int, 20)
	for i := range 20 {
		b := s.as([]string{"ana", "emil", "ben"}[i%3])
		go func() {
			answers <- b.post("/appointments/apt_maria/status", statusForm([]string{"arrived", "noshow"}[i%2], "1")).status
		}()
	}
	count := map[int]int{}
	for range 20 {
		count[<-answers]++
	}
	if count[http.StatusSeeOther] != 1 || count[http.StatusConflict] != 19 {
		t.Errorf("%v", count)
	}
	if n := s.Text(`SELECT string_agg(outcome || ' ' || n, ', ' ORDER BY outcome) FROM (SELECT outcome, count(*) n FROM audit WHERE action = 'appointment.status' GROUP BY 1) x`); n != "denied 19, success 1" {
		t.Errorf("the trail: %s", n)
	}
}

func TestStatusesThatCannotBe(t *testing.T) {
	s := newDeskSite(t)
	b := s.as("ben")
	s.visit("over", "aoife", "holm", s.At(0, 12, 0), 30, "cancelled")
	a := b.post("/appointments/over/status", statusForm("arrived", "1"))
	if a.status != http.StatusUnprocessableEntity {
		t.Errorf("a cancelled visit: %d", a.status)
	}
	a.says(t, "A cancelled visit stays cancelled. Book a new one.")
	if got := s.lastStatus(); got != "ben denied validation_failed over 1 aoife" {
		t.Errorf("the trail says %q", got)
	}
	// Its time went to somebody else after a no-show.
	b.post("/appointments/apt_maria/status", statusForm("noshow", "1"))
	s.visit("instead", "aoife", "holm", s.At(0, 10, 0), 30, "booked")
	a = b.post("/appointments/apt_maria/status", statusForm("booked", "2"))
	if a.status != http.StatusUnprocessableEntity || s.visitNow("apt_maria") != "noshow 2" {
		t.Errorf("%d, and the visit is %s", a.status, s.visitNow("apt_maria"))
	}
	a.says(t, "Its time has been given to another visit.")
}

func TestAdminsLookAndDoNotTouch(t *testing.T) {
	s := newDeskSite(t)
	b := s.as("ada")
	page := b.get("/appointments/apt_maria")
	if _, there := formTo(t, page.body, "/status"); there || strings.Contains(page.body, "/proposals/new") {
		t.Error("an admin is offered what they may not do")
	}
	a := b.post("/appointments/apt_maria/status", statusForm("arrived", "1"))
	if a.status != http.StatusForbidden || s.visitNow("apt_maria") != "booked 1" {
		t.Errorf("%d, and the visit is %s", a.status, s.visitNow("apt_maria"))
	}
	a.says(t, "Your role does not change visits.")
	if got := s.lastStatus(); got != "ada denied permission_denied apt_maria 1 maria" {
		t.Errorf("the trail says %q", got)
	}
}

func TestAnAppointmentShowsWhatWaitsForIt(t *testing.T) {
	s := newDeskSite(t)
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	a := s.as("ana").get("/appointments/apt_maria")
	a.says(t, "1 proposal waits for this visit", "Move to")
	if !strings.Contains(a.body, card(r)) {
		t.Error("no link to the card")
	}
	done := s.confirmedMove(t)
	s.as("ana").get("/appointments/apt_maria").says(t, "Moved", "Proposal "+done.ID)
}
