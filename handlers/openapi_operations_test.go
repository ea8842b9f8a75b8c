package handlers

import (
	"net/http"
	"strings"
	"time"

	"countersign/db/desktest"
	"countersign/internal/ehr"
	"countersign/internal/proposal"
)

// resolves walks an operation that nobody knows the outcome of: listed, looked at, looked for, and resolved by two.
func (a *apiSite) resolves() {
	t := a.t
	t.Helper()
	keptInEHR(a.deskSite)
	get := func(who, path string) said { t.Helper(); return a.called(who, http.MethodGet, path, nil) }
	post := func(who, path string, body any, headers ...string) said {
		t.Helper()
		return a.called(who, http.MethodPost, path, body, headers...)
	}
	book := proposal.Proposing{Action: "book_appointment@1", Parameters: map[string]any{"patient": "maria", "type": "std", "practitioner": "holm", "location": "main", "starts_at": a.At(6, 9, 0).Format(time.RFC3339)}}
	saw := desktest.Saw(1, "different")
	saw.Code, saw.RemoteID, saw.RemoteVersion = "start,end", "r7", "2"
	of, op := a.Strand(book, ehr.Manual, "different", ehr.Look{How: "identifier", Verdict: "failed", Code: "status_500"}, saw)
	if got := get("ana", "/operations").want(t, 200, ""); at(got.object["items"].([]any)[0], "id") != op.ID {
		t.Errorf("listed: %s", got.body)
	}
	get("ben", "/operations?state=manual&limit=1").want(t, 200, "")
	get("ben", "/operations?state=odd").want(t, 422, "validation_failed")
	get("ada", "/operations").want(t, 403, "permission_denied")
	path := "/operations/" + op.ID
	if got := get("ben", path).want(t, 200, ""); at(got.object["sent"].([]any)[0], "body") == "" || at(got.object["seen"].([]any)[1], "remote_id") != "r7" {
		t.Errorf("evidence: %s", got.body)
	}
	get("ben", path+"?x=1").want(t, 422, "validation_failed")
	get("ana", path).want(t, 403, "permission_denied")
	get("ben", "/operations/op_nothing").want(t, 404, "not_found")
	post("ben", path+"/look", nil).want(t, 202, "")
	post("ana", path+"/look", nil).want(t, 403, "permission_denied")
	post("ben", "/operations/op_nothing/look", nil).want(t, 404, "not_found")

	say := members{"action": "resolve_operation@1", "parameters": members{"operation": op.ID, "resolution": "booked", "note": "Moved it back by hand."}}
	post("ana", "/proposals", say).want(t, 403, "permission_denied")
	p := post("ben", "/proposals", say).want(t, 201, "")
	post("ben", "/proposals/"+p.text("id")+"/confirm", named(p, "res-1")).want(t, 403, "self_approval_forbidden")
	bea := a.as("bea")
	if f, ok := formTo(t, bea.get("/proposals/"+p.text("id")).body, "/confirm"); !ok {
		t.Error("another reviewer cannot confirm")
	} else {
		bea.sendForm(f, nil)
	}
	done := get("ben", "/proposals/"+p.text("id")).want(t, 200, "")
	if done.text("result", "operation", "remote_id") != "r7" || done.text("outcome") != "completed" {
		t.Errorf("resolved: %s", done.body)
	}
	proof := get("ben", "/proposals/"+p.text("id")+"/evidence").want(t, 200, "")
	if strings.Contains(proof.body, "NOT EQUAL") || !strings.Contains(proof.body, "in the name of proposal "+of.ID) {
		t.Errorf("the evidence of a resolution: %s", proof.body)
	}
	if got := get("ben", "/proposals/"+of.ID).want(t, 200, ""); got.text("outcome") != "completed" || got.text("result", "appointment", "status") != "booked" {
		t.Errorf("the change: %s", got.body)
	}
	if got := get("ben", path).want(t, 200, ""); got.text("state") != "applied" {
		t.Errorf("the operation: %s", got.body)
	}
	post("ben", path+"/look", nil).want(t, 422, "validation_failed")
	a.deps.Desk.EHR, a.Desk.Desk.EHR = nil, nil
}
