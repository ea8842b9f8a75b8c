package handlers

import (
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"countersign/internal/proposal"
)

func TestTooManyProposals(t *testing.T) {
	s := newDeskSite(t)
	s.deps.Desk.Limits = proposal.Limits{Person: 1, Window: 10 * time.Minute}
	b := s.as("ana")
	typed := url.Values{"family": {"Holt"}, "given": {"Ida"}, "birth_date": {"1999-01-01"}, "contact_preference": {"none"}}
	for _, want := range []int{http.StatusSeeOther, http.StatusTooManyRequests} {
		a := b.sendForm(mustForm(t, b.get("/patients/new").body, "/proposals"), typed)
		if a.status != want {
			t.Fatalf("%d, want %d", a.status, want)
		}
		if n, err := strconv.Atoi(a.header.Get("Retry-After")); want == http.StatusTooManyRequests && (err != nil || n < 1 || n > 600) {
			t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
		}
	}
	if n := s.Text(`SELECT count(*) FROM proposals`); n != "1" {
		t.Error(n, "proposals")
	}
}
