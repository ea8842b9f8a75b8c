package handlers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"countersign/internal/proposal"
)

// rowsOf are the texts of the rows of a page's list.
func rowsOf(t testing.TB, body string) []string {
	t.Helper()
	var rows []string
	for n := range parsed(t, body).Descendants() {
		if n.Type != html.ElementNode || n.Data != "tr" {
			continue
		}
		if _, list := attr(n.Parent, "data-rows"); list {
			rows = append(rows, textOf(n))
		}
	}
	return rows
}

func TestTheQueueIsByDeadlineWithRivalsAndWhatIsStale(t *testing.T) {
	s := newDeskSite(t)
	asks := s.Move("apt_maria", s.At(0, 12, 0))
	asks.Reason = "in words of hers"
	move := s.Propose(s.Actor("ana"), asks)
	rival := s.Propose(s.Agent(), s.Move("apt_soren", s.At(0, 12, 15), "practitioner", "holm"))
	ends := s.Propose(s.Actor("emil"), proposal.Proposing{Action: "cancel_appointment@1", Parameters: map[string]any{"appointment": "apt_soren", "reason_code": "patient_request"}})
	s.Exec(`UPDATE proposals SET expires_at = expires_at - interval '1 minute' WHERE id = $1`, ends.ID)
	s.Exec(`UPDATE proposals SET expires_at = expires_at + interval '1 minute' WHERE id = $1`, move.ID)
	s.Exec(`UPDATE patients SET phone = '+45 00 20 03 01' WHERE clinic = 'hav' AND id = 'soren'`) // both of his are stale now
	gone := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(2, 12, 0)))
	s.Exec(`UPDATE proposals SET expires_at = now() - interval '1 minute' WHERE id = $1`, gone.ID)
	other := s.Actor("ana")
	other.Clinic, other.Person = "lake", "lake_ana"
	s.Propose(other, s.Move("lake_apt_maria", s.At(0, 12, 0)))

	mine := s.as("ana").get("/queue")
	mine.says(t, "2 wait for you") // emil's is emil's or a reviewer's
	a := s.as("ana").get("/queue?view=all")
	rows := rowsOf(t, a.body)
	if len(rows) != 3 {
		t.Fatalf("%d rows: %v", len(rows), rows)
	}
	for i, want := range [][]string{
		{"Medium", "Cancel", "Søren", "10:00, Dr Ben Okafor → cancelled", "emil", "Changed since", "Groß", "not yours to decide"},
		{"Move", "Søren", "10:00 → ", "Dr Ben Okafor → Dr Anna Holm", "You, agent bot", "1 rival", "Changed since", "Other practitioner"},
		{"Low", "Move", "Maria Jensen", "10:00 → ", ", 12:00", "You", "in words of hers", "1 rival"},
	} {
		for _, w := range want {
			if !strings.Contains(rows[i], w) {
				t.Errorf("row %d lacks %q: %s", i, w, rows[i])
			}
		}
	}
	if strings.Contains(rows[0], "rival") || strings.Contains(rows[2], "Changed since") {
		t.Errorf("%v", rows)
	}
	a.says(t, "3 waiting")
	if confirmable(t, a.body) {
		t.Error("a list holds a confirm")
	}
	for _, r := range []proposal.Record{move, rival, ends} {
		if !strings.Contains(a.body, `href="`+card(r)+`?from=queue"`) {
			t.Errorf("no link to %s", r.ID)
		}
	}
	s.Exec(`INSERT INTO tokens (id, clinic, account, name, kind, secret_hash) VALUES ('bot', 'hav', 'ana', 'bot', 'agent', sha256('bot'))`)
	s.Exec(`INSERT INTO leases (clinic, proposal, person, person_name, until) VALUES ('hav', $1, 'bea', 'bea', now() + interval '5 min'), ('hav', $2, 'ben', 'ben', now() - interval '1 second')`, move.ID, rival.ID)
	s.Exec(`UPDATE proposals SET escalated_revision = 1 WHERE id = $1`, ends.ID)
	for query, want := range map[string]int{"?risk-low=on": 1, "?risk-low=on&risk-medium=on": 3, "?risk-critical=on": 0, "?action=cancel_appointment%401": 1, "?action=": 3,
		"?asker=ana": 2, "?asker=emil": 1, "?asker=bot": 1, "?kind=agent": 1, "?kind=user": 2, "?practitioner=holm": 2, "?practitioner=okafor": 2, "?location=main": 3, "?location=annex": 0,
		"?age=5": 0, "?claimed=me": 0, "?claimed=any": 1, "?claimed=none": 2, "?escalated=on": 1, "?view=all&escalated=on&claimed=none&kind=user": 1} {
		a := s.as("ben").get("/queue" + query)
		if n := len(rowsOf(t, a.body)); a.status != http.StatusOK || n != want {
			t.Errorf("%s: %d, %d rows, want %d", query, a.status, n, want)
		}
		if want > 0 {
			a.says(t, fmt.Sprintf("%d wait", want))
		}
	}
	if n := len(rowsOf(t, s.as("bea").get("/queue?claimed=me").body)); n != 1 {
		t.Errorf("what bea has taken on: %d", n)
	}
	s.as("bea").get("/queue").says(t, "Yours until", "1 escalated proposal")
	s.as("ben").get("/queue").says(t, "bea has it until", "Escalated")
	for _, query := range []string{"?cursor=gone", "?view=other", "?age=7", "?claimed=you", "?asker=nobody", "?risk=low", "?since=now", "?practitioner=lake_holm"} {
		if a := s.as("ben").get("/queue" + query); a.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", query, a.status)
		}
	}
	s.as("ada").get("/queue").says(t, "3 waiting", "not yours to decide")
	s.as("ada").get("/queue?view=me").says(t, "Nothing waits for you")
}

func TestALongQueueHasPages(t *testing.T) {
	s := newDeskSite(t)
	for i := range queuePage + 3 {
		s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1+i/20, 8+i%20/4, i%4*15)))
	}
	b := s.as("ben")
	seen, path := map[string]bool{}, "/queue?risk-low=on"
	for page := 0; page < 2; page++ {
		a := b.get(path)
		for n := range parsed(t, a.body).Descendants() {
			if href, _ := attr(n, "href"); strings.HasSuffix(href, "?from=queue") {
				if seen[href] {
					t.Errorf("%s comes twice", href)
				}
				seen[href] = true
			}
		}
		if page == 0 {
			path = laterPage(t, a.body)
		}
	}
	if len(seen) != queuePage+3 {
		t.Errorf("%d proposals on two pages", len(seen))
	}
	if !strings.Contains(path, "risk-low=on") {
		t.Errorf("the next page forgets the filter: %s", path)
	}
}

func TestTheTrailByRole(t *testing.T) {
	s := newDeskSite(t)
	r := s.confirmedMove(t)
	s.as("emil").get("/patients/maria")
	s.as("emil").get("/audit")
	s.as("ana").post("/appointments/apt_soren/status", statusForm("arrived", "1"))

	own := s.as("emil").get("/audit")
	own.says(t, "your own entries", "Looked at a patient", "Looked at the audit trail")
	for _, row := range rowsOf(t, own.body) {
		if !strings.Contains(row, "emil") {
			t.Errorf("staff see another's entry: %s", row)
		}
	}
	reviewer := s.as("ben").get("/audit")
	reviewer.says(t, "Set a status", "Confirmed", "Looked at a patient")
	if strings.Contains(strings.Join(rowsOf(t, reviewer.body), "\n"), "Looked at the audit trail") {
		t.Error("a reviewer sees reads of the trail")
	}
	admin := s.as("ada").get("/audit")
	admin.says(t, "Looked at the audit trail", "Set a status")
	if strings.Contains(admin.body, "Jensen") || strings.Contains(admin.body, "Maria") {
		t.Error("the trail names a patient")
	}

	for query, want := range map[string]string{"proposal=" + r.ID: "Confirmed", "hash=" + r.PlanHash[:10]: "Confirmed", "action=patient.read": "Looked at a patient",
		"actor=emil&outcome=success": "emil", "appointment=apt_soren": "Set a status", "from=" + s.day(-3) + "&to=" + s.day(-3): "emil"} {
		a := s.as("ada").get("/audit?" + query)
		if rows := rowsOf(t, a.body); a.status != http.StatusOK || len(rows) == 0 {
			t.Errorf("%s: %d and no rows", query, a.status)
		} else {
			for _, row := range rows {
				if query[:4] != "from" && query[:4] != "prop" && query[:4] != "hash" && !strings.Contains(row, want) {
					t.Errorf("%s: %s", query, row)
				}
			}
		}
		a.says(t, want, "Show everything")
	}
	if rows := rowsOf(t, s.as("ada").get("/audit?outcome=failed").body); len(rows) != 0 {
		t.Errorf("nothing failed, and yet: %v", rows)
	}
	// The Older link leads on and keeps the filter.
	seen := len(rowsOf(t, s.as("ada").get("/audit?actor=emil").body))
	first := s.as("ada").get("/audit?actor=emil&limit=1")
	older := attrOf(t, first.body, "/audit?actor=emil&cursor=")
	if rows := rowsOf(t, s.as("ada").get(older).body); len(rows) != seen-1 {
		t.Errorf("%d rows in all, %d after the first", seen, len(rows))
	}
}
