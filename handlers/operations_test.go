package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/db/desktest"
	"countersign/internal/ehr"
	"countersign/internal/proposal"
)

// keptInEHR makes the site's clinics be kept in an EHR too, with no connector at work.
func keptInEHR(s *deskSite) *deskSite {
	s.Desk.KeptInEHR()
	s.deps.Desk.EHR = s.Desk.Desk.EHR
	return s
}

func notThere(s *deskSite, to time.Time) (proposal.Record, ehr.Operation) {
	s.Exec(`INSERT INTO ehr_links (clinic, kind, id, remote_id, remote_version) VALUES ('hav', 'Appointment', 'apt_maria', 'r1', '1')`)
	return s.Strand(s.Move("apt_maria", to), ehr.Manual, "several", desktest.Saw(0, "none"), desktest.Saw(2, "several"))
}

// A reviewer finds what nobody knows, has it looked for, says that it is not there, and another confirms; with pages and
// with fragments.
func TestAnOperationIsResolvedOnPages(t *testing.T) {
	for _, way := range []string{"page", "fragment"} {
		t.Run(way, func(t *testing.T) {
			s := keptInEHR(newDeskSite(t))
			var headers []string
			if way == "fragment" {
				headers = []string{"HX-Request", "true"}
			}
			of, op := notThere(s, s.At(0, 11, 0))
			ben, bea := s.as("ben"), s.as("bea")
			a := ben.get("/operations")
			a.says(t, "Waiting for the EHR", "Move Maria Jensen’s visit", "A person must look", "several appointments under the number", "sent once, looked twice", "1 to look at")
			if !strings.Contains(a.body, `href="/operations" aria-current="page"`) || !strings.Contains(a.body, `href="/operations/`+op.ID+`"`) {
				t.Error("the navigation or the row does not lead there")
			}
			a = ben.get("/operations/" + op.ID)
			a.says(t, "What was approved", "Changed", "What was sent", "No clear answer (no answer)", `"resourceType":"Appointment"`, "2 appointments under the same number", "It is not moved there: release", "Look again")
			a = ben.sendForm(mustForm(t, a.body, "/look"), nil, headers...)
			if way == "page" && a.header.Get("Location") != "/operations/"+op.ID || way == "fragment" && !fragment(a) {
				t.Fatalf("%d %s", a.status, a.header.Get("Location"))
			}
			a = ben.get("/operations/" + op.ID)
			a.says(t, "A look, for ben")
			// An id that is none is said beside the field; what was typed stays.
			a = ben.post("/proposals", url.Values{"action": {"resolve_operation@1"}, "operation": {op.ID}, "resolution": {"booked"}, "remote_id": {"no id"}}, headers...)
			if a.status != http.StatusUnprocessableEntity {
				t.Fatal(a.status)
			}
			a.says(t, "Id of the appointment in the EHR: Give the id as the EHR shows it")
			if !strings.Contains(a.body, `value="no id"`) {
				t.Error("what was typed is gone")
			}
			a = ben.post("/proposals", url.Values{"action": {"resolve_operation@1"}, "operation": {op.ID}, "resolution": {"not_booked"}, "note": {"Looked at their calendar."},
				"idempotency_key": {"say-1"}}, headers...)
			id := s.Text(`SELECT id FROM proposals WHERE action = 'resolve_operation@1'`)
			if way == "page" && a.header.Get("Location") != "/proposals/"+id {
				t.Fatalf("%d to %s", a.status, a.header.Get("Location"))
			}
			a = ben.get("/proposals/" + id)
			a.says(t, "The EHR does not have it: the visit of Maria Jensen was not moved", "A person says what the EHR has not said", "Looked at their calendar.", "free for others again", "Open the operation")
			if confirmable(t, a.body) {
				t.Error("who asked may confirm")
			}
			ben.get("/operations/"+op.ID).says(t, "another reviewer must confirm it")
			if b := ben.get("/operations/" + op.ID); strings.Contains(b.body, `id="is-booked"`) || !strings.Contains(b.body, "/proposals/"+id) {
				t.Error("it can be said twice")
			}
			bea.get("/queue").says(t, "The EHR does not have it", "confirming gives the time back")
			bea.sendForm(mustForm(t, bea.get("/proposals/"+id).body, "/confirm"), nil, headers...)
			bea.get("/proposals/"+id).says(t, "Completed: the change was ended as not done", "its time is free again")
			if a := s.as("ana").get("/proposals/" + of.ID); !strings.Contains(a.body, "A reviewer looked in the EHR") {
				t.Error("who asked for the change is not told why")
			}
			bea.get("/operations").says(t, "Nothing waits for the EHR")
			bea.get("/operations/"+op.ID).says(t, "Nothing: it ended")
		})
	}
}

// The desk sees what waits; only reviewers see what was sent; an administrator sees neither; another clinic's is unknown.
func TestWhoSeesTheOperations(t *testing.T) {
	s := keptInEHR(newDeskSite(t))
	_, op := notThere(s, s.At(0, 11, 0))
	ana := s.as("ana")
	a := ana.get("/operations")
	a.says(t, "Move Maria Jensen’s visit")
	if strings.Contains(a.body, "/operations/"+op.ID) || strings.Contains(a.body, "1 to look at") {
		t.Error("the front desk is led to the evidence")
	}
	if a := ana.get("/operations/" + op.ID); a.status != http.StatusForbidden || strings.Contains(a.body, "Maria") {
		t.Errorf("the front desk sees the evidence: %d", a.status)
	}
	if a := ana.post("/operations/"+op.ID+"/look", nil); a.status != http.StatusForbidden {
		t.Errorf("the front desk looks: %d", a.status)
	}
	ada := s.as("ada")
	if a := ada.get("/operations"); a.status != http.StatusForbidden || strings.Contains(a.body, `href="/operations"`) {
		t.Errorf("an administrator: %d", a.status)
	}
	lake := s.as("lake_ben")
	lake.get("/operations").says(t, "Nothing waits for the EHR")
	strip := func(a reply) string { return a.body[strings.Index(a.body, "<main"):] }
	if foreign, none := lake.get("/operations/"+op.ID), lake.get("/operations/op_nothing"); foreign.status != http.StatusNotFound || strip(foreign) != strip(none) {
		t.Errorf("another clinic's operation: %d", foreign.status)
	}
	if foreign, none := lake.post("/operations/"+op.ID+"/look", nil), lake.post("/operations/op_nothing/look", nil); foreign.status != http.StatusNotFound || strip(foreign) != strip(none) {
		t.Errorf("another clinic's operation is looked for: %d", foreign.status)
	}
	if strings.Contains(s.log.String(), "Maria") || strings.Contains(s.log.String(), "resourceType") {
		t.Error("the log holds what was sent")
	}
	got := s.Text(`SELECT string_agg(DISTINCT action || ' ' || outcome || ' ' || coalesce(object, '-'), ', ') FROM audit WHERE clinic = 'lake' AND action LIKE 'operation%'`)
	if got != "operation.list success -, operation.look denied -, operation.read denied -" {
		t.Errorf("the trail says %s", got)
	}
}

// A clinic without an EHR has no such desk in its navigation; the page says why it is empty.
func TestNoEHRNoDesk(t *testing.T) {
	a := newDeskSite(t).as("ben").get("/operations")
	a.says(t, "in no EHR")
	if strings.Contains(a.body, `href="/operations" aria-current`) {
		t.Error("the navigation leads there")
	}
}

// The lane's state and what is late stand on top (case G7).
func TestTheLaneAndWhatIsLateStandOnTop(t *testing.T) {
	s := keptInEHR(newDeskSite(t))
	_, op := notThere(s, s.At(0, 11, 0))
	s.Exec(`UPDATE ehr_operations SET deadline = app_now() - interval '1 minute' WHERE id = $1`, op.ID)
	s.Exec(`INSERT INTO ehr_lanes (clinic, paused_until, failures, failing_since, code) VALUES ('hav', app_now() + interval '1 minute', 4, app_now() - interval '10 minutes', 'no_answer')`)
	s.Exec(`INSERT INTO ehr_drift (clinic, kind, remote_id, id, code) VALUES ('hav', 'Appointment', 'r5', '', 'no_such_patient')`)
	ben := s.as("ben")
	ben.get("/operations").says(t, "The EHR does not answer since", "nothing is being sent", "1 change past the deadline", "Late", "What the EHR says differently", "r5")
	ben.get("/operations?state=late").says(t, "Move Maria Jensen’s visit")
	ben.get("/operations?state=pending").says(t, "Nothing is in that state")
	if a := ben.get("/operations?state=odd"); a.status != http.StatusUnprocessableEntity {
		t.Error(a.status)
	}
	if a := ben.get("/operations?cursor=odd"); a.status != http.StatusUnprocessableEntity {
		t.Error(a.status)
	}
}
