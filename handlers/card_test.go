package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// Both ways of asking must tell the same: a page for a browser without JavaScript, a fragment for HTMX.
var ways = map[string][]string{"page": nil, "fragment": htmx}

func TestCardOfAWaitingProposal(t *testing.T) {
	s := newDeskSite(t)
	why := s.Move("apt_maria", s.At(1, 9, 0))
	why.Reason = "Phoned this morning"
	r := s.Propose(s.Actor("ana"), why)
	a := s.as("ana").get(card(r))
	if a.status != http.StatusOK || a.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", a.status, a.header)
	}
	a.says(t, "Move Maria Jensen", "MRN 100234", "10:00", "09:00", "Atlantic/Reykjavik", "UTC+00:00", "maria.jensen.84@example.test", "Phoned this morning", "Proposed")
	a.says(t, s.At(1, 9, 0).Format("2006-01-02T15:04:05Z"), s.At(1, 9, 0).Format("Monday 2 January 2006"))
	// D8: the real forms carry the revision, the plan hash and a key; confirm and reject never the same.
	confirm, reject := mustForm(t, a.body, "/confirm"), mustForm(t, a.body, "/reject")
	for name, f := range map[string]htmlForm{"confirm": confirm, "reject": reject} {
		if f.fields.Get("revision") != "1" || f.fields.Get("plan_hash") != r.PlanHash || len(f.fields.Get("idempotency_key")) < 20 {
			t.Errorf("%s form sends %v", name, f.fields)
		}
	}
	if confirm.fields.Get("idempotency_key") == reject.fields.Get("idempotency_key") {
		t.Error("confirm and reject carry the same key")
	}
	if again := mustForm(t, s.as("ana").get(card(r)).body, "/confirm"); again.fields.Get("idempotency_key") == confirm.fields.Get("idempotency_key") {
		t.Error("two renderings carry the same key")
	}
	if n := s.Text(`SELECT count(*) FROM audit WHERE action = 'proposal.read' AND proposal = $1 AND actor = 'ana' AND patient = 'maria'`, r.ID); n != "2" {
		t.Errorf("%s reads in the trail, want 2", n)
	}
	if strings.Contains(s.log.String(), "Jensen") {
		t.Error("a patient's name in the log")
	}
}

// Who is offered what, by role (contract section 7).
func TestCardOffersWhatTheViewerMayDo(t *testing.T) {
	s := newDeskSite(t)
	s.Exec(`INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, during, changed_by, changed_via)
		VALUES ('hav', 'apt_twice', 'maria', 'okafor', 'main', 'std', 'booked', tstzrange($1::timestamptz, $1::timestamptz + interval '30 min'), 'seed', 'seed')`, s.At(2, 9, 0))
	s.Exec(`UPDATE slots SET appointment = 'apt_twice' WHERE clinic = 'hav' AND practitioner = 'okafor' AND starts_at >= $1 AND starts_at < $1::timestamptz + interval '30 min'`, s.At(2, 9, 0))
	low := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	high := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(2, 9, 0))) // Maria has another visit then
	if high.Risk != "high" {
		t.Fatalf("risk %s", high.Risk)
	}
	for _, c := range []struct {
		who, path                string
		confirm, reject, revises bool
	}{
		{"ana", card(low), true, true, true},
		{"emil", card(low), false, false, false},
		{"ben", card(low), true, true, true},
		{"ada", card(low), false, false, false},
		{"ana", card(high), false, true, true}, // D1: the asker may say no, never yes
		{"emil", card(high), false, false, false},
		{"ben", card(high), true, true, true},
	} {
		a := s.as(c.who).get(c.path)
		_, reject := formTo(t, a.body, "/reject")
		if a.status != http.StatusOK || confirmable(t, a.body) != c.confirm || reject != c.reject || strings.Contains(a.body, c.path+"/edit") != c.revises {
			t.Errorf("%s on %s: %d, confirm %v, reject %v", c.who, c.path, a.status, confirmable(t, a.body), reject)
		}
	}
}

// What does not exist and what is another clinic's is the same answer, byte for byte, for every verb.
func TestUnknownCardIsTheSameAsAnotherClinics(t *testing.T) {
	s := newDeskSite(t)
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	b := s.as("lake_ana")
	fields := decision(r, "k1")
	for way, headers := range ways {
		for _, path := range []string{"", "/edit", "/confirm", "/reject", "/revisions"} {
			ask := func(id string) reply {
				if path == "" || path == "/edit" {
					return b.get("/proposals/"+id+path, headers...)
				}
				sent := fields
				if path == "/revisions" {
					sent = url.Values{"revision": {"1"}, "plan_hash": {r.PlanHash}}
				}
				return b.post("/proposals/"+id+path, sent, headers...)
			}
			theirs, nobodys, odd := ask(r.ID), ask("prp_aaaaaaaaaaaaaaaaaaaaaaaaaa"), ask("no.id")
			if theirs.status != http.StatusNotFound || theirs.body != nobodys.body || theirs.body != odd.body || theirs.status != nobodys.status || theirs.status != odd.status {
				t.Errorf("%s %q: %d, %d, %d, same %v %v", way, path, theirs.status, nobodys.status, odd.status, theirs.body == nobodys.body, theirs.body == odd.body)
			}
			if strings.Contains(theirs.body, "Jensen") {
				t.Errorf("%s %q tells who", way, path)
			}
		}
	}
	if s.state(r) != "proposed" {
		t.Error(s.state(r))
	}
}

func TestExpiredCardSaysSoAndCannotBeConfirmed(t *testing.T) { // C1, C3: nothing has swept it
	s := newDeskSite(t)
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	form := mustForm(t, s.as("ana").get(card(r)).body, "/confirm")
	late := s.later(16 * time.Minute)
	a := late.as("ana").get(card(r))
	a.says(t, "This ran out", "Nothing was changed and nothing was sent", "Propose again")
	if a.status != http.StatusOK || confirmable(t, a.body) {
		t.Errorf("%d, confirmable %v", a.status, confirmable(t, a.body))
	}
	for way, headers := range ways {
		a := late.as("ana").sendForm(form, nil, headers...)
		if a.status != http.StatusGone || confirmable(t, a.body) || fragment(a) != (way == "fragment") {
			t.Errorf("%s: %d, confirmable %v", way, a.status, confirmable(t, a.body))
		}
		a.says(t, "The time to decide has passed", "Nothing")
		edit := late.as("ana").post(card(r)+"/revisions", url.Values{"revision": {"1"}, "plan_hash": {r.PlanHash}}, headers...)
		if edit.status != http.StatusGone || confirmable(t, edit.body) {
			t.Errorf("%s revise: %d", way, edit.status)
		}
	}
	if got := late.starts("apt_maria"); got != s.At(0, 10, 0).Format(time.RFC3339) {
		t.Errorf("the visit stands at %s", got)
	}
	if a := late.as("ana").get(card(r) + "/edit"); a.status != http.StatusSeeOther || a.header.Get("Location") != card(r) {
		t.Errorf("edit: %d %s", a.status, a.header.Get("Location"))
	}
	if n := s.Text(`SELECT count(*) FROM audit WHERE proposal = $1 AND action = 'proposal.confirm' AND outcome = 'denied' AND code = 'proposal_expired'`, r.ID); n != "2" {
		t.Errorf("%s late confirms in the trail, want 2", n)
	}
}

// A late "no" is still a no: it is written down, and the proposal stays expired.
func TestALateRejectionIsStillANo(t *testing.T) {
	s := newDeskSite(t)
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	f := mustForm(t, s.as("ana").get(card(r)).body, "/reject")
	late := s.later(16 * time.Minute)
	a := late.as("ana").sendForm(f, url.Values{"reason": {"no"}}, htmx...)
	if a.status != http.StatusOK || confirmable(t, a.body) {
		t.Errorf("%d", a.status)
	}
	a.says(t, "This ran out", "Said no", "After the deadline")
}

// N07: a change of place shows both places, and the message names the new one's address and phone.
func TestCardOfAMoveToAnotherLocation(t *testing.T) {
	s := newDeskSite(t)
	s.slotsFor("holm", "annex", s.At(12, 9, 0), 4)
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(12, 9, 0), "location", "annex"))
	a := s.as("ana").get(card(r))
	a.says(t, "Location", "Havnegade 12, 1058 København", "Havnegade Annex", "Havnegade 14, 1058 København", "+45 00 33 10 14", "Medium")
	if r.Plan.Messages[0].Text == "" || !strings.Contains(r.Plan.Messages[0].Text, "+45 00 33 10 14") || strings.Contains(r.Plan.Messages[0].Text, "+45 00 33 10 10") {
		t.Errorf("the message: %s", r.Plan.Messages[0].Text)
	}
}

func TestCardNamesRivals(t *testing.T) {
	s := newDeskSite(t)
	mine := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	theirs := s.Propose(s.Actor("emil"), s.Move("apt_soren", s.At(1, 9, 15), "practitioner", "holm"))
	s.Propose(s.Actor("emil"), s.Move("apt_soren", s.At(1, 9, 30), "practitioner", "holm")) // only touches
	a := s.as("ana").get(card(mine))
	a.says(t, "1 rival", "Move Søren Łukasz Groß")
	if !strings.Contains(a.body, card(theirs)) {
		t.Error("no link to the rival")
	}
}

// C13: ids are random; a second proposal of the same change is another one with another key and hash.
func TestASecondProposalOfTheSameChangeIsAnotherOne(t *testing.T) {
	s := newDeskSite(t)
	one := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	two := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	if one.ID == two.ID || one.PlanHash == two.PlanHash {
		t.Fatal("they share an id or a hash")
	}
	b := s.as("ana")
	f := mustForm(t, b.get(card(one)).body, "/confirm")
	f.action = card(two) + "/confirm" // what was shown for the one does not approve the other
	a := b.sendForm(f, nil)
	if a.status != http.StatusConflict || confirmable(t, a.body) || s.state(two) != "proposed" {
		t.Errorf("%d, %s", a.status, s.state(two))
	}
}

// C9: what waits lives in the database alone; another process shows and confirms it.
func TestACardOutlivesTheProcess(t *testing.T) {
	s := newDeskSite(t)
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	old := mustForm(t, s.as("ana").get(card(r)).body, "/confirm")
	next := s.later(0)
	if a := next.as("ana").sendForm(old, nil); a.status != http.StatusSeeOther || s.state(r) != "completed" {
		t.Errorf("%d, %s", a.status, s.state(r))
	}
	next.as("ana").get(card(r)).says(t, "Completed", "The e-mail is in the outbox", "Moved", "Confirmed")
}
