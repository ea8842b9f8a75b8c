package db_test

import (
	"encoding/json"
	"strings"
	"testing"

	"countersign/db/desktest"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

func TestAMessageIsSentToTheLetter(t *testing.T) {
	d := desktest.New(t)
	ana := d.Actor("ana")
	text := "Dear Maria\n\n<b>Please</b> bring: “x” & y"
	r := d.Propose(ana, message("maria", "email", text))
	if r.Risk != proposal.Medium || r.Plan.Messages[0].Text != text || r.Plan.Messages[0].Kind != "message" {
		t.Fatal(r.Risk, r.RiskReasons, r.Plan.Messages)
	}
	out, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k"))
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Text(`SELECT body = $2 AND appointment IS NULL AND version = 1 AND kind = 'message' AND recipient = 'maria.jensen.84@example.test' AND state = 'queued'
		FROM outbox WHERE proposal = $1`, r.ID, text); got != "true" {
		t.Error("the outbox does not hold the plan's bytes")
	}
	if got := d.Text(`SELECT count(*) FROM inspect.outbox WHERE appointment IS NULL`); got != "1" {
		t.Error(got)
	}
	var answer struct {
		Result struct{ Messages []proposal.MessageAnswer }
	}
	if err := json.Unmarshal(out.Body, &answer); err != nil || len(answer.Result.Messages) != 1 || answer.Result.Messages[0].Text != text {
		t.Error(err, string(out.Body))
	}
	if got := d.Text(`SELECT version FROM patients WHERE clinic = 'hav' AND id = 'maria'`); got != "1" {
		t.Error("a message changes nobody's record")
	}
	d.Exec(`UPDATE patients SET phone = '+45 20 12 34 56' WHERE clinic = 'hav' AND id = 'maria'`)
	other := d.Propose(ana, message("maria", "sms", "Hello"))
	if all := strings.Join(other.RiskReasons, "\n"); !strings.Contains(all, "another way: e-mail") {
		t.Error(all)
	}
	d.Exec(`UPDATE patients SET contact = 'none' WHERE clinic = 'hav' AND id = 'maria'`)
	if _, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(other, "k2")); code(err) != refusal.ResourceChanged {
		t.Error("a message to somebody who wants none meanwhile:", err)
	}
	d.Exec(`UPDATE patients SET deceased = true, email = 'a@example.test' WHERE clinic = 'hav' AND id = 'aoife'`)
	for want, p := range map[string]proposal.Proposing{
		"channel":         message("maria", "sms", "Hello"),
		"channel message": message("soren", "fax", " \u200b "),
		"patient":         message("aoife", "email", "Hello"),
		"message":         message("soren", "sms", strings.Repeat("x", 501)),
		"channel ":        message("soren", "email", "Hello"),
	} {
		if _, err := d.Desk.Propose(ctx, ana, p); fields(err) != strings.TrimSpace(want) {
			t.Errorf("%v: %q", p.Parameters, fields(err))
		}
	}
}

func TestAnAgentsMessageAndRegistrationAreHigh(t *testing.T) {
	d := desktest.New(t)
	ana, bot := d.Actor("ana"), d.Agent()
	for _, p := range []proposal.Proposing{message("maria", "email", "Hello"), registering()} {
		r := d.Propose(bot, p)
		if r.Risk != proposal.High {
			t.Fatal(p.Action, r.Risk, r.RiskReasons)
		}
		if _, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k")); code(err) != refusal.SelfApprovalForbidden {
			t.Error("an agent's owner decided its high risk:", err)
		}
		next, err := d.Desk.Revise(ctx, ana, proposal.Revising{Proposal: r.ID, Revision: 1, PlanHash: r.PlanHash})
		if err != nil || next.Record.Risk != proposal.High {
			t.Error("a fresh preview made it lighter:", err, next.Record.Risk)
		}
	}
	if r := d.Propose(bot, contact("maria", "phone", "+4520123456")); r.Risk != proposal.Medium {
		t.Error(r.Risk)
	}
}

// Every member is always there, null where an action has no value.
func TestPlansOfPatientsHaveEveryMember(t *testing.T) {
	d := desktest.New(t)
	visit := d.Propose(d.Actor("ana"), d.Move("apt_maria", d.At(1, 14, 0)))
	whole := shape(t, visit.PlanBytes)
	for _, p := range []proposal.Proposing{registering(), contact("maria", "phone", "+4520123456"), message("maria", "email", "Hello")} {
		r := d.Propose(d.Actor("ana"), p)
		if !proposal.Verify(r.PlanBytes, r.PlanHash) {
			t.Error(p.Action, "does not have its hash")
		}
		got := shape(t, r.PlanBytes)
		for _, part := range []string{"after", "steps"} {
			if got[part] != whole[part] {
				t.Errorf("%s: %s has %s, a visit's plan %s", p.Action, part, got[part], whole[part])
			}
		}
		again, err := proposal.DecodePlan(r.PlanBytes)
		if err != nil {
			t.Fatal(err)
		}
		if canonical, _, err := again.Encode(); err != nil || string(canonical) != string(r.PlanBytes) {
			t.Error(p.Action, "is not the same when read and written again")
		}
	}
}

// shape names the members of a plan's after and first step, in order.
func shape(t *testing.T, plan []byte) map[string]string {
	var p struct {
		After map[string]json.RawMessage
		Steps []map[string]json.RawMessage
	}
	if err := json.Unmarshal(plan, &p); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"after": names(p.After), "steps": names(p.Steps[0])}
}
