package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

const moveMaria = "/proposals/new?action=reschedule&appointment=apt_maria"

func TestProposeFromTheForm(t *testing.T) {
	for way, headers := range ways {
		t.Run(way, func(t *testing.T) {
			s := newDeskSite(t)
			b := s.as("ana")
			page := b.get(moveMaria)
			if page.status != http.StatusOK {
				t.Fatalf("%d %s", page.status, page.body)
			}
			page.says(t, "Move Maria Jensen", "Dr Anna Holm", "Nothing changes when you send this form")
			f := mustForm(t, page.body, "/proposals")
			// Its own slots count as free, taken ones are not there, and nothing is chosen.
			offered := f.radios["starts_at"]
			if f.fields.Has("starts_at") || !slices.Contains(offered, s.At(0, 10, 0).Format(time.RFC3339)) || !slices.Contains(offered, s.At(0, 10, 15).Format(time.RFC3339)) {
				t.Errorf("chosen %v of %v", f.fields["starts_at"], offered)
			}
			if len(f.fields.Get("idempotency_key")) < 20 {
				t.Errorf("key %q", f.fields.Get("idempotency_key"))
			}
			change := url.Values{"starts_at": {s.At(0, 11, 0).Format(time.RFC3339)}, "reason": {"She asked"}}
			a := b.sendForm(f, change, headers...)
			id := s.Text(`SELECT id FROM proposals`)
			if way == "page" {
				if a.status != http.StatusSeeOther || a.header.Get("Location") != "/proposals/"+id {
					t.Fatalf("%d to %q", a.status, a.header.Get("Location"))
				}
				a = b.get(a.header.Get("Location"))
			} else if a.status != http.StatusOK || !fragment(a) || a.header.Get("HX-Push-Url") != "/proposals/"+id {
				t.Fatalf("%d %v", a.status, a.header)
			}
			a.says(t, "Nothing has changed yet", "11:00", "She asked")
			mustForm(t, a.body, "/confirm")
			// The second click of a double click is a replay: one proposal.
			again := b.sendForm(f, change, headers...)
			if again.header.Get("Idempotency-Replayed") != "true" || s.Text(`SELECT count(*) FROM proposals`) != "1" {
				t.Errorf("second click: %d, %s proposals", again.status, s.Text(`SELECT count(*) FROM proposals`))
			}
			if s.Text(`SELECT version FROM appointments WHERE id = 'apt_maria'`) != "1" {
				t.Error("the visit changed")
			}
		})
	}
}

// A box that is not ticked sends nothing, no reminder either; a form without the box leaves the default.
func TestNotifyOfAForm(t *testing.T) {
	s := newDeskSite(t)
	b := s.as("ana")
	for name, c := range map[string]struct {
		change   url.Values
		messages string
	}{
		"ticked":      {nil, "2"},
		"not ticked":  {url.Values{"notify": nil}, "0"},
		"no box":      {url.Values{"notify": nil, notifyShown: nil}, "2"},
		"in words":    {url.Values{"notify": {"false"}, notifyShown: nil}, "0"},
		"empty value": {url.Values{"notify": {""}, notifyShown: nil}, "2"},
	} {
		f := mustForm(t, b.get(moveMaria).body, "/proposals")
		f.fields.Set("starts_at", s.At(1, 9, 0).Format(time.RFC3339))
		a := b.sendForm(f, c.change)
		id := strings.TrimPrefix(a.header.Get("Location"), "/proposals/")
		n := s.Text(`SELECT json_array_length(convert_from(plan_bytes, 'UTF8')::json->'messages') FROM revisions WHERE proposal = $1`, id)
		if a.status != http.StatusSeeOther || n != c.messages {
			t.Errorf("%s: %d, %s messages, want %s", name, a.status, n, c.messages)
		}
	}
}

// A refused form comes back with what was typed, what is wrong with it, and a fresh key.
func TestRefusedFormsComeBackFilledIn(t *testing.T) {
	s := newDeskSite(t)
	s.Exec(`UPDATE slots SET appointment = 'apt_soren' WHERE id = 'holm_' || to_char($1::timestamptz AT TIME ZONE 'UTC', 'MMDD_HH24MI')`, s.At(1, 9, 0))
	b := s.as("ana")
	key := mustForm(t, b.get(moveMaria).body, "/proposals").fields.Get("idempotency_key")
	long := strings.Repeat("x", 501)
	for way, headers := range ways {
		for name, c := range map[string]struct {
			change url.Values
			code   string
			says   []string
		}{
			"no time":       {url.Values{"starts_at": nil}, "validation_failed", []string{"This is needed"}},
			"no such time":  {url.Values{"starts_at": {"soon"}}, "validation_failed", []string{"Give a date and time"}},
			"too long":      {url.Values{"message": {long}}, "validation_failed", []string{"At most 500 characters"}},
			"no such place": {url.Values{"location": {"lake_main"}}, "validation_failed", []string{"There is no such location"}},
			"no such field": {url.Values{"colour": {"blue"}}, "validation_failed", []string{"colour: "}},
			"past":          {url.Values{"starts_at": {"2020-01-01T10:00"}}, "in_the_past", []string{"in the past"}},
			"lunch at night": {url.Values{"starts_at": {s.At(1, 22, 0).Format(time.RFC3339)}}, "outside_schedule",
				[]string{"no hours"}},
			"taken":     {url.Values{"starts_at": {s.At(1, 9, 0).Format(time.RFC3339)}}, "slot_taken", []string{"Somebody else has this time", "These are free instead"}},
			"stays":     {url.Values{"starts_at": {s.At(0, 10, 0).Format(time.RFC3339)}}, "validation_failed", []string{"already stands there"}},
			"bad key":   {url.Values{"idempotency_key": {"a b"}}, "idempotency_key_missing", nil},
			"bad type ": {url.Values{"notify": {"perhaps"}}, "validation_failed", []string{"true or false"}},
		} {
			f := mustForm(t, b.get(moveMaria).body, "/proposals")
			f.fields.Set("starts_at", s.At(2, 9, 0).Format(time.RFC3339))
			f.fields.Set("reason", "She asked")
			f.fields.Set("message", "Bring your glasses")
			a := b.sendForm(f, c.change, headers...)
			want := answers[c.code].status
			if a.status != want || fragment(a) != (way == "fragment") {
				t.Errorf("%s %s: %d, want %d: %s", way, name, a.status, want, textOf(parsed(t, a.body)))
				continue
			}
			a.says(t, c.says...)
			back := mustForm(t, a.body, "/proposals")
			if back.fields.Get("reason") != "She asked" || c.change.Get("message") == "" && back.fields.Get("message") != "Bring your glasses" {
				t.Errorf("%s %s: comes back with %v", way, name, back.fields)
			}
			if k := back.fields.Get("idempotency_key"); k == key || k == f.fields.Get("idempotency_key") || len(k) < 20 {
				t.Errorf("%s %s: key %q", way, name, k)
			}
			if c.code == "slot_taken" && (back.fields.Has("starts_at") || len(back.radios["starts_at"]) < 5) {
				t.Errorf("%s: chosen %v", name, back.fields["starts_at"])
			}
			if way == "page" && !strings.Contains(a.body, "<title>Error") {
				t.Errorf("%s: the title does not begin with Error", name)
			}
		}
	}
	if s.Text(`SELECT count(*) FROM proposals`) != "0" {
		t.Error("something was proposed")
	}
}

// E3: an hour that exists twice is a question with two answers, none chosen; one that does not exist is refused with
// the times beside it. The card names the zone, the offset and UTC.
func TestWallTimesThatAreTwoInstantsOrNone(t *testing.T) {
	s := newDeskSite(t)
	s.Exec(`UPDATE locations SET zone = 'Europe/Berlin' WHERE id = 'annex'`)
	lastSunday := func(month time.Month) time.Time {
		d := time.Date(time.Now().Year()+1, month, 31, 0, 0, 0, 0, time.UTC)
		return d.AddDate(0, 0, -int(d.Weekday()))
	}
	spring, autumn := lastSunday(time.March), lastSunday(time.October)
	s.slotsFor("holm", "annex", autumn, 12)
	s.slotsFor("holm", "annex", spring, 12)
	b := s.as("ana")
	page := b.get("/proposals/new?action=book&patient=soren&practitioner=holm&location=annex&type=std&from=" + autumn.Format("2006-01-02"))
	page.says(t, "Book a visit for Søren Łukasz Groß", "Europe/Berlin")
	f := mustForm(t, page.body, "/proposals")
	first, second := autumn.Add(30*time.Minute), autumn.Add(90*time.Minute) // 02:30 twice
	for _, at := range []time.Time{first, second} {
		if !slices.Contains(f.radios["starts_at"], at.Format(time.RFC3339)) {
			t.Errorf("%s is not offered in %v", at, f.radios["starts_at"])
		}
	}
	page.says(t, "UTC+02:00", "UTC+01:00")

	a := b.sendForm(f, url.Values{"starts_at": {autumn.Format("2006-01-02") + "T02:30"}})
	if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "exists twice") {
		t.Fatalf("%d %s", a.status, textOf(parsed(t, a.body)))
	}
	back := mustForm(t, a.body, "/proposals")
	if back.fields.Has("starts_at") || back.radios["starts_at"][0] != first.Format(time.RFC3339) || back.radios["starts_at"][1] != second.Format(time.RFC3339) {
		t.Errorf("chosen %v of %v", back.fields["starts_at"], back.radios["starts_at"])
	}
	a = b.sendForm(back, url.Values{"starts_at": {second.Format(time.RFC3339)}})
	if a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, textOf(parsed(t, a.body)))
	}
	b.get(a.header.Get("Location")).says(t, "02:30", "Europe/Berlin", "UTC+01:00", second.Format("2006-01-02T15:04:05Z"))

	a = b.sendForm(f, url.Values{"starts_at": {spring.Format("2006-01-02") + "T02:30"}})
	if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "skipped on this day") {
		t.Fatalf("%d %s", a.status, textOf(parsed(t, a.body)))
	}
	if back := mustForm(t, a.body, "/proposals"); back.fields.Has("starts_at") || len(back.radios["starts_at"]) < 2 {
		t.Errorf("chosen %v of %v", back.fields["starts_at"], back.radios["starts_at"])
	}
}

func TestTheFormOfEachAction(t *testing.T) {
	s := newDeskSite(t)
	b := s.as("ana")
	cancel := mustForm(t, b.get("/proposals/new?action=cancel&appointment=apt_maria").body, "/proposals")
	if cancel.fields.Has("reason_code") || len(cancel.radios["reason_code"]) != 6 {
		t.Errorf("reasons %v", cancel.radios["reason_code"])
	}
	a := b.sendForm(cancel, nil)
	if a.status != http.StatusUnprocessableEntity {
		t.Errorf("without a reason: %d", a.status)
	}
	if a := b.sendForm(cancel, url.Values{"reason_code": {"patient_request"}}); a.status != http.StatusSeeOther {
		t.Errorf("cancel: %d %s", a.status, textOf(parsed(t, a.body)))
	}
	open := b.get("/proposals/new?action=book&patient=soren")
	open.says(t, "Choose practitioner, location and type")
	f := mustForm(t, open.body, "/proposals")
	if f.fields.Get("practitioner") != "" || f.fields.Get("type") != "" || len(f.radios["starts_at"]) != 0 {
		t.Errorf("chosen for nobody: %v", f.fields)
	}
	b.get("/proposals/new?action=book").says(t, "Who is it for?")
	if n := s.Text(`SELECT string_agg(action || ' ' || patient, ', ' ORDER BY at) FROM audit WHERE action LIKE '%.read' AND actor = 'ana'`); !strings.HasSuffix(n, "patient.read soren") || !strings.HasPrefix(n, "appointment.read maria") {
		t.Errorf("the trail says that ana saw %s", n)
	}
	for path, status := range map[string]int{
		"/proposals/new?action=reschedule&appointment=lake_apt_maria": http.StatusNotFound,
		"/proposals/new?action=reschedule":                            http.StatusNotFound,
		"/proposals/new?action=explode&appointment=apt_maria":         http.StatusUnprocessableEntity,
		moveMaria + "&from=someday":                                   http.StatusUnprocessableEntity,
	} {
		if a := b.get(path); a.status != status {
			t.Errorf("%s: %d, want %d", path, a.status, status)
		}
	}
	if a := s.as("ada").get(moveMaria); a.status != http.StatusForbidden {
		t.Errorf("an admin: %d", a.status)
	}
	if a := s.as("ada").post("/proposals", url.Values{"action": {"cancel"}, "appointment": {"apt_maria"}, "reason_code": {"other"}}); a.status != http.StatusForbidden {
		t.Errorf("an admin proposes: %d", a.status)
	}
	// The first day as the desk writes it, or in steps from the day shown.
	for typed, first := range map[string]time.Time{"+1d": s.At(1, 9, 0), s.At(2, 0, 0).Format("02-Jan-2006"): s.At(2, 9, 0), "-9w": s.At(0, 9, 0)} {
		f := mustForm(t, b.get(moveMaria+"&from="+url.QueryEscape(typed)).body, "/proposals")
		if at := f.radios["starts_at"]; !slices.Contains(at, first.Format(time.RFC3339)) || slices.Contains(at, first.AddDate(0, 0, -1).Format(time.RFC3339)) {
			t.Errorf("from %s: %v", typed, at)
		}
	}
	// The list of starts alone, for another practitioner and week; the URL holds ids only.
	a = b.get(moveMaria+"&practitioner=okafor&from="+s.At(1, 0, 0).Format("2006-01-02"), htmx...)
	if a.status != http.StatusOK || !fragment(a) || !strings.Contains(a.body, `id="slots"`) {
		t.Errorf("starts: %d", a.status)
	}
	if f := mustForm(t, a.body, "/proposals"); slices.Contains(f.radios["starts_at"], s.At(0, 9, 0).Format(time.RFC3339)) || !slices.Contains(f.radios["starts_at"], s.At(1, 9, 0).Format(time.RFC3339)) {
		t.Errorf("starts %v", f.radios["starts_at"])
	}
}
