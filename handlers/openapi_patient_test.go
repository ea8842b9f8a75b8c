package handlers

import (
	"net/http"
	"strings"
	"testing"
)

// The actions on patients over the API; every body is held against the description, as in the flow of visits.
func TestWhatTheCallsOnPatientsAnswerIsDescribed(t *testing.T) {
	a := newAPISite(t)
	post := func(who, path string, body any, headers ...string) said {
		t.Helper()
		return a.called(who, http.MethodPost, path, body, headers...)
	}
	wish := func(action string, params members) members { return members{"action": action, "parameters": params} }
	ida := members{"family": "Holt", "given": "Ida", "birth_date": "1999-01-01", "phone": "+4520123456", "contact_preference": "sms"}

	p := post("ana", "/proposals", wish("register_patient@1", ida)).want(t, 201, "")
	edit := members{"revision": 1, "plan_hash": p.text("plan_hash"), "parameters": members{"email": "ida@example.test"}}
	p = post("ana", "/proposals/"+p.text("id")+"/revisions", edit).want(t, 201, "")
	done := a.confirm("ana", p, "r-1").want(t, 200, "")
	id := done.text("result", "patient", "id")
	if done.text("result", "patient", "name") != "Ida Holt" || done.text("result", "patient", "email") != "ida@example.test" {
		t.Errorf("registered: %s", done.body)
	}
	if got := a.called("ana", http.MethodGet, "/patients/"+id, nil).want(t, 200, ""); got.text("phone") != "+45 20 12 34 56" || got.text("mrn") != done.text("result", "patient", "mrn") {
		t.Errorf("stored: %s", got.body)
	}
	again := post("ana", "/proposals", wish("register_patient@1", ida)).want(t, 422, "possible_duplicate")
	if items, ok := at(again.object, "error", "candidates").([]any); !ok || len(items) != 1 || at(items[0], "id") != id || strings.Contains(again.text("error", "message"), "Holt") {
		t.Errorf("candidates: %s", again.body)
	}
	ida["confirm_not_duplicate"] = true
	twin := post("ana", "/proposals", wish("register_patient@1", ida)).want(t, 201, "")
	a.confirm("ana", twin, "r-2").want(t, 403, "self_approval_forbidden")
	a.confirm("ben", twin, "r-2").want(t, 200, "")

	c := post("ana", "/proposals", wish("update_contact@1", members{"patient": "maria", "phone": "+4520123457", "contact_preference": "sms"})).want(t, 201, "")
	m := post("ana", "/proposals", wish("send_message@1", members{"patient": "maria", "channel": "email", "message": "Hello"})).want(t, 201, "")
	if got := a.confirm("ana", c, "c-1").want(t, 200, ""); got.text("result", "patient", "contact_preference") != "sms" {
		t.Errorf("changed: %s", got.body)
	}
	a.confirm("ana", m, "m-1").want(t, 409, "resource_changed")
	m = post("bot", "/proposals", wish("send_message@1", members{"patient": "maria", "channel": "sms", "message": "Hello"})).want(t, 201, "")
	a.confirm("ana", m, "m-1").want(t, 403, "self_approval_forbidden")
	if got := a.confirm("ben", m, "m-1").want(t, 200, ""); at(got.object, "result", "messages") == nil {
		t.Errorf("sent: %s", got.body)
	}
	post("ana", "/proposals", wish("send_message@1", members{"patient": "lake_maria", "channel": "sms", "message": "Hello"})).want(t, 422, "validation_failed")
	post("ana", "/proposals", wish("update_contact@1", members{"patient": "maria"})).want(t, 422, "validation_failed")
	a.called("ana", http.MethodGet, "/proposals", nil).want(t, 200, "")
}
