//go:build unix

package prooftest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"countersign/db/desktest"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

const moving = "reschedule_appointment@1"

// asks sets what clinic hav asks of an action, behind the app's back.
func asks(d *desktest.Desk, action string, least, people any) {
	d.T.Helper()
	d.Exec(`INSERT INTO policies (clinic, action, version, least_risk, people, set_by, set_name)
		SELECT 'hav', $1, coalesce(max(version), 0) + 1, $2, $3, 'ada', 'ada' FROM policies WHERE clinic = 'hav' AND action = $1`, action, least, people)
}

// critical is a move that needs two people.
func critical(d *desktest.Desk) proposal.Record {
	d.T.Helper()
	asks(d, moving, "critical", nil)
	return d.Propose(d.Actor("ana"), d.Move("apt_maria", d.At(1, 9, 0)))
}

func names(given []clinic.Ref) string {
	var out []string
	for _, g := range given {
		out = append(out, g.Name)
	}
	return strings.Join(out, " ")
}

// given reads who has approved as anybody sees it now.
func given(d *desktest.Desk, id string) (string, proposal.Record) {
	d.T.Helper()
	r, err := d.Desk.Get(ctx, d.Actor("ana"), id)
	must(d.T, err)
	return names(r.Approvals.Given), r
}

func wantApproved(t *testing.T, d *desktest.Desk, r proposal.Record, by, key, so string) {
	t.Helper()
	out, err := d.Desk.Confirm(ctx, d.Actor(by), desktest.Deciding(r, key))
	must(t, err)
	var body struct {
		Outcome  string
		Proposal struct{ Approvals proposal.Approvals }
		Result   any
	}
	must(t, json.Unmarshal(out.Body, &body))
	if out.Status != 200 || body.Outcome != "proposed" || body.Result != nil || names(body.Proposal.Approvals.Given) != so || body.Proposal.Approvals.Needed != 2 {
		t.Fatalf("%s: %d %s", by, out.Status, out.Body)
	}
	if v := d.Text(`SELECT version FROM appointments WHERE clinic = 'hav' AND id = 'apt_maria'`); v != "1" {
		t.Fatalf("the visit moved: version %s", v)
	}
}

func wantDone(t *testing.T, d *desktest.Desk, r proposal.Record, by, key, so string) {
	t.Helper()
	out, err := d.Desk.Confirm(ctx, d.Actor(by), desktest.Deciding(r, key))
	must(t, err)
	if got, now := given(d, r.ID); out.Record.State != proposal.StateCompleted || got != so || names(out.Record.Approvals.Given) != so || now.State != proposal.StateCompleted {
		t.Fatalf("%s: %s, given %s, %s", by, out.Record.State, names(out.Record.Approvals.Given), got)
	}
	if v := d.Text(`SELECT version FROM appointments WHERE clinic = 'hav' AND id = 'apt_maria'`); v != "2" {
		t.Fatalf("the visit is at version %s", v)
	}
}

func TestCriticalNeedsTwoPeople(t *testing.T) {
	d := desktest.New(t)
	r := critical(d)
	if r.Risk != proposal.Critical || r.Approvals.Needed != 2 || !strings.Contains(strings.Join(r.RiskReasons, "|"), "This clinic’s policy: at least critical risk") {
		t.Fatalf("%s %v %v", r.Risk, r.Approvals, r.RiskReasons)
	}
	wantApproved(t, d, r, "ben", "k1", "ben")
	if n := d.Text(`SELECT count(*) FROM audit WHERE proposal = $1 AND action = 'proposal.approve' AND outcome = 'success' AND actor = 'ben'`, r.ID); n != "1" {
		t.Errorf("%s approvals in the trail", n)
	}
	// The same key is a replay, byte for byte; another one of the same person is not a second person.
	again, err := d.Desk.Confirm(ctx, d.Actor("ben"), desktest.Deciding(r, "k1"))
	must(t, err)
	if !again.Replayed || !strings.Contains(string(again.Body), `"outcome":"proposed"`) {
		t.Errorf("%v %s", again.Replayed, again.Body)
	}
	token := d.Actor("ben")
	token.Via = "api"
	_, err = d.Desk.Confirm(ctx, token, desktest.Deciding(r, "k2"))
	wantCode(t, err, refusal.AlreadyDecided)
	if x := refusal.Of(err); !strings.Contains(x.Message, "another person") || x.Record.(proposal.Record).State != proposal.StateProposed {
		t.Errorf("%s, %v", x.Message, x.Record)
	}
	_, err = d.Desk.Confirm(ctx, d.Actor("ana"), desktest.Deciding(r, "k3"))
	wantCode(t, err, refusal.SelfApprovalForbidden)
	_, err = d.Desk.Confirm(ctx, d.Actor("emil"), desktest.Deciding(r, "k4"))
	wantCode(t, err, refusal.PermissionDenied)
	wantDone(t, d, r, "bea", "k5", "ben bea")
	if n := d.Text(`SELECT string_agg(person || ' ' || revision || ' ' || (plan_hash = $2), ',' ORDER BY at) FROM approvals WHERE proposal = $1`, r.ID, r.PlanHash); n != "ben 1 true,bea 1 true" {
		t.Error(n)
	}
}

// A8: an edit makes another revision, and what was approved is not it.
func TestAnEditVoidsApprovals(t *testing.T) {
	d := desktest.New(t)
	r := critical(d)
	wantApproved(t, d, r, "ben", "k1", "ben")
	edited, err := d.Desk.Revise(ctx, d.Actor("ana"), proposal.Revising{Proposal: r.ID, Revision: 1, PlanHash: r.PlanHash, Parameters: map[string]any{"message": "Another day."}})
	must(t, err)
	if got, now := given(d, r.ID); got != "" || now.Approvals.Needed != 2 {
		t.Fatalf("given %q", got)
	}
	_, err = d.Desk.Confirm(ctx, d.Actor("bea"), desktest.Deciding(r, "k2"))
	wantCode(t, err, refusal.ResourceChanged)
	wantApproved(t, d, edited.Record, "bea", "k3", "bea")
	wantDone(t, d, edited.Record, "ben", "k4", "bea ben") // ben may: it is another revision
}

// An approver who edits is no approver any more.
func TestAnApproverWhoEditsDoesNotCount(t *testing.T) {
	d := desktest.New(t)
	r := critical(d)
	wantApproved(t, d, r, "ben", "k1", "ben")
	edited, err := d.Desk.Revise(ctx, d.Actor("ben"), proposal.Revising{Proposal: r.ID, Revision: 1, PlanHash: r.PlanHash})
	must(t, err)
	_, err = d.Desk.Confirm(ctx, d.Actor("ben"), desktest.Deciding(edited.Record, "k2"))
	wantCode(t, err, refusal.SelfApprovalForbidden)
	wantApproved(t, d, edited.Record, "bea", "k3", "bea")
}

// At the second decision the first approver is looked at again.
func TestAnApproverWhoMayNoMoreDoesNotCount(t *testing.T) {
	for name, change := range map[string]string{
		"disabled":         `UPDATE accounts SET disabled_at = now() WHERE id = 'ben'`,
		"reviewer no more": `UPDATE accounts SET role = 'staff' WHERE id = 'ben'`,
		"made admin":       `UPDATE accounts SET role = 'admin' WHERE id = 'ben'`,
		"moved to a lake":  `UPDATE accounts SET clinic = 'lake' WHERE id = 'ben'`,
	} {
		t.Run(name, func(t *testing.T) {
			d := desktest.New(t)
			d.Exec(`INSERT INTO accounts (id, clinic, email, name, role, password_hash) VALUES ('bo', 'hav', 'bo@example.test', 'bo', 'reviewer', 'x')`)
			bo := d.Actor("ben")
			bo.Person, bo.PersonName = "bo", "bo"
			r := critical(d)
			wantApproved(t, d, r, "ben", "k1", "ben")
			d.Exec(change)
			if got, _ := given(d, r.ID); got != "" {
				t.Errorf("%s still counts", got)
			}
			wantApproved(t, d, r, "bea", "k2", "bea")
			out, err := d.Desk.Confirm(ctx, bo, desktest.Deciding(r, "k3"))
			must(t, err)
			if got, _ := given(d, r.ID); out.Record.State != proposal.StateCompleted || got != "bea bo" {
				t.Errorf("%s, given %s", out.Record.State, got)
			}
		})
	}
}

// Two different people at the same instant are two, and run it once.
func TestTwoPeopleAtOnceExecuteOnce(t *testing.T) {
	d := desktest.New(t, wide(8))
	asks(d, "book_appointment@1", "critical", nil)
	for round := range 8 {
		r := d.Propose(d.Actor("ana"), booking(newPatient(d), "holm", d.At(1, 8, 30*round)))
		by := []string{"ben", "bea"}
		replies := atOnce(4, func(i int) (proposal.Answer, error) {
			return d.Desk.Confirm(ctx, d.Actor(by[i%2]), desktest.Deciding(r, fmt.Sprintf("k%d.%d", round, i)))
		})
		wantTally(t, replies, map[string]int{proposal.StateProposed: 1, proposal.StateCompleted: 1, refusal.AlreadyDecided: 2})
		if n := d.Text(`SELECT count(*) FROM approvals WHERE proposal = $1`, r.ID); n != "2" {
			t.Errorf("%s approvals", n)
		}
	}
	wantWhole(t, d)
}

// C16: what is stale with one of two approvals can be rejected, by whoever may; a quorum of nobody cannot be.
func TestAStaleItemWithOneApprovalCanBeRejected(t *testing.T) {
	for _, by := range []string{"ana", "ben", "bea"} {
		d := desktest.New(t)
		r := critical(d)
		wantApproved(t, d, r, "ben", "k1", "ben")
		d.Exec(`UPDATE patients SET email = 'new@example.test' WHERE clinic = 'hav' AND id = 'maria'`)
		_, err := d.Desk.Confirm(ctx, d.Actor("bea"), desktest.Deciding(r, "k2"))
		wantCode(t, err, refusal.ResourceChanged)
		out, err := d.Desk.Reject(ctx, d.Actor(by), desktest.Deciding(r, "k3"))
		must(t, err)
		if out.Record.State != proposal.StateRejected || names(out.Record.Approvals.Given) != "ben" {
			t.Errorf("%s: %s, %v", by, out.Record.State, out.Record.Approvals)
		}
	}
	d := desktest.New(t)
	for _, people := range []int{0, -1, 4} {
		if _, err := d.Root.Exec(`INSERT INTO policies (clinic, action, version, people, set_by, set_name) VALUES ('hav', 'x@1', 1, $1, 'ada', 'ada')`, people); err == nil {
			t.Errorf("%d people", people)
		}
	}
	if _, err := d.Root.Exec(`INSERT INTO policies (clinic, action, version, people, set_by, set_name) VALUES ('hav', 'change_policy@1', 1, 1, 'ada', 'ada')`); err == nil {
		t.Error("one person may change the policy")
	}
}

// D6: a policy tightened between view and click counts; the proposal stays usable.
func TestAPolicyTightenedAfterTheCardCounts(t *testing.T) {
	d := desktest.New(t)
	r := d.Propose(d.Actor("ana"), d.Move("apt_maria", d.At(1, 9, 0)))
	if r.Risk != proposal.Low || r.Approvals.Needed != 1 {
		t.Fatal(r.Risk)
	}
	asks(d, moving, nil, 2)
	wantApproved(t, d, r, "ana", "k1", "ana") // low: the asker is one of two
	_, now := given(d, r.ID)
	if now.Risk != proposal.Low || !strings.Contains(strings.Join(now.RiskReasons, "|"), "This clinic’s policy: 2 people must approve") {
		t.Errorf("%s %v", now.Risk, now.RiskReasons)
	}
	_, err := d.Desk.Confirm(ctx, d.Actor("emil"), desktest.Deciding(r, "k2"))
	wantCode(t, err, refusal.PermissionDenied)
	asks(d, moving, "high", 2)
	if got, _ := given(d, r.ID); got != "" {
		t.Errorf("%s counts although the asker may not decide high", got)
	}
	_, err = d.Desk.Confirm(ctx, d.Actor("ana"), desktest.Deciding(r, "k3"))
	wantCode(t, err, refusal.AlreadyDecided)
	wantApproved(t, d, r, "ben", "k4", "ben")
	wantDone(t, d, r, "bea", "k5", "ben bea")
}

// What a card said is needed stays needed when the policy is loosened under it.
func TestALoosenedPolicyDoesNotReachWhatWaits(t *testing.T) {
	d := desktest.New(t)
	asks(d, moving, nil, 2)
	r := d.Propose(d.Actor("ana"), d.Move("apt_maria", d.At(1, 9, 0)))
	asks(d, moving, nil, nil)
	wantApproved(t, d, r, "ana", "k1", "ana")
	wantDone(t, d, r, "ben", "k2", "ana ben")
}
