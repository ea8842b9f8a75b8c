package handlers

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/internal/assistant"
	"countersign/internal/clinic"
)

// taught is what the scripted interpreter of these tests knows.
func (s *deskSite) taught() {
	ten, eleven := 10*60, 11*60
	day := func(n int) []clinic.Date { return []clinic.Date{clinic.DateOf(s.At(n, 0, 0), time.UTC)} }
	s.words.knows(script{
		"Move Maria Jensen to the fifth day at 11:00": {Workflow: assistant.Reschedule, Patient: "Maria", Days: day(4), Clock: &eleven},
		"at ten then":            {Clock: &ten},
		"Cancel Søren's visit":   {Workflow: assistant.Cancel, Patient: "Søren"},
		"Cancel Maria's visit":   {Workflow: assistant.Cancel, Patient: "Maria"},
		"Book Aoife on day five": {Workflow: assistant.Book, Patient: "Aoife", Days: day(4), Type: "Standard"},
	})
}

// conversation plays threads and runs over the API; every answer is held against the description.
func (a *apiSite) conversation() {
	t := a.t
	a.taught()
	post := func(who, path string, body any, headers ...string) said {
		t.Helper()
		return a.called(who, http.MethodPost, path, body, headers...)
	}
	get := func(who, path string) said { t.Helper(); return a.called(who, http.MethodGet, path, nil) }
	open := func(who string) string { return "/threads/" + post(who, "/threads", nil).want(t, 201, "").text("id") }

	thread := open("ana")
	if h := get("ana", thread).want(t, 200, ""); h.text("state") != "awaiting_input" || at(h.object, "pending_confirmation") != nil {
		t.Errorf("empty: %s", h.body)
	}
	// For others it does not exist; the person's agent is let in.
	missing := get("ana", "/threads/none").want(t, 404, "not_found").body
	for _, who := range []string{"emil", "ben", "lake_ana"} {
		if b := get(who, thread).want(t, 404, "not_found").body; b != missing {
			t.Errorf("%s: %s", who, b)
		}
		post(who, thread+"/messages", members{"text": "x"}).want(t, 404, "not_found")
	}
	get("bot", thread).want(t, 200, "")
	for _, body := range []any{members{}, members{"text": "a", "choice": "b"}, members{"choice": "none"}, members{"text": strings.Repeat("x", 2001)}, members{"text": 7}} {
		post("ana", thread+"/messages", body).want(t, 422, "validation_failed")
	}
	ran := post("ana", thread+"/messages", members{"text": "Move Maria Jensen to the fifth day at 11:00"}).want(t, 202, "")
	run := "/runs/" + ran.text("run_id")
	if ran.text("state") != "awaiting_input" {
		t.Errorf("said: %s", ran.body)
	}
	h := get("ana", thread).want(t, 200, "")
	if h.text("pending_confirmation", "action_ref") != "reschedule_appointment@1" || h.text("pending_confirmation", "summary", "title") == "" || h.text("known", "patient", "name") != "Maria Jensen" {
		t.Fatalf("no card: %s", h.body)
	}
	pending := at(h.object, "pending_confirmation").(members)
	decide := func(decision, key string, change ...any) members {
		m := members{"tool_call_id": pending["tool_call_id"], "decision": decision, "revision": 1, "plan_hash": pending["plan_hash"]}
		if key != "" {
			m["idempotency_key"] = key
		}
		for i := 0; i+1 < len(change); i += 2 {
			m[change[i].(string)] = change[i+1]
		}
		return m
	}
	waits := post("ana", thread+"/messages", members{"text": "yes"}).want(t, 422, "awaiting_confirmation")
	if at(waits.object, "error", "ways_out") == nil || at(waits.object, "error", "pending_confirmation", "tool_call_id") != pending["tool_call_id"] {
		t.Errorf("no way out: %s", waits.body)
	}
	// The codes in their order.
	post("ana", run+"/confirm", decide("perhaps", "t-1")).want(t, 422, "invalid_decision")
	post("ana", run+"/confirm", decide("approve", "")).want(t, 400, "idempotency_key_missing")
	post("bot", run+"/confirm", decide("approve", "t-1")).want(t, 403, "confirmation_requires_person")
	post("reader", run+"/confirm", decide("approve", "t-1")).want(t, 403, "permission_denied")
	gone := post("emil", run+"/confirm", decide("approve", "t-1")).want(t, 404, "unknown_confirmation").body
	for _, m := range []members{decide("approve", "t-1", "tool_call_id", "call_none")} {
		if b := post("ana", run+"/confirm", m).want(t, 404, "unknown_confirmation").body; b != gone {
			t.Errorf("%s is not %s", b, gone)
		}
	}
	post("ana", "/runs/none/confirm", decide("approve", "t-1")).want(t, 404, "unknown_confirmation")
	post("ana", run+"/confirm", decide("approve", "t-1", "revision", 2)).want(t, 409, "resource_changed")
	post("ana", run+"/confirm", decide("approve", "t-1", "plan_hash", strings.Repeat("0", 64))).want(t, 409, "plan_hash_mismatch")
	done := post("ana", run+"/confirm", decide("approve", "t-1")).want(t, 202, "")
	if done.text("state") != "running" {
		t.Errorf("approved: %s", done.body)
	}
	again := post("ana", run+"/confirm", decide("approve", "t-1")).want(t, 202, "")
	if again.body != done.body || again.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("no replay: %s", again.body)
	}
	post("ana", run+"/confirm", decide("approve", "t-2")).want(t, 404, "unknown_confirmation")
	post("ana", run+"/confirm", decide("reject", "")).want(t, 404, "unknown_confirmation")
	post("ana", run+"/confirm", decide("reject", "t-1")).want(t, 422, "idempotency_key_reused")
	r := get("ana", run).want(t, 200, "")
	if call := at(r.object, "tool_calls").([]any)[0]; r.text("state") != "completed" || at(call, "status") != "completed" || at(call, "result", "appointment", "starts_at") != a.At(4, 11, 0).Format(time.RFC3339) {
		t.Errorf("the run: %s", r.body)
	}
	get("emil", run).want(t, 404, "not_found")

	// Another thread's call is inert here, and a run that stands at no card says so.
	other := open("ana")
	asked := post("ana", other+"/messages", members{"text": "Cancel Søren's visit"}).want(t, 202, "").text("run_id")
	post("ana", "/runs/"+asked+"/confirm", decide("approve", "t-3")).want(t, 404, "unknown_confirmation")
	post("ana", "/runs/"+asked+"/confirm", decide("approve", "t-3", "tool_call_id", "call_none")).want(t, 422, "not_awaiting_confirmation")
	a.Exec(`UPDATE runs SET state = 'running', leased_until = app_now() + interval '1 minute' WHERE id = $1`, asked)
	if busy := post("ana", other+"/messages", members{"text": "x"}).want(t, 409, "run_in_progress"); busy.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	open("ana")
	open("ana")
	for _, who := range []string{"ana", "bot", "emil"} {
		get(who, "/threads").want(t, 200, "")
	}
	first := get("ana", "/threads?limit=2").want(t, 200, "")
	rest := get("ana", "/threads?limit=2&cursor="+first.text("next_cursor")).want(t, 200, "")
	if len(rest.object["items"].([]any)) != 2 || rest.object["next_cursor"] != nil {
		t.Errorf("pages: %s", rest.body)
	}
	get("ana", "/threads?cursor=x").want(t, 422, "validation_failed")
}

// listener is an open stream of events.
type listener struct {
	t     testing.TB
	lines chan string
	close func()
}

func (a *apiSite) listens(who, path string, headers ...string) *listener {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), http.MethodGet, a.url+path, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+a.tokens[who])
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		a.t.Fatalf("%d %s", res.StatusCode, res.Header)
	}
	l := &listener{a.t, make(chan string, 1000), func() { res.Body.Close() }}
	a.t.Cleanup(l.close)
	go func() {
		defer close(l.lines)
		for s := bufio.NewScanner(res.Body); s.Scan(); {
			l.lines <- s.Text()
		}
	}()
	return l
}

// hears waits for an event of a kind and gives its id and data; others before it are named in passed.
func (l *listener) hears(kind string) (id, data string, passed []string) {
	l.t.Helper()
	event := ""
	for end := time.After(15 * time.Second); ; {
		select {
		case line, open := <-l.lines:
			if !open {
				l.t.Fatalf("the stream ended before %s; heard %v", kind, passed)
			}
			name, value, _ := strings.Cut(line, ": ")
			switch name {
			case "id":
				id = value
			case "event":
				event = value
			case "data":
				if event == kind {
					return id, value, passed
				}
				passed = append(passed, event)
			}
		case <-end:
			l.t.Fatalf("no %s; heard %v", kind, passed)
		}
	}
}

func TestEventsComeAfterTheCommitAndGoOnFromAnId(t *testing.T) {
	a := newAPISite(t)
	a.taught()
	ana, emil, lake := a.listens("ana", apiRoot+"/events"), a.listens("emil", apiRoot+"/events"), a.listens("lake_ana", apiRoot+"/events")
	thread := "/threads/" + a.called("ana", "POST", "/threads", nil).text("id")
	a.called("ana", "POST", thread+"/messages", members{"text": "Move Maria Jensen to the fifth day at 11:00"}).want(t, 202, "")
	first, data, _ := ana.hears("proposal.proposed")
	if strings.Contains(data, "Maria") || !strings.Contains(data, "proposal_id") {
		t.Errorf("proposed: %s", data)
	}
	_, data, _ = ana.hears("confirmation_requested")
	pending := at(a.parse(data), "pending_confirmation").(members)
	if pending["tool_call_id"] == nil || at(pending, "summary", "title") == nil || at(pending, "expires_at") == nil {
		t.Errorf("asked: %s", data)
	}
	p := a.called("ana", "GET", "/proposals/"+pending["proposal_id"].(string), nil)
	edited := a.called("ana", "POST", "/proposals/"+p.text("id")+"/revisions", members{"revision": 1, "plan_hash": p.text("plan_hash"), "parameters": members{"starts_at": a.At(4, 12, 0).Format(time.RFC3339)}}).want(t, 201, "")
	// The confirmation follows the card: revision 2 is what is asked for now.
	h := a.called("ana", "GET", thread, nil)
	if h.text("pending_confirmation", "plan_hash") != edited.text("plan_hash") {
		t.Errorf("after an edit: %s", h.body)
	}
	a.confirm("ben", edited, "q-1").want(t, 200, "") // in the queue
	ana.hears("proposal.revised")
	ana.hears("proposal.decided")
	if err := a.deps.Talk.Settle(t.Context(), "hav"); err != nil { // the worker
		t.Fatal(err)
	}
	if _, data, _ = ana.hears("run.completed"); !strings.Contains(data, `"completed"`) {
		t.Error(data)
	}
	// Others of the clinic hear of the proposal, never of the thread; the other clinic hears nothing.
	if _, _, passed := emil.hears("proposal.decided"); len(passed) != 2 {
		t.Errorf("emil heard %v", passed)
	}
	// From an id on: nothing twice, nothing lost.
	resumed := a.listens("ana", apiRoot+"/events", "Last-Event-ID", first)
	if _, _, passed := resumed.hears("run.completed"); strings.Join(passed, " ") != "confirmation_requested proposal.revised proposal.decided" {
		t.Errorf("resumed with %v", passed)
	}
	for end := time.After(time.Second); ; {
		select {
		case line := <-lake.lines:
			if strings.HasPrefix(line, "event") {
				t.Errorf("the other clinic heard %s", line)
			}
			continue
		case <-end:
		}
		break
	}
}

// A transaction that began earlier and commits later is heard, though its number is lower.
func TestAnEventThatCommitsLateIsHeard(t *testing.T) {
	a := newAPISite(t)
	slow, err := a.Root.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	insert := `INSERT INTO events (clinic, kind, body) VALUES ('hav', 'proposal.proposed', $1)`
	if _, err := slow.Exec(insert, `{"n":"slow"}`); err != nil {
		t.Fatal(err)
	}
	l := a.listens("ana", apiRoot+"/events")
	a.Exec(insert, `{"n":"fast"}`)
	time.Sleep(3 * eventsEvery)
	if err := slow.Commit(); err != nil {
		t.Fatal(err)
	}
	_, one, _ := l.hears("proposal.proposed")
	_, two, _ := l.hears("proposal.proposed")
	if !strings.Contains(one, "slow") || !strings.Contains(two, "fast") {
		t.Errorf("%s then %s", one, two)
	}
}

// An id that nobody can have been given is as none: what happens from now on is heard.
func TestAStreamFromNoPlaceOfOursBeginsNow(t *testing.T) {
	a := newAPISite(t)
	a.Exec(`INSERT INTO events (clinic, kind, body) VALUES ('hav', 'proposal.proposed', '{"n":"before"}')`)
	var all []*listener
	for _, last := range []string{"9999999999999999999.1", "9223372036854775807.0", "0000000000000000001.1", "99999999999999999999999.1", "1", "-1.0", "x", "1.2.3", "'; --"} {
		all = append(all, a.listens("ana", apiRoot+"/events", "Last-Event-ID", last))
	}
	a.Exec(`INSERT INTO events (clinic, kind, body) VALUES ('hav', 'proposal.proposed', '{"n":"now"}')`)
	for _, l := range all {
		if _, data, _ := l.hears("proposal.proposed"); data != `{"n":"now"}` {
			t.Error("heard", data)
		}
	}
}

// What was revoked, signed out, has expired or whose person was disabled hears nothing more within 15 seconds.
func TestAStreamEndsWithItsTokenOrSession(t *testing.T) {
	a := newAPISite(t)
	var ended, stays []*listener
	follow := func(who string) *listener {
		b := a.as(who)
		return a.listens("", eventsPath, "Cookie", plainCookie+"="+b.cookie())
	}
	stays = append(stays, follow("ben"), a.listens("ben", apiRoot+"/events"))
	ended = append(ended, follow("ana"), follow("ada"), follow("emil"), a.listens("emil", apiRoot+"/events"), a.listens("ana", apiRoot+"/events"))
	a.Exec(`DELETE FROM sessions WHERE account = 'ana'`)                                   // signed out
	a.Exec(`UPDATE sessions SET expires_at = now() WHERE account = 'ada'`)                 // expired
	a.Exec(`UPDATE accounts SET disabled_at = now() WHERE id = 'emil'`)                    // session and token
	a.Exec(`UPDATE tokens SET revoked_at = now() WHERE account = 'ana' AND kind = 'user'`) // revoked
	end := time.After(15 * time.Second)
	for i, l := range ended {
		for open := true; open; {
			select {
			case _, open = <-l.lines:
			case <-end:
				t.Fatalf("stream %d has not ended", i)
			}
		}
	}
	a.Exec(`INSERT INTO events (clinic, kind, body) VALUES ('hav', 'proposal.proposed', '{}')`)
	for _, l := range stays {
		l.hears("proposal.proposed")
	}
}
