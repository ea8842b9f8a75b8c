package journeys

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// tabTo presses Tab until the focus is on what is looked for, and fails when the focused element cannot be seen on the
// way (WCAG 2.4.7, 2.4.11).
func (p *tab) tabTo(want string) {
	p.w.t.Helper()
	for range 150 {
		if at := p.focused(); at == want || !strings.HasPrefix(want, "#") && strings.Contains(at, want) {
			return
		}
		p.press(kb.Tab)
		if hidden := eval[string](p, `(() => { const e = document.activeElement, r = e.getBoundingClientRect();
			if (e === document.body) return "";
			if (r.bottom < 0 || r.top > innerHeight || r.width < 1) return "is out of sight: " + e.outerHTML.slice(0, 80);
			if (e.matches(".pickslot input") || e.matches("[popover] *")) return "";
			const s = getComputedStyle(e);
			if (s.outlineStyle === "none" && s.boxShadow === "none") return "has no outline: " + e.outerHTML.slice(0, 80);
			const top = document.elementFromPoint(Math.min(r.x + r.width / 2, innerWidth - 2), Math.max(1, Math.min(r.y + r.height / 2, innerHeight - 2)));
			return top && (top === e || e.contains(top) || top.contains(e)) ? "" : "is covered by " + top.outerHTML.slice(0, 80) + ": " + e.outerHTML.slice(0, 80) })()`); hidden != "" {
			p.w.t.Errorf("at %s the focus %s", p.path(), hidden)
		}
	}
	p.w.t.Fatalf("Tab does not reach %s at %s", want, p.path())
}

// enter presses Enter on a link or button that leads to another page.
func (p *tab) enter() {
	p.w.t.Helper()
	eval[any](p, `window.leaving = true; 0`)
	p.press(kb.Enter)
	p.until(`!window.leaving`)
	p.ready()
}

// Search, appointment, move, confirm: with the keyboard alone. After each swap the focus is somewhere sensible.
func TestKeyboardOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.person("staff@demo.test", true)
	p.open("/")
	p.press("/")
	if p.focused() != "#query" {
		t.Fatalf("/ leads to %s", p.focused())
	}
	eval[any](p, `document.getElementById("query").value = ""; 0`) // the protocol types the key that was taken
	p.press("jensen 100234")
	p.press(kb.Enter)
	p.until(`document.querySelectorAll("#found .people a").length === 1`)
	if p.focused() != "#query" {
		t.Errorf("after the search the focus is on %s", p.focused())
	}
	p.press(kb.ArrowDown)
	p.enter()
	p.says("Upcoming visits")
	p.press("j")
	if href := eval[string](p, `document.activeElement.getAttribute("href") || ""`); href != "/appointments/appt_maria84" {
		t.Fatalf("j leads to %q", href)
	}
	p.enter()
	p.tabTo("Move")
	p.enter()
	later := p.another() // only to know the second start
	later.open(p.path())
	at := later.other("appt_maria84", 1)

	p.tabTo("#practitioner")
	p.tabTo("#week-after") // past the radio group, whose one stop is its first or chosen start
	eval[any](p, `window.stayed = true; document.getElementById("slots").dataset.old = "1"; 0`)
	p.press(kb.Enter)
	p.until(`!document.getElementById("slots").dataset.old`)
	if f := p.focused(); f == "body" || !eval[bool](p, `document.querySelector("main").contains(document.activeElement)`) {
		t.Errorf("after another week the focus is on %s", f)
	}
	p.tabTo("#week-before")
	eval[any](p, `document.getElementById("slots").dataset.old = "1"; 0`)
	p.press(kb.Enter)
	p.until(`!document.getElementById("slots").dataset.old`)
	if !eval[bool](p, `window.stayed === true`) {
		t.Error("another week left the page")
	}
	eval[any](p, `document.querySelector("#from").focus(); 0`)
	for range 200 {
		p.press(kb.Tab)
		if eval[bool](p, `document.activeElement.name === "starts_at"`) {
			break
		}
	}
	for range 60 {
		if eval[string](p, `document.activeElement.value`) == at && eval[bool](p, `document.activeElement.checked`) {
			break
		}
		if eval[string](p, `document.activeElement.value`) == at {
			p.press(" ")
			continue
		}
		p.press(kb.ArrowDown)
	}
	if !eval[bool](p, `document.querySelector('input[value="%s"]').checked`, at) {
		t.Fatalf("the arrow keys do not reach %s", at)
	}
	p.look()
	p.tabTo("Show the preview")
	p.enter()
	p.proposal()
	p.press("a")
	if p.focused() != "#confirm" {
		t.Fatalf("a leads to %s", p.focused())
	}
	if w.version("appt_maria84") != 1 {
		t.Fatal("a key alone confirmed")
	}
	eval[any](p, `window.stayed = true; document.getElementById("work").dataset.old = "1"; 0`)
	p.press(kb.Enter)
	p.swapped()
	p.says("Completed")
	if f := p.focused(); !strings.HasPrefix(f, "Completed") {
		t.Errorf("after confirming the focus is on %s", f)
	}
	p.look()
	if got := w.start("appt_maria84").Format(time.RFC3339); got != at {
		t.Errorf("the visit stands at %s, want %s", got, at)
	}
	p.tabTo("Find next patient")
	p.enter()
	p.says("Name, birth date or MRN")
}
