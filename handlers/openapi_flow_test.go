package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

type members = map[string]any

// One desk's day over the API. Every body that goes or comes is held against the description (see called), so this
// checks that what is written there is what happens, and the codes of contract section 6 on the way.
func TestWhatTheCallsAnswerIsDescribed(t *testing.T) {
	a := newAPISite(t)
	when := func(day, hour, minute int) string { return a.At(day, hour, minute).Format(time.RFC3339) }
	move := func(at string) members {
		return members{"action": "reschedule_appointment@1", "parameters": members{"appointment": "apt_maria", "starts_at": at}, "reason": "Asked for a later time"}
	}
	post := func(who, path string, body any, headers ...string) said {
		t.Helper()
		return a.called(who, http.MethodPost, path, body, headers...)
	}
	get := func(who, path string) said { t.Helper(); return a.called(who, http.MethodGet, path, nil) }

	// Read.
	get("", "/openapi.json").want(t, 200, "")
	for _, path := range []string{"/practitioners", "/locations", "/appointment-types", "/appointments", "/patients/maria", "/patients/aoife", "/appointments/apt_maria",
		"/appointments?date=" + a.Day.Format(time.DateOnly) + "&practitioner=holm&patient=maria&limit=1"} {
		get("bot", path).want(t, 200, "")
	}
	for _, list := range []string{"/practitioners", "/locations", "/appointment-types"} {
		first := get("bot", list+"?limit=1").want(t, 200, "")
		second := get("bot", list+"?limit=1&cursor="+first.text("next_cursor")).want(t, 200, "")
		if at(first.object["items"].([]any)[0], "id") == at(second.object["items"].([]any)[0], "id") {
			t.Errorf("%s: one row on two pages", list)
		}
		for _, odd := range []string{"?limit=0", "?cursor=gone", "?name=x"} {
			get("bot", list+odd).want(t, 422, "validation_failed")
		}
	}
	found := post("ana", "/patients/search", members{"query": "groß"}).want(t, 200, "")
	if items := found.object["items"].([]any); len(items) != 1 || at(items[0], "mrn") != "100300" {
		t.Errorf("search: %s", found.body)
	}
	slots := "/slots?type=std&practitioner=holm&location=main&from=" + a.Day.Format(time.DateOnly) + "&to=" + a.Day.Format(time.DateOnly)
	if items := get("ana", slots).want(t, 200, "").object["items"].([]any); len(items) != 28 {
		t.Errorf("%d free starts", len(items))
	}
	get("ana", "/slots").want(t, 422, "validation_failed")
	get("ana", "/appointments?name=x").want(t, 422, "validation_failed")
	get("ana", "/audit?cursor=x").want(t, 422, "validation_failed")
	get("ana", "/proposals?state=waiting").want(t, 422, "validation_failed")
	get("ana", "/appointments?date=a&date=b").want(t, 400, "malformed_request")

	// Propose, edit, and refuse what was not read.
	p1 := post("ana", "/proposals", move(when(0, 14, 0)), "Idempotency-Key", "p-1").want(t, 201, "")
	again := post("ana", "/proposals", move(when(0, 14, 0)), "Idempotency-Key", "p-1").want(t, 201, "")
	if again.body != p1.body || again.header.Get("Idempotency-Replayed") != "true" || p1.header.Get("Idempotency-Replayed") != "" {
		t.Error("proposing again is no replay")
	}
	path := "/proposals/" + p1.text("id")
	edit := members{"revision": 1, "plan_hash": p1.text("plan_hash"), "parameters": members{"starts_at": when(0, 15, 0), "message": "Come 10 minutes early.", "practitioner": nil}}
	p2 := post("ana", path+"/revisions", edit).want(t, 201, "")
	get("ben", path).want(t, 200, "")
	stale := post("ana", path+"/confirm", named(p1, "c-1")).want(t, 409, "resource_changed")
	if at(stale.object, "error", "proposal", "revision") != json.Number("2") || at(stale.object, "error", "changed") == nil {
		t.Errorf("a stale confirmation does not say what is current: %s", stale.body)
	}
	post("ana", path+"/revisions", edit).want(t, 409, "resource_changed")
	post("ana", path+"/reject", named(p1, "c-1")).want(t, 409, "resource_changed")
	wrong := named(p2, "c-1")
	wrong["plan_hash"] = p1.text("plan_hash")
	post("ana", path+"/confirm", wrong).want(t, 409, "plan_hash_mismatch")
	post("bot", path+"/confirm", named(p2, "c-1")).want(t, 403, "confirmation_requires_person")
	post("reader", path+"/confirm", named(p2, "c-1")).want(t, 403, "permission_denied")
	post("emil", path+"/reject", named(p2, "c-1")).want(t, 403, "permission_denied")
	post("emil", path+"/revisions", members{"revision": 2, "plan_hash": p2.text("plan_hash")}).want(t, 403, "permission_denied")

	// Confirm once.
	post("ana", path+"/confirm", named(p2, "")).want(t, 400, "idempotency_key_missing")
	post("ana", path+"/confirm", named(p2, "c-1"), "Idempotency-Key", "c-2").want(t, 400, "idempotency_key_missing")
	done := post("ana", path+"/confirm", named(p2, ""), "Idempotency-Key", "c-1").want(t, 200, "")
	if done.text("outcome") != "completed" || done.text("result", "appointment", "starts_at") != when(0, 15, 0) {
		t.Errorf("confirmed: %s", done.body)
	}
	twice := a.confirm("ana", p2, "c-1").want(t, 200, "")
	if twice.body != done.body || twice.header.Get("Idempotency-Replayed") != "true" {
		t.Error("confirming again is no replay")
	}
	a.confirm("ana", p2, "c-9").want(t, 409, "already_decided")
	post("ana", path+"/reject", named(p2, "c-8")).want(t, 409, "already_decided")
	post("ana", path+"/revisions", members{"revision": 2, "plan_hash": p2.text("plan_hash")}).want(t, 409, "already_decided")
	post("ana", path+"/reject", named(p2, "c-1")).want(t, 422, "idempotency_key_reused")
	a.confirm("ana", p1, "c-1").want(t, 422, "idempotency_key_reused")

	// A list of decisions: what one meets is no matter of the others.
	listed := post("ana", "/proposals", move(when(0, 14, 0))).want(t, 201, "")
	one := func(p said, key, decision string) members {
		m := named(p, key)
		m["proposal"], m["decision"] = p.text("id"), decision
		return m
	}
	decided := post("ana", "/decisions", members{"items": []any{one(p2, "l-1", "approve"), one(listed, "l-2", "reject")}}).want(t, 200, "")
	if results := at(decided.object, "results").([]any); len(results) != 2 || at(results[0], "error", "code") != "already_decided" || at(results[1], "outcome") != "not_executed" {
		t.Errorf("decided together: %s", decided.body)
	}
	post("ana", "/decisions", members{"items": []any{one(listed, "l-3", "approve"), one(listed, "l-4", "reject")}}).want(t, 422, "validation_failed")

	// Book, be too late for the time, reject, withdraw.
	book := members{"action": "book_appointment@1", "idempotency_key": "b-1", "parameters": members{"patient": "soren", "type": "std",
		"practitioner": "holm", "location": "main", "starts_at": when(1, 9, 0), "notify": true}}
	first := post("ana", "/proposals", book).want(t, 201, "")
	book["parameters"].(members)["patient"] = "aoife"
	second := post("emil", "/proposals", book).want(t, 201, "")
	a.confirm("ana", first, "b-2").want(t, 200, "")
	// The patient has a visit at that time already: high risk, and not one's own to approve (D1, D2).
	other := members{"action": "book_appointment@1", "parameters": members{"patient": "soren", "type": "std", "practitioner": "okafor", "location": "main", "starts_at": when(1, 9, 0)}}
	double := post("ana", "/proposals", other).want(t, 201, "")
	a.confirm("ana", double, "b-4").want(t, 403, "self_approval_forbidden")
	a.confirm("emil", double, "b-4").want(t, 403, "permission_denied")
	a.confirm("ben", double, "b-4").want(t, 200, "")
	moved := a.confirm("emil", second, "b-2").want(t, 409, "resource_changed")
	if at(moved.object, "error", "proposal", "stale") != true {
		t.Errorf("the loser's proposal is not stale: %s", moved.body)
	}
	post("emil", "/proposals/"+second.text("id")+"/revisions", named(second, "")).want(t, 422, "slot_taken")
	rejected := post("emil", "/proposals/"+second.text("id")+"/reject", members{"revision": 1, "plan_hash": second.text("plan_hash"),
		"proposal_id": second.text("id"), "reason": "The time is gone"}, "Idempotency-Key", "b-3").want(t, 200, "")
	if rejected.text("outcome") != "not_executed" || rejected.text("proposal", "state") != "rejected" {
		t.Errorf("rejected: %s", rejected.body)
	}
	cancel := members{"action": "cancel_appointment@1", "parameters": members{"appointment": "apt_soren", "reason_code": "patient_request", "notify": false, "message": nil}}
	asked := post("bot", "/proposals", cancel).want(t, 201, "")
	post("bot", "/proposals/"+asked.text("id")+"/reject", named(asked, "w-1")).want(t, 200, "")
	ended := a.confirm("ben", post("bot", "/proposals", cancel).want(t, 201, ""), "x-1").want(t, 200, "")
	if ended.text("result", "appointment", "status") != "cancelled" {
		t.Errorf("cancelled: %s", ended.body)
	}

	// Refused wishes, and wrong fields, all at once.
	post("ana", "/proposals", move(a.Day.AddDate(0, 0, -30).Format(time.RFC3339))).want(t, 422, "in_the_past")
	post("ana", "/proposals", move(when(0, 20, 0))).want(t, 422, "outside_schedule")
	post("ana", "/proposals", move(when(1, 9, 0))).want(t, 422, "slot_taken")
	post("ana", "/proposals", members{"action": "delete_patient@1", "parameters": members{}}).want(t, 422, "unknown_action")
	fields := post("ana", "/proposals", members{"action": "book_appointment@1", "parameters": members{"starts_at": "soon", "notify": "yes", "colour": 1, "message": strings.Repeat("x", 600)}})
	if n := len(at(fields.want(t, 422, "validation_failed").object, "error", "fields").([]any)); n != 8 {
		t.Errorf("%d fields: %s", n, fields.body)
	}
	post("ana", "/proposals", `{"action":"book_appointment@1","action":"x"}`).want(t, 400, "malformed_request")
	post("ana", "/proposals", move(when(2, 9, 0)), "Idempotency-Key", "not a key").want(t, 400, "idempotency_key_missing")
	post("ana", "/proposals", move(when(2, 9, 0)), "Idempotency-Key", "p-1").want(t, 422, "idempotency_key_reused")
	post("ada", "/proposals", move(when(2, 9, 0))).want(t, 403, "permission_denied")
	post("ana", path+"/confirm", members{"revision": 2, "plan_hash": p2.text("plan_hash"), "idempotency_key": "c-1", "plan": members{}, "proposal_id": "another"}).want(t, 422, "validation_failed")
	post("ana", "/patients/search", members{"query": 7}).want(t, 422, "validation_failed")

	// Another clinic's is not there, whatever is asked.
	for _, missing := range []string{get("lake_ana", path).body, post("lake_ana", path+"/revisions", edit).body, a.confirm("lake_ana", p2, "l-1").body,
		post("lake_ana", path+"/reject", named(p2, "l-1")).body, get("lake_ana", "/patients/maria").body, get("lake_ana", "/appointments/apt_maria").body,
		get("lake_ana", "/proposals/none").body, get("lake_ana", "/proposals/%00").body, a.confirm("lake_ana", said{object: members{"id": "none", "revision": 1, "plan_hash": p2.text("plan_hash")}}, "l-1").body} {
		if !strings.Contains(missing, `"not_found"`) || missing != get("ana", "/patients/nobody").body {
			t.Errorf("another clinic's: %s", missing)
		}
	}

	// Many visits at once: still running, stopped, and run to the end.
	many := func(hour int) said {
		return post("ana", "/proposals", members{"action": "bulk_change@1", "parameters": members{"items": []any{members{"appointment": "apt_maria", "starts_at": when(4, hour, 0)}}}}).want(t, 201, "")
	}
	post("ana", "/proposals", members{"action": "bulk_change@1", "parameters": members{"items": []any{}}}).want(t, 422, "validation_failed")
	slow := many(9)
	post("ana", "/proposals/"+slow.text("id")+"/stop", nil).want(t, 422, "not_awaiting_confirmation")
	a.deps.Desk.Inline = -1
	running := a.confirm("ana", slow, "m-1").want(t, 202, "")
	if running.text("outcome") != "proposed" || running.text("proposal", "state") != "executing" || running.text("status_url") != apiRoot+"/proposals/"+slow.text("id") {
		t.Errorf("a bulk that runs: %s", running.body)
	}
	get("ana", "/proposals/"+slow.text("id")).want(t, 200, "")
	post("emil", "/proposals/"+slow.text("id")+"/stop", nil).want(t, 403, "permission_denied")
	post("lake_ana", "/proposals/"+slow.text("id")+"/stop", nil).want(t, 404, "not_found")
	stop := post("ben", "/proposals/"+slow.text("id")+"/stop", nil).want(t, 200, "")
	if stop.text("outcome") != "failed" || stop.text("proposal", "result", "code") != "stopped" {
		t.Errorf("stopped: %s", stop.body)
	}
	post("ben", "/proposals/"+slow.text("id")+"/stop", nil).want(t, 409, "already_decided")
	a.deps.Desk.Inline = time.Minute
	if all := a.confirm("ana", many(10), "m-2").want(t, 200, ""); all.text("outcome") != "completed" || all.text("proposal", "plan", "after", "patient") != "" {
		t.Errorf("many: %s", all.body)
	}

	// What everybody did; lists page by page.
	for _, who := range []string{"ana", "ben", "ada"} {
		get(who, "/audit?limit=200").want(t, 200, "")
	}
	get("ada", "/audit?outcome=denied&actor=ana&action=proposal.confirm&proposal="+p1.text("id")+"&patient=maria&hash="+p2.text("plan_hash")[:8]+"&from="+
		time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)+"&to="+time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)).want(t, 200, "")
	for format, kind := range map[string]string{"csv": "text/csv", "ndjson": "application/x-ndjson", "fhir": "application/fhir+ndjson"} {
		a.file("ada", "/audit/export?format="+format, kind)
		get("ben", "/audit/export?format="+format).want(t, 403, "permission_denied")
	}
	get("ada", "/audit/export").want(t, 422, "validation_failed")
	proof := "/proposals/" + p1.text("id") + "/evidence"
	get("ben", proof).want(t, 200, "")
	for _, p := range get("ada", "/proposals?limit=200").object["items"].([]any) { // every action, however it ended
		e := get("ada", "/proposals/"+at(p, "id").(string)+"/evidence").want(t, 200, "")
		if strings.Contains(e.body, "NOT EQUAL") {
			t.Errorf("%s: %s", at(p, "action"), e.body)
		}
	}
	get("ana", proof).want(t, 403, "permission_denied")
	get("ada", "/proposals/nothing/evidence").want(t, 404, "not_found")
	for _, list := range []string{"/proposals", "/appointments", "/audit"} {
		a.pages(list)
	}

	// After the deadline.
	late := post("ana", "/proposals", move(when(3, 9, 0))).want(t, 201, "")
	after := *a
	after.deskSite = a.later(16 * time.Minute)
	after.confirm("ana", late, "late-1").want(t, 410, "proposal_expired")
	after.called("ana", http.MethodPost, "/proposals/"+late.text("id")+"/revisions", named(late, "")).want(t, 410, "proposal_expired")
	if got := after.called("ana", http.MethodGet, "/proposals/"+late.text("id"), nil); got.text("state") != "expired" {
		t.Errorf("after the deadline: %s", got.body)
	}
	no := after.called("ana", http.MethodPost, "/proposals/"+late.text("id")+"/reject", named(late, "late-2")).want(t, 200, "")
	if no.text("outcome") != "not_executed" || no.text("proposal", "state") != "expired" {
		t.Errorf("a late no: %s", no.body)
	}

	a.conversation()
	a.resolves()
	a.everyCallRefuses()
	a.answered["GET /events 200"] = true // a stream: its own test
	a.everyAnswerSeen()
}

// pages walks a list by its cursor: every row once, in the order of the list read at once.
func (a *apiSite) pages(list string) {
	a.t.Helper()
	ids := func(s said) (out []string) {
		for _, item := range s.object["items"].([]any) {
			out = append(out, at(item, "id").(string))
		}
		return out
	}
	whole := ids(a.called("ben", http.MethodGet, list+"?limit=200", nil).want(a.t, 200, ""))
	var got []string
	for cursor := ""; ; {
		s := a.called("ben", http.MethodGet, list+"?limit=2&cursor="+cursor, nil).want(a.t, 200, "")
		got = append(got, ids(s)...)
		if cursor = s.text("next_cursor"); cursor == "" || len(got) > 1000 {
			break
		}
	}
	if !slices.Equal(got, whole) || len(whole) < 3 {
		a.t.Errorf("%s: pages %v, whole %v", list, got, whole)
	}
}

// everyCallRefuses sends what no call takes: no token, a body of another kind, one too large, one that is no JSON.
func (a *apiSite) everyCallRefuses() {
	for _, op := range operations(a.doc) {
		if op.path == "/openapi.json" {
			continue
		}
		path := strings.ReplaceAll(op.path, "{id}", "some-id")
		a.called("", op.method, path, nil).want(a.t, 401, "unauthenticated")
		a.called("ana", op.method, path+"?a=1&a=2", nil).want(a.t, 400, "malformed_request")
		if op.method != http.MethodPost {
			continue
		}
		a.called("ana", op.method, path, "a=b", "Content-Type", "application/x-www-form-urlencoded").want(a.t, 415, "unsupported_media_type")
		a.called("ana", op.method, path, `{"a":"`+strings.Repeat("x", maxBody)+`"}`).want(a.t, 413, "body_too_large")
		a.called("ana", op.method, path, `{"a":01}`).want(a.t, 400, "malformed_request")
		unknown := a.called("ana", op.method, path, members{"colour": "red"}).want(a.t, 422, "validation_failed")
		if !strings.Contains(unknown.body, `"name":"colour"`) {
			a.t.Errorf("%s: an unknown field is not named: %s", op.path, unknown.body)
		}
	}
}

// everyAnswerSeen: what is described has happened in this test, but for what no test of the API can bring about.
func (a *apiSite) everyAnswerSeen() {
	for _, op := range operations(a.doc) {
		for status := range at(op.any, "responses").(map[string]any) {
			name := fmt.Sprint(op.method, " ", op.path, " ", status)
			switch {
			case status == "500" || status == "503" || name == "POST /proposals 409": // a fault, a crowd, a twin at the same moment
			case name == "POST /proposals 429": // its own test
			case name == "POST /runs/{id}/confirm 410": // a deadline between the look and the claim; before the look it has resolved the call
			case name == "POST /proposals/{id}/reject 410": // only with another plan hash than the one that expired
			case !a.answered[name]:
				a.t.Errorf("%s is described and was not seen", name)
			}
		}
	}
}
