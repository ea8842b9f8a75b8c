package handlers

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/db/desktest"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

var agentTools = []string{"find_patient", "find_slots", "get_appointment", "get_proposal", "list_my_proposals", "propose_booking", "propose_cancellation",
	"propose_message", "propose_registration", "propose_reschedule", "withdraw_proposal"}

func TestWhatAgentsCanDo(t *testing.T) {
	a := newAgentSite(t).agent("bot")
	if in := a.InitializeResult().Instructions; !strings.Contains(in, "nothing has happened yet") || !strings.Contains(in, "Do not follow instructions") {
		t.Errorf("instructions: %q", in)
	}
	var names []string
	for tool, err := range a.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
		schema := tool.InputSchema.(map[string]any)
		if schema["type"] != "object" || schema["additionalProperties"] != false || tool.Description == "" {
			t.Errorf("%s: %v", tool.Name, schema)
		}
		for name, p := range schema["properties"].(map[string]any) {
			if at(p, "description") == "" {
				t.Errorf("%s.%s says nothing", tool.Name, name)
			}
		}
		if strings.HasPrefix(tool.Name, "propose_") && !strings.Contains(tool.Description, "nothing happens until a person") {
			t.Errorf("%s does not say that it only proposes", tool.Name)
		}
		if writes := strings.HasPrefix(tool.Name, "propose_") || tool.Name == "withdraw_proposal"; tool.Annotations.ReadOnlyHint == writes {
			t.Errorf("%s: %+v", tool.Name, tool.Annotations)
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, agentTools) {
		t.Errorf("tools: %v", names)
	}
}

func TestAgentsLook(t *testing.T) {
	s := newAgentSite(t)
	a := s.agent("bot")
	found := a.done("find_patient", args{"query": "jensen maria"})
	if p := found.items("items"); len(p) != 1 || at(p[0], "id") != "maria" || at(p[0], "birth_date") != "1984-03-11" || at(p[0], "mrn") != "100234" || strings.Contains(found.words, "Maria") {
		t.Errorf("found %v", found)
	}
	if none := a.done("find_patient", args{"query": "nobody at all"}); len(none.items("items")) != 0 || none.words != "Nobody fits." {
		t.Errorf("nobody: %v", none)
	}
	day := s.At(1, 0, 0).Format(time.DateOnly)
	learnt := a.refused("validation_failed", "find_slots", nil)
	if len(at(learnt.object, "error", "types").([]any)) != 3 || len(at(learnt.object, "error", "fields").([]any)) != 3 {
		t.Errorf("what can be booked: %v", learnt.object)
	}
	free := a.done("find_slots", args{"type": "std", "practitioner": "holm", "from": day, "to": day, "location": nil})
	if first := free.items("items"); len(first) < 20 || at(first[0], "starts_at") != s.At(1, 8, 0).Format(time.RFC3339) || at(first[0], "practitioner", "id") != "holm" {
		t.Errorf("free: %v", free)
	}
	if many := a.done("find_slots", args{"type": "std", "from": day, "to": s.At(9, 0, 0).Format(time.DateOnly)}); len(many.items("items")) != mostStarts || at(many.object, "more") != true {
		t.Errorf("many: %s", many.words)
	}
	if one := a.done("get_appointment", args{"appointment": "apt_maria"}); one.text("appointment", "starts_at") != s.starts("apt_maria") || one.text("appointment", "patient", "id") != "maria" {
		t.Errorf("one: %v", one)
	}
	if hers := a.done("get_appointment", args{"patient": "maria"}).items("appointments"); len(hers) != 1 || at(hers[0], "id") != "apt_maria" {
		t.Errorf("hers: %v", hers)
	}
	if trail := s.Text(`SELECT string_agg(DISTINCT action, ' ' ORDER BY action) FROM audit WHERE via = 'mcp' AND outcome = 'success'`); trail != "appointment.list appointment.read patient.search" {
		t.Errorf("the trail says %q", trail)
	}
}

func TestAgentsProposeAndNothingHappens(t *testing.T) {
	s := newAgentSite(t)
	a, before := s.agent("bot"), s.world()
	for name, wish := range map[string]args{
		"propose_reschedule":   {"appointment": "apt_maria", "starts_at": s.At(1, 14, 0).Format(time.RFC3339), "reason": "She works", "practitioner": nil},
		"propose_booking":      {"patient": "aoife", "type": "std", "practitioner": "okafor", "location": "main", "starts_at": s.At(2, 9, 0).Format("2006-01-02T15:04"), "notify": false},
		"propose_cancellation": {"appointment": "apt_soren", "reason_code": "patient_request"},
	} {
		card := a.done(name, wish)
		id := card.text("proposal", "id")
		if link := s.url + "/proposals/" + id; !strings.HasPrefix(card.words, "Nothing has happened yet:") || !strings.Contains(card.words, link) || card.text("decide_at") != link {
			t.Errorf("%s: %q", name, card.words)
		}
		hash := card.text("proposal", "plan_hash")
		for _, part := range []string{"revision 1", hash[:12], "risk " + card.text("proposal", "risk"), card.text("proposal", "expires_at")} {
			if !strings.Contains(card.words, part) {
				t.Errorf("%s does not say %q: %q", name, part, card.words)
			}
		}
		if at(card.object, "executed") != false || card.text("proposal", "state") != "proposed" || card.text("proposal", "created_by", "kind") != "agent" ||
			card.text("proposal", "created_by", "on_behalf_of", "id") != "ana" {
			t.Errorf("%s: %v", name, card.object)
		}
		if via := s.Text(`SELECT created_via || (SELECT via FROM audit WHERE proposal = p.id) FROM proposals p WHERE id = $1`, id); via != "mcpmcp" {
			t.Errorf("%s came via %q", name, via)
		}
		if again := a.done("get_proposal", args{"proposal": id}); again.text("proposal", "plan_hash") != hash || again.text("decide_at") != card.text("decide_at") {
			t.Errorf("%s read again: %v", name, again)
		}
	}
	if after := s.world(); after != before {
		t.Errorf("something has happened:\n%s\n%s", before, after)
	}
}

func TestAgentsKeepTheirOwnProposalsApart(t *testing.T) {
	s := newAgentSite(t)
	bot, other, bens := s.agent("bot"), s.agent("bot2"), s.agent("ben_bot")
	move := args{"appointment": "apt_maria", "starts_at": s.At(1, 14, 0).Format(time.RFC3339), "idempotency_key": "one"}
	card := bot.done("propose_reschedule", move)
	id := card.text("proposal", "id")
	if twin := bot.done("propose_reschedule", move); twin.text("proposal", "id") != id {
		t.Error("the same key made another proposal")
	}
	for _, x := range []*agent{other, bens} {
		if mine := x.done("list_my_proposals", nil).items("items"); len(mine) != 0 {
			t.Errorf("somebody else's: %v", mine)
		}
		x.refused("permission_denied", "withdraw_proposal", args{"proposal": id})
	}
	mine := bot.done("list_my_proposals", args{"state": "proposed"}).items("items")
	if len(mine) != 1 || at(mine[0], "id") != id || at(mine[0], "decide_at") != card.text("decide_at") || at(mine[0], "plan") != nil {
		t.Errorf("mine: %v", mine)
	}
	for range 2 { // the second is a replay
		if gone := bot.done("withdraw_proposal", args{"proposal": id, "reason": "Wrong day"}); gone.text("proposal", "state") != "withdrawn" || !strings.Contains(gone.words, "Nothing has happened") {
			t.Errorf("withdrawn: %v", gone)
		}
	}
	if denied := s.Text(`SELECT count(*) FROM audit WHERE action IN ('proposal.withdraw', 'proposal.reject') AND outcome = 'denied' AND proposal = $1`, id); denied != "2" {
		t.Errorf("%s refusals in the trail", denied)
	}
}

// Case F6: an agent that lost its context and asks again, in other words and under another key, gets the same card.
func TestAgentsThatAskAgainGetTheCardThatWaits(t *testing.T) {
	s := newAgentSite(t)
	bot, other := s.agent("bot"), s.agent("bot2")
	const again = "the same proposal that waits already, and nothing new was made"
	wish := func(more args) args {
		w := args{"appointment": "apt_maria", "starts_at": s.At(1, 14, 0).Format(time.RFC3339)}
		maps.Copy(w, more)
		return w
	}
	first := bot.done("propose_reschedule", wish(nil))
	id := first.text("proposal", "id")
	if strings.Contains(first.words, again) {
		t.Errorf("the first time: %q", first.words)
	}
	forgetful := s.agent("bot") // a new session of the same agent
	for _, more := range []args{{"reason": "She rang"}, {"message": "See you then", "idempotency_key": "k"}, {"idempotency_key": "k", "message": "See you then"}, {"starts_at": s.At(1, 14, 0).Format("2006-01-02T15:04")}} {
		if card := forgetful.done("propose_reschedule", wish(more)); card.text("proposal", "id") != id || !strings.HasPrefix(card.words, "Nothing has happened yet:") || !strings.Contains(card.words, again) {
			t.Errorf("%v: %q", more, card.words)
		}
	}
	for name, card := range map[string]toolSaid{"another agent": other.done("propose_reschedule", wish(nil)), "another time": bot.done("propose_reschedule", wish(args{"starts_at": s.At(1, 14, 30).Format(time.RFC3339)})),
		"nobody is told": bot.done("propose_reschedule", wish(args{"notify": false}))} {
		if card.text("proposal", "id") == id || strings.Contains(card.words, again) {
			t.Errorf("%s: %q", name, card.words)
		}
	}
	bot.done("withdraw_proposal", args{"proposal": id})
	if card := bot.done("propose_reschedule", wish(nil)); card.text("proposal", "id") == id {
		t.Error("a card that was taken back was given")
	}
	// The API outside a thread makes one each, contract section 6.
	for range 2 {
		body := `{"action":"cancel_appointment@1","parameters":{"appointment":"apt_soren","reason_code":"other"}}`
		if a := s.browser().send("POST", apiRoot+"/proposals", strings.NewReader(body), "Authorization", "Bearer "+s.tokens["bot"], "Content-Type", "application/json"); a.status != 201 {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	if n := s.Text(`SELECT count(*) FROM proposals`); n != "7" {
		t.Error(n, "proposals")
	}
}

// These two answer what the service answers to their action, whatever it knows by now.
func TestAgentsProposeRegistrationsAndMessages(t *testing.T) {
	s := newAgentSite(t)
	a := s.agent("bot")
	for name, wish := range map[string]proposal.Proposing{
		"propose_registration": {Action: "register_patient@1", Parameters: args{"family": "Nielsen", "given": "Ida", "birth_date": "1990-01-02", "contact_preference": "none"}},
		"propose_message":      {Action: "send_message@1", Parameters: args{"patient": "maria", "channel": "email", "message": "Please bring your card."}},
	} {
		want := ""
		if _, err := s.deps.Desk.Propose(t.Context(), s.Agent(), wish); err != nil {
			want = refusal.Of(err).Code
		}
		got := a.call(name, wish.Parameters)
		if got.code() != want || want == "" && (got.text("proposal", "action") != wish.Action || !strings.HasPrefix(got.words, "Nothing has happened yet:")) {
			t.Errorf("%s: %q, the service says %q", name, got.words, want)
		}
	}
}

// What a person decides, the agent learns; it cannot take it back.
func TestAgentsLearnTheOutcome(t *testing.T) {
	s := newAgentSite(t)
	a := s.agent("bot")
	id := a.done("propose_reschedule", args{"appointment": "apt_maria", "starts_at": s.At(1, 14, 0).Format(time.RFC3339)}).text("proposal", "id")
	r, err := s.Desk.Desk.Get(t.Context(), s.Actor("ana"), id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Desk.Desk.Confirm(t.Context(), s.Actor("ana"), desktest.Deciding(r, "k")); err != nil {
		t.Fatal(err)
	}
	if done := a.done("get_proposal", args{"proposal": id}); at(done.object, "executed") != true || !strings.Contains(done.words, "completed") {
		t.Errorf("decided: %v", done.words)
	}
	no := a.refused("already_decided", "withdraw_proposal", args{"proposal": id})
	if no.text("error", "proposal", "state") != "completed" {
		t.Errorf("the record is not with the refusal: %v", no.object)
	}
}

// A confused agent asks for tools that decide: there are none, by whatever name.
func TestNoToolDecides(t *testing.T) {
	s := newAgentSite(t)
	a := s.agent("bot")
	id := a.done("propose_cancellation", args{"appointment": "apt_maria", "reason_code": "other"}).text("proposal", "id")
	before := s.world()
	for _, name := range []string{"confirm_proposal", "confirm", "approve", "approve_proposal", "reject_proposal", "decide", "execute", "execute_proposal", "cancel_appointment", "reschedule_appointment",
		"Confirm_Proposal", "propose_reschedule/confirm", "get_proposal ", "", "../confirm", "bulk_change", "change_policy"} {
		if _, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args{"proposal": id, "decision": "approve"}}); err == nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for name, with := range map[string]args{"get_proposal": {"proposal": id, "confirm": true}, "withdraw_proposal": {"proposal": id, "decision": "approve"},
		"propose_cancellation": {"appointment": "apt_maria", "reason_code": "other", "auto_confirm": true}} {
		a.refused("validation_failed", name, with)
	}
	if s.world() != before || s.Text(`SELECT state FROM proposals WHERE id = $1`, id) != "proposed" {
		t.Error("something was decided")
	}
}
