package handlers

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/internal/proposal"
)

func TestEditMakesTheNextRevision(t *testing.T) {
	for way, headers := range ways {
		t.Run(way, func(t *testing.T) {
			s := newDeskSite(t)
			r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0), "message", "Bring your glasses"))
			b := s.as("ana")
			f := mustForm(t, b.get(card(r)+"/edit").body, "/revisions")
			// D8: the edit form carries what it started from, and all of the last revision.
			for name, want := range map[string]string{"revision": "1", "plan_hash": r.PlanHash, "starts_at": s.At(1, 9, 0).Format(time.RFC3339), "message": "Bring your glasses", "notify": "true"} {
				if f.fields.Get(name) != want {
					t.Errorf("%s is %q, want %q", name, f.fields.Get(name), want)
				}
			}
			a := b.sendForm(f, url.Values{"starts_at": {s.At(1, 11, 0).Format(time.RFC3339)}, "message": {""}}, headers...)
			if way == "page" {
				if a.status != http.StatusSeeOther || a.header.Get("Location") != card(r) {
					t.Fatalf("%d to %q", a.status, a.header.Get("Location"))
				}
				a = b.get(card(r))
			} else if a.status != http.StatusOK || !fragment(a) {
				t.Fatalf("%d", a.status)
			}
			a.says(t, "revision 2", "11:00", "Edited", "Proposed")
			next := mustForm(t, a.body, "/confirm").fields
			if next.Get("revision") != "2" || next.Get("plan_hash") == r.PlanHash || strings.Contains(a.body, "Bring your glasses") {
				t.Errorf("revision 2 sends %v", next)
			}
		})
	}
}

// A fresh preview whose time is gone asks for another one and picks none.
func TestAFreshPreviewNeverTakesAnotherTime(t *testing.T) {
	for way, headers := range ways {
		for name, c := range map[string]struct{ sql, says string }{
			"taken": {`UPDATE slots SET appointment = 'apt_soren', version = version + 1 WHERE practitioner = 'holm' AND starts_at = $1`, "These are free instead"},
			"leave": {`UPDATE slots SET state = 'leave', version = version + 1 WHERE practitioner = 'holm' AND starts_at = $1`, "no hours"},
		} {
			t.Run(way+" "+name, func(t *testing.T) {
				s := newDeskSite(t)
				r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
				s.Exec(c.sql, s.At(1, 9, 0))
				b := s.as("ana")
				a := b.sendForm(mustForm(t, b.get(card(r)).body, "/revisions"), nil, headers...)
				if a.status != http.StatusUnprocessableEntity || confirmable(t, a.body) || fragment(a) != (way == "fragment") {
					t.Fatalf("%d %s", a.status, textOf(parsed(t, a.body)))
				}
				a.says(t, c.says)
				f := mustForm(t, a.body, "/revisions")
				if f.fields.Has("starts_at") || slices.Contains(f.radios["starts_at"], s.At(1, 9, 0).Format(time.RFC3339)) || len(f.radios["starts_at"]) < 5 {
					t.Fatalf("chosen %v of %v", f.fields["starts_at"], f.radios["starts_at"])
				}
				if s.Text(`SELECT max(revision) FROM revisions`) != "1" {
					t.Error("a revision was made")
				}
				if a := b.sendForm(f, url.Values{"starts_at": {s.At(1, 11, 0).Format(time.RFC3339)}}); a.status != http.StatusSeeOther {
					t.Errorf("another time: %d %s", a.status, textOf(parsed(t, a.body)))
				}
			})
		}
	}
}

func TestEditsThatAreRefused(t *testing.T) {
	s := newDeskSite(t)
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	from := func(r proposal.Record, change ...string) url.Values {
		f := url.Values{"revision": {fmt.Sprint(r.Revision)}, "plan_hash": {r.PlanHash}}
		for i := 0; i+1 < len(change); i += 2 {
			f.Set(change[i], change[i+1])
		}
		return f
	}
	for way, headers := range ways {
		for name, c := range map[string]struct {
			who    string
			fields url.Values
			status int
			says   string
		}{
			"not one's own":    {"emil", from(r, "message", "hello"), http.StatusForbidden, "Only the person who asked"},
			"unknown field":    {"ana", from(r, "colour", "blue"), http.StatusUnprocessableEntity, "colour: "},
			"another visit":    {"ana", from(r, "appointment", "apt_soren"), http.StatusUnprocessableEntity, "stays with its visit"},
			"the action":       {"ana", from(r, "action", "cancel_appointment@1"), http.StatusUnprocessableEntity, "Action: "},
			"malformed number": {"ana", from(r, "revision", "1.0"), http.StatusUnprocessableEntity, "revision: "},
			"malformed hash":   {"ana", from(r, "plan_hash", "abc"), http.StatusUnprocessableEntity, "plan_hash: "},
		} {
			a := s.as(c.who).post(card(r)+"/revisions", c.fields, headers...)
			if a.status != c.status || confirmable(t, a.body) || fragment(a) != (way == "fragment") {
				t.Errorf("%s %s: %d", way, name, a.status)
			}
			a.says(t, c.says)
		}
		for _, who := range []string{"emil", "ada"} {
			if a := s.as(who).get(card(r)+"/edit", headers...); a.status != http.StatusForbidden || confirmable(t, a.body) {
				t.Errorf("%s %s opens the edit form: %d", way, who, a.status)
			}
		}
	}
	if s.Text(`SELECT max(revision) FROM revisions`) != "1" {
		t.Error("a revision was made")
	}
}

// A booking's edit form keeps the patient, and finds times as a new one does.
func TestEditABooking(t *testing.T) {
	s := newDeskSite(t)
	r := s.Propose(s.Actor("ana"), proposal.Proposing{Action: "book_appointment@1", Parameters: map[string]any{"patient": "aoife", "type": "std", "practitioner": "holm",
		"location": "main", "starts_at": s.At(1, 9, 0).Format(time.RFC3339)}})
	b := s.as("ben")
	page := b.get(card(r) + "/edit")
	page.says(t, "Aoife O'Brien-Núñez")
	f := mustForm(t, page.body, "/revisions")
	if a := b.sendForm(f, url.Values{"type": {"long"}}); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, textOf(parsed(t, a.body)))
	}
	b.get(card(r)).says(t, "Book a Long visit for Aoife O'Brien-Núñez", "09:00–10:00", "Nobody will be told", "revision 2")
}
