//go:build unix

package prooftest

import (
	"strings"
	"testing"

	"countersign/db/desktest"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

const policing = "change_policy@1"

func policyOf(action string, least, people any) proposal.Proposing {
	return proposal.Proposing{Action: policing, Parameters: map[string]any{"action": action, "least_risk": least, "people": people}}
}

func wish(action string, version int64, least, people any) proposal.PolicyWish {
	return proposal.PolicyWish{Parameters: policyOf(action, least, people).Parameters, Version: version}
}

// askedOf is the latest version of a policy: "version floor people".
func askedOf(d *desktest.Desk, action string) string {
	d.T.Helper()
	return d.Text(`SELECT version || ' ' || coalesce(least_risk, '-') || ' ' || coalesce(people::text, '-') FROM policies WHERE clinic = 'hav' AND action = $1 ORDER BY version DESC LIMIT 1`, action)
}

func TestOnlyAdminsProposeAPolicyAndNothingElse(t *testing.T) {
	d := desktest.New(t)
	ada := d.Actor("ada")
	bot := ada
	bot.Kind, bot.Agent, bot.AgentName, bot.MayDecide = clinic.KindAgent, "bot", "bot", false
	for _, by := range []clinic.Actor{d.Actor("ana"), d.Actor("ben"), d.Agent(), bot} {
		_, err := d.Desk.Propose(ctx, by, policyOf(moving, "high", nil))
		wantCode(t, err, refusal.PermissionDenied)
		_, _, err = d.Desk.SetPolicy(ctx, by, wish(moving, 0, "high", nil))
		wantCode(t, err, refusal.PermissionDenied)
	}
	_, err := d.Desk.Propose(ctx, ada, d.Move("apt_maria", d.At(1, 9, 0)))
	wantCode(t, err, refusal.PermissionDenied)
	for _, wrong := range []proposal.Proposing{policyOf("no_action@1", "high", nil), policyOf(moving, "severe", nil), policyOf(moving, nil, int64(0)), policyOf(moving, nil, int64(4)),
		policyOf(moving, nil, 1.5), policyOf(moving, nil, true), policyOf(moving, nil, nil), policyOf(moving, "low", int64(1)), policyOf(policing, "high", nil), policyOf(policing, nil, int64(1)), policyOf(policing, "critical", int64(2))} {
		_, err := d.Desk.Propose(ctx, ada, wrong)
		if code(err) != refusal.ValidationFailed {
			t.Errorf("%v: %v", wrong.Parameters, err)
		}
	}
	if n := d.Text(`SELECT count(*) FROM proposals`) + d.Text(`SELECT count(*) FROM policies`); n != "00" {
		t.Error(n)
	}
}

func TestAnAdminTightensDirectly(t *testing.T) {
	d := desktest.New(t)
	ada := d.Actor("ada")
	saved, _, err := d.Desk.SetPolicy(ctx, ada, wish(moving, 0, "high", nil))
	must(t, err)
	if !saved || askedOf(d, moving) != "1 high -" {
		t.Fatalf("%v %s", saved, askedOf(d, moving))
	}
	if n := d.Text(`SELECT string_agg(concat_ws(' ', actor, object, version, code), ',') FROM audit WHERE action = 'policy.change' AND outcome = 'success'`); n != "ada reschedule_appointment@1 1 -,->high,-" {
		t.Error(n)
	}
	// The second click of a double click; a tab that is behind; nothing new.
	saved, _, err = d.Desk.SetPolicy(ctx, ada, wish(moving, 0, "high", nil))
	if must(t, err); !saved || askedOf(d, moving) != "1 high -" {
		t.Errorf("%v %s", saved, askedOf(d, moving))
	}
	_, _, err = d.Desk.SetPolicy(ctx, ada, wish(moving, 0, "critical", nil))
	wantCode(t, err, refusal.ResourceChanged)
	_, _, err = d.Desk.SetPolicy(ctx, ada, wish(moving, 1, "high", nil))
	wantCode(t, err, refusal.ValidationFailed)
	// A floor of critical asks for two people, so asking for two is then nothing less.
	saved, _, err = d.Desk.SetPolicy(ctx, ada, wish(moving, 1, "high", int64(2)))
	if must(t, err); !saved {
		t.Error("not saved")
	}
	saved, _, err = d.Desk.SetPolicy(ctx, ada, wish(moving, 2, "critical", nil))
	if must(t, err); !saved || askedOf(d, moving) != "3 critical -" {
		t.Errorf("%v %s", saved, askedOf(d, moving))
	}
	saved, _, err = d.Desk.SetPolicy(ctx, ada, wish(policing, 0, nil, int64(3)))
	if must(t, err); !saved {
		t.Error("three people for policy itself")
	}
}

func TestLooseningIsDecidedByTwoReviewers(t *testing.T) {
	d := desktest.New(t)
	ada := d.Actor("ada")
	asks(d, moving, "high", 2)
	saved, out, err := d.Desk.SetPolicy(ctx, ada, wish(moving, 1, "medium", int64(2)))
	must(t, err)
	r := out.Record
	if saved || askedOf(d, moving) != "1 high 2" || r.Risk != proposal.Critical || r.Approvals.Needed != 2 || !strings.Contains(strings.Join(r.RiskReasons, "|"), "It asks for less than before") {
		t.Fatalf("%v %s %s %v %v", saved, askedOf(d, moving), r.Risk, r.Approvals, r.RiskReasons)
	}
	if s := r.Summary; !strings.Contains(s.Title, "Change this clinic’s policy") || *s.Fields[1].Old != "At least high" || *s.Fields[1].New != "At least medium" || *s.Fields[2].Old != "2 people" {
		t.Errorf("%+v", s)
	}
	for _, member := range []string{`"policy":{"action":"reschedule_appointment@1","least_risk":"medium","people":2}`, `"op":"set_policy"`, `"resources":[{"id":"reschedule_appointment@1","kind":"policy","version":1}]`, `"patient":null`, `"practitioner":null`} {
		if !strings.Contains(string(r.PlanBytes), member) {
			t.Errorf("no %s in %s", member, r.PlanBytes)
		}
	}
	_, err = d.Desk.Confirm(ctx, ada, desktest.Deciding(r, "k0"))
	wantCode(t, err, refusal.SelfApprovalForbidden)
	_, err = d.Desk.Confirm(ctx, d.Actor("ana"), desktest.Deciding(r, "k0"))
	wantCode(t, err, refusal.PermissionDenied)
	first, err := d.Desk.Confirm(ctx, d.Actor("ben"), desktest.Deciding(r, "k1"))
	if must(t, err); first.Record.State != proposal.StateProposed {
		t.Fatal(first.Record.State)
	}
	done, err := d.Desk.Confirm(ctx, d.Actor("bea"), desktest.Deciding(r, "k2"))
	must(t, err)
	if done.Record.State != proposal.StateCompleted || askedOf(d, moving) != "2 medium 2" ||
		string(done.Record.Result) != `{"policy":{"version":2,"action":"reschedule_appointment@1","least_risk":"medium","people":2}}` {
		t.Errorf("%s %s %s", done.Record.State, askedOf(d, moving), done.Record.Result)
	}
	if n := d.Text(`SELECT string_agg(concat_ws(' ', actor, object_kind, object, version, code), ',') FROM audit WHERE action = 'policy.change' AND outcome = 'success'`); n != "bea policy reschedule_appointment@1 2 high,2>medium,2" {
		t.Error(n)
	}
	if n := d.Text(`SELECT proposal || set_by FROM policies WHERE version = 2`); n != r.ID+"bea" {
		t.Error(n)
	}
}

// The policy a card shows is pinned: one that was set meanwhile makes it stale, and two loosenings end in one.
func TestAPolicyIsPinned(t *testing.T) {
	d := desktest.New(t)
	ada := d.Actor("ada")
	asks(d, moving, "high", 2)
	var cards []proposal.Record
	for _, least := range []any{"medium", nil} {
		cards = append(cards, d.Propose(ada, policyOf(moving, least, nil)))
	}
	for _, r := range cards {
		_, err := d.Desk.Confirm(ctx, d.Actor("ben"), desktest.Deciding(r, "b"+r.ID))
		must(t, err)
	}
	wantTally(t, atOnce(2, func(i int) (proposal.Answer, error) {
		return d.Desk.Confirm(ctx, d.Actor("bea"), desktest.Deciding(cards[i], "k"+cards[i].ID))
	}), map[string]int{proposal.StateCompleted: 1, refusal.ResourceChanged: 1})
	if v := d.Text(`SELECT max(version) FROM policies`); v != "2" {
		t.Errorf("version %s", v)
	}
	for _, r := range cards {
		now, err := d.Desk.Get(ctx, ada, r.ID)
		must(t, err)
		if now.State != proposal.StateProposed {
			continue
		}
		if !now.Stale || len(now.Changed) != 1 || now.Changed[0] != (proposal.Change{Kind: "policy", ID: moving, Expected: 1, Current: 2, Label: "The clinic’s policy"}) {
			t.Errorf("%v", now.Changed)
		}
		if again, err := d.Desk.Revise(ctx, ada, proposal.Revising{Proposal: r.ID, Revision: 1, PlanHash: r.PlanHash}); err == nil && again.Record.Stale {
			t.Error("a fresh preview is stale")
		}
		if out, err := d.Desk.Reject(ctx, ada, desktest.Deciding(mustGet(d, r.ID), "r")); err != nil || out.Record.State != proposal.StateRejected {
			t.Errorf("the asker may take it back: %v", err)
		}
	}
}

func mustGet(d *desktest.Desk, id string) proposal.Record {
	d.T.Helper()
	r, err := d.Desk.Get(ctx, d.Actor("ada"), id)
	must(d.T, err)
	return r
}

// What loosens and what changes anything is told by what would be asked at every risk.
func TestWhatLoosens(t *testing.T) {
	p := func(least string, people int) (o proposal.Policy) {
		if least != "" {
			o.LeastRisk = &least
		}
		if people != 0 {
			o.People = &people
		}
		return o
	}
	for _, c := range []struct {
		was, is          proposal.Policy
		loosens, changes bool
	}{
		{p("", 0), p("", 0), false, false}, {p("", 0), p("low", 1), false, false}, {p("", 0), p("medium", 0), false, true}, {p("", 0), p("", 2), false, true},
		{p("high", 0), p("medium", 0), true, true}, {p("high", 0), p("", 3), true, true}, {p("high", 3), p("critical", 2), true, true},
		{p("high", 2), p("critical", 0), false, true}, {p("critical", 0), p("critical", 2), false, false}, {p("critical", 2), p("critical", 0), false, false}, {p("", 2), p("", 0), true, true},
	} {
		if l, n := c.was.Loosens(c.is); l != c.loosens || n != c.changes {
			t.Errorf("%s to %s: loosens %v, changes %v", c.was.Code(), c.is.Code(), l, n)
		}
	}
}
