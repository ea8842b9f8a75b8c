package mirrortest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"countersign/db/desktest"
	"countersign/internal/ehr"
	"countersign/internal/ehr/fhirserver"
)

// A booking of ours that the EHR took twice: the second is drift by its mark, in the first's way or not; what a move left
// behind there, cancelled, is neither taken nor drift.
func TestASecondCopyOfOurBookingIsSeen(t *testing.T) {
	t.Parallel()
	d := desktest.New(t)
	o := other{t, fhirserver.URL(t)}
	o.put(world()...)
	m := mirrorOf(t, d, o.base)
	synced(t, m, false)
	d.Propose(d.Actor("ana"), cancel("apt_maria"))
	d.Exec(`INSERT INTO ehr_operations (clinic, id, proposal, revision, plan_hash, kind, appointment, state, send_until, deadline, person, person_name, role, via, request, ended_at)
		SELECT 'hav', 'op_1', id, 1, 'x', 'book', 'n_a1', 'applied', app_now(), app_now(), 'ana', 'ana', 'staff', 'page', 'r', app_now() FROM proposals WHERE clinic = 'hav' LIMIT 1`)
	marked := func(id, operation, from, to string) string {
		return strings.Replace(visit(id, "n_p1", "n_holm", from, to), `"status":"booked"`, `"identifier":[{"system":"`+ehr.IdentifierSystem+`","value":"`+operation+`"}],"status":"booked"`, 1)
	}
	o.put(marked("n_a1", "op_1", "09:00:00", "09:30:00"), marked("n_twice", "op_1", "09:00:00", "09:30:00"), marked("n_later", "op_1", "12:00:00", "12:30:00"),
		strings.Replace(marked("n_left", "op_1", "13:00:00", "13:30:00"), `"booked"`, `"cancelled"`, 1),
		marked("n_strange", "op_2", "09:15:00", "09:45:00"), visit("n_theirs", "n_p1", "n_holm", "09:15:00", "09:45:00"))
	for _, full := range []bool{false, true} {
		synced(t, m, full)
		same(t, "drift", drift(t, d), "Appointment/n_later| duplicate", "Appointment/n_strange| duplicate", "Appointment/n_theirs| overlap", "Appointment/n_twice| duplicate")
	}
	if got := one(t, d, `SELECT count(*) FROM appointments WHERE id IN ('n_twice', 'n_later', 'n_left', 'n_strange')`); got != "0" {
		t.Errorf("%s copies were taken", got)
	}
}

// Everything here was taken from an EHR that has lost it, and that has no schedules at all: one full reading lists it all,
// and what is known here only. Nobody asks for a slot that is over.
func TestAFullReadingEndsAndListsEverything(t *testing.T) {
	t.Parallel()
	d := desktest.New(t)
	lost := false
	s := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		kind := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		switch {
		case kind == "Schedule":
			w.WriteHeader(404)
		case strings.HasPrefix(kind, "n_q"):
			w.WriteHeader(410)
			fmt.Fprint(w, `{"resourceType":"OperationOutcome","issue":[]}`)
		case kind == "Location":
			fmt.Fprint(w, page(location("n_main")))
		case kind == "Practitioner":
			fmt.Fprint(w, page(practitioner("n_holm")))
		case kind == "Patient":
			fmt.Fprint(w, page(patient("n_p1", "N1")))
		case kind == "Appointment" && !lost:
			var all []string
			for i := range 230 {
				from := fmt.Sprintf("%02d:%02d:%02d", 8+i/60, i%60, 0)
				to := fmt.Sprintf("%02d:%02d:%02d", 8+i/60, i%60, 30)
				all = append(all, visit(fmt.Sprintf("n_q%d", i), "n_p1", "n_holm", from, to))
			}
			fmt.Fprint(w, page(all...))
		default:
			fmt.Fprint(w, emptyPage)
		}
	})
	m := mirrorOf(t, d, s.URL+"/fhir")
	synced(t, m, false)
	lost = true
	d.Exec(`INSERT INTO slots (clinic, id, practitioner, location, schedule, day, starts_at, ends_at, types)
		SELECT 'hav', 'n_past', practitioner, location, schedule, '2020-01-02', '2020-01-02 08:00Z', '2020-01-02 08:30Z', types FROM slots WHERE clinic = 'hav' LIMIT 1;
		INSERT INTO ehr_links (clinic, kind, id, remote_id) VALUES ('hav', 'Slot', 'n_past', 'n_past')`)
	synced(t, m, true)
	if got := one(t, d, `SELECT string_agg(n || ' ' || code, ', ' ORDER BY code) FROM (SELECT count(*) AS n, code FROM ehr_drift WHERE clinic = 'hav' AND kind = 'Appointment' GROUP BY code) x`); got != "230 gone, 2 unknown_there" {
		t.Errorf("listed are %s", got)
	}
	if slices.ContainsFunc(s.asked, func(u string) bool { return strings.HasSuffix(u, "n_past") }) {
		t.Error("it asked for a slot that is over")
	}
}
