package handlers

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/dbtest"
)

// A card with a long history and many rivals asks as often as a new one.
func TestCardsAskAFixedNumberOfStatements(t *testing.T) {
	s := newDeskSite(t)
	counting, statements := dbtest.Counting(t, s.URL)
	pool, err := db.Open(t.Context(), counting, db.Options{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	s = &deskSite{serveDesk(t, s.Desk, pool), s.Desk}
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	b := s.as("ana")
	count := func() map[string]int {
		n := map[string]int{}
		for _, path := range []string{card(r), card(r) + "/edit", moveMaria, "/proposals/new?action=book&patient=soren&practitioner=holm&location=main&type=std"} {
			b.get(path) // prepares what this connection has not prepared
			statements()
			if a := b.get(path); a.status != http.StatusOK {
				t.Fatalf("%s: %d", path, a.status)
			}
			n[path] = statements()
		}
		return n
	}
	few := count()
	for i := range 5 {
		f := mustForm(t, b.get(card(r)+"/edit").body, "/revisions")
		if a := b.sendForm(f, url.Values{"starts_at": {s.At(1, 10+i%2, 0).Format(time.RFC3339)}}); a.status != http.StatusSeeOther {
			t.Fatalf("edit: %d", a.status)
		}
		s.Propose(s.Actor("emil"), s.Move("apt_soren", s.At(1, 10, 0), "practitioner", "holm"))
		s.as("emil").post(card(r)+"/confirm", decision(r, "k"))
	}
	for path, many := range count() {
		if many != few[path] || many == 0 || many > 16 {
			t.Errorf("%s: %d statements at first, %d later", path, few[path], many)
		}
	}
}
