package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/db"
	"countersign/internal/clinic"
)

func (s *deskSite) visit(id, patient, practitioner string, from time.Time, minutes int, status string) {
	s.T.Helper()
	s.Exec(`INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, during, changed_by, changed_via)
		VALUES ('hav', $1, $2, $3, 'main', 'std', $4, tstzrange($5, $6), 'seed', 'seed')`, id, patient, practitioner, status, from, from.Add(time.Duration(minutes)*time.Minute))
}

func TestTheDayCanBeTypedInManyWays(t *testing.T) {
	s := newDeskSite(t)
	b := s.as("ana")
	today, at := time.Now().UTC(), s.Day
	for _, c := range []struct {
		typed, shown string
		want         time.Time
	}{
		{at.Format("2006-01-02"), "", at}, {at.Format("02-Jan-2006"), "", at}, {at.Format("02.01.2006"), "", at}, {"today", at.Format("2006-01-02"), today},
		{"", "", today}, {"+3d", "", today.AddDate(0, 0, 3)}, {"+3d", at.Format("2006-01-02"), at.AddDate(0, 0, 3)},
		{"-2w", at.Format("2006-01-02"), at.AddDate(0, 0, -14)}, {"+1m", "2026-01-31", time.Date(2026, 2, 28, 0, 0, 0, 0, time.UTC)},
	} {
		a := b.get("/?" + url.Values{"date": {c.typed}, "shown": {c.shown}}.Encode())
		if a.status != http.StatusOK {
			t.Errorf("%q: %d", c.typed, a.status)
		}
		a.says(t, c.want.Format("Monday"), c.want.Format("2 January 2006"))
	}
	for _, typed := range []string{"32-Okt", "31-Feb-2026", "03/04/2026", "next Tuesday", "<b>"} {
		for _, headers := range [][]string{nil, htmx} {
			a := b.get("/?"+url.Values{"date": {typed}, "shown": {s.day(1)}}.Encode(), headers...)
			if a.status != http.StatusUnprocessableEntity {
				t.Errorf("%q: %d", typed, a.status)
			}
			a.says(t, "Error:", s.Day.AddDate(0, 0, 1).Format("2 January 2006")) // the sheet stays where it was
			if !strings.Contains(a.body, `value="`+strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(typed)+`"`) {
				t.Errorf("%q is not kept", typed)
			}
		}
	}
}

func TestTheSheetShowsVisitsFreeTimeLeaveAndWhatWaits(t *testing.T) {
	s := newDeskSite(t)
	s.visit("early", "aoife", "okafor", s.At(0, 6, 30), 30, "booked")  // before anybody opens
	s.visit("night", "aoife", "holm", s.At(-1, 23, 30), 60, "booked")  // began yesterday
	s.visit("late", "aoife", "holm", s.At(0, 23, 30), 60, "fulfilled") // ends tomorrow
	s.Exec(`INSERT INTO patients (clinic, id, family, given, birth_date, mrn, contact, search_text) VALUES ('hav', 'maria2', 'Jensen', 'Maria', '1991-07-02', '100871', 'none', 'x')`)
	s.visit("twin", "maria2", "holm", s.At(0, 14, 0), 30, "booked")
	s.Exec(`UPDATE slots SET state = 'leave' WHERE practitioner = 'okafor' AND starts_at >= $1 AND starts_at < $2`, s.At(0, 8, 0), s.At(0, 9, 30))
	one := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(0, 12, 0)))
	two := s.Propose(s.Actor("emil"), s.Move("apt_soren", s.At(0, 12, 15), "practitioner", "holm"))
	a := s.as("ana").get(s.sheet(0))
	if a.status != http.StatusOK {
		t.Fatal(a.status)
	}
	a.says(t, "06:30–07:00", "23:30–00:30", "Dr Anna Holm", "Dr Ben Okafor", "100234", "100871", "08:00–09:30 Leave", "Free, proposed twice", "2 rival proposals wait",
		"Waits: move to", "10:30–12:00 free")
	if strings.Count(a.body, "/appointments/night") != 1 || strings.Count(a.body, "/appointments/late") != 1 {
		t.Error("a visit across midnight is not on the sheet once")
	}
	for _, r := range []string{one.ID, two.ID} {
		if !strings.Contains(a.body, "/proposals/"+r) {
			t.Errorf("no link to %s at the visit it would move", r)
		}
	}
	if css := s.browser().get(attrOf(t, a.body, "/static/hours.css")); css.status != http.StatusOK {
		t.Errorf("the hours' stylesheet: %d", css.status)
	}
	s.Propose(s.Actor("ana"), s.Move("apt_soren", s.At(0, 10, 15))) // it asks for half of its own time
	s.as("ana").get(s.sheet(0)+"&practitioner=okafor").says(t, "Waits: 2 proposals")
	other := s.as("ana").get(s.sheet(0) + "&practitioner=okafor")
	other.says(t, "Dr Ben Okafor", "Søren")
	if strings.Contains(other.body, "apt_maria") {
		t.Error("the filter for one practitioner shows another's visits")
	}
	s.as("ana").get("/?location=annex&date="+s.day(0)).says(t, "Havnegade Annex", "Nobody works here on this day.")
	s.as("ana").get("/?location=annex&practitioner=holm&date="+s.day(0)).says(t, "Dr Anna Holm")
}

// attrOf is the first address of the page that begins so.
func attrOf(t testing.TB, body, begin string) string {
	t.Helper()
	for n := range parsed(t, body).Descendants() {
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Val, begin) {
				return a.Val
			}
		}
	}
	t.Fatalf("no address begins with %s", begin)
	return ""
}

func TestTheSheetSaysWhenItChanged(t *testing.T) {
	s := newDeskSite(t)
	b := s.as("ana")
	poll := attrOf(t, b.get(s.sheet(0)).body, "/day/changed?")
	looks := s.looked("day.read")
	if a := b.get(poll, htmx...); a.status != http.StatusNoContent || a.body != "" {
		t.Errorf("unchanged: %d %s", a.status, a.body)
	}
	s.visit("new", "aoife", "holm", s.At(1, 14, 0), 30, "booked")
	if a := b.get(poll, htmx...); a.status != http.StatusNoContent {
		t.Errorf("another day changed: %d", a.status)
	}
	s.Propose(s.Actor("emil"), s.Move("apt_soren", s.At(0, 12, 0)))
	a := b.get(poll, htmx...)
	if a.status != http.StatusOK || strings.Contains(a.body, "<html") {
		t.Errorf("changed: %d", a.status)
	}
	a.says(t, "The sheet changed.")
	here := url.Values{"location": {"main"}, "date": {s.day(0)}}
	if to := attrOf(t, a.body, "/?"); to != "/?"+here.Encode() {
		t.Errorf("it leads to %s", to)
	}
	if again := s.looked("day.read"); again != looks {
		t.Errorf("polling left %s rows, then %s", looks, again)
	}
	poll = attrOf(t, b.get(s.sheet(0)).body, "/day/changed?")
	if a := b.get(poll, htmx...); a.status != http.StatusNoContent {
		t.Errorf("after a reload: %d", a.status)
	}
}

func TestAClinicWithoutLocationsHasAnEmptySheet(t *testing.T) {
	s := newDeskSite(t)
	s.Exec(`INSERT INTO clinics (id, name) VALUES ('new', 'New')`)
	s.Exec(`INSERT INTO accounts (id, clinic, email, name, role, password_hash) VALUES ('nia', 'new', 'nia@example.test', 'nia', 'staff', 'x')`)
	for path := range map[string]bool{"/": true, "/queue": true, "/outbox": true, "/audit": true} {
		if a := s.as("nia").get(path); a.status != http.StatusOK {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}

func TestHoursOfASheet(t *testing.T) {
	copenhagen, err := clinic.LoadZone("Europe/Copenhagen")
	if err != nil {
		t.Fatal(err)
	}
	day := clinic.Date{Year: 2027, Month: time.March, Day: 28} // the clocks go forward at 02:00
	sheet := func(minutes int, spans ...[2]int) db.DaySheet {
		from, to := clinic.DayBounds(day, copenhagen)
		d := db.DaySheet{Day: day, From: from, To: to, Location: clinic.Location{ID: "main"}}
		for _, span := range spans {
			for m := span[0]; m < span[1]; m += minutes {
				at := time.Date(2027, 3, 28, 0, m, 0, 0, copenhagen)
				d.Slots = append(d.Slots, clinic.Slot{StartsAt: at.UTC(), EndsAt: at.Add(time.Duration(minutes) * time.Minute).UTC()})
			}
		}
		return d
	}
	for _, c := range []struct {
		name  string
		sheet db.DaySheet
		want  dayHours
	}{
		{"nobody", sheet(15), dayHours{0, 0, 15, 0, 0}},
		{"with lunch", sheet(15, [2]int{480, 720}, [2]int{750, 960}), dayHours{480, 960, 15, 720, 750}},
		{"someone works through", sheet(15, [2]int{480, 720}, [2]int{750, 960}, [2]int{600, 780}), dayHours{480, 960, 15, 0, 0}},
		{"a gap in the morning is no lunch", sheet(30, [2]int{480, 540}, [2]int{600, 960}), dayHours{480, 960, 30, 0, 0}},
		{"rows of 90 minutes are halved", sheet(90, [2]int{540, 900}), dayHours{540, 900, 45, 0, 0}},
		{"off the hour", sheet(20, [2]int{490, 610}), dayHours{490, 610, 20, 0, 0}},
		{"overnight", sheet(30, [2]int{1320, 1560}), dayHours{1320, 1560, 30, 0, 0}},
	} {
		if got := hoursOf(c.sheet, copenhagen); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	mixed := sheet(15, [2]int{480, 600})
	mixed.Slots = append(mixed.Slots, sheet(20, [2]int{600, 700}).Slots...)
	if got := hoursOf(mixed, copenhagen); got.grid != 5 {
		t.Errorf("slots of 15 and 20 minutes: rows of %d", got.grid)
	}
}
