package handlers

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"countersign/db"
	"countersign/db/dbtest"
)

// trailOf reads every page of the trail as a superuser would expect it: the ids in the order they are listed.
func (s *deskSite) trailOf(t *testing.T, f db.AuditFilter) (rows []db.AuditRow) {
	t.Helper()
	for f.Limit = 3; ; {
		var page []db.AuditRow
		err := s.DB.Read(t.Context(), "hav", func(x *db.Tx) (err error) {
			page, f.Cursor, err = x.AuditRows(t.Context(), f)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, page...)
		if f.Cursor == "" {
			return rows
		}
	}
}

// A13: a filter by person gives that person's entries and nobody else's, and the order is strict: entries of one
// transaction have one instant, and still come newest first, in whatever pages they are read.
func TestTheTrailHasOneOrderAndFiltersByPerson(t *testing.T) {
	s := newDeskSite(t)
	s.confirmedMove(t) // confirm and move: one instant
	s.Propose(s.Agent(), s.Move("apt_soren", s.At(1, 9, 0)))
	s.Exec(`INSERT INTO audit (clinic, id, at, actor_kind, actor, via, action, outcome, content, content_hash)
		SELECT 'hav', 'same_' || (97 * i) % 23, timestamptz '2026-01-01', 'user', 'emil', 'page', 'signin', 'success', '', repeat('a', 64) FROM generate_series(1, 22) i`)
	all := s.trailOf(t, db.AuditFilter{})
	if n := s.Text(`SELECT count(*) FROM audit WHERE clinic = 'hav'`); fmt.Sprint(len(all)) != n {
		t.Fatalf("%d entries on the pages, %s there", len(all), n)
	}
	for i := 1; i < len(all); i++ {
		if a, b := all[i-1], all[i]; b.At.After(a.At) || b.At.Equal(a.At) && b.N >= a.N {
			t.Errorf("%s (%d) comes after %s (%d)", b.ID, b.N, a.ID, a.N)
		}
	}
	place := func(action string) int {
		return slices.IndexFunc(all, func(r db.AuditRow) bool { return r.Action == action })
	}
	if place("appointment.move") > place("proposal.confirm") {
		t.Error("what ran stands before the decision")
	}
	for _, who := range []string{"ana", "emil", "bot"} {
		rows := s.trailOf(t, db.AuditFilter{Actor: who})
		if n := s.Text(`SELECT count(*) FROM audit WHERE clinic = 'hav' AND actor = $1`, who); fmt.Sprint(len(rows)) != n || len(rows) == 0 {
			t.Errorf("%s: %d entries, want %s", who, len(rows), n)
		}
		for _, r := range rows {
			if r.Actor.ID != who {
				t.Errorf("%s's entries hold one of %s", who, r.Actor.ID)
			}
		}
	}
}

// Every filter gives what the rows say and nothing else, alone and together with a role's own narrowing.
func TestEveryFilterOfTheTrail(t *testing.T) {
	s := newDeskSite(t)
	r := s.confirmedMove(t)
	agents := s.Propose(s.Agent(), s.Move("apt_soren", s.At(1, 9, 0)))
	s.as("emil").get("/patients/maria")
	s.as("emil").post(card(agents)+"/confirm", decision(agents, "k9")) // refused
	s.as("emil").get("/audit")
	for _, c := range []struct {
		name  string
		f     db.AuditFilter
		where string
	}{
		{"actor", db.AuditFilter{Actor: "emil"}, `actor = 'emil'`},
		{"for", db.AuditFilter{OnBehalfOf: "ana"}, `on_behalf_of = 'ana'`},
		{"agents", db.AuditFilter{Agent: db.AgentYes}, `actor_kind = 'agent'`},
		{"people", db.AuditFilter{Agent: db.AgentNo}, `actor_kind <> 'agent'`},
		{"action", db.AuditFilter{Action: "proposal.confirm"}, `action = 'proposal.confirm'`},
		{"done", db.AuditFilter{Outcome: "success"}, `outcome = 'success'`},
		{"denied", db.AuditFilter{Outcome: "denied"}, `outcome = 'denied'`},
		{"risk", db.AuditFilter{Risk: "low"}, `risk = 'low'`},
		{"patient", db.AuditFilter{Patient: "maria"}, `patient = 'maria'`},
		{"visit", db.AuditFilter{Appointment: "apt_maria"}, `object = 'apt_maria' OR proposal = '` + r.ID + `'`},
		{"visit, agents", db.AuditFilter{Appointment: "apt_soren", Agent: db.AgentYes}, `proposal = '` + agents.ID + `' AND actor_kind = 'agent'`},
		{"proposal", db.AuditFilter{Proposal: r.ID}, `proposal = '` + r.ID + `'`},
		{"hash", db.AuditFilter{Proposal: r.PlanHash[:12]}, `plan_hash = '` + r.PlanHash + `'`},
		{"request", db.AuditFilter{Request: "req_test"}, `request = 'req_test'`},
		{"own", db.AuditFilter{OwnOf: "ana"}, `actor = 'ana' OR on_behalf_of = 'ana'`},
		{"own, visit", db.AuditFilter{OwnOf: "ana", Appointment: "apt_maria"}, `(actor = 'ana' OR on_behalf_of = 'ana') AND (object = 'apt_maria' OR proposal = '` + r.ID + `')`},
		{"scheduling", db.AuditFilter{Scheduling: true}, `action NOT LIKE 'audit.%'`},
		{"nobody's", db.AuditFilter{Actor: "lake_ana"}, `false`},
	} {
		want := s.Text(`SELECT coalesce(string_agg(id, ' ' ORDER BY at DESC, n DESC), '') FROM audit WHERE clinic = 'hav' AND (` + c.where + `)`)
		var got []string
		for _, row := range s.trailOf(t, c.f) {
			got = append(got, row.ID)
		}
		if strings.Join(got, " ") != want || want == "" && c.where != "false" {
			t.Errorf("%s:\n got %s\nwant %s", c.name, strings.Join(got, " "), want)
		}
	}
}

// Accounts go, entries stay: a disabled one keeps its name, one that is removed altogether leaves its id.
func TestEntriesOutliveAccounts(t *testing.T) {
	s := newDeskSite(t)
	s.as("emil").get("/patients/maria")
	s.as("bea").get("/patients/maria")
	s.Exec(`UPDATE accounts SET disabled_at = now() WHERE id = 'emil'`)
	s.Exec(`DELETE FROM sessions WHERE account = 'bea'`)
	s.Exec(`DELETE FROM accounts WHERE id = 'bea'`)
	ada := s.as("ada")
	ada.get("/audit?actor=emil").says(t, "emil, access ended", "Looked at a patient")
	gone := ada.get("/audit?actor=bea")
	if rows := rowsOf(t, gone.body); gone.status != http.StatusOK || len(rows) != 1 || !strings.Contains(rows[0], "bea") {
		t.Errorf("%d, %v", gone.status, rows)
	}
}

func TestTheTrailKeepsItsFiltersAndHoldsNoName(t *testing.T) {
	s := newDeskSite(t)
	s.confirmedMove(t)
	ada := s.as("ada")
	found := ada.post("/patients/search", url.Values{"query": {"jensen maria"}, "action": {"audit"}}, htmx...)
	href := attrOf(t, found.body, "/audit?patient=")
	if href != "/audit?patient=maria" {
		t.Fatalf("a patient found leads to %s", href)
	}
	a := ada.get(href + "&limit=1")
	if next := attrOf(t, a.body, "/audit?cursor="); !strings.Contains(next, "patient=maria") {
		t.Errorf("the next page is %s", next)
	}
	if strings.Contains(a.body, "Jensen") {
		t.Error("the trail names the patient")
	}
	for _, bad := range []string{"agent=maybe", "fast=yes", "to=soon"} {
		if a := ada.get("/audit?" + bad); a.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", bad, a.status)
		}
	}
}

// The page asks as often for a long trail as for a short one, and for many filters as for none.
func TestTheTrailAsksAFixedNumberOfStatements(t *testing.T) {
	s := newDeskSite(t)
	counting, statements := dbtest.Counting(t, s.URL)
	pool, err := db.Open(t.Context(), counting, db.Options{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	s = &deskSite{serveDesk(t, s.Desk, pool), s.Desk}
	paths := []string{"/audit", "/audit?actor=ana&on_behalf_of=ana&agent=yes&patient=maria&appointment=apt_maria&proposal=abcd&action=proposal.confirm&outcome=denied&risk=low&request=r&from=2026-01-01&to=2027-01-01&fast=1"}
	count := func() (n []int) {
		for _, path := range paths {
			s.as("ada").get(path)
			b := s.as("ada")
			statements()
			if a := b.get(path); a.status != http.StatusOK {
				t.Fatalf("%s: %d", path, a.status)
			}
			n = append(n, statements())
		}
		return n
	}
	few := count()
	for i := range 4 {
		s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9+i, 0)))
	}
	if many := count(); !slices.Equal(few, many) || few[0] != few[1] || few[0] > 12 {
		t.Errorf("%v statements at first, %v later", few, many)
	}
}
