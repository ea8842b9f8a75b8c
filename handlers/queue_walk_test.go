package handlers

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"countersign/db"
	"countersign/db/dbtest"
	"countersign/db/desktest"
	"countersign/internal/proposal"
)

// linksOf are the ids of the proposals of a queue page, in its order.
func linksOf(t testing.TB, body string) (ids []string) {
	t.Helper()
	for n := range parsed(t, body).Descendants() {
		if _, row := attr(n, "data-row"); row {
			href, _ := attr(n, "href")
			id, _, _ := strings.Cut(strings.TrimPrefix(href, "/proposals/"), "?")
			ids = append(ids, id)
		}
	}
	return ids
}

// copies makes n proposals of one, with deadlines a second apart: real rows without the work of proposing.
func (s *deskSite) copies(r proposal.Record, n int, tag string) {
	s.T.Helper()
	s.Exec(`INSERT INTO proposals (clinic, id, action, expires_at, risk, created_by, created_kind, created_name, owner, owner_name, created_via, created_at, patient, appointment, practitioner, location, starts_at, ends_at)
		SELECT clinic, $2 || '_' || i, action, expires_at + i * interval '1 second', risk, created_by, created_kind, created_name, owner, owner_name, created_via, now(), patient, appointment, practitioner, location, starts_at, ends_at
		FROM proposals, generate_series(1, $3::int) i WHERE id = $1`, r.ID, tag, n)
	s.Exec(`INSERT INTO revisions (clinic, proposal, revision, plan_hash, plan_bytes, expires_at, created_by, created_name)
		SELECT r.clinic, p.id, 1, plan_hash, plan_bytes, p.expires_at, r.created_by, r.created_name FROM revisions r JOIN proposals p ON p.clinic = r.clinic AND p.id LIKE $2 || '\_%' WHERE r.proposal = $1`, r.ID, tag)
}

// While somebody works through 120, others decide some, new ones come, and one is put off: each of the 120 is seen once,
// and nothing that came is forgotten.
func TestAWalkThroughTheQueueSeesEachOnce(t *testing.T) {
	s := newDeskSite(t)
	first := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 8, 0)))
	s.copies(first, 119, "w")
	s.Exec(`UPDATE proposals SET expires_at = (SELECT min(expires_at) FROM proposals) WHERE id IN ('w_30', 'w_31', 'w_50', 'w_51', 'w_52')`) // one deadline, over the page's end
	b := s.as("ben")
	var seen []string
	path := "/queue"
	for page := 0; path != ""; page++ {
		a := b.get(path)
		if a.status != http.StatusOK || page > 5 {
			t.Fatalf("page %d: %d", page, a.status)
		}
		ids := linksOf(t, a.body)
		seen = append(seen, ids...)
		path = laterPage(t, a.body)
		if page == 0 {
			// decided: one seen and one not seen yet; proposed: with an early deadline and a late one
			for _, id := range []string{ids[3], "w_115"} {
				if _, err := s.deps.Desk.Reject(t.Context(), s.Actor("ben"), proposal.Decision{Proposal: id, Revision: 1, PlanHash: first.PlanHash, Key: desktest.ID("k")}); err != nil {
					t.Fatal(err)
				}
			}
			s.copies(first, 1, "early")
			s.Exec(`UPDATE proposals SET expires_at = (SELECT min(expires_at) FROM proposals WHERE id LIKE 'w%') WHERE id = 'early_1'`)
			s.copies(first, 1, "late")
			s.Exec(`UPDATE proposals SET expires_at = (SELECT max(expires_at) FROM proposals WHERE id LIKE 'w%') + interval '1 minute' WHERE id = 'late_1'`)
			live := s.queueLive(t, a.body)
			if got := b.get(live).body; !strings.Contains(got, "2 new, show them") || !strings.Contains(got, `id="now-`+ids[3]+`"`) || !strings.Contains(got, "Rejected by ben") {
				t.Errorf("the open page hears: %s", got)
			}
		}
	}
	count := map[string]int{}
	for _, id := range seen {
		if count[id]++; count[id] > 1 {
			t.Errorf("%s was seen twice", id)
		}
	}
	if len(seen) != 120 || count["w_115"] != 0 || count["late_1"] != 1 || count["early_1"] != 0 { // 120, less one decided, and one that came behind
		t.Errorf("%d seen; decided meanwhile %d, came later %d, came before %d", len(seen), count["w_115"], count["late_1"], count["early_1"])
	}
	if ids := linksOf(t, b.get("/queue").body); !slices.Contains(ids, "early_1") {
		t.Error("what came in before the page is not shown behind the button")
	}
}

// laterPage is the address of the next page, "" on the last.
func laterPage(t testing.TB, body string) string {
	t.Helper()
	for n := range parsed(t, body).Descendants() {
		if href, ok := attr(n, "href"); ok && textOf(n) == "Later deadlines" {
			return href
		}
	}
	return ""
}

// queueLive is the address that an open page asks.
func (s *deskSite) queueLive(t testing.TB, body string) string {
	t.Helper()
	for n := range parsed(t, body).Descendants() {
		if v, ok := attr(n, "hx-get"); ok && n.Type == html.ElementNode && strings.HasPrefix(v, queuePoll) {
			return v
		}
	}
	t.Fatal("the page asks for nothing")
	return ""
}

// A proposal whose transaction began before the page and ended after it is new, and is counted.
func TestWhatCommitsLateIsNew(t *testing.T) {
	s := newDeskSite(t)
	first := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 8, 0)))
	var live string
	err := s.DB.InClinic(t.Context(), "hav", func(tx *db.Tx) error {
		desk := *s.deps.Desk
		desk.Store = holding{db.Proposals{DB: s.DB}, func() { live = s.queueLive(t, s.as("ben").get("/queue").body) }}
		_, err := desk.Propose(t.Context(), s.Actor("emil"), s.Move("apt_soren", s.At(1, 9, 0)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	a := s.as("ben").get(live)
	if !strings.Contains(a.body, "1 new, show it") {
		t.Errorf("%d: %s", a.status, a.body)
	}
	// Nothing new, nothing changed: nothing is sent.
	now := s.queueLive(t, s.as("ben").get("/queue").body)
	if a := s.as("ben").get(now); a.status != http.StatusNoContent {
		t.Errorf("unchanged: %d %s", a.status, a.body)
	}
	// The rival wins: the row of the other says so before anybody clicks.
	other := s.Propose(s.Actor("emil"), s.Move("apt_soren", s.At(1, 8, 0), "practitioner", "holm"))
	now = s.queueLive(t, s.as("bea").get("/queue").body)
	if _, err := s.deps.Desk.Confirm(t.Context(), s.Actor("ben"), desktest.Deciding(other, "k")); err != nil {
		t.Fatal(err)
	}
	a = s.as("bea").get(now)
	for _, want := range []string{`id="now-` + first.ID + `"`, "Changed since", `id="now-` + other.ID + `"`, "Completed by ben"} {
		if !strings.Contains(a.body, want) {
			t.Errorf("bea's page does not hear %q: %s", want, a.body)
		}
	}
	if got := s.state(first); got != "proposed" {
		t.Error("the loser is", got)
	}
	if a := s.as("bea").post("/proposals/"+first.ID+"/confirm", decision(first, "k2")); a.status != http.StatusConflict {
		t.Errorf("the loser confirmed: %d", a.status)
	}
	for _, bad := range []url.Values{{"ids": {"x"}}, {"since": {"9:1:"}, "ids": {"x"}}, {"since": {"1:9:9"}}} {
		if a := s.as("bea").get(queuePoll + "?" + bad.Encode()); a.status != http.StatusUnprocessableEntity {
			t.Errorf("%v: %d", bad, a.status)
		}
	}
}

// holding does something while a proposal is written and not committed.
type holding struct {
	db.Proposals
	meanwhile func()
}

func (h holding) InTx(ctx context.Context, clinicID string, fn func(proposal.Tx) error) error {
	return h.Proposals.InTx(ctx, clinicID, func(tx proposal.Tx) error {
		err := fn(tx)
		if err == nil {
			h.meanwhile()
		}
		return err
	})
}

func TestTheQueueAsksAsOftenForTwoAsForAHundred(t *testing.T) {
	s := newDeskSite(t)
	first := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 8, 0)))
	s.copies(first, 1, "a")
	count := s.counted(t)
	b := count.as("ben")
	paths := []string{"/queue", "/queue?view=all&practitioner=holm&claimed=none&age=5", "/queue?view=decided", "/queue?view=failed", s.queueLive(t, b.get("/queue").body)}
	few := count.statements(b, paths...)
	s.copies(first, 98, "b")
	paths[4] = s.queueLive(t, b.get("/queue").body)
	for i, n := range count.statements(b, paths...) {
		if n != few[i] || n == 0 || n > 16 {
			t.Errorf("%s: %d statements for two, %d for a hundred", fmt.Sprintf("%.30s", paths[i]), few[i], n)
		}
	}
}

// countedSite counts the statements of its pages.
type countedSite struct {
	*deskSite
	taken func() int
}

func (s *deskSite) counted(t *testing.T) countedSite {
	t.Helper()
	counting, statements := dbtest.Counting(t, s.URL)
	pool, err := db.Open(t.Context(), counting, db.Options{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return countedSite{&deskSite{serveDesk(t, s.Desk, pool), s.Desk}, statements}
}

func (c countedSite) statements(b *browser, paths ...string) (n []int) {
	for _, path := range paths {
		b.get(path) // prepares what this connection has not prepared
		c.taken()
		if a := b.get(path); a.status != http.StatusOK && a.status != http.StatusNoContent {
			c.t.Fatalf("%s: %d", path, a.status)
		}
		n = append(n, c.taken())
	}
	return n
}
