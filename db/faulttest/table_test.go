package faulttest

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"countersign/internal/ehr"
	"countersign/internal/ehr/ehrtest"
)

// row is one line of the fault table of design/ehr.md, section 1.4.
type row struct {
	name   string
	kind   string // book (default), move, cancel
	mode   ehrtest.Mode
	with   option
	script []ehrtest.Rule
	before func(*world) // the confirmation
	during func(*world, order)
	state  string
	code   string // of the operation, or of a refusal the proposal's; "" = any
	writes int    // POSTs of a booking, PUTs of the rest, as the EHR saw them
}

func post(f ehrtest.Fault) ehrtest.Rule {
	return ehrtest.Rule{Method: "POST", Path: "Appointment", From: 1, To: 1, Fault: f}
}
func put(f ehrtest.Fault) ehrtest.Rule {
	return ehrtest.Rule{Method: "PUT", Path: "Appointment", From: 1, To: 1, Fault: f}
}
func searches(f ehrtest.Fault) ehrtest.Rule {
	return ehrtest.Rule{Method: "GET", Path: "Appointment", From: 1, To: 3, Fault: f}
}

func set(member string, value any) func(map[string]any) {
	return func(a map[string]any) { a[member] = value }
}

func outcomeAlone(severity, code string) func(map[string]any) map[string]any {
	return func(map[string]any) map[string]any { return ehrtest.Outcome(severity, code, "") }
}

func retryAfter(value string) ehrtest.Rule {
	if value == "" {
		return post(ehrtest.Status("busy", 429, "throttled", ""))
	}
	return post(ehrtest.Status("busy", 429, "throttled", "", "Retry-After", value))
}

var hang = ehrtest.Fault{Name: "hang", Hang: true}

func before(f ehrtest.Fault) ehrtest.Fault { f.Before = true; return f }

// to puts one actor in another's place.
func to(old, other string) func(map[string]any) {
	return func(a map[string]any) {
		for _, p := range a["participant"].([]any) {
			if actor := p.(map[string]any)["actor"].(map[string]any); actor["reference"] == old {
				actor["reference"] = other
			}
		}
	}
}

func onTo(patient string) func(map[string]any) { return to("Patient/maria", "Patient/"+patient) }

func asTable() []row {
	rows := []row{
		{name: "1 hang before commit", script: []ehrtest.Rule{post(before(hang))}, state: ehr.Applied, writes: 2},
		{name: "1 drop before commit", script: []ehrtest.Rule{post(ehrtest.Fault{Before: true, Drop: true})}, state: ehr.Applied, writes: 2},
		{name: "2 hang after commit", script: []ehrtest.Rule{post(hang)}, state: ehr.Applied, writes: 1},
		{name: "2 drop after commit", script: []ehrtest.Rule{post(ehrtest.Fault{Drop: true})}, state: ehr.Applied, writes: 1},
		{name: "2 hang after commit of a move", kind: "move", script: []ehrtest.Rule{put(hang)}, state: ehr.Applied, writes: 1},
		{name: "1 hang before commit of a cancel", kind: "cancel", script: []ehrtest.Rule{put(before(hang))}, state: ehr.Applied, writes: 2},
		{name: "3 connection refused", before: func(w *world) { w.web.Listener.Close() }, state: ehr.Refused, code: "ehr_not_reached", writes: 0},
		{name: "3 no such host", with: func(_ *world, c *ehr.Connection, _ *http.RoundTripper) { c.URL = "http://ehr.invalid/fhir" }, state: ehr.Refused, code: "ehr_not_reached", writes: 0},
		{name: "6 200 with an error alone", script: []ehrtest.Rule{post(before(ehrtest.Says("said no", 200, outcomeAlone("error", "business-rule"))))}, state: ehr.Refused, code: "ehr_refused", writes: 1},
		{name: "6 200 with a conflict alone", script: []ehrtest.Rule{post(before(ehrtest.Says("said no", 200, outcomeAlone("fatal", "conflict"))))}, state: ehr.Refused, code: "slot_taken", writes: 1},
		{name: "7 200 and cancelled", mode: ehrtest.Mode{Argonaut: true}, before: rival, state: ehr.Refused, code: "slot_taken", writes: 1},
		{name: "8 booked with a warning", script: []ehrtest.Rule{post(ehrtest.Says("warning", 0, func(was map[string]any) map[string]any {
			was["contained"] = []any{ehrtest.Outcome("warning", "informational", "")}
			return was
		}))}, state: ehr.Applied, writes: 1},
		{name: "10 stale", kind: "move", script: []ehrtest.Rule{put(ehrtest.Status("stale", 412, "conflict", ""))}, state: ehr.Refused, code: "resource_changed", writes: 1},
		{name: "11 several by If-None-Exist", mode: ehrtest.Mode{Conditional: true}, script: []ehrtest.Rule{post(ehrtest.Status("several", 412, "multiple-matches", ""))}, state: ehr.Manual, code: "several", writes: 1},
		{name: "11 If-None-Exist not known", mode: ehrtest.Mode{Conditional: true}, script: []ehrtest.Rule{post(ehrtest.Status("not known", 412, "not-supported", ""))}, state: ehr.Refused, code: "ehr_configuration", writes: 1},
		{name: "12a 409 stale", kind: "move", mode: ehrtest.Mode{Stale: 409}, script: []ehrtest.Rule{put(ehrtest.Status("stale", 409, "conflict", "version"))}, state: ehr.Refused, code: "resource_changed", writes: 1},
		{name: "12b 409 clash", before: rival, state: ehr.Refused, code: "slot_taken", writes: 1},
		{name: "12c 409 duplicate that is ours", script: []ehrtest.Rule{post(ehrtest.Status("duplicate", 409, "duplicate", "").Afterwards())}, state: ehr.Applied, writes: 1},
		{name: "12d 409 in progress", script: []ehrtest.Rule{post(ehrtest.Status("in progress", 409, "transient", "idempotency-in-progress").Afterwards())}, state: ehr.Applied, writes: 1},
		{name: "13 422 slot taken", mode: ehrtest.Mode{Taken: 422}, before: rival, state: ehr.Refused, code: "slot_taken", writes: 1},
		{name: "13 422 because of our lost attempt", script: []ehrtest.Rule{post(ehrtest.Status("taken", 422, "conflict", "slot-taken").Afterwards())}, state: ehr.Applied, writes: 1},
		{name: "14 423 locked", script: []ehrtest.Rule{post(ehrtest.Status("locked", 423, "lock-error", ""))}, state: ehr.Applied, writes: 2},
		{name: "14 423 and then moved on", kind: "move", script: []ehrtest.Rule{put(ehrtest.Status("locked", 423, "lock-error", ""))},
			during: func(w *world, _ order) { w.ehr.Edit("e1", set("description", "x")) }, state: ehr.Refused, code: "resource_changed", writes: 1},
		{name: "14 424 dependency", script: []ehrtest.Rule{post(ehrtest.Status("dependency", 424, "business-rule", ""))}, state: ehr.Refused, code: "ehr_refused", writes: 1},
		{name: "15 it makes two of one", script: []ehrtest.Rule{post(ehrtest.Fault{Twice: true, Hang: true})}, state: ehr.Manual, code: "several", writes: 1},
		{name: "16 two matches", script: []ehrtest.Rule{post(ehrtest.Fault{Twice: true, Drop: true})}, state: ehr.Manual, code: "several", writes: 1},
		{name: "17 searches lag", script: []ehrtest.Rule{post(ehrtest.Fault{Lag: 90 * time.Second, Hang: true})}, state: ehr.Applied, writes: 1},
		{name: "17 searches lag, the id is known", script: []ehrtest.Rule{post(ehrtest.Fault{Lag: time.Hour})}, state: ehr.Applied, writes: 1},
		{name: "18 empty search is 404", script: []ehrtest.Rule{post(hang), searches(ehrtest.Status("none", 404, "not-found", ""))}, state: ehr.Applied, writes: 1},
		{name: "18 empty search is 500", script: []ehrtest.Rule{post(hang), searches(ehrtest.Status("none", 500, "exception", ""))}, state: ehr.Applied, writes: 1},
		{name: "18 empty search is a page", script: []ehrtest.Rule{post(hang), searches(ehrtest.Page("sign in", 200))}, state: ehr.Applied, writes: 1},
		{name: "18 empty search has no body", script: []ehrtest.Rule{post(hang), searches(ehrtest.Status("nothing", 200, "", ""))}, state: ehr.Applied, writes: 1},
		{name: "20 slow drip", script: []ehrtest.Rule{post(ehrtest.Fault{Drip: true})}, state: ehr.Applied, writes: 1},
		{name: "21 malformed", script: []ehrtest.Rule{post(ehrtest.Fault{Raw: []byte(`{"resourceType":"Appointment","id":`)})}, state: ehr.Applied, writes: 1},
		{name: "21 cut off", script: []ehrtest.Rule{post(ehrtest.Fault{Cut: true})}, state: ehr.Applied, writes: 1},
		{name: "21 a page", script: []ehrtest.Rule{post(ehrtest.Page("welcome", 200))}, state: ehr.Applied, writes: 1},
		{name: "21 wrong content type", script: []ehrtest.Rule{post(ehrtest.Fault{ContentType: "text/plain"})}, state: ehr.Applied, writes: 1},
		{name: "25 502", script: []ehrtest.Rule{post(ehrtest.Page("bad gateway", 502))}, state: ehr.Applied, writes: 1},
		{name: "25 503 before commit, with Retry-After", script: []ehrtest.Rule{post(ehrtest.Status("down", 503, "transient", "", "Retry-After", "3"))}, state: ehr.Applied, writes: 2},
		{name: "25 504", script: []ehrtest.Rule{post(ehrtest.Status("timeout", 504, "timeout", "").Afterwards())}, state: ehr.Applied, writes: 1},
		{name: "26 403", script: []ehrtest.Rule{post(ehrtest.Status("scope", 403, "forbidden", ""))}, state: ehr.Refused, code: "permission_denied", writes: 1},
		{name: "26 401 once", script: []ehrtest.Rule{post(ehrtest.Status("expired", 401, "login", ""))}, state: ehr.Applied, writes: 2},
		{name: "28 another patient in the answer", script: []ehrtest.Rule{post(ehrtest.Fault{Stored: onTo("soren")})}, state: ehr.Manual, code: "wrong_patient", writes: 1},
		{name: "28 another patient, the answer lost", script: []ehrtest.Rule{post(ehrtest.Fault{Stored: onTo("soren"), Drop: true})}, state: ehr.Manual, code: "wrong_patient", writes: 1},
		{name: "28 a merged patient", before: func(w *world) { w.ehr.Merge("maria", "maria2") },
			script: []ehrtest.Rule{post(ehrtest.Fault{Stored: onTo("maria2"), Drop: true})}, state: ehr.Manual, code: "patient_merged", writes: 1},
		{name: "30 pending, then booked", mode: ehrtest.Mode{Async: true}, during: func(w *world, _ order) { w.ehr.Resolve("booked") }, state: ehr.Applied, writes: 1},
		{name: "30 pending, then not", mode: ehrtest.Mode{Async: true}, during: func(w *world, _ order) { w.ehr.Resolve("cancelled") }, state: ehr.Refused, code: "ehr_refused", writes: 1},
		{name: "30 pending for ever", mode: ehrtest.Mode{Async: true}, state: ehr.Manual, code: "not_confirmed", writes: 1},
		{name: "33 edited since the plan", kind: "move", before: func(w *world) { w.ehr.Edit("e1", set("description", "x")) }, state: ehr.Refused, code: "resource_changed", writes: 0},
		{name: "33 gone since the plan", kind: "cancel", before: func(w *world) { w.ehr.Edit("e1", set("status", "cancelled")) }, state: ehr.Refused, code: "resource_changed", writes: 0},
		{name: "33 the slot is busy", before: func(w *world) { w.linkSlots("busy") }, state: ehr.Refused, code: "slot_taken", writes: 0},
		{name: "33 the slots are free", before: func(w *world) { w.linkSlots("free") }, state: ehr.Applied, writes: 1},
	}
	for name, stored := range map[string]func(map[string]any){
		"an hour later": shiftHour, "another duration": set("minutesDuration", 10), "another practitioner": to("Practitioner/holm", "Practitioner/okafor"),
		"another place": to("Location/main", "Location/annex"), "another status": set("status", "arrived"),
		"another type": set("appointmentType", map[string]any{"coding": []any{map[string]any{"system": ehr.TypeSystem, "code": "long"}}}),
	} {
		rows = append(rows, row{name: "29 stored as " + name, script: []ehrtest.Rule{post(ehrtest.Fault{Stored: stored})}, state: ehr.Manual, code: "different", writes: 1})
	}
	rows = append(rows, row{name: "29 no offset", script: []ehrtest.Rule{post(ehrtest.Fault{Stored: func(a map[string]any) {
		a["start"] = a["start"].(string)[:19]
	}})}, state: ehr.Manual, code: "different", writes: 1})
	for _, status := range []int{301, 302, 303, 307, 308} {
		rows = append(rows, row{name: "23 redirect " + strconv.Itoa(status), script: []ehrtest.Rule{post(ehrtest.Status("redirect", status, "", "", "Location", "/fhir/Appointment"))},
			state: ehr.Refused, code: "ehr_configuration", writes: 1})
	}
	for _, value := range []string{"5", time.Now().Add(20 * time.Second).UTC().Format(http.TimeFormat), "", "1000000000", "-5", "soon"} {
		rows = append(rows, row{name: "24 Retry-After " + value, script: []ehrtest.Rule{retryAfter(value)}, state: ehr.Applied, writes: 2})
	}
	return rows
}

func shiftHour(a map[string]any) {
	for _, m := range []string{"start", "end"} {
		t, _ := time.Parse(time.RFC3339, a[m].(string))
		a[m] = t.Add(time.Hour).Format(time.RFC3339)
	}
}

// rival books the time of the booking in the EHR before it is sent.
func rival(w *world) { w.ehr.Visit("soren", "holm", "main", w.At(1, 13, 0), w.At(1, 13, 30)) }

// linkSlots lets the EHR have the slots of the booking's time.
func (w *world) linkSlots(status string) {
	w.Exec(`INSERT INTO ehr_links (clinic, kind, id, remote_id) SELECT clinic, 'Slot', id, 'r' || id FROM slots WHERE clinic = 'hav' AND practitioner = 'holm' AND starts_at >= $1 AND starts_at < $2`,
		w.At(1, 13, 0), w.At(1, 13, 30))
	for _, minute := range []int{0, 15} {
		w.ehr.Slot("rholm_"+w.At(1, 13, minute).UTC().Format("0102_1504"), status)
	}
}

func TestTheFaultTable(t *testing.T) {
	all := newWorlds(t)
	for _, r := range asTable() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			var options []option
			if r.with != nil {
				options = append(options, r.with)
			}
			w := all.take(t, r.mode, options...)
			w.ehr.Script(r.script...)
			if r.before != nil {
				r.before(w)
			}
			p, method := w.booking(1, 13), "POST"
			switch r.kind {
			case "move":
				p, method = w.Move(w.visit, w.At(0, 14, 0)), "PUT"
			case "cancel":
				p, method = w.cancelling(), "PUT"
			}
			o := w.confirm(p)
			if r.during != nil {
				if _, err := w.lane.Once(ctx); err != nil {
					t.Fatal(err)
				}
				r.during(w, o)
			}
			w.run(o)
			if r.name[:2] != "15" && r.name[:2] != "16" {
				w.common(o, r.state)
			} else if state, code := w.state(o); state != r.state || code != r.code {
				t.Errorf("%s %s", state, code) // the EHR itself made two: nothing is undone, nobody is told
			}
			if _, code := w.state(o); r.code != "" && code != r.code {
				t.Errorf("code %q, want %q\n%s", code, r.code, w.story(o))
			}
			if n := w.ehr.Count(method, "Appointment"); n != r.writes { // (c)
				t.Errorf("%d writes, want %d\n%s", n, r.writes, w.story(o))
			}
		})
	}
}
