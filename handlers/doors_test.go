package handlers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"countersign/internal/proposal"
)

// asked is a move that ana asked for in a conversation, so that every door leads to it.
type asked struct {
	*apiSite
	r         proposal.Record
	run, call string
}

func (a *apiSite) asksToMove() asked {
	a.T.Helper()
	a.taught()
	thread := "/threads/" + a.called("ana", http.MethodPost, "/threads", nil).text("id")
	a.called("ana", http.MethodPost, thread+"/messages", members{"text": "Move Maria Jensen to the fifth day at 11:00"}).want(a.t, 202, "")
	h := a.called("ana", http.MethodGet, thread, nil)
	return asked{a, mustRecord(a.t, a.deskSite, h.text("pending_confirmation", "proposal_id")), h.text("pending_confirmation", "run_id"), h.text("pending_confirmation", "tool_call_id")}
}

// doors are the ways to approve, one for each route that decides: ana goes through and gets a status and a code.
var doors = map[string]func(a asked, key string) (int, string){
	"POST /proposals/:id/confirm": func(a asked, key string) (int, string) {
		got := a.as("ana").post(card(a.r)+"/confirm", decision(a.r, key), htmx...)
		if confirmable(a.t, got.body) {
			a.t.Error("the answer holds a live Confirm")
		}
		code := ""
		for _, c := range []string{"self_approval_forbidden", "already_decided"} {
			if strings.Contains(got.body, c) {
				code = c
			}
		}
		if got.status == http.StatusConflict && strings.Contains(got.body, "You have approved this already; it needs another person.") {
			code = "already_decided"
		}
		return got.status, code
	},
	"POST /api/v1/proposals/:id/confirm": func(a asked, key string) (int, string) {
		got := a.called("ana", http.MethodPost, card(a.r)+"/confirm", members{"revision": a.r.Revision, "plan_hash": a.r.PlanHash, "idempotency_key": key})
		return got.status, got.code()
	},
	"POST /queue/decisions": func(a asked, key string) (int, string) {
		f := url.Values{"proposal.0": {a.r.ID}, "decision.0": {"approve"}}
		for name, v := range decision(a.r, key) {
			f[name+".0"] = v
		}
		got := a.as("ana").post("/queue/decisions", f)
		for code, status := range map[string]int{"self_approval_forbidden": 403, "already_decided": 409} {
			if strings.Contains(got.body, code) {
				return status, code
			}
		}
		return got.status, ""
	},
	"POST /api/v1/decisions": func(a asked, key string) (int, string) {
		got := a.called("ana", http.MethodPost, "/decisions", members{"items": []any{members{"proposal": a.r.ID, "decision": "approve", "revision": a.r.Revision, "plan_hash": a.r.PlanHash, "idempotency_key": key}}})
		var results struct {
			Results []struct {
				Status int
				Error  struct{ Code string }
			}
		}
		if err := json.Unmarshal([]byte(got.body), &results); err != nil || len(results.Results) != 1 {
			a.t.Fatal(got.body)
		}
		return results.Results[0].Status, results.Results[0].Error.Code
	},
	"POST /api/v1/runs/:id/confirm": func(a asked, key string) (int, string) {
		got := a.called("ana", http.MethodPost, "/runs/"+a.run+"/confirm", members{"tool_call_id": a.call, "decision": "approve", "revision": a.r.Revision, "plan_hash": a.r.PlanHash, "idempotency_key": key})
		return got.status, got.code()
	},
}

// A new door must be marked, and a marked one must be tried.
func TestEveryDoorIsKnown(t *testing.T) {
	marked := 0
	for _, r := range newSiteless().routes() {
		name := r.method + " " + r.path
		if r.decides {
			marked++
			if doors[name] == nil {
				t.Errorf("%s decides, and no test goes through it", name)
			}
		} else if strings.HasSuffix(r.path, "/confirm") {
			t.Errorf("%s is not marked", name)
		}
	}
	if marked != len(doors) {
		t.Errorf("%d doors, %d routes that decide", len(doors), marked)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		calls += len(regexp.MustCompile(`s\.(Desk\.Confirm\w*|Desk\.DecideTogether|Talk\.Decide)\(`).FindAll(source, -1))
	}
	if calls != marked {
		t.Errorf("%d handlers call what decides, and %d routes say so", calls, marked)
	}
}

func (a asked) unmoved(t *testing.T) {
	t.Helper()
	if v, state := a.Text(`SELECT version FROM appointments WHERE id = 'apt_maria'`), a.state(a.r); v != "1" || state != "proposed" {
		t.Errorf("version %s, %s", v, state)
	}
}

// D1, D2: nobody approves what they asked for where the clinic asks for somebody else.
func TestNoDoorLetsSomebodyApproveTheirOwn(t *testing.T) {
	for _, risk := range []string{"high", "critical"} {
		a := newAPISite(t).asksToMove()
		a.asks("reschedule_appointment@1", risk, nil) // D6: after the card was out
		for name, through := range doors {
			if status, code := through(a, "key-"+risk); status != http.StatusForbidden || code != "self_approval_forbidden" {
				t.Errorf("%s, %s: %d %s", name, risk, status, code)
			}
			a.unmoved(t)
		}
	}
}

// D3: one person is one, whatever doors they take.
func TestNoTwoDoorsMakeTwoPeople(t *testing.T) {
	for first, through := range doors {
		a := newAPISite(t).asksToMove()
		a.asks("reschedule_appointment@1", nil, 2)
		if status, code := through(a, "first"); status/100 != 2 || code != "" {
			t.Fatalf("%s: %d %s", first, status, code)
		}
		for second, again := range doors {
			if status, code := again(a, "second"); status != http.StatusConflict || code != "already_decided" {
				t.Errorf("%s, then %s: %d %s", first, second, status, code)
			}
			a.unmoved(t)
		}
		// The call waits on, and ends with the other person's approval.
		var run struct {
			Calls []struct{ Status string } `json:"tool_calls"`
		}
		look := func() string {
			if err := json.Unmarshal([]byte(a.called("ana", http.MethodGet, "/runs/"+a.run, nil).body), &run); err != nil || len(run.Calls) != 1 {
				t.Fatal(err)
			}
			return run.Calls[0].Status
		}
		if got := look(); got != "awaiting_confirmation" {
			t.Errorf("%s: the call is %s after one of two", first, got)
		}
		ben := a.called("ben", http.MethodPost, card(a.r)+"/confirm", members{"revision": a.r.Revision, "plan_hash": a.r.PlanHash, "idempotency_key": "ben"}).want(t, 200, "")
		if ben.text("outcome") != "completed" || look() != "completed" {
			t.Errorf("%s: %s, %s", first, ben.text("outcome"), look())
		}
	}
}
