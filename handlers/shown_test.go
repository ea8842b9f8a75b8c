package handlers

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/db/desktest"
	"countersign/internal/proposal"
)

// shownTo is the card a person was shown last through a door, as kept.
func (s *deskSite) shownTo(r proposal.Record, person, via string) string {
	return s.Text(`SELECT convert_from(c.content, 'UTF8') FROM showings s JOIN cards c ON c.clinic = s.clinic AND c.hash = s.card_hash
		WHERE s.proposal = $1 AND s.person = $2 AND s.via = $3 AND c.hash = encode(sha256(c.content), 'hex') ORDER BY s.at DESC LIMIT 1`, r.ID, person, via)
}

// What is kept of a card are bytes of the page that was answered, piece by piece, and they are kept once however often
// and by whomever it is looked at; nothing of a form, a key or the clock is among them.
func TestTheCardIsKeptAsItWentOut(t *testing.T) {
	s := newDeskSite(t)
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0), "message", "Bring <b>this</b> & \"that\""))
	var page string
	for _, who := range []string{"ana", "ben", "ada", "ben"} {
		page = s.as(who).get(card(r)).body
	}
	s.later(3 * time.Minute).as("ana").get(card(r))
	if n := s.Text(`SELECT count(*) || ' of ' || count(DISTINCT card_hash) FROM showings WHERE proposal = $1`, r.ID); n != "5 of 1" {
		t.Errorf("showings of cards: %s", n)
	}
	kept := s.shownTo(r, "ben", "page")
	table, risk := strings.Index(kept, "<table"), strings.Index(kept, `<h2 id="risk">`)
	if table < 0 || risk < table {
		t.Fatalf("the card kept: %s", kept)
	}
	for _, piece := range []string{kept[:table], kept[table:risk], kept[risk:]} {
		if !strings.Contains(page, piece) {
			t.Errorf("this was not in the page: %s", piece)
		}
	}
	for _, word := range []string{"Jensen", "Bring &lt;b&gt;", "Medium", r.PlanHash} {
		if !strings.Contains(kept, word) {
			t.Errorf("the card kept lacks %q", word)
		}
	}
	for _, word := range []string{"<form", "<input", "idempotency", " in 1", "ecide before"} {
		if strings.Contains(kept, word) {
			t.Errorf("the card kept holds %q", word)
		}
	}
}

// Each door is written down as itself; a program that asks again and again for its conversation is written down once.
func TestEveryDoorIsWrittenDown(t *testing.T) {
	a := newAPISite(t)
	made := a.called("ana", http.MethodPost, "/proposals", members{"action": "reschedule_appointment@1",
		"parameters": members{"appointment": "apt_maria", "starts_at": a.At(1, 9, 0).Format(time.RFC3339)}}).want(t, 201, "")
	r := proposal.Record{ID: made.text("id"), PlanHash: made.text("plan_hash")}
	if kept := a.shownTo(r, "ana", "api"); !strings.Contains(kept, r.PlanHash) || !strings.Contains(kept, "Jensen") {
		t.Errorf("what proposing answered: %s", kept)
	}
	a.called("ben", http.MethodGet, "/proposals/"+r.ID, nil).want(t, 200, "")
	if kept := a.shownTo(r, "ben", "api"); kept == "" || kept != a.shownTo(r, "ana", "api") {
		t.Errorf("what reading answered: %s", kept)
	}
	a.called("ana", http.MethodPost, "/proposals/"+r.ID+"/revisions", members{"revision": 1, "plan_hash": r.PlanHash, "parameters": members{}}).want(t, 201, "")
	if n := a.Text(`SELECT count(*) FROM showings WHERE proposal = $1 AND revision = 2 AND person = 'ana'`, r.ID); n != "1" {
		t.Errorf("%s showings of the edit's answer", n)
	}
	if n := a.Text(`SELECT count(*) FROM audit WHERE proposal = $1 AND action = 'proposal.read' AND actor = 'ben'`, r.ID); n != "1" {
		t.Errorf("%s reads over the API in the trail", n)
	}
}

// A card that cannot be recorded is not shown, and neither is its JSON.
func TestWhatCannotBeRecordedIsNotShown(t *testing.T) {
	a := newAPISite(t)
	r := a.Propose(a.Actor("ana"), a.Move("apt_maria", a.At(1, 9, 0)))
	a.Exec(`CREATE FUNCTION no_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no space'; END $$`)
	a.Exec(`CREATE TRIGGER no_disk BEFORE INSERT ON showings FOR EACH ROW EXECUTE FUNCTION no_disk()`)
	page := a.as("ben").get(card(r))
	if page.status != http.StatusInternalServerError || strings.Contains(page.body, "Jensen") {
		t.Errorf("page: %d", page.status)
	}
	a.called("ben", http.MethodGet, "/proposals/"+r.ID, nil).want(t, 500, "internal")
	if n := a.Text(`SELECT count(*) FROM audit WHERE proposal = $1 AND action = 'proposal.read'`, r.ID); n != "0" {
		t.Errorf("%s reads in the trail of what was not shown", n)
	}
}

// Fast is a decision sooner than anybody reads a card; who had the card open before took their time.
func TestFastDecisionsAreFound(t *testing.T) {
	s := newDeskSite(t)
	fast := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	slow := s.Propose(s.Actor("ana"), s.Move("apt_soren", s.At(1, 11, 0)))
	s.as("ben").get(card(slow))
	later := s.later(10 * time.Second)
	later.as("ben").get(card(slow))
	for _, r := range []proposal.Record{fast, slow} {
		f := mustForm(t, later.as("ben").get(card(r)).body, "/confirm")
		if a := later.as("ben").sendForm(f, nil); a.status != http.StatusSeeOther {
			t.Fatalf("%d", a.status)
		}
	}
	rows := strings.Join(rowsOf(t, s.as("ada").get("/audit?fast=1").body), "\n")
	if !strings.Contains(rows, fast.ID[:10]) || strings.Contains(rows, slow.ID[:10]) || strings.Count(rows, "\n") != 0 {
		t.Errorf("decided fast: %s", rows)
	}
}

// E5: what no card shows may change under a waiting proposal: no pin moves, the card is not stale, and it can be decided.
func TestAHarmlessChangeCostsNoReview(t *testing.T) {
	s := newDeskSite(t)
	s.Exec(`ALTER TABLE practitioners ADD COLUMN phone text`) // a field that no card shows
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	s.Exec(`UPDATE practitioners SET phone = '+45 00 11 22 33' WHERE clinic = 'hav'`)
	s.Exec(`UPDATE accounts SET name = 'Ana B.' WHERE id = 'ana'`)
	s.Exec(`UPDATE schedules SET made_until = made_until WHERE clinic = 'hav'`)
	s.Exec(`UPDATE patients SET search_text = search_text || ' x' WHERE clinic = 'hav' AND id = 'maria'`)
	now, err := s.Desk.Desk.Get(context.Background(), s.Actor("ben"), r.ID)
	if err != nil || now.Stale || now.PlanHash != r.PlanHash {
		t.Fatalf("stale %v, %v, %v", now.Stale, now.Changed, err)
	}
	if out, err := s.Desk.Desk.Confirm(context.Background(), s.Actor("ben"), desktest.Deciding(r, "k1")); err != nil || out.Record.State != "completed" {
		t.Errorf("%v, %v", out.Record.State, err)
	}
	if n := s.Text(`SELECT string_agg(version::text, ' ') FROM practitioners WHERE clinic = 'hav'`); n != "1 1" {
		t.Errorf("versions of the practitioners: %s", n)
	}
}
