package handlers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/internal/evidence"
	"countersign/internal/proposal"
)

// proofOf reads the evidence as ada's program does.
func (a *apiSite) proofOf(t *testing.T, id string) evidence.Evidence {
	t.Helper()
	var e evidence.Evidence
	if err := json.Unmarshal([]byte(a.called("ada", http.MethodGet, "/proposals/"+id+"/evidence", nil).want(t, 200, "").body), &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// is the verdict on a thing: the worst of several, "" when nothing is said of it.
func is(e evidence.Evidence, about string) (verdict string) {
	for _, q := range e.Equalities {
		if q.About == about && (verdict == "" || q.Verdict == evidence.NotEqual) {
			verdict = q.Verdict
		}
	}
	return verdict
}

func says(e evidence.Evidence, words string) bool {
	for _, q := range e.Equalities {
		if strings.Contains(q.Words, words) {
			return true
		}
	}
	return false
}

// approvedOnPage is a move that ana asked for and ben confirmed from the card, message sent.
func (a *apiSite) approvedOnPage(t *testing.T) proposal.Record {
	t.Helper()
	r := a.Propose(a.Actor("ana"), a.Move("apt_maria", a.At(1, 9, 0)))
	b := a.as("ben")
	if got := b.sendForm(mustForm(t, b.get(card(r)).body, "/confirm"), nil); got.status != http.StatusSeeOther {
		t.Fatalf("%d", got.status)
	}
	a.Exec(`UPDATE outbox SET state = 'sent', sent_at = now() WHERE proposal = $1`, r.ID)
	return r
}

func TestEvidenceOfWhatBenApproved(t *testing.T) {
	a := newAPISite(t)
	r := a.approvedOnPage(t)
	e := a.proofOf(t, r.ID)
	for _, about := range []string{"revision", "trail", "approved", "shown", "executed", "once", "sent"} {
		if is(e, about) != evidence.Equal {
			t.Errorf("%s: %q in %v", about, is(e, about), e.Equalities)
		}
	}
	for _, words := range []string{"The plan that ran is the plan that was approved: " + r.PlanHash[:12] + ", computed again", "The card that ben saw at", "The visit stands as the plan says", "The message handed over is the message on the card, byte for byte"} {
		if !says(e, words) {
			t.Errorf("it does not say %q: %v", words, e.Equalities)
		}
	}
	if len(e.Decisions) != 1 || e.Decisions[0].By.ID != "ben" || e.Decisions[0].Self || !e.Decisions[0].Key || e.Decisions[0].Seconds == nil || len(e.Changes) != 1 || e.Changes[0].Before == nil {
		t.Errorf("%+v, %+v", e.Decisions, e.Changes)
	}
	page := a.as("ada").get(card(r) + "/evidence")
	page.says(t, "Everything is equal", "ben approved it", "Before", "After", "Maria Jensen", "Equal", "not sealed yet")
	if confirmable(t, page.body) {
		t.Error("the evidence can confirm")
	}
	a.as("ada").get(card(r)).says(t, "Evidence: shown, approved, executed, sent")
	if n := a.Text(`SELECT count(*) FROM audit WHERE action = 'evidence.read' AND outcome = 'success' AND actor = 'ada'`); n != "2" {
		t.Errorf("%s reads of the evidence in the trail", n)
	}
}

// Every equality is broken in turn behind the program's back, as superuser with the triggers off: it becomes NOT EQUAL,
// and neither the page nor the JSON fails.
func TestTamperingIsNotEqual(t *testing.T) {
	for _, c := range []struct{ name, about, tamper string }{
		{"a byte of the plan", "revision", `UPDATE revisions SET plan_bytes = set_byte(plan_bytes, 40, get_byte(plan_bytes, 40) # 1) WHERE proposal = $1`},
		{"no plan at all", "approved", `UPDATE revisions SET plan_bytes = '' WHERE proposal = $1`},
		{"another plan with its own hash", "approved", `UPDATE revisions SET plan_bytes = '{}', plan_hash = encode(sha256('countersign.plan.v1' || chr(10)::bytea || '{}'), 'hex') WHERE proposal = $1`},
		{"the card", "shown", `UPDATE cards SET content = convert_to(replace(convert_from(content, 'UTF8'), 'Jensen', 'Hansen'), 'UTF8') WHERE $1 <> ''`},
		{"another card with its own hash", "shown", `WITH c AS (INSERT INTO cards VALUES ('hav', encode(sha256('<p>nice</p>'), 'hex'), '<p>nice</p>') RETURNING hash) UPDATE showings SET card_hash = encode(sha256('<p>nice</p>'), 'hex') WHERE proposal = $1`},
		{"the plan of the showing", "shown", `UPDATE showings SET plan_hash = repeat('a', 64) WHERE proposal = $1`},
		{"the time of the visit", "executed", `UPDATE appointment_history SET during = tstzrange(lower(during) + interval '1 h', upper(during) + interval '1 h') WHERE proposal = $1`},
		{"who has it", "executed", `UPDATE appointment_history SET practitioner = 'okafor' WHERE proposal = $1`},
		{"no version", "executed", `DELETE FROM appointment_history WHERE proposal = $1`},
		{"a second version", "once", `INSERT INTO appointment_history SELECT clinic, appointment, version + 7, status, practitioner, location, type, during, reason_code, changed_by, changed_via, proposal, changed_at FROM appointment_history WHERE proposal = $1`},
		{"the text of the message", "sent", `UPDATE outbox SET body = body || '.' WHERE proposal = $1`},
		{"the recipient", "sent", `UPDATE outbox SET recipient = 'else@example.test' WHERE proposal = $1`},
		{"no message", "sent", `DELETE FROM outbox WHERE proposal = $1`},
		{"who decided", "trail", `UPDATE audit SET actor = 'bea' WHERE proposal = $1 AND action = 'proposal.confirm'`},
		{"what was decided", "approved", `UPDATE audit SET plan_hash = repeat('b', 64) WHERE proposal = $1 AND action = 'proposal.confirm'`},
		{"the content of an entry", "trail", `UPDATE audit SET content = '{' WHERE proposal = $1 AND action = 'proposal.confirm'`},
		{"no decision", "executed", `DELETE FROM audit WHERE proposal = $1 AND action = 'proposal.confirm'`},
		{"an approval nobody gave", "approvals", `INSERT INTO approvals (clinic, proposal, revision, plan_hash, person, name, via) SELECT clinic, proposal, revision, plan_hash, 'bea', 'bea', 'page' FROM revisions WHERE proposal = $1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newAPISite(t)
			r := a.approvedOnPage(t)
			tx, err := a.Root.Begin()
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback()
			if _, err = tx.Exec(`SET LOCAL session_replication_role = replica`); err == nil {
				_, err = tx.Exec(c.tamper, r.ID)
			}
			if err == nil {
				err = tx.Commit()
			}
			if err != nil {
				t.Fatal(err)
			}
			e := a.proofOf(t, r.ID)
			if is(e, c.about) != evidence.NotEqual {
				t.Errorf("%s is %q: %v", c.about, is(e, c.about), e.Equalities)
			}
			a.as("ada").get(card(r)+"/evidence").says(t, "NOT EQUAL", "Something was changed behind the program")
		})
	}
}

// Rejected, expired by itself (E4), waiting, failed, decided without having been shown: each says what is the case.
func TestEvidenceOfWhatDidNotRun(t *testing.T) {
	a := newAPISite(t)
	waits := a.Propose(a.Actor("ana"), a.Move("apt_soren", a.At(2, 9, 0)))
	if e := a.proofOf(t, waits.ID); is(e, "executed") != evidence.Equal || !says(e, "waits for a decision") || len(e.Decisions) != 0 {
		t.Errorf("waiting: %v", e.Equalities)
	}
	no := a.Propose(a.Actor("ana"), a.Move("apt_soren", a.At(1, 9, 0)))
	a.as("ben").post(card(no)+"/reject", url.Values{"revision": {"1"}, "plan_hash": {no.PlanHash}, "idempotency_key": {"k1"}, "reason": {"she called"}})
	e := a.proofOf(t, no.ID)
	if is(e, "executed") != evidence.Equal || is(e, "shown") != evidence.Unknown || !says(e, "Not shown by us: ben rejected it") || e.Decisions[0].Note != "she called" {
		t.Errorf("rejected: %v, %+v", e.Equalities, e.Decisions)
	}
	if _, err := a.later(16*time.Minute).deps.Desk.Expire(t.Context(), "hav"); err != nil {
		t.Fatal(err)
	}
	e = a.proofOf(t, waits.ID)
	if len(e.Decisions) != 1 || e.Decisions[0].Kind != "system" || e.Decisions[0].By.ID != "deadline" || is(e, "approved") != evidence.Equal || is(e, "shown") != "" {
		t.Errorf("expired: %+v, %v", e.Decisions, e.Equalities)
	}
	a.as("ada").get(card(waits)+"/evidence").says(t, "Countersign itself (deadline)", "let it expire", "Expired")
	over := a.Propose(a.Actor("ana"), a.Move("apt_maria", a.At(2, 9, 0)))
	a.Exec(`INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, during, changed_by, changed_via)
		VALUES ('hav', 'apt_x', 'soren', 'holm', 'main', 'std', 'booked', tstzrange($1::timestamptz, $1::timestamptz + interval '30 min'), 'seed', 'seed')`, a.At(2, 9, 0))
	a.as("ben").post(card(over)+"/confirm", decision(over, "k2"))
	if e = a.proofOf(t, over.ID); a.state(over) != "failed" || is(e, "executed") != evidence.Equal || !says(e, "It could not run") {
		t.Errorf("failed: %s, %v", a.state(over), e.Equalities)
	}
}

// G10: done, and the message failed: card and evidence say so.
func TestAFailedMessageIsSaid(t *testing.T) {
	a := newAPISite(t)
	r := a.approvedOnPage(t)
	a.Exec(`UPDATE outbox SET state = 'failed', last_code = 'mailbox_unknown', attempts = 5, sent_at = NULL WHERE proposal = $1 AND kind = 'change'`, r.ID)
	if e := a.proofOf(t, r.ID); !says(e, "could NOT be handed over") || is(e, "sent") != evidence.Equal {
		t.Errorf("%v", e.Equalities)
	}
	a.as("ada").get(card(r)+"/evidence").says(t, "1 message could not be handed over", "mailbox_unknown")
	a.as("ben").get(card(r)).says(t, "Could not be sent")
}

// Admins, and reviewers for scheduling; the front desk and its agents not, and what is another clinic's does not exist.
func TestWhoReadsEvidence(t *testing.T) {
	a := newAPISite(t)
	r := a.approvedOnPage(t)
	for who, want := range map[string]int{"ada": 200, "ben": 200, "ana": 403, "emil": 403, "lake_ana": 404} {
		if got := a.as(who).get(card(r) + "/evidence"); got.status != want || want != 200 && strings.Contains(got.body, "Jensen") {
			t.Errorf("%s: %d", who, got.status)
		}
	}
	theirs, nobodys := a.as("lake_ana").get(card(r)+"/evidence"), a.as("lake_ana").get("/proposals/prp_aaaaaaaaaaaaaaaaaaaaaaaaaa/evidence")
	if theirs.body != nobodys.body {
		t.Error("another clinic's is not as unknown")
	}
	if n := a.Text(`SELECT string_agg(actor || ' ' || code, ', ' ORDER BY actor) FROM audit WHERE action = 'evidence.read' AND outcome = 'denied' AND clinic = 'hav'`); n != "ana permission_denied, emil permission_denied" {
		t.Errorf("refused reads in the trail: %s", n)
	}
}
