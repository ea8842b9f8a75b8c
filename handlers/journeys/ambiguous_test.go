package journeys

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// Case 4: two patients of one name. Both are shown with what tells them apart, none is picked, and the booking is for
// the one that was.
func TestAmbiguousPatient(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		at := w.free(4, "prac_okafor").Format(time.RFC3339)
		p := w.person("staff@demo.test", scripts)
		p.open("/")
		p.write("#query", "maria jensen")
		if scripts {
			eval[any](p, `window.stayed = true; 0`)
		}
		p.press(kb.Enter)
		p.until(`document.querySelectorAll(".people a").length > 0`)
		list := p.text(".people")
		for _, want := range []string{"Born 11-Mar-1984, MRN 100234", "Born 02-Jul-1991, MRN 100871"} {
			if !strings.Contains(list, want) {
				t.Errorf("the list does not say %q: %s", want, list)
			}
		}
		if strings.Contains(strings.ToLower(p.path()), "maria") {
			t.Errorf("a name stands in the address: %s", p.path())
		}
		p.look()
		p.picture("found")
		if scripts {
			if !eval[bool](p, `window.stayed === true`) {
				t.Error("the search left the page")
			}
			if p.focused() != "#query" {
				t.Errorf("after the search the focus is on %s", p.focused())
			}
			p.press(kb.ArrowDown)
			for !strings.Contains(p.focused(), "100871") {
				before := p.focused()
				p.press(kb.ArrowDown)
				if p.focused() == before {
					t.Fatalf("the arrow keys end on %s", before)
				}
			}
		} else {
			for range 60 { // Tab to it, as a keyboard does
				if strings.Contains(p.focused(), "100871") {
					break
				}
				p.press(kb.Tab)
			}
		}
		eval[any](p, `window.leaving = true; 0`)
		p.press(kb.Enter)
		p.until(`!window.leaving`)
		p.ready()
		p.says("Maria Jensen", "100871")
		p.look()
		p.picture("patient")
		if p.path() != "/patients/pat_maria91" {
			t.Fatalf("Enter led to %s", p.path())
		}
		p.follow(p.link("Book a visit"))
		p.open("/proposals/new?action=book_appointment%401&patient=pat_maria91&practitioner=prac_okafor&location=loc_hav12&type=type_standard&starts_at=" + at)
		p.look()
		p.picture("book")
		p.pick(at)
		p.follow("#propose .btn.main")
		id := p.proposal()
		p.says("Book a Standard visit for Maria Jensen", "100871", "02-Jul-1991")
		p.saysNot("100234")
		p.look()
		p.swap("#confirm")
		p.says("Completed: Maria Jensen’s visit is booked")
		w.stored("pat_maria91 prac_okafor booked "+at+" 1", `SELECT patient, practitioner, status, to_char(starts_at AT TIME ZONE 'UTC', `+utc+`), version
			FROM inspect.appointments WHERE id IN (SELECT id FROM appointments WHERE proposal = $1)`, id)
		w.stored("sms +4500100871", `SELECT channel, recipient FROM inspect.outbox`)
	})
}

func TestAmbiguousPatientOverTheAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.program("demo-staff")
	found := p.is(p.post("/patients/search", map[string]any{"query": "maria jensen"}), http.StatusOK)
	seen := map[string]string{}
	items, _ := found.at("items").([]any)
	for _, x := range items {
		who := x.(map[string]any)
		seen[who["mrn"].(string)] = who["id"].(string) + " " + who["birth_date"].(string)
	}
	if seen["100234"] != "pat_maria84 1984-03-11" || seen["100871"] != "pat_maria91 1991-07-02" {
		t.Fatalf("found %v", seen)
	}
	at := w.free(4, "prac_okafor").Format(time.RFC3339)
	body := map[string]any{"action": "book_appointment@1", "parameters": map[string]any{"patient": "maria jensen", "type": "type_standard", "practitioner": "prac_okafor",
		"location": "loc_hav12", "starts_at": at}}
	if no := p.is(p.post("/proposals", body), http.StatusUnprocessableEntity); no.text("error.code") != "validation_failed" {
		t.Errorf("a name in place of an id: %s", no.raw)
	}
	body["parameters"].(map[string]any)["patient"] = "pat_maria91"
	done := p.is(p.confirm(p.is(p.post("/proposals", body), http.StatusCreated), "book"), http.StatusOK)
	w.stored("pat_maria91 booked "+at, `SELECT patient, status, to_char(starts_at AT TIME ZONE 'UTC', `+utc+`) FROM inspect.appointments WHERE id = $1`, done.text("result.appointment.id"))
}
