package journeys

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"

	"countersign/views/gallery/browse"
)

// X10: the sheet is open at two desks. What one moves, the other is told of, and nothing jumps under the pointer.
func TestTwoDesks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	there := w.person("staff2@demo.test", true)
	there.open(w.sheet("appt_maria84"))
	_, clock := local(t, w.start("appt_maria84").Format(time.RFC3339))
	sheet := there.text(".day")
	p := w.person("staff@demo.test", true)
	_, at := p.asked("appt_maria84", 0)
	p.swap("#confirm")
	p.says("Completed")
	there.until(`document.getElementById("changed") === null || document.getElementById("changed").innerText !== ""`) // at most 20 s
	there.says("The sheet changed")
	if there.text(".day") != sheet {
		t.Error("rows moved by themselves")
	}
	there.look()
	there.picture("day-changed")
	there.follow(there.link("Show it as it is now"))
	_, now := local(t, at)
	visit := there.text(`a[href="/appointments/appt_maria84"]`)
	if !strings.Contains(visit, now) || strings.Contains(visit, clock+"–") {
		t.Errorf("the sheet shows %q, want %s", visit, now)
	}
	there.saysNot("The sheet changed")
}

// Arrived, no-show, and back: each raises the version and frees or takes the time.
func TestArrivals(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		p := w.person("staff@demo.test", scripts)
		p.open("/appointments/appt_maria84")
		p.look()
		p.picture("appointment")
		for i, step := range []struct{ button, says, status string }{
			{"#set-arrived", "Arrived", "arrived"},
			{"#set-booked", "Booked", "booked"},
			{"#set-noshow", "No-show", "noshow"},
			{"#set-booked", "Booked", "booked"},
		} {
			p.swap(step.button)
			p.says(step.says)
			p.until(`document.querySelector(".card header .st").innerText.trim() === %q`, step.says)
			w.stored(step.status, `SELECT status FROM inspect.appointments WHERE id = 'appt_maria84'`)
			if v := w.version("appt_maria84"); v != i+2 {
				t.Errorf("%s: version %d, want %d", step.status, v, i+2)
			}
			held := "2"
			if step.status == "noshow" {
				held = "0"
			}
			w.stored(held, `SELECT count(*) FROM slots WHERE appointment = 'appt_maria84'`)
			p.look()
		}
		w.stored("4", `SELECT count(*) FROM inspect.audit WHERE action = 'appointment.status' AND outcome = 'success'`)

		other := p.another() // a second tab with the old version is refused
		other.open("/appointments/appt_maria84")
		p.swap("#set-arrived")
		p.says("Arrived")
		other.swap("#set-noshow")
		other.says("This changed while you had it open")
		other.look()
		other.picture("appointment-changed")
		w.stored("arrived 6", `SELECT status, version FROM inspect.appointments WHERE id = 'appt_maria84'`)
	})
}

// T08: whatever zone the browser is in, pages say the clinic's time and its zone.
func TestBrowserInDenver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.person("staff@lakeview.test", true)
	p.call(emulation.SetTimezoneOverrideParams{TimezoneID: "America/Denver"})
	visit := w.row(`SELECT id FROM inspect.appointments WHERE location = 'loc_lakeview' AND status = 'booked' AND starts_at > now() + interval '2 days' ORDER BY starts_at LIMIT 1`)
	at := w.start(visit)
	in := func(zone string) string {
		l, err := time.LoadLocation(zone)
		w.must(err)
		return at.In(l).Format("15:04")
	}
	p.open(w.sheet(visit))
	if got := eval[string](p, `Intl.DateTimeFormat().resolvedOptions().timeZone`); got != "America/Denver" {
		t.Fatalf("the browser is in %s", got)
	}
	for _, page := range []string{w.sheet(visit), "/appointments/" + visit} {
		p.open(page)
		p.says("America/New_York", in("America/New_York"))
		p.look()
	}
	if row := p.text(".facts.big"); strings.Contains(row, in("America/Denver")) {
		t.Errorf("the page shows Denver's time: %s", row)
	}
	p.follow(p.link("Move"))
	next := p.other(visit, 0)
	p.pick(next)
	p.follow("#propose .btn.main")
	p.says("America/New_York", in("America/New_York"))
	p.swap("#confirm")
	p.says("Completed")
	if got := w.start(visit).Format(time.RFC3339); got != next {
		t.Errorf("the visit stands at %s, the picker said %s", got, next)
	}
}

// The day sheet and the card on paper: black on white, everything that counts, no controls.
func TestPrint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.person("staff@demo.test", true)
	id, at := p.asked("appt_maria84", 0)
	date, clock := local(t, at)
	for path, want := range map[string][]string{
		w.sheet("appt_maria84"): {"Havnegade 12", "Maria Jensen", "Printed", "Europe/Copenhagen", "Dr Anna Holm", "Dr Ben Okafor"},
		"/proposals/" + id:      {"Move Maria Jensen’s Standard visit", "100234", date, clock, "Europe/Copenhagen", "maria.jensen.84@example.test", "Your appointment has moved"},
	} {
		p.call(emulation.SetEmulatedMediaParams{})
		p.open(path)
		p.call(emulation.SetEmulatedMediaParams{Media: "print"})
		p.says(want...)
		p.saysNot("Sign out", "Find ", "Confirm and send", "Keys and help")
		if dark := eval[string](p, `getComputedStyle(document.querySelector(".desk h1, .desk h2, .printhead p")).color`); dark != "rgb(0, 0, 0)" {
			t.Errorf("%s prints in %s", path, dark)
		}
		if n := eval[int](p, `[...document.querySelectorAll("button,input,select,textarea")].filter(e => e.offsetParent).length`); n != 0 {
			t.Errorf("%s prints %d controls", path, n)
		}
		pdf, err := p.PDF()
		w.must(err)
		if len(pdf) < 5000 {
			t.Errorf("%s prints %d bytes", path, len(pdf))
		}
	}
}

// On a phone and at 320 px no page is wider than the window; the sheet scrolls inside.
func TestNarrow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.person("reviewer@demo.test", true)
	id, _ := p.asked("appt_maria84", 0)
	for _, size := range []browse.Size{phone, narrow} {
		p.resize(size)
		for name, path := range map[string]string{"day": w.sheet("appt_maria84"), "card": "/proposals/" + id, "form": "/proposals/" + id + "/edit", "book": "/proposals/new?action=book_appointment%401&patient=pat_soren&practitioner=prac_holm&location=loc_hav12&type=type_standard",
			"cancel": "/proposals/new?action=cancel_appointment%401&appointment=appt_soren", "visit": "/appointments/appt_maria84", "patient": "/patients/pat_aoife", "queue": "/queue", "outbox": "/outbox", "audit": "/audit"} {
			p.open(path)
			p.look()
			if name != "day" && name != "queue" && name != "audit" && name != "visit" && name != "patient" {
				if inside := eval[string](p, `[...document.querySelectorAll("main *")].filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== "visible" && !e.matches(".hide, input, select, textarea")).map(e => e.tagName + "." + e.className).join(" ")`); inside != "" {
					t.Errorf("%s at %d scrolls sideways inside: %s", name, size.Width, inside)
				}
			}
		}
	}
	p.resize(phone)
	p.open("/proposals/" + id)
	p.swap("#confirm")
	p.says("Completed")
	p.look()
}
