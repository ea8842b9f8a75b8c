package mirrortest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"countersign/db/desktest"
	"countersign/internal/ehr"
	"countersign/internal/ehr/fhirserver"
)

// page is a whole search with these resources.
func page(resources ...string) string {
	var entries []string
	for _, r := range resources {
		entries = append(entries, `{"resource":`+r+`}`)
	}
	return `{"resourceType":"Bundle","type":"searchset","entry":[` + strings.Join(entries, ",") + `]}`
}

func updated(resource, at string) string {
	return strings.Replace(resource, `"status"`, `"meta":{"versionId":"1","lastUpdated":"`+at+`"},"status"`, 1)
}

// One appointment that cannot be read when it is asked for again: it is drift, the others are taken, and the cursor moves.
func TestWhatCannotBeReadKeepsNothingWaiting(t *testing.T) {
	t.Parallel()
	d := desktest.New(t)
	hour, fault := 1, ""
	s := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		kind := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		switch {
		case kind == "n_odd":
			switch fault {
			case "html":
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, "<html>")
			case "http_404", "http_403", "http_500", "http_503", "http_429":
				w.Header().Set("Content-Type", "text/html")
				var status int
				fmt.Sscanf(fault, "http_%d", &status)
				w.WriteHeader(status)
			case "another":
				fmt.Fprint(w, visit("n_other", "n_p1", "n_holm", "08:00:00", "08:30:00"))
			}
		case kind == "n_who":
			fmt.Fprint(w, visit("n_who", "n_p9", "n_holm", "17:00:00", "17:30:00"))
		case kind == "Location":
			fmt.Fprint(w, page(location("n_main")))
		case kind == "Practitioner":
			fmt.Fprint(w, page(practitioner("n_holm")))
		case kind == "Patient":
			fmt.Fprint(w, page(patient("n_p1", "N1")))
		case strings.HasPrefix(kind, "n_a"):
			n := strings.TrimPrefix(kind, "n_a")
			fmt.Fprint(w, visit(kind, "n_p1", "n_holm", fmt.Sprintf("%02s:00:00", n), fmt.Sprintf("%02s:30:00", n)))
		case kind == "Appointment" && hour == 1:
			fmt.Fprint(w, page(updated(visit("n_odd", "n_p8", "n_holm", "08:00:00", "08:30:00"), "2026-01-02T01:00:00Z"),
				updated(visit("n_who", "n_p9", "n_holm", "17:00:00", "17:30:00"), "2026-01-02T01:00:00Z")))
		case kind == "Appointment":
			fmt.Fprint(w, page(updated(visit(fmt.Sprintf("n_a%d", hour), "n_p1", "n_holm", fmt.Sprintf("%02d:00:00", hour), fmt.Sprintf("%02d:30:00", hour)), fmt.Sprintf("2026-01-02T%02d:00:00Z", hour))))
		default:
			fmt.Fprint(w, emptyPage)
		}
	})
	m := mirrorOf(t, d, s.URL+"/fhir")
	synced(t, m, false)
	same(t, "first", drift(t, d), "Appointment/n_odd| unknown_reference", "Appointment/n_who| unknown_reference")
	for f, code := range map[string]string{"html": "not_fhir", "http_404": "http_404", "http_403": "http_403", "http_500": "http_500", "http_503": "http_503", "http_429": "http_429", "another": "malformed"} {
		fault = f
		hour++
		passes, err := m.Run(ctx, hour%2 == 0)
		if err != nil || len(passes) != 6 || passes[5].Code != "" || passes[5].Changed != 1 {
			t.Errorf("%s: %+v %v", f, passes, err)
		}
		same(t, f, drift(t, d), "Appointment/n_odd| "+code, "Appointment/n_who| unknown_reference")
		if got, want := one(t, d, `SELECT concat(since AT TIME ZONE 'UTC', code) FROM ehr_cursors WHERE clinic = 'hav' AND kind = 'Appointment'`), fmt.Sprintf("2026-01-02 %02d:00:00", hour); got != want {
			t.Errorf("%s: the cursor stands at %s, want %s", f, got, want)
		}
	}
}

// Ids that are none come to nobody: not to the database, and into no address.
func TestIdsThatAreNoneAreDrift(t *testing.T) {
	t.Parallel()
	d := desktest.New(t)
	odd := func(old, wanted string) string {
		return strings.Replace(updated(visit("n_x", "n_p1", "n_holm", "09:00:00", "09:30:00"), "2026-01-02T01:00:00Z"), old, wanted, 1)
	}
	mark := `"identifier":[{"system":"` + ehr.IdentifierSystem + `","value":"a\u0000"}],"slot":[{"reference":"Slot/\u0000"}],"status"`
	s := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:] {
		case "Location":
			fmt.Fprint(w, page(location("n_main"), strings.Replace(location("L"), `"L"`, `"..\/..\/metadata"`, 1)))
		case "Practitioner":
			fmt.Fprint(w, page(practitioner("n_holm")))
		case "Patient":
			fmt.Fprint(w, page(patient("n_p1", "N1")))
		case "Schedule":
			fmt.Fprint(w, page(schedule("n_s1", `n_holm`, `n\u0000`), schedule("n_s2", `n_\u0000`, `n_main`)))
		case "Slot":
			fmt.Fprint(w, page(slot("n_sl1", `n\u0000`, "free", "09:00:00", "09:30:00")))
		case "Appointment":
			fmt.Fprint(w, page(odd(`"n_x"`, `".."`), odd(`"n_x"`, `"a\u0000b"`), odd(`"n_x"`, `"a?b"`), odd(`"n_x"`, `"`+strings.Repeat("x", 65)+`"`),
				odd(`"versionId":"1"`, `"versionId":"\u0000"`), strings.Replace(odd("Patient/n_p1", `Patient/\u0001`), "n_x", "n_y", 1),
				strings.Replace(odd(`"status"`, mark), "n_x", "n_z", 1)))
		default:
			fmt.Fprint(w, emptyPage)
		}
	})
	m := mirrorOf(t, d, s.URL+"/fhir")
	for range 2 {
		for _, p := range synced(t, m, true) {
			if len(strings.Fields(p)) > 3 {
				t.Errorf("not to the end: %s", p)
			}
		}
	}
	found := drift(t, d)
	for i, f := range found {
		if strings.Contains(f, "/bad_") {
			found[i] = f[:strings.Index(f, "/")+1] + f[strings.Index(f, "|"):]
		}
	}
	same(t, "drift", found, "Appointment/| bad_id", "Appointment/| bad_id", "Appointment/| bad_id", "Appointment/| bad_id", "Appointment/n_x| bad_id", "Appointment/n_y| unknown_reference",
		"Location/| bad_id", "Schedule/n_s1| unknown_reference", "Schedule/n_s2| unknown_reference", "Slot/n_sl1| unknown_reference")
	for _, u := range s.asked {
		if strings.Contains(u, "bad_") || strings.Contains(u, "..") || strings.Contains(u, "metadata") {
			t.Errorf("asked for %s", u)
		}
	}
	if got := one(t, d, `SELECT count(*) FROM appointments WHERE id = 'n_z'`); got != "1" {
		t.Error("an odd mark kept a visit out")
	}
}

// What the EHR says nothing of stays as it is here; a new visit has a type that its schedule offers.
func TestWhatTheEHRDoesNotSayStays(t *testing.T) {
	t.Parallel()
	d := desktest.New(t)
	o := other{t, fhirserver.URL(t)}
	o.put(world()...)
	m := mirrorOf(t, d, o.base)
	synced(t, m, false)
	d.Exec(`UPDATE appointments SET location = 'annex', status = 'cancelled', reason_code = 'clinic_closed', changed_via = 'plan' WHERE clinic = 'hav' AND id = 'n_a1'`)
	before := one(t, d, `SELECT type FROM appointments WHERE clinic = 'hav' AND id = 'n_a1'`)

	untyped := func(id, from, to string) string {
		r := strings.Replace(visit(id, "n_p1", "n_holm", from, to), `"serviceType":[{"coding":[{"system":"urn:x","code":"std","display":"Control"}]}],`, "", 1)
		return strings.Replace(r, `,{"status":"accepted","actor":{"reference":"Location/n_main"}}`, "", 1)
	}
	cancelled := strings.Replace(untyped("n_a1", "09:00:00", "09:30:00"), `"booked"`, `"cancelled"`, 1)
	o.put(cancelled)
	same(t, "the same with less", synced(t, m, false))
	if got := version(t, d, "n_a1"); got != "2" {
		t.Errorf("version %s", got)
	}
	o.put(strings.ReplaceAll(cancelled, "T09:", "T07:"))
	same(t, "another time", synced(t, m, false), "Appointment 1 0")
	if got := one(t, d, `SELECT concat_ws(' ', location, type, reason_code, version) FROM appointments WHERE id = 'n_a1'`); got != "annex "+before+" clinic_closed 3" {
		t.Errorf("it is %s", got)
	}

	// New visits: the schedule's only type, the one that fits, and none that fits.
	in := func(id, from, to string) string {
		return strings.Replace(untyped(id, from, to), `"participant":[`, `"participant":[{"status":"accepted","actor":{"reference":"Location/n_main"}},`, 1)
	}
	o.put(in("n_n1", "11:00:00", "11:10:00"))
	synced(t, m, false)
	d.Exec(`UPDATE schedules SET types = types || '{inj,long}' WHERE clinic = 'hav' AND id = 'n_s1'`)
	o.put(in("n_n2", "12:00:00", "12:15:00"), in("n_n3", "13:00:00", "13:40:00"), in("n_n4", "14:00:00", "14:40:00"))
	synced(t, m, false)
	same(t, "drift", drift(t, d))
	got := one(t, d, `SELECT string_agg(concat_ws(' ', a.id, y.name, y.minutes), ', ' ORDER BY a.id) FROM appointments a JOIN appointment_types y ON y.clinic = a.clinic AND y.id = a.type WHERE a.id LIKE 'n\_n%'`)
	if got != "n_n1 Control 30, n_n2 Injection 15, n_n3 40 minutes 40, n_n4 40 minutes 40" {
		t.Errorf("types: %s", got)
	}
}

// One resource of a page that is no JSON as it should be, and one that the schema refuses: the others of the page are taken.
func TestOneOfAPageDoesNotSpoilIt(t *testing.T) {
	t.Parallel()
	d := desktest.New(t)
	d.Exec(`ALTER TABLE patients ADD CONSTRAINT no_given CHECK (given <> 'Refused')`)
	all := []string{patient("n_p1", "N1"), strings.Replace(patient("n_p2", "N2"), "Jensen", "J\xf8nsen", 1), strings.Replace(patient("n_p3", "N3"), `"name"`, `"name":[],"name"`, 1),
		strings.Replace(patient("n_p4", "N4"), `"Maria","Ane"`, `"Refused"`, 1), patient("n_p5", "N5")}
	s := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		for i := range all {
			if strings.HasSuffix(r.URL.Path, fmt.Sprintf("/Patient/n_p%d", i+1)) {
				fmt.Fprint(w, all[i])
				return
			}
		}
		if !strings.HasSuffix(r.URL.Path, "/Patient") {
			fmt.Fprint(w, emptyPage)
			return
		}
		fmt.Fprint(w, page(all...))
	})
	m := mirrorOf(t, d, s.URL+"/fhir")
	for _, want := range []string{"Patient 2 3", "Patient 0 3"} {
		same(t, "read", synced(t, m, false), want)
		same(t, "drift", drift(t, d), "Patient/n_p2| malformed", "Patient/n_p3| malformed", "Patient/n_p4| incomplete")
	}
}
