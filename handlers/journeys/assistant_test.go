package journeys

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// Words, two Marias, a real free time, the card, and the stored visit; the server is another one after every step.
func TestMoveByWords(t *testing.T) {
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		was := w.start("appt_maria91")
		at := w.free(3, "prac_holm", "prac_okafor")
		zone, err := time.LoadLocation("Europe/Copenhagen")
		w.must(err)
		p := w.person("staff@demo.test", scripts)
		p.open("/")
		p.look()
		p.write("#say", "Move Maria Jensen to "+at.In(zone).Format("2 January 2006")+" at "+at.In(zone).Format("15:04"))
		eval[any](p, `window.leaving = true; 0`)
		p.press(kb.Enter)
		p.until(`!window.leaving && document.querySelectorAll(".pick button").length === 2`)
		p.ready()
		p.says("Which one?", "Born 11-Mar-1984, MRN 100234", "Born 02-Jul-1991, MRN 100871", "Move a visit")
		p.look()
		p.picture("people")
		w.at(0)
		p.chooses("100871")
		if w.start("appt_maria91") != was {
			t.Fatal("it moved before anybody confirmed")
		}
		p.says("Nothing has changed yet", "MRN 100871", at.In(zone).Format("15:04"))
		p.look()
		p.picture("waits")
		w.at(0)
		p.write("#text", "yes")
		p.press(kb.Enter)
		p.until(`document.querySelector("#refused") !== null`)
		p.ready()
		p.says("words decide nothing")
		if w.start("appt_maria91") != was {
			t.Fatal("words decided")
		}
		w.at(0)
		p.decides("#confirm", "Completed")
		p.says("Done, confirmed by", "Maria Jensen", at.In(zone).Format("15:04"))
		if w.start("appt_maria91") != at {
			t.Errorf("it stands at %s, not %s", w.start("appt_maria91"), at)
		}
		p.look()
	})
}

// With the keyboard alone: Enter sends and keeps the focus, and j, k and Enter pick.
func TestTalkByKeyboard(t *testing.T) {
	w := newWorld(t)
	p := w.person("staff@demo.test", true)
	p.open("/assistant")
	if p.focused() != "#text" {
		t.Errorf("the focus is on %s", p.focused())
	}
	p.press("cancel maria jensen's visit")
	p.press(kb.Enter)
	p.until(`document.querySelectorAll(".pick button").length === 2`)
	p.ready()
	if p.focused() != "#text" {
		t.Errorf("after sending the focus is on %s", p.focused())
	}
	eval[any](p, `document.activeElement.blur(); 0`)
	p.press("j")
	p.press("j")
	if !strings.Contains(p.focused(), "100871") {
		t.Fatalf("j leads to %s", p.focused())
	}
	p.press(kb.Enter)
	p.until(`document.body.innerText.includes("Why is the visit")`)
	p.ready()
	// Another tab, and the queue of somebody else: the open page hears of it by itself.
	p.chooses("It was booked in error")
	p.says("Nothing has changed yet")
	q := w.person("reviewer@demo.test", true)
	q.open("/queue")
	q.follow(q.link("Maria Jensen"))
	q.click("#reject")
	q.until(`document.body.innerText.includes("Rejected")`)
	p.until(`document.querySelector("#talking").innerText.includes("What should happen instead")`)
	if p.count("#confirm") != 0 {
		t.Error("the card is still there")
	}
	p.look()
}
