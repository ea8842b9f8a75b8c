package handlers

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/db/desktest"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

func tick(rs ...proposal.Record) url.Values {
	f := url.Values{}
	for _, r := range rs {
		f.Set("pick."+r.ID, fmt.Sprintf("%d.%s", r.Revision, r.PlanHash))
	}
	return f
}

// Case B12: a list of decisions has a result for each; one that moved meanwhile, one of high risk and one that another
// decided stop nobody. Case S02: of two for one slot the first runs.
func TestDecidingTogetherHasAResultForEach(t *testing.T) {
	s := newDeskSite(t)
	good := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	rival := s.Propose(s.Actor("emil"), s.Move("apt_soren", s.At(1, 9, 0), "practitioner", "holm"))
	s.Exec(`UPDATE proposals SET expires_at = expires_at + interval '1 second' WHERE id = $1`, rival.ID)
	no := s.Propose(s.Actor("emil"), s.Move("apt_soren", s.At(2, 9, 0)))
	gone := s.Propose(s.Actor("emil"), s.Move("apt_soren", s.At(2, 10, 0)))
	high := s.Propose(s.Agent(), s.Move("apt_maria", s.At(3, 9, 0), "message", "In words of its own"))
	if high.Risk != proposal.High {
		t.Fatal(high.Risk)
	}
	b := s.as("ben")
	list := b.get("/queue")
	if strings.Contains(list.body, `name="pick.`+high.ID) || !strings.Contains(list.body, `name="pick.`+good.ID) {
		t.Error("what may be ticked")
	}
	a := b.post("/queue/review", tick(good, rival, no, gone, high))
	a.says(t, "Decide 5 proposals together", "High and critical risk is decided one by one", "Leave it waiting")
	if confirmable(t, a.body) || s.looked("proposal.read") != "5" {
		t.Error("the list holds a confirm, or what it showed is not on the trail")
	}
	f := mustForm(t, a.body, "/queue/decisions")
	at := map[string]string{}
	for name, v := range f.fields {
		if n, ok := strings.CutPrefix(name, "proposal."); ok {
			at[v[0]] = n
		}
		if strings.HasPrefix(name, "decision.") && v[0] != "leave" {
			t.Errorf("%s is chosen beforehand: %v", name, v)
		}
	}
	if len(at) != 4 {
		t.Fatalf("%d can be decided", len(at))
	}
	b.sendForm(f, nil).says(t, "Nothing was chosen")
	if _, err := s.deps.Desk.Reject(t.Context(), s.Actor("bea"), desktest.Deciding(gone, "k")); err != nil {
		t.Fatal(err)
	}
	choose := url.Values{"decision." + at[good.ID]: {"approve"}, "decision." + at[rival.ID]: {"approve"}, "decision." + at[no.ID]: {"reject"}, "reason." + at[no.ID]: {"Not needed"}, "decision." + at[gone.ID]: {"approve"}}
	done := b.sendForm(f, choose)
	done.says(t, "2 of 4 decided", "Completed", "Rejected", "This changed while you had it open", "This has been decided already")
	for id, want := range map[string]string{good.ID: "completed", rival.ID: "proposed", no.ID: "rejected", gone.ID: "rejected", high.ID: "proposed"} {
		if got := s.Text(`SELECT state FROM proposals WHERE id = $1`, id); got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
	if got := s.Text(`SELECT decided_note FROM proposals WHERE id = $1`, no.ID); got != "Not needed" {
		t.Error("the reason:", got)
	}
	b.sendForm(f, choose).says(t, "2 of 4 decided") // the same form again is a replay
	if got := s.Text(`SELECT version FROM appointments WHERE clinic = 'hav' AND id = 'apt_maria'`); got != "2" {
		t.Error("moved twice:", got)
	}
	// A ticked revision that is no longer current is not decided.
	old := tick(rival)
	old.Set("pick."+rival.ID, "7."+rival.PlanHash)
	if a := b.post("/queue/review", old); strings.Contains(a.body, `name="decision.0"`) {
		t.Error("another revision than was ticked can be decided")
	}
	for _, bad := range []url.Values{{}, {"pick.x": {"1.y"}}, {"other": {"1"}}} {
		if a := b.post("/queue/review", bad); a.status != http.StatusUnprocessableEntity {
			t.Errorf("%v: %d", bad, a.status)
		}
	}
	other := s.Actor("ana")
	other.Clinic, other.Person = "lake", "lake_ana"
	theirs := s.Propose(other, s.Move("lake_apt_maria", s.At(0, 12, 0)))
	nobody := theirs
	nobody.ID = "nobody"
	x, y := b.post("/queue/review", tick(theirs)), b.post("/queue/review", tick(nobody))
	if x.status != http.StatusNotFound || x.body != y.body {
		t.Errorf("another clinic's: %d", x.status)
	}
}

// Case B1: a duplicate or a contradiction refuses the list before any work; and high is refused inside the transaction too.
func TestAListThatContradictsItselfIsRefusedWhole(t *testing.T) {
	s := newDeskSite(t)
	p := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	q := s.Propose(s.Actor("ana"), s.Move("apt_soren", s.At(1, 10, 0)))
	high := s.Propose(s.Agent(), s.Move("apt_maria", s.At(3, 9, 0), "message", "In words of its own"))
	one := func(r proposal.Record, key string, yes bool) proposal.One {
		return proposal.One{Decision: desktest.Deciding(r, key), Approve: yes}
	}
	ben := s.Actor("ben")
	many := make([]proposal.One, proposal.MostTogether+1)
	for i := range many {
		many[i] = one(p, fmt.Sprint(i), true)
		many[i].Proposal = fmt.Sprint("p", i)
	}
	for name, list := range map[string][]proposal.One{"twice": {one(q, "1", true), one(p, "2", true), one(p, "3", true)}, "yes and no": {one(p, "4", true), one(p, "5", false)},
		"one key": {one(p, "6", true), one(q, "6", true)}, "no key": {one(p, "", true)}, "none": {}, "51": many} {
		_, err := s.deps.Desk.DecideTogether(t.Context(), ben, list)
		if r := refusal.Of(err); r == nil || r.Code != refusal.ValidationFailed || len(r.Fields) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := s.Text(`SELECT count(*) FROM proposals WHERE state <> 'proposed'`) + s.Text(`SELECT count(*) FROM idempotency_keys`); n != "00" {
		t.Error("something was done:", n)
	}
	for _, yes := range []bool{true, false} {
		out, err := s.deps.Desk.DecideTogether(t.Context(), ben, []proposal.One{one(high, "h", yes)})
		if r := refusal.Of(out[0].Err); err != nil || r == nil || r.Code != refusal.PermissionDenied {
			t.Errorf("high, %v: %v %v", yes, err, out)
		}
	}
	// Double booked since: high now, whatever the list thought.
	s.Exec(`INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, during, changed_by, changed_via) VALUES
		('hav', 'other', 'soren', 'holm', 'main', 'std', 'booked', tstzrange($1, $1::timestamptz + interval '30 min'), 'seed', 'seed')`, s.At(1, 10, 0))
	out, err := s.deps.Desk.DecideTogether(t.Context(), ben, []proposal.One{one(q, "q", true), one(p, "p", true)})
	if err != nil || refusal.Of(out[0].Err) == nil || out[1].Err != nil {
		t.Errorf("%v %v", err, out)
	}
	if a := s.state(q); a != "proposed" {
		t.Error("decided with others at high risk:", a)
	}
}

func TestClaimsCommentsAndEscalationsAreOnTheCardAndTheTrail(t *testing.T) {
	s := newDeskSite(t)
	r := s.Propose(s.Agent(), s.Move("apt_maria", s.At(1, 9, 0), "message", "In words of its own")) // high
	ben, bea, ana := s.as("ben"), s.as("bea"), s.as("ana")
	act := func(b *browser, end string, change url.Values, want int) reply {
		t.Helper()
		a := b.sendForm(mustForm(t, b.get(card(r)+"?from=queue").body, "/"+end), change)
		if a.status != want {
			t.Errorf("%s: %d, want %d: %s", end, a.status, want, textOf(parsed(t, a.body)))
		}
		return a
	}
	old := mustForm(t, bea.get(card(r)).body, "/claim")
	if to := act(ben, "claim", nil, 303).header.Get("Location"); to != card(r)+"?from=queue" {
		t.Error("back to", to)
	}
	a := bea.sendForm(old, nil)
	a.says(t, "ben took it since you looked")
	if a.status != http.StatusConflict || confirmable(t, a.body) {
		t.Errorf("the second claim: %d", a.status)
	}
	bea.get(card(r)).says(t, "Ben until", "Others may still decide", "Take it over from ben")
	// Opening renews: eleven minutes later, looked at in between.
	s.Exec(`UPDATE leases SET until = now() - interval '1 second'`)
	bea.get("/queue").says(t, "ben has it until")
	s.Exec(`ALTER TABLE audit DISABLE TRIGGER USER`)
	s.Exec(`UPDATE audit SET at = at - interval '11 minutes' WHERE action = 'proposal.read'`)
	if strings.Contains(bea.get("/queue").body, "has it until") {
		t.Error("a lease that nobody renewed stands")
	}
	act(bea, "claim", nil, 303)
	act(bea, "delegate", url.Values{"to": {"ben"}}, 303)
	ben.get(card(r)).says(t, "You until", "handed over by bea")
	if a := bea.post(card(r)+"/delegate", url.Values{"to": {"ana"}}); a.status != 422 { // staff may not decide high
		t.Errorf("handed to who may not: %d", a.status)
	}
	act(ben, "release", nil, 303)
	if a := bea.post(card(r)+"/release", nil); a.status != http.StatusForbidden {
		t.Errorf("gave back what she has not: %d", a.status)
	}
	if a := ana.post(card(r)+"/claim", nil); a.status != http.StatusForbidden {
		t.Errorf("who may not decide took it on: %d", a.status)
	}
	if a := act(ana, "escalate", nil, 422); confirmable(t, a.body) {
		t.Error("a refusal holds a confirm")
	}
	act(ana, "escalate", url.Values{"reason": {"She leaves at noon"}}, 303)
	ben.get(card(r)).says(t, "Escalated by ana", "She leaves at noon")
	ben.get("/queue?escalated=on").says(t, "1 waits for you", "Escalated")
	if a := ana.post(card(r)+"/escalate", url.Values{"revision": {"1"}, "reason": {"again"}}); a.status != 422 {
		t.Errorf("escalated twice: %d", a.status)
	}
	form := mustForm(t, ana.get(card(r)).body, "/comments")
	for range 2 { // a double click is one
		ana.sendForm(form, url.Values{"text": {"I called her"}})
	}
	if a := act(ana, "comments", url.Values{"text": {strings.Repeat("x", 501)}}, 422); !strings.Contains(a.body, "500") {
		t.Error("not the limit:", textOf(parsed(t, a.body)))
	}
	if _, err := s.deps.Desk.Revise(t.Context(), s.Actor("ben"), proposal.Revising{Proposal: r.ID, Revision: 1, PlanHash: r.PlanHash, Parameters: map[string]any{"starts_at": s.At(1, 11, 0).Format("2006-01-02T15:04:05Z")}}); err != nil {
		t.Fatal(err)
	}
	bea.get(card(r)).says(t, "I called her", "On revision 1 , before the last edit", "Nobody has taken it on")
	bea.get("/queue").says(t, "1 comment", "revision 2")
	if n := s.Text(`SELECT count(*) FROM comments`); n != "1" {
		t.Error(n, "comments")
	}
	if got := s.Text(`SELECT string_agg(action || ' ' || outcome, ', ' ORDER BY action, outcome) FROM (SELECT DISTINCT action, outcome FROM audit WHERE action ~ '^proposal.(cl|rel|del|esc|com)') x`); got !=
		"proposal.claim denied, proposal.claim success, proposal.comment denied, proposal.comment success, proposal.delegate denied, proposal.delegate success, proposal.escalate denied, proposal.escalate success, proposal.release denied, proposal.release success" {
		t.Error("the trail:", got)
	}
	if log := s.log.String(); strings.Contains(log, "called her") {
		t.Error("a comment is in the log")
	}
	// Nobody is kept from deciding by a claim, and another clinic's card does not exist.
	if a := ben.post(card(r)+"/claim", nil); a.status != http.StatusForbidden { // he edited it
		t.Errorf("an editor took it on: %d", a.status)
	}
	act(bea, "claim", nil, 303)
	for _, end := range []string{"claim", "release", "delegate", "escalate", "comments"} {
		f := url.Values{"to": {"ben"}, "revision": {"1"}, "reason": {"x"}, "text": {"x"}, "comment": {"c"}}
		for name := range f {
			if keep := map[string]string{"delegate": "to", "escalate": "revision reason", "comments": "revision text comment"}[end]; !strings.Contains(keep, name) {
				f.Del(name)
			}
		}
		x, y := s.as("lake_ben").post(card(r)+"/"+end, f), s.as("lake_ben").post("/proposals/nobody/"+end, f)
		if x.status != http.StatusNotFound || x.body != y.body {
			t.Errorf("%s of another clinic's: %d %d", end, x.status, y.status)
		}
	}
}

// A quarter of the time is left: marked by the system, once, with an event; an expiry has the deadline as its cause (E4).
func TestTheClockEscalatesAndExpires(t *testing.T) {
	s := newDeskSite(t)
	high := s.Propose(s.Agent(), s.Move("apt_maria", s.At(1, 9, 0), "message", "In words of its own"))
	s.Propose(s.Actor("ana"), s.Move("apt_soren", s.At(1, 9, 0)))
	marked := func(at *deskSite) string {
		t.Helper()
		if _, err := at.deps.Desk.EscalateDue(t.Context(), "hav"); err != nil {
			t.Fatal(err)
		}
		return s.Text(`SELECT count(*) FROM escalations WHERE person IS NULL`) + s.Text(`SELECT count(*) FROM events WHERE kind = 'proposal.escalated'`)
	}
	if n := marked(s.later(2*time.Hour + 55*time.Minute)); n != "00" {
		t.Error("too early:", n)
	}
	late := s.later(3*time.Hour + 5*time.Minute)
	for range 2 {
		if n := marked(late); n != "11" {
			t.Error("marks and events:", n)
		}
	}
	s.as("ben").get(card(high)).says(t, "Escalated by the system")
	s.Exec(`UPDATE proposals SET expires_at = now() - interval '1 second' WHERE id = $1`, high.ID)
	s.as("ana").get("/").says(t, "Decided since you last looked", "Move Maria Jensen Expired: nobody decided in time")
	if _, err := s.deps.Desk.Expire(t.Context(), "hav"); err != nil {
		t.Fatal(err)
	}
	if got := s.Text(`SELECT actor_kind || ' ' || code FROM audit WHERE action = 'proposal.expire' AND proposal = $1`, high.ID); got != clinic.KindSystem+" proposal_expired" {
		t.Error("the cause:", got)
	}
	s.as("ben").get("/queue?view=decided").says(t, "Expired", "the deadline (system)")
}

// Who asked learns the outcome on every page until they put it away; who decided goes on to the next.
func TestAskerAndReviewerLearnTheOutcome(t *testing.T) {
	s := newDeskSite(t)
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	next := s.Propose(s.Actor("emil"), s.Move("apt_soren", s.At(1, 9, 0)))
	ben := s.as("ben")
	page := ben.get(card(r) + "?from=queue")
	page.says(t, "Back to the queue")
	f := mustForm(t, page.body, "/confirm")
	to := ben.sendForm(f, nil).header.Get("Location")
	after := ben.get(to)
	if !strings.Contains(after.body, `id="next" autofocus href="`+card(next)+`?from=queue"`) {
		t.Errorf("after the decision the next has not the focus: %s", to)
	}
	ben.sendForm(mustForm(t, ben.get(card(next)+"?from=queue").body, "/reject"), nil)
	ben.get(card(next)+"?from=queue").says(t, "Nothing more waits for you")
	// Ben read it before he decided, and fast.
	ben.get("/queue?view=decided&fast=on").says(t, "s after it was shown", "Maria Jensen")
	s.Exec(`ALTER TABLE showings DISABLE TRIGGER USER`)
	s.Exec(`UPDATE showings SET at = at - interval '10 seconds'`)
	ben.get("/queue?view=decided&fast=on").says(t, "Nothing was decided within three seconds")
	// Case G10: done, and nobody was told.
	s.Exec(`UPDATE outbox SET state = 'failed', last_code = 'timeout' WHERE kind <> 'reminder'`)
	ben.get("/queue").says(t, "1 decided proposal with a message that failed")
	ben.get("/queue?view=failed").says(t, "1 message failed", "Maria Jensen")
	a := s.as("ana")
	a.get(card(r)).says(t, "could not be sent", "See the message")
	a.get("/").says(t, "Decided since you last looked", "Move Maria Jensen Completed by ben")
	seen := mustForm(t, a.get("/audit").body, "/preferences/told")
	if got := a.sendForm(seen, nil).header.Get("Location"); got != "/audit" {
		t.Error("back to", got)
	}
	if strings.Contains(a.get("/").body, "Decided since") {
		t.Error("what was seen is told again")
	}
	// Single keys: for the account, not for the browser.
	keys := mustForm(t, a.get("/queue").body, "/preferences/keys")
	a.sendForm(keys, nil)
	if body := s.as("ana").get("/queue").body; !strings.Contains(body, `data-keys="off"`) {
		t.Error("single keys are on again in another browser")
	}
	if body := s.as("ben").get("/queue").body; !strings.Contains(body, `data-keys="on"`) {
		t.Error("switched off for everybody")
	}
}
