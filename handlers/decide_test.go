package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/internal/proposal"
)

// high is a proposal of high risk: the patient has another visit then.
func (s *deskSite) high() proposal.Record {
	s.T.Helper()
	s.Exec(`INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, during, changed_by, changed_via)
		VALUES ('hav', 'apt_twice', 'maria', 'okafor', 'main', 'std', 'booked', tstzrange($1::timestamptz, $1::timestamptz + interval '30 min'), 'seed', 'seed')`, s.At(2, 9, 0))
	s.Exec(`UPDATE slots SET appointment = 'apt_twice' WHERE clinic = 'hav' AND practitioner = 'okafor' AND starts_at >= $1 AND starts_at < $1::timestamptz + interval '30 min'`, s.At(2, 9, 0))
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(2, 9, 0)))
	if r.Risk != "high" {
		s.T.Fatalf("risk %s", r.Risk)
	}
	return r
}

func TestConfirmRunsThePlanAndShowsItsOutcome(t *testing.T) {
	for way, headers := range ways {
		t.Run(way, func(t *testing.T) {
			s := newDeskSite(t)
			r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
			b := s.as("ana")
			a := b.sendForm(mustForm(t, b.get(card(r)).body, "/confirm"), nil, headers...)
			if way == "page" {
				if a.status != http.StatusSeeOther || a.header.Get("Location") != card(r) {
					t.Fatalf("%d to %q", a.status, a.header.Get("Location"))
				}
				a = b.get(card(r))
			} else if a.status != http.StatusOK || !fragment(a) {
				t.Fatalf("%d %s", a.status, a.body)
			}
			a.says(t, "Completed", "Maria Jensen’s visit is moved", "Confirmed", "Moved", "Approved", "Executed", r.PlanHash[:8])
			if confirmable(t, a.body) {
				t.Error("a live Confirm on a completed card")
			}
			if line := a.body[strings.Index(a.body, "This proposal"):]; strings.Index(line, "Confirmed") > strings.Index(line, "Moved") {
				t.Error("the timeline tells that it moved before it was confirmed")
			}
			if got := s.starts("apt_maria"); got != s.At(1, 9, 0).Format(time.RFC3339) {
				t.Errorf("the visit stands at %s", got)
			}
		})
	}
}

// B13: two clicks, or a click and Enter, are one execution, and both see the outcome.
func TestADoubleClickOnConfirmRunsOnce(t *testing.T) {
	for way, headers := range ways {
		t.Run(way, func(t *testing.T) {
			s := newDeskSite(t)
			r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
			b := s.as("ana")
			f := mustForm(t, b.get(card(r)).body, "/confirm")
			replies := inParallel(6, func() reply { return b.sendForm(f, nil, headers...) })
			replayed := 0
			for _, a := range replies {
				if way == "page" && (a.status != http.StatusSeeOther || a.header.Get("Location") != card(r)) || way == "fragment" && a.status != http.StatusOK {
					t.Errorf("%d %s", a.status, a.body)
				}
				if way == "fragment" {
					a.says(t, "Completed")
				}
				if a.header.Get("Idempotency-Replayed") == "true" {
					replayed++
				}
			}
			if replayed != len(replies)-1 {
				t.Errorf("%d of %d are replays", replayed, len(replies))
			}
			if v, n := s.Text(`SELECT version FROM appointments WHERE id = 'apt_maria'`), s.Text(`SELECT count(*) FROM outbox WHERE kind <> 'reminder'`); v != "2" || n != "1" {
				t.Errorf("version %s, %s messages", v, n)
			}
		})
	}
}

// B7: nor is a double click on Reject more than one rejection.
func TestADoubleClickOnRejectRejectsOnce(t *testing.T) {
	s := newDeskSite(t)
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	b := s.as("ana")
	f := mustForm(t, b.get(card(r)).body, "/reject")
	for _, a := range inParallel(4, func() reply { return b.sendForm(f, url.Values{"reason": {"no"}}, htmx...) }) {
		if a.status != http.StatusOK || confirmable(t, a.body) {
			t.Errorf("%d", a.status)
		}
		a.says(t, "Rejected by you", "Nothing was changed and nothing was sent")
	}
	if n := s.Text(`SELECT count(*) FROM audit WHERE proposal = $1 AND action = 'proposal.reject' AND outcome = 'success'`, r.ID); n != "1" {
		t.Errorf("%s rejections in the trail", n)
	}
}

func inParallel(n int, fn func() reply) []reply {
	out, ready, wg := make([]reply, n), make(chan struct{}), sync.WaitGroup{}
	for i := range n {
		wg.Go(func() { <-ready; out[i] = fn() })
	}
	close(ready)
	wg.Wait()
	return out
}

// A20: the reason is words beside the outcome, whatever it says.
func TestARejectionIsOneWhateverItsReasonSays(t *testing.T) {
	for _, reason := range []string{"no", "Approved, go ahead", ""} {
		s := newDeskSite(t)
		r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
		b := s.as("ben")
		if a := b.sendForm(mustForm(t, b.get(card(r)).body, "/reject"), url.Values{"reason": {reason}}); a.status != http.StatusSeeOther {
			t.Fatalf("%q: %d", reason, a.status)
		}
		a := s.as("ana").get(card(r))
		a.says(t, "Rejected by ben", reason, "Nothing was changed and nothing was sent", "Propose again")
		if s.state(r) != "rejected" || s.Text(`SELECT outcome FROM proposals WHERE id = $1`, r.ID) != "not_executed" || confirmable(t, a.body) {
			t.Errorf("%q: %s", reason, s.state(r))
		}
		if got := s.starts("apt_maria"); got != s.At(0, 10, 0).Format(time.RFC3339) {
			t.Errorf("%q moved it to %s", reason, got)
		}
	}
}

// B9: what is decided stays so. The one who decided sees the outcome, others who decided.
func TestADecidedProposalIsNotDecidedAgain(t *testing.T) {
	for way, headers := range ways {
		s := newDeskSite(t)
		r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
		ana, ben := s.as("ana"), s.as("ben")
		first, bens := ana.get(card(r)).body, ben.get(card(r)).body
		if a := ana.sendForm(mustForm(t, first, "/confirm"), nil); a.status != http.StatusSeeOther {
			t.Fatal(a.status)
		}
		for name, try := range map[string]struct {
			b    *browser
			body string
			end  string
			says string
		}{
			"same person, other form": {ana, first, "/reject", "You had decided this already"},
			"another confirms":        {ben, bens, "/confirm", "This has been decided already"},
			"another rejects":         {ben, bens, "/reject", "This has been decided already"},
		} {
			a := try.b.sendForm(mustForm(t, try.body, try.end), nil, headers...)
			if a.status != http.StatusConflict || confirmable(t, a.body) || fragment(a) != (way == "fragment") {
				t.Errorf("%s, %s: %d", way, name, a.status)
			}
			a.says(t, try.says, "Completed", "Confirmed by ana")
		}
		if s.state(r) != "completed" {
			t.Error(s.state(r))
		}
	}
}

// A7: two tabs. One edits, the other still shows revision 1; its Confirm approves nothing.
func TestAnOlderRevisionIsNotConfirmed(t *testing.T) {
	for way, headers := range ways {
		t.Run(way, func(t *testing.T) {
			s := newDeskSite(t)
			r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
			b := s.as("ana")
			old := b.get(card(r)).body
			edit := mustForm(t, b.get(card(r)+"/edit").body, "/revisions")
			if a := b.sendForm(edit, url.Values{"starts_at": {s.At(1, 9, 30).Format(time.RFC3339)}}); a.status != http.StatusSeeOther || a.header.Get("Location") != card(r) {
				t.Fatalf("edit: %d %s", a.status, a.body)
			}
			for _, end := range []string{"/confirm", "/reject"} {
				a := b.sendForm(mustForm(t, old, end), nil, headers...)
				if a.status != http.StatusConflict || confirmable(t, a.body) || fragment(a) != (way == "fragment") {
					t.Fatalf("%s: %d", end, a.status)
				}
				a.says(t, "You saw, revision 1", "Current, revision 2", "Now booked", "09:00", "09:30", "10:00", "Review revision 2", "ana")
				if strings.Count(a.body, `href="`+card(r)+`"`) == 0 {
					t.Error("no link to the current revision")
				}
			}
			if s.state(r) != "proposed" || s.Text(`SELECT count(*) FROM outbox`) != "0" {
				t.Error("something was done")
			}
			a := b.sendForm(mustForm(t, b.get(card(r)).body, "/confirm"), nil)
			if a.status != http.StatusSeeOther || s.starts("apt_maria") != s.At(1, 9, 30).Format(time.RFC3339) {
				t.Errorf("revision 2: %d, %s", a.status, s.starts("apt_maria"))
			}
		})
	}
}

// A revision that never was, and a hash that is another's.
func TestARevisionOrPlanThatIsNotTheCurrentIsRefused(t *testing.T) {
	s := newDeskSite(t)
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	b := s.as("ana")
	for way, headers := range ways {
		for _, c := range []struct{ name, value, words string }{
			{"revision", "7", "This changed while you had it open"},
			{"revision", "0", "This changed while you had it open"},
			{"plan_hash", strings.Repeat("0", 64), "This is not what was shown"},
		} {
			for _, path := range []string{"/confirm", "/reject", "/revisions"} {
				f := decision(r, "key-"+way+c.name)
				f.Set(c.name, c.value)
				if path == "/revisions" {
					f.Del("idempotency_key")
				}
				a := b.post(card(r)+path, f, headers...)
				if a.status != http.StatusConflict || confirmable(t, a.body) || fragment(a) != (way == "fragment") {
					t.Errorf("%s %s %s=%s: %d", way, path, c.name, c.value, a.status)
				}
				a.says(t, c.words)
			}
		}
	}
	if s.state(r) != "proposed" {
		t.Error(s.state(r))
	}
}

// A9: a pinned row moved after the card was drawn. Never another plan: refused, named, and prepared anew on request.
func TestAStaleCardIsRefusedAndPreparedAnew(t *testing.T) {
	for way, headers := range ways {
		t.Run(way, func(t *testing.T) {
			s := newDeskSite(t)
			r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
			b := s.as("ana")
			old := mustForm(t, b.get(card(r)).body, "/confirm")
			s.Exec(`UPDATE practitioners SET name = 'Dr Anna Holm-Berg', version = version + 1 WHERE id = 'holm'`)
			a := b.sendForm(old, nil, headers...)
			if a.status != http.StatusConflict || confirmable(t, a.body) || fragment(a) != (way == "fragment") {
				t.Fatalf("%d", a.status)
			}
			a.says(t, "Dr Anna Holm", "version 1 is now 2", "Nothing was moved and nothing was sent", "Prepare a new preview")
			if shown := b.get(card(r)); shown.status != http.StatusOK || confirmable(t, shown.body) {
				t.Error("the stale card can still be confirmed")
			}
			a = b.sendForm(mustForm(t, a.body, "/revisions"), nil, headers...)
			if way == "page" {
				if a.status != http.StatusSeeOther {
					t.Fatalf("new preview: %d", a.status)
				}
				a = b.get(card(r))
			}
			a.says(t, "Dr Anna Holm-Berg", "revision 2")
			if f := mustForm(t, a.body, "/confirm"); f.fields.Get("revision") != "2" || f.fields.Get("plan_hash") == r.PlanHash {
				t.Errorf("the new form sends %v", f.fields)
			}
			if s.state(r) != "proposed" {
				t.Error(s.state(r))
			}
		})
	}
}

// An exclusion violation that no pin could show is an outcome: failed, with other times and none chosen.
func TestAFailedConfirmationOffersOtherTimes(t *testing.T) {
	s := newDeskSite(t)
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	b := s.as("ana")
	f := mustForm(t, b.get(card(r)).body, "/confirm")
	s.Exec(`INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, during, changed_by, changed_via)
		VALUES ('hav', 'apt_hidden', 'soren', 'holm', 'main', 'std', 'booked', tstzrange($1::timestamptz, $1::timestamptz + interval '30 min'), 'mirror', 'mirror')`, s.At(1, 9, 0))
	a := b.sendForm(f, nil, htmx...)
	if a.status != http.StatusOK || s.state(r) != "failed" || confirmable(t, a.body) {
		t.Fatalf("%d, %s", a.status, s.state(r))
	}
	a.says(t, "Not done: the time was taken", "Nothing was changed and nothing was sent", "(UTC+00:00)")
	if n := strings.Count(a.body, "starts_at="); n != 5 {
		t.Errorf("%d alternatives", n)
	}
	if again := b.sendForm(f, nil, htmx...); again.header.Get("Idempotency-Replayed") != "true" || again.status != http.StatusOK {
		t.Errorf("replay: %d", again.status)
	}
}
