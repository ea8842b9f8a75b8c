package journeys

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"countersign/internal/account"
	"countersign/views/gallery/browse"
)

// patience is how long a page may take on a busy machine.
const patience = 20 * time.Second

// browser is the one browser of all journeys.
var browser = sync.OnceValues(browse.Start)

func TestMain(m *testing.M) {
	code := m.Run()
	if b, err := browser(); err == nil {
		b.Stop()
	}
	os.Exit(code)
}

var (
	desk   = browse.Size{Width: 1280, Height: 800}
	phone  = browse.Size{Width: 390, Height: 844}
	narrow = browse.Size{Width: 320, Height: 640} // WCAG 1.4.10
)

// tab is a person's tab at the desk.
type tab struct {
	*browse.Browser
	w       *world
	scripts bool
	steps   int
}

// person opens a browser of somebody's own in which they are signed in; "" is nobody. Pages run their scripts or not.
func (w *world) person(email string, scripts bool) *tab {
	w.t.Helper()
	b, err := browser()
	w.must(err)
	own, err := b.Tab(true)
	w.must(err)
	p := w.sits(own, scripts)
	if email != "" {
		secret, err := account.NewSecret(rand.Reader)
		w.must(err)
		w.must(w.pool.StartSession(context.Background(), account.SecretHash(secret), nil, w.row(`SELECT id FROM accounts WHERE email = $1`, email), []byte(`{}`), 12*time.Hour))
		_, err = browse.Call(own, network.SetCookie, network.SetCookieParams{Name: "countersign", Value: secret, URL: w.url, HTTPOnly: new(true)})
		w.must(err)
	}
	return p
}

func (w *world) sits(b *browse.Browser, scripts bool) *tab {
	w.t.Helper()
	p := &tab{Browser: b, w: w, scripts: scripts}
	w.t.Cleanup(p.leave)
	p.resize(desk)
	if !scripts {
		p.call(emulation.SetScriptExecutionDisabledParams{Value: true})
	}
	return p
}

// another is a second tab of the same person.
func (p *tab) another() *tab {
	p.w.t.Helper()
	b, err := p.Browser.Tab(false)
	p.w.must(err)
	return p.w.sits(b, p.scripts)
}

// leave closes the tab and tells what its pages should not have done.
func (p *tab) leave() {
	for _, x := range p.Refusals() {
		p.w.t.Errorf("the content security policy stopped something: %s", x)
	}
	for _, x := range p.Uncaught() {
		p.w.t.Errorf("a script failed: %s", x)
	}
	p.Stop()
}

func (p *tab) call(params any) {
	p.w.t.Helper()
	var err error
	switch x := params.(type) {
	case emulation.SetScriptExecutionDisabledParams:
		_, err = browse.Call(p.Browser, emulation.SetScriptExecutionDisabled, x)
	case emulation.SetTimezoneOverrideParams:
		_, err = browse.Call(p.Browser, emulation.SetTimezoneOverride, x)
	case emulation.SetEmulatedMediaParams:
		_, err = browse.Call(p.Browser, emulation.SetEmulatedMedia, x)
	default:
		err = fmt.Errorf("no command for %T", x)
	}
	p.w.must(err)
}

func (p *tab) resize(s browse.Size) {
	p.w.t.Helper()
	p.w.must(p.Do(chromedp.EmulateViewport(s.Width, s.Height)))
}

// open loads a page of the site.
func (p *tab) open(path string) {
	p.w.t.Helper()
	p.w.must(p.Do(chromedp.Navigate(p.w.url + path)))
	p.ready()
}

// ready waits until the page is there and, with scripts, htmx has taken its forms up.
func (p *tab) ready() {
	p.w.t.Helper()
	until := `document.readyState === "complete"`
	if p.scripts {
		until += ` && (!document.querySelector("form[hx-post]") || !!document.querySelector("form[data-htmx-powered]"))`
	}
	p.until(until)
}

func eval[T any](p *tab, expression string, args ...any) T {
	p.w.t.Helper()
	v, err := browse.Eval[T](p.Browser, fmt.Sprintf(expression, args...))
	if err != nil {
		p.w.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits for something to become true in the page, through page loads.
func (p *tab) until(expression string, args ...any) {
	p.w.t.Helper()
	expression = fmt.Sprintf(expression, args...)
	var last error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		is, err := browse.Eval[bool](p.Browser, expression)
		if is && err == nil {
			return
		}
		last = err
	}
	p.w.t.Fatalf("never true: %s (%v)\nat %s the page says:\n%s", expression, last, p.path(), p.text("body"))
}

// path is where the tab is.
func (p *tab) path() string {
	p.w.t.Helper()
	return eval[string](p, `location.pathname + location.search`)
}

// text is what the first element that matches shows.
func (p *tab) text(selector string) string {
	p.w.t.Helper()
	return strings.Join(strings.Fields(eval[string](p, `(document.querySelector(%q) || {innerText: ""}).innerText`, selector)), " ")
}

// says waits until the page shows the words.
func (p *tab) says(words ...string) {
	p.w.t.Helper()
	for _, x := range words {
		p.until(`document.body.innerText.replace(/\s+/g, " ").includes(%q)`, x)
	}
}

// saysNot fails when the page shows one of the words.
func (p *tab) saysNot(words ...string) {
	p.w.t.Helper()
	text := p.text("body")
	for _, x := range words {
		if strings.Contains(text, x) {
			p.w.t.Errorf("the page says %q:\n%s", x, text)
		}
	}
}

func (p *tab) count(selector string) int {
	p.w.t.Helper()
	return eval[int](p, `document.querySelectorAll(%q).length`, selector)
}

// middle brings the element into view and is the point to click.
func (p *tab) middle(selector string) (x, y float64) {
	p.w.t.Helper()
	p.until(`!!document.querySelector(%q)`, selector)
	at := eval[[]float64](p, `(() => { const e = document.querySelector(%q); e.scrollIntoView({block: "center"}); const r = e.getClientRects()[0] || {}; return [r.x + r.width / 2, r.y + r.height / 2]; })()`, selector)
	return at[0], at[1]
}

// click presses an element with the mouse.
func (p *tab) click(selector string) {
	p.w.t.Helper()
	x, y := p.middle(selector)
	p.w.must(p.Do(chromedp.MouseClickXY(x, y)))
}

// doubleClick is the mouse's: two presses, the second counted as the second of two.
func (p *tab) doubleClick(selector string) {
	p.w.t.Helper()
	x, y := p.middle(selector)
	p.w.must(p.Do(chromedp.MouseClickXY(x, y), chromedp.MouseClickXY(x, y, chromedp.ClickCount(2))))
}

// follow clicks what leads to another page, and waits for that page.
func (p *tab) follow(selector string) {
	p.w.t.Helper()
	p.until(`!!document.querySelector(%q)`, selector)
	eval[any](p, `window.leaving = true; 0`)
	p.click(selector)
	p.until(`!window.leaving`)
	p.ready()
}

// swap clicks what replaces a part of the page: with scripts, without leaving it.
func (p *tab) swap(selector string) {
	p.w.t.Helper()
	if !p.scripts {
		p.follow(selector)
		return
	}
	eval[any](p, `window.stayed = true; document.getElementById("work").dataset.old = "1"; 0`)
	p.click(selector)
	p.swapped()
}

// swapped waits for a new #work and fails when the page was left for it.
func (p *tab) swapped() {
	p.w.t.Helper()
	p.until(`!!document.getElementById("work") && !document.getElementById("work").dataset.old`)
	if !eval[bool](p, `window.stayed === true`) {
		p.w.t.Errorf("%s was loaded as a page, not swapped in", p.path())
	}
}

// link is a selector of the first link or button with the words.
func (p *tab) link(words string) string {
	p.w.t.Helper()
	p.until(`[...document.querySelectorAll("a,button")].some(e => e.offsetParent && e.textContent.replace(/\s+/g, " ").includes(%q))`, words)
	p.steps++
	name := fmt.Sprint("step", p.steps)
	eval[any](p, `[...document.querySelectorAll("a,button")].find(e => e.offsetParent && e.textContent.replace(/\s+/g, " ").includes(%q)).dataset.%s = "1"; 0`, words, name)
	return "[data-" + name + "]"
}

// write types into a field, in place of what is there.
func (p *tab) write(selector, text string) {
	p.w.t.Helper()
	p.until(`!!document.querySelector(%q)`, selector)
	eval[any](p, `(e => { e.focus(); e.select && e.select(); return 0 })(document.querySelector(%q))`, selector)
	if text == "" {
		text = kb.Delete
	}
	p.press(text)
}

func (p *tab) press(keys string) {
	p.w.t.Helper()
	p.w.must(p.Press(keys))
}

// focused is the element that has the focus: #id, or its words.
func (p *tab) focused() string {
	p.w.t.Helper()
	return eval[string](p, `(e => e.id ? "#" + e.id : e === document.body ? "body" : e.textContent.replace(/\s+/g, " ").trim())(document.activeElement)`)
}

// look examines the page that is open: axe, and nothing wider than the window.
func (p *tab) look() {
	p.w.t.Helper()
	if !p.scripts { // axe is a script; those of the page were not run and are not run now
		p.call(emulation.SetScriptExecutionDisabledParams{})
		defer p.call(emulation.SetScriptExecutionDisabledParams{Value: true})
	}
	found, err := browse.Axe(p.Browser)
	p.w.must(err)
	if found != "" {
		p.w.t.Errorf("axe at %s:\n%s", p.path(), found)
	}
	p.fits()
}

// fits fails when the page is wider than its window. The day sheet scrolls inside.
func (p *tab) fits() {
	p.w.t.Helper()
	if over := eval[int](p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
		p.w.t.Errorf("%s is %d px too wide for %d", p.path(), over, eval[int](p, `innerWidth`))
	}
}

// picture writes what the tab shows to the folder that JOURNEY_PICTURES names, if it does.
func (p *tab) picture(name string) {
	p.w.t.Helper()
	dir := os.Getenv("JOURNEY_PICTURES")
	if dir == "" {
		return
	}
	for _, s := range []browse.Size{phone, desk} {
		p.resize(s)
		png, err := p.Look()
		p.w.must(err)
		p.w.must(os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d.png", name, s.Width)), png, 0o644))
	}
}

// times are the starts that the picker offers.
func (p *tab) times() []string {
	p.w.t.Helper()
	p.until(`!!document.querySelector("#slots input[type=radio]")`)
	return eval[[]string](p, `[...document.querySelectorAll("#slots input[name=starts_at]")].map(e => e.value)`)
}

// pick chooses a start.
func (p *tab) pick(at string) {
	p.w.t.Helper()
	p.click(fmt.Sprintf(`label.pickslot:has(input[value="%s"])`, at))
	p.until(`document.querySelector('input[value="%s"]').checked`, at)
}

// proposal is the id of the card that is open.
func (p *tab) proposal() string {
	p.w.t.Helper()
	p.until(`location.pathname.startsWith("/proposals/") && !!document.getElementById("card")`)
	id, _ := url.PathUnescape(strings.TrimPrefix(eval[string](p, `location.pathname`), "/proposals/"))
	return id
}

// noConfirm fails when anything on the page could confirm.
func (p *tab) noConfirm() {
	p.w.t.Helper()
	if n := p.count(`[action$="/confirm"],[formaction$="/confirm"],[href$="/confirm"],[hx-post$="/confirm"],#confirm`); n != 0 {
		p.w.t.Errorf("there are %d live confirms on %s", n, p.path())
	}
}

// forgets fails when the browser keeps anything of its own.
func (p *tab) forgets() {
	p.w.t.Helper()
	kept := eval[string](p, `(async () => JSON.stringify([Object.keys(localStorage), Object.keys(sessionStorage), (await indexedDB.databases()).map(d => d.name), globalThis.caches ? await caches.keys() : []]))()`)
	if kept != `[[],[],[],[]]` {
		p.w.t.Errorf("the browser keeps %s", kept)
	}
}

// both runs a journey with scripts and without.
func both(t *testing.T, journey func(t *testing.T, scripts bool)) {
	for _, scripts := range []bool{true, false} {
		name := "scripts on"
		if !scripts {
			name = "scripts off"
		}
		t.Run(name, func(t *testing.T) { journey(t, scripts) })
	}
}
