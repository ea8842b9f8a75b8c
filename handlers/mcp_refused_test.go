package handlers

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

func TestAgentsAreRefusedInTheContractsWords(t *testing.T) {
	s := newAgentSite(t)
	a, before := s.agent("bot"), s.world()
	move := func(to string) args { return args{"appointment": "apt_maria", "starts_at": to} }
	at8 := func(day int) string { return s.At(day, 8, 0).Format(time.RFC3339) }
	for _, c := range []struct {
		code, tool string
		with       args
	}{
		{"in_the_past", "propose_reschedule", move("2020-01-01T10:00:00Z")},
		{"outside_schedule", "propose_reschedule", move(s.At(1, 3, 0).Format(time.RFC3339))},
		{"validation_failed", "propose_reschedule", move("tomorrow at ten")},
		{"validation_failed", "propose_reschedule", move(s.starts("apt_maria"))}, // changes nothing
		{"validation_failed", "propose_reschedule", nil},
		{"validation_failed", "propose_reschedule", args{"appointment": 7, "starts_at": true}},
		{"validation_failed", "propose_reschedule", args{"appointment": "apt_maria", "starts_at": at8(1), "message": strings.Repeat("x", 501)}},
		{"validation_failed", "propose_reschedule", args{"appointment": "apt_maria", "starts_at": at8(1), "reason": args{"a": 1}}},
		{"validation_failed", "propose_cancellation", args{"appointment": "apt_maria", "reason_code": "bored"}},
		{"validation_failed", "propose_reschedule", args{"appointment": "apt_maria", "starts_at": at8(1), "patient": "soren"}},
		{"validation_failed", "find_patient", args{"query": nil}},
		{"validation_failed", "find_patient", args{"query": "x", "clinic": "lake"}},
		{"validation_failed", "find_patient", args{"query": strings.Repeat("x", 201)}},
		{"validation_failed", "find_slots", args{"type": "std", "from": "2027-01-01", "to": "2027-03-01"}},
		{"validation_failed", "get_appointment", nil},
		{"validation_failed", "get_appointment", args{"appointment": "apt_maria", "patient": "maria"}},
		{"validation_failed", "list_my_proposals", args{"state": "open"}},
		{"validation_failed", "list_my_proposals", args{"cursor": "x"}},
		{"validation_failed", "get_proposal", args{"id": "x"}},
		{"malformed_request", "get_proposal", args{"proposal": 1.5}},
		{"idempotency_key_missing", "propose_cancellation", args{"appointment": "apt_maria", "reason_code": "other", "idempotency_key": "a b"}},
		{"not_found", "get_proposal", args{"proposal": "prp_none"}},
		{"not_found", "get_proposal", args{"proposal": "no such/id"}},
		{"not_found", "withdraw_proposal", args{"proposal": "prp_none"}},
		{"not_found", "get_appointment", args{"appointment": "none"}},
		{"not_found", "get_appointment", args{"patient": "none"}},
	} {
		a.refused(c.code, c.tool, c.with)
	}
	a.done("propose_cancellation", args{"appointment": "apt_maria", "reason_code": "other", "idempotency_key": "k"})
	a.refused("idempotency_key_reused", "propose_cancellation", args{"appointment": "apt_soren", "reason_code": "other", "idempotency_key": "k"})
	taken := a.refused("slot_taken", "propose_booking", args{"patient": "aoife", "type": "std", "practitioner": "holm", "location": "main", "starts_at": s.starts("apt_maria")})
	if others, _ := at(taken.object, "error", "alternatives").([]any); len(others) == 0 || len(others) > 5 {
		t.Errorf("alternatives: %v", taken.object)
	}
	s.agent("ada_bot").refused("permission_denied", "propose_cancellation", args{"appointment": "apt_maria", "reason_code": "other"})
	if s.world() != before {
		t.Error("a refusal has changed something")
	}
}

func TestAgentsAreAskedWhichHourIsMeant(t *testing.T) {
	s := newAgentSite(t)
	s.Exec(`UPDATE locations SET zone = 'Europe/Copenhagen' WHERE clinic = 'hav'`)
	year := s.Day.Year() + 1
	lastSunday := func(m time.Month) string {
		d := time.Date(year, m+1, 0, 0, 0, 0, 0, time.UTC)
		return d.AddDate(0, 0, -int(d.Weekday())).Format(time.DateOnly)
	}
	a := s.agent("bot")
	for code, to := range map[string]string{"time_does_not_exist": lastSunday(time.March) + "T02:30", "time_is_ambiguous": lastSunday(time.October) + "T02:30"} {
		asked := a.refused(code, "propose_reschedule", args{"appointment": "apt_maria", "starts_at": to})
		if choices, _ := at(asked.object, "error", "choices").([]any); len(choices) != 2 || at(choices[0], "label") == "" {
			t.Errorf("%s: choices %v", code, asked.object)
		}
	}
}

func TestAgentsSeeOneClinic(t *testing.T) {
	s := newAgentSite(t)
	bot, lake := s.agent("bot"), s.agent("lake_bot")
	theirs := lake.done("propose_cancellation", args{"appointment": "lake_apt_maria", "reason_code": "other"}).text("proposal", "id")
	for name, with := range map[string]args{"get_proposal": {"proposal": theirs}, "withdraw_proposal": {"proposal": theirs}} {
		none := bot.refused("not_found", name, args{"proposal": "prp_none"})
		if got := bot.refused("not_found", name, with); got.words != none.words || fmt.Sprint(got.object) != fmt.Sprint(none.object) {
			t.Errorf("%s tells the other clinic's from what is not: %v", name, got.object)
		}
	}
	bot.refused("not_found", "get_appointment", args{"appointment": "lake_apt_maria"})
	bot.refused("not_found", "get_appointment", args{"patient": "lake_maria"})
	bot.refused("validation_failed", "propose_cancellation", args{"appointment": "lake_apt_maria", "reason_code": "other"})
	bot.refused("validation_failed", "propose_booking", args{"patient": "lake_maria", "type": "std", "practitioner": "holm", "location": "main", "starts_at": s.At(1, 9, 0).Format(time.RFC3339)})
	bot.refused("validation_failed", "find_slots", args{"type": "lake_std", "from": "2027-01-01", "to": "2027-01-02"})
	if mine := bot.done("list_my_proposals", nil).items("items"); len(mine) != 0 {
		t.Errorf("theirs among mine: %v", mine)
	}
	for _, p := range bot.done("find_patient", args{"query": "maria"}).items("items") {
		if at(p, "id") != "maria" {
			t.Errorf("found %v", p)
		}
	}
}

// failing is a desk whose database breaks in some way.
type failing struct {
	proposal.Store
	fail func() error
}

func (f failing) InTx(context.Context, string, func(proposal.Tx) error) error { return f.fail() }

func TestUnexpectedErrorsAreNotShownToAgents(t *testing.T) {
	for name, c := range map[string]struct {
		code string
		fail func() error
	}{
		"an error": {"internal", func() error { return fmt.Errorf("cannot read %q", "Maria Jensen") }},
		"a panic":  {"internal", func() error { panic("Maria Jensen") }},
		"busy":     {"busy", func() error { return &refusal.Error{Code: refusal.Busy, RetryAfter: 2 * time.Second} }},
		"limited":  {"rate_limited", func() error { return &refusal.Error{Code: refusal.RateLimited, RetryAfter: 2 * time.Second} }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAgentSite(t)
			s.deps.Desk.Store = failing{s.deps.Desk.Store, c.fail}
			no := s.agent("bot").refused(c.code, "propose_cancellation", args{"appointment": "apt_maria", "reason_code": "other"})
			if strings.Contains(fmt.Sprint(no), "Maria") || strings.Contains(s.log.String(), "Maria") {
				t.Errorf("told %v", no)
			}
			if later := at(no.object, "error", "retry_after_seconds"); (later == float64(2)) != (c.code != "internal") {
				t.Errorf("retry after %v", later)
			}
		})
	}
}

func TestTokensOfAgents(t *testing.T) {
	s := newAgentSite(t)
	a := s.agent("bot")
	a.done("find_patient", args{"query": "maria"})
	s.Exec(`UPDATE tokens SET revoked_at = now() WHERE account = 'ana' AND kind = 'agent'`)
	if _, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: "find_patient", Arguments: args{"query": "maria"}}); err == nil {
		t.Error("a revoked token finds patients")
	}
	for _, token := range []string{"", "nonsense", s.tokens["bot"], s.tokens["ana"]} {
		if _, err := connect(t, &mcp.StreamableClientTransport{Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: bearing(token)}}); err == nil {
			t.Errorf("%q connects", token)
		}
	}
}

func TestWhatTheMCPAddressTakes(t *testing.T) {
	s := newAgentSite(t)
	cookie := plainCookie + "=" + s.as("ana").cookie()
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	listen := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	bot := []string{"Authorization", "Bearer " + s.tokens["bot"], "Content-Type", "application/json", "Accept", "application/json, text/event-stream"}
	for name, c := range map[string]struct {
		method, body string
		headers      []string
		status       int
		says         string
	}{
		"a message":       {"POST", ping, bot, 200, `"result":{}`},
		"a cookie":        {"POST", ping, []string{"Cookie", cookie, "Content-Type", "application/json"}, 401, `"unauthenticated"`},
		"another site":    {"POST", ping, append(bot, "Sec-Fetch-Site", "cross-site"), 403, `"cross_origin"`},
		"a form":          {"POST", ping, append(bot, "Content-Type", "text/plain"), 415, `"unsupported_media_type"`},
		"too much":        {"POST", ping + strings.Repeat(" ", maxBody), bot, 413, `"body_too_large"`},
		"several at once": {"POST", "[" + ping + "]", bot, 400, `"malformed_request"`},
		"no JSON":         {"POST", `{"jsonrpc":`, bot, 400, `"malformed_request"`},
		"nothing":         {"POST", "", bot, 400, `"malformed_request"`},
		"no object":       {"POST", `"ping"`, bot, 400, `"malformed_request"`},
		"no message":      {"POST", `{"a":1}`, bot, 400, `"malformed_request"`},
		"bytes after it":  {"POST", ping + "}", bot, 400, `"malformed_request"`},
		"one more":        {"POST", ping + ping, bot, 400, `"malformed_request"`},
		"no UTF-8":        {"POST", `{"jsonrpc":"2.0","id":1,"method":"ping","x":"` + "\xff" + `"}`, bot, 400, `"malformed_request"`},
		"a member twice":  {"POST", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}`, bot, 400, `"malformed_request"`},
		"twice, deeper":   {"POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_patient","arguments":{"query":"a","q\u0075ery":"b"}}}`, bot, 400, `"malformed_request"`},
		"the same apart":  {"POST", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"a":[{"a":1.5},{"a":{"a":[]}},"a"],"b":{}}}}`, bot, 200, `"result":{}`},
		"a person":        {"POST", ping, append(bot, "Authorization", "Bearer "+s.tokens["ana"]), 403, `"permission_denied","message":"This is a person's token, and agents need a token of their own`},
		"a stream":        {"GET", "", append(bot, "Accept", "text/event-stream"), 405, `"method_not_allowed"`},
		"an end":          {"DELETE", "", bot, 405, `"method_not_allowed"`},
		"listening":       {"POST", listen, append(bot, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen"), 0, "method not found"},
	} {
		began := time.Now()
		a := s.browser().send(c.method, "/mcp", strings.NewReader(c.body), c.headers...)
		if c.status != 0 && a.status != c.status || !strings.Contains(a.body, c.says) || time.Since(began) > 5*time.Second {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		if a.header.Get("Set-Cookie") != "" || a.header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: the answer would have the client keep something: %v", name, a.header)
		}
	}
}

func hostileTexts(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile("testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(all) < 40 {
		t.Fatalf("only %d texts", len(all))
	}
	return all
}

// What a text says never widens what is proposed: the plan is the plan of a harmless text but for the text itself.
func TestHostileTextsWidenNothing(t *testing.T) {
	s := newAgentSite(t)
	a, before := s.agent("bot"), s.world()
	shape := func(p proposal.Plan) string {
		p.Proposal, p.ExpiresAt, p.Parameters["message"], p.Messages[0].Text, p.Messages[0].Calendar = "", time.Time{}, "", "", nil // a calendar entry has the time it was made
		canonical, _, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return string(canonical)
	}
	propose := func(text string) proposal.Plan {
		card := a.done("propose_reschedule", args{"appointment": "apt_maria", "starts_at": s.At(1, 14, 0).Format(time.RFC3339), "message": text, "reason": text})
		r, err := s.deps.Desk.Get(t.Context(), s.Actor("ana"), card.text("proposal", "id"))
		if err != nil || r.State != proposal.StateProposed {
			t.Fatalf("%q: %s %v", text, r.State, err)
		}
		a.done("withdraw_proposal", args{"proposal": r.ID, "reason": text})
		return r.Plan
	}
	harmless := shape(propose("See you then"))
	for _, text := range hostileTexts(t) {
		if got := shape(propose(text)); got != harmless {
			t.Errorf("%q made another plan:\n%s\n%s", text, got, harmless)
		}
		for name, with := range map[string]args{"get_proposal": {"proposal": text}, "withdraw_proposal": {"proposal": text}, "get_appointment": {"appointment": text},
			"propose_cancellation": {"appointment": text, "reason_code": text}, "list_my_proposals": {"state": text}, "find_slots": {"type": text, "from": text, "to": text}} {
			if no := a.call(name, with); !no.refused || no.code() == "internal" {
				t.Errorf("%s took %q: %s", name, text, no.words)
			}
		}
		if found := a.done("find_patient", args{"query": text}); len(found.items("items")) != 0 {
			t.Errorf("%q finds %v", text, found.items("items"))
		}
		s.Exec(`UPDATE patients SET family = $1 WHERE clinic = 'hav' AND id = 'aoife'`, text)
		if told := a.done("find_patient", args{"query": "aoife"}); !strings.Contains(fmt.Sprint(at(told.items("items")[0], "name")), text) || told.words != "1 patient fits." {
			t.Errorf("a name stands outside the data: %q", told.words)
		}
	}
	s.Exec(`UPDATE patients SET family = 'O''Brien-Núñez' WHERE clinic = 'hav' AND id = 'aoife'`)
	after := s.world()
	if strings.Count(after, "|") != strings.Count(before, "|") || s.Text(`SELECT count(*) FROM outbox`) != "0" || s.Text(`SELECT count(*) FROM appointments WHERE version > 1`) != "0" {
		t.Errorf("something has happened:\n%s\n%s", before, after)
	}
	if log := s.log.String(); strings.Contains(log, "Ignore") || strings.Contains(log, "evil.example") {
		t.Error("a text is in the log")
	}
}

// Many sessions of several agents at once: each sees its own, and nothing mixes.
func TestManyAgentsAtOnce(t *testing.T) {
	s := newAgentSite(t)
	var wait sync.WaitGroup
	for i := range 12 {
		who := []string{"bot", "bot2", "lake_bot"}[i%3]
		prefix := map[string]string{"lake_bot": "lake_"}[who]
		a := s.agent(who)
		wait.Go(func() {
			for range 4 {
				p := a.call("find_patient", args{"query": "maria"}).items("items")
				if len(p) != 1 || at(p[0], "id") != prefix+"maria" {
					t.Errorf("%s sees %v", who, p)
				}
				card := a.call("propose_cancellation", args{"appointment": prefix + "apt_maria", "reason_code": "other", "idempotency_key": "same-" + who})
				if card.refused {
					t.Errorf("%s: %s", who, card.words)
				}
			}
		})
	}
	wait.Wait()
	if n := s.Text(`SELECT count(*) FROM proposals`); n != "3" {
		t.Errorf("%s proposals", n)
	}
	for _, who := range []string{"bot", "bot2", "lake_bot"} {
		if mine := s.agent(who).done("list_my_proposals", nil).items("items"); len(mine) != 1 {
			t.Errorf("%s made %d", who, len(mine))
		}
	}
}
