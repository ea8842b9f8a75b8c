package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/internal/clinic"
)

func (s *deskSite) patient(id, given, family, born, mrn string) {
	s.T.Helper()
	p := clinic.Patient{ID: id, Given: given, Family: family, BirthDate: born, MRN: mrn}
	s.Exec(`INSERT INTO patients (clinic, id, family, given, birth_date, mrn, contact, search_text) VALUES ('hav', $1, $2, $3, $4, $5, 'none', $6)`,
		id, family, given, born, mrn, clinic.SearchText(p))
}

func TestFindingPatients(t *testing.T) {
	s := newDeskSite(t)
	s.patient("anna1", "Anna", "Nielsen", "1990-01-01", "200001")
	s.patient("anna2", "Anna", "Nielsen", "1990-01-01", "200002")
	b := s.as("ana")
	find := func(fields url.Values, headers ...string) reply {
		return b.post("/patients/search", fields, headers...)
	}

	whole := find(url.Values{"query": {"nielsen anna"}})
	if whole.status != http.StatusOK || !strings.Contains(whole.body, "<html") {
		t.Errorf("%d", whole.status)
	}
	whole.says(t, "2 patients found", "Anna Nielsen", "01-Jan-1990", "200001", "200002")
	part := find(url.Values{"query": {"200002"}}, htmx...)
	if part.status != http.StatusOK || strings.Contains(part.body, "<html") || !strings.Contains(part.body, `href="/patients/anna2"`) || strings.Contains(part.body, "anna1") {
		t.Errorf("%d: %s", part.status, part.body)
	}
	find(url.Values{"query": {"nobody"}}).says(t, "Nobody found.")
	if n := s.looked("patient.search"); n != "3" {
		t.Errorf("%s searches in the trail", n)
	}
	if n := s.Text(`SELECT count(*) FROM audit WHERE convert_from(content, 'UTF8') ~* 'nielsen|nobody|200002'`); n != "0" {
		t.Error("the trail holds what was searched for")
	}
	if a := find(url.Values{"query": {""}}, htmx...); a.status != http.StatusUnprocessableEntity || strings.Contains(a.body, "<html") {
		t.Errorf("%d", a.status)
	}

	// For a booking, the choice leads to the form with what is known.
	book := find(url.Values{"query": {"200001"}, "action": {"book_appointment@1"}, "practitioner": {"holm"}, "location": {"main"}, "type": {""}, "starts_at": {"2027-03-28T10:00:00Z"}})
	want := "/proposals/new?" + url.Values{"action": {"book_appointment@1"}, "patient": {"anna1"}, "practitioner": {"holm"}, "location": {"main"}, "starts_at": {"2027-03-28T10:00:00Z"}}.Encode()
	if got := attrOf(t, book.body, "/proposals/new"); got != want {
		t.Errorf("the choice leads to %s, want %s", got, want)
	}
	if a := b.get(want); a.status != http.StatusOK {
		t.Errorf("and that page is %d", a.status)
	}
	for i := range maxFound + 2 {
		s.patient("p"+string(rune('a'+i)), "Many", "Others", "1950-01-01", "9000"+string(rune('a'+i)))
	}
	find(url.Values{"query": {"others"}}).says(t, "The first 20 patients.")
}

func TestThePatientsPageHasEachVisitOnce(t *testing.T) {
	s := newDeskSite(t)
	for i := range mostPast + 1 {
		s.visit("past"+string(rune('A'+i%26))+string(rune('a'+i/26)), "maria", "okafor", s.At(-5-i, 9, 0), 30, "fulfilled")
	}
	s.visit("later", "maria", "okafor", s.At(3, 9, 0), 30, "booked")
	s.visit("now", "maria", "okafor", time.Now().UTC().Add(-10*time.Minute).Truncate(time.Second), 30, "arrived")
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	a := s.as("emil").get("/patients/maria")
	a.says(t, "Maria Jensen", "11-Mar-1984", "100234", "maria.jensen.84@example.test", "Upcoming visits", "Waits: move to", "Older visits are not shown.")
	for _, id := range []string{"now", "apt_maria", "later"} {
		if n := strings.Count(a.body, `href="/appointments/`+id+`"`); n != 1 {
			t.Errorf("%s is there %d times", id, n)
		}
	}
	order := []int{strings.Index(a.body, "/appointments/now"), strings.Index(a.body, "/appointments/apt_maria"), strings.Index(a.body, "/appointments/later"), strings.Index(a.body, "/appointments/past")}
	for i := range order[1:] {
		if order[i] >= order[i+1] {
			t.Errorf("the visits stand in another order: %v", order)
		}
	}
	if !strings.Contains(a.body, card(r)) {
		t.Error("no link to what waits")
	}
	if n := strings.Count(a.body, `href="/appointments/past`); n != mostPast {
		t.Errorf("%d past visits", n)
	}
	s.as("emil").get("/patients/aoife").says(t, "No phone number or e-mail address is on record.", "No visit is booked.", "No visit so far.")
}
