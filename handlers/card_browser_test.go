package handlers

import (
	"testing"
	"time"

	"countersign/views/gallery/browse"
)

// tab is a real browser in which the person of b is signed in.
func (s *deskSite) tab(b *browser) *tab {
	s.t.Helper()
	real, err := browse.Start()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(real.Stop)
	w := &tab{s.t, real, s.url}
	w.open("/signin")
	w.eval(`document.cookie = "` + plainCookie + `=` + b.cookie() + `; path=/"; true`)
	return w
}

type tab struct {
	t *testing.T
	*browse.Browser
	url string
}

func (w *tab) open(path string) {
	w.t.Helper()
	if err := w.Open(w.url+path, browse.Size{Width: 1366, Height: 768}, "light"); err != nil {
		w.t.Fatal(err)
	}
}

func (w *tab) eval(expression string) bool {
	w.t.Helper()
	ok, err := browse.Eval[bool](w.Browser, expression)
	if err != nil {
		w.t.Fatalf("%s: %v", expression, err)
	}
	return ok
}

// until waits for something to become true in the page.
func (w *tab) until(expression string) {
	w.t.Helper()
	for range 200 {
		if w.eval(expression) {
			return
		}
		time.Sleep(30 * time.Millisecond)
	}
	text, _ := browse.Eval[string](w.Browser, `location.href + " " + document.body.innerText`)
	w.t.Fatalf("never true: %s\n%s", expression, text)
}

const htmxReady = `!!document.querySelector("form[data-htmx-powered]")`

// From the form to the outcome in a real browser, with the vendored htmx and the real content policy: a double click on
// Confirm runs once, the answer is swapped in, and the focus is on what happened.
func TestABrowserGoesFromTheFormToTheOutcome(t *testing.T) {
	s := newDeskSite(t)
	w := s.tab(s.as("ana"))
	w.open(moveMaria)
	w.until(htmxReady)
	at := s.At(0, 11, 0).Format(time.RFC3339)
	w.eval(`document.getElementById("s-` + at + `").click(); document.getElementById("propose").requestSubmit(); true`)
	w.until(`location.pathname.startsWith("/proposals/prp_") && ` + htmxReady)
	w.eval(`document.getElementById("confirm").click(); document.getElementById("confirm").click(); true`)
	w.until(`document.querySelector("h1").textContent.startsWith("Completed")`)
	if !w.eval(`document.activeElement.tagName === "H1" && document.title.includes("Countersign") && location.pathname.startsWith("/proposals/prp_")`) {
		t.Error("the focus or the address is elsewhere")
	}
	if s.starts("apt_maria") != at || s.Text(`SELECT version FROM appointments WHERE id = 'apt_maria'`) != "2" {
		t.Errorf("the visit stands at %s", s.starts("apt_maria"))
	}
	for _, r := range w.Refusals() {
		t.Errorf("the browser refused: %s", r)
	}
}

// A 409 is swapped in, and from it one goes on: first to a form with the reason when the time is gone.
func TestABrowserIsLedOnFromAStaleCard(t *testing.T) {
	s := newDeskSite(t)
	r := s.Propose(s.Actor("ana"), s.Move("apt_maria", s.At(1, 9, 0)))
	w := s.tab(s.as("ana"))
	w.open(card(r))
	w.until(htmxReady)
	s.Exec(`UPDATE slots SET appointment = 'apt_soren', version = version + 1 WHERE practitioner = 'holm' AND starts_at = $1`, s.At(1, 9, 0))
	w.eval(`document.getElementById("confirm").click(); true`)
	w.until(`!!document.getElementById("stale") && !document.querySelector("[action$='/confirm']")`)
	w.until(`document.activeElement.tagName === "H1"`)
	w.eval(`document.getElementById("prepare").click(); true`)
	w.until(`(document.body?.innerText ?? "").includes("These are free instead") && !document.querySelector("input[name=starts_at]:checked")`)
	at := s.At(1, 11, 0).Format(time.RFC3339)
	w.eval(`document.getElementById("s-` + at + `").click(); document.getElementById("propose").requestSubmit(); true`)
	w.until(`location.pathname === "` + card(r) + `" && (document.body?.innerText ?? "").includes("revision 2") && !!document.getElementById("confirm")`)
	for _, x := range w.Refusals() {
		t.Errorf("the browser refused: %s", x)
	}
}
