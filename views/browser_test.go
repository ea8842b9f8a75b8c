package views_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a-h/templ"

	"countersign/views/gallery"
	"countersign/views/gallery/browse"
)

var (
	desk  = browse.Size{Width: 1280, Height: 800}
	phone = browse.Size{Width: 390, Height: 844}
)

func browser(t *testing.T) *browse.Browser {
	t.Helper()
	b, err := browse.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Stop)
	return b
}

func eval[T any](t *testing.T, b *browse.Browser, expression string) T {
	t.Helper()
	v, err := browse.Eval[T](b, expression)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

func axe(t *testing.T, b *browse.Browser) string {
	t.Helper()
	found, err := browse.Axe(b)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// until waits for something to become true in the page.
func until(t *testing.T, b *browse.Browser, expression string) {
	t.Helper()
	for range 100 {
		if eval[bool](t, b, expression) {
			return
		}
		time.Sleep(30 * time.Millisecond)
	}
	t.Fatalf("never true: %s", expression)
}

// darkToo are one state of every page, looked at by axe in the dark scheme on a phone as well.
var darkToo = []string{"signin-wrong", "day", "day-odd", "patients-two-marias", "patient", "appointment-waiting", "propose-move-errors", "propose-edit", "card-proposed", "card-long-reviewer",
	"card-stale-pins", "card-409-older-revision", "card-completed", "card-failed", "queue", "outbox-demo", "audit", "agents", "error-404"}

// Every page in every state: axe finds nothing; nothing is wider than a phone; and the content security policy of the
// real pages stops nothing. At the end the test shows that it would have noticed.
func TestAxe(t *testing.T) {
	b := browser(t)
	server := httptest.NewServer(gallery.Handler())
	defer server.Close()
	for _, item := range gallery.Items() {
		if item.Fragment {
			continue
		}
		for _, look := range []struct {
			size  browse.Size
			media string
		}{{desk, "light"}, {phone, "dark"}} {
			name := fmt.Sprintf("%s at %d, %s", item.Name, look.size.Width, look.media)
			if err := b.Open(server.URL+"/"+item.Name, look.size, look.media); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if look.size == desk || slices.Contains(darkToo, item.Name) {
				if found := axe(t, b); found != "" {
					t.Errorf("%s:\n%s", name, found)
				}
			}
			if wide := eval[int64](t, b, `document.documentElement.scrollWidth`); wide > look.size.Width {
				t.Errorf("%s is %d px wide", name, wide)
			}
			if n := eval[int](t, b, `document.adoptedStyleSheets.length + document.querySelectorAll("[style],style").length`); n != 0 {
				t.Errorf("%s: something put a style into the page", name)
			}
		}
	}
	if refused := b.Refusals(); len(refused) > 0 {
		t.Errorf("the content security policy stopped something: %v", refused)
	}
	if err := b.Open(server.URL+"/card-proposed", desk, "light"); err != nil {
		t.Fatal(err)
	}
	eval[any](t, b, `document.getElementById("work").insertAdjacentHTML("beforeend", '<p style="color:red">x</p><button></button><a class="st" href="/">y</a>');0`)
	for _, rule := range []string{"button-name"} {
		if found := axe(t, b); !strings.Contains(found, rule) {
			t.Errorf("axe did not find a planted %s in:\n%s", rule, found)
		}
	}
	if len(b.Refusals()) == 0 {
		t.Error("a planted inline style went unnoticed")
	}
}

// answers serves gallery items, and counts and answers posts.
func answers(t *testing.T, posts *atomic.Int64, answer func(w http.ResponseWriter, r *http.Request)) *httptest.Server {
	t.Helper()
	look := gallery.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			posts.Add(1)
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			answer(w, r)
			return
		}
		look.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

func item(t *testing.T, name string) templ.Component {
	t.Helper()
	for _, i := range gallery.Items() {
		if i.Name == name {
			return i.Component
		}
	}
	t.Fatalf("no gallery item %s", name)
	return nil
}

// A double click sends one confirm; its 409 takes the place of the card, holds no confirm, and has the focus.
func TestConfirmAnsweredByARefusal(t *testing.T) {
	b := browser(t)
	var posts atomic.Int64
	var htmx, form string
	server := answers(t, &posts, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(150 * time.Millisecond)
		htmx, form = r.Header.Get("HX-Request"), r.PostFormValue("revision")+" "+r.PostFormValue("plan_hash")[:6]+" "+r.PostFormValue("idempotency_key")
		w.WriteHeader(http.StatusConflict)
		_ = item(t, "card-409-older-revision-fragment").Render(r.Context(), w)
	})
	if err := b.Open(server.URL+"/card-proposed", desk, "light"); err != nil {
		t.Fatal(err)
	}
	until(t, b, `!!document.querySelector("form[data-htmx-powered]")`)
	eval[any](t, b, `document.getElementById("confirm").click(); document.getElementById("confirm").click(); document.getElementById("reject").click(); 0`)
	until(t, b, `!!document.getElementById("stale")`)
	time.Sleep(200 * time.Millisecond)
	if n := posts.Load(); n != 1 || htmx != "true" || form != "1 b8600d 5f0c9a2e" {
		t.Errorf("%d posts, HX-Request %q, fields %q", n, htmx, form)
	}
	for expression, want := range map[string]string{
		`document.activeElement.textContent`:                                            "This changed while you had it open",
		`document.title`:                                                                "Error: Move Maria Jensen’s Standard visit - Countersign",
		`String(document.querySelectorAll("#work").length)`:                             "1",
		`String(document.querySelectorAll("[action$=confirm]").length)`:                 "0",
		`location.pathname`:                                                             "/card-proposed",
		`String(Object.keys(sessionStorage).length + Object.keys(localStorage).length)`: "0",
	} {
		if got := eval[string](t, b, expression); got != want {
			t.Errorf("%s is %q, want %q", expression, got, want)
		}
	}
}

// A 500 says nothing about the card: it goes to the alert region and the card stays.
func TestFailureGoesToTheAlertRegion(t *testing.T) {
	b := browser(t)
	var posts atomic.Int64
	server := answers(t, &posts, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte(`<p>It broke</p>`))
	})
	if err := b.Open(server.URL+"/card-proposed", desk, "light"); err != nil {
		t.Fatal(err)
	}
	until(t, b, `!!document.querySelector("form[data-htmx-powered]")`)
	eval[any](t, b, `document.getElementById("confirm").click(); 0`)
	until(t, b, `document.getElementById("alert").textContent.includes("It broke")`)
	if !eval[bool](t, b, `!!document.getElementById("confirm")`) {
		t.Error("the card is gone")
	}
	server.Config.SetKeepAlivesEnabled(false)
	server.CloseClientConnections()
	server.Listener.Close()
	eval[any](t, b, `document.getElementById("confirm").click(); 0`)
	until(t, b, `document.getElementById("alert").textContent.includes("We do not know whether it was done")`)
}

// Another week replaces the list of times and nothing else: what was typed stays.
func TestPickerKeepsWhatWasTyped(t *testing.T) {
	b := browser(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/proposals/new" {
			if strings.Contains(r.URL.RawQuery, "message") || r.URL.Query().Get("practitioner") != "okafor" {
				t.Errorf("the picker asked for %s", r.URL.RawQuery)
			}
			_ = item(t, "propose-move-nothing-free").Render(r.Context(), w)
			return
		}
		gallery.Handler().ServeHTTP(w, r)
	}))
	defer server.Close()
	if err := b.Open(server.URL+"/propose-move", desk, "light"); err != nil {
		t.Fatal(err)
	}
	until(t, b, `!!document.querySelector("form[data-htmx-powered]")`)
	eval[any](t, b, `document.getElementById("message").value = "Kære Maria"; document.getElementById("from").value = "+1w"; document.getElementById("from").dispatchEvent(new Event("change", {bubbles: true})); 0`)
	until(t, b, `document.getElementById("slots").textContent.includes("Nothing is free")`)
	if got := eval[string](t, b, `document.getElementById("message").value + document.querySelectorAll("#slots").length`); got != "Kære Maria1" {
		t.Errorf("after the swap: %q", got)
	}
}

func TestKeys(t *testing.T) {
	b := browser(t)
	server := httptest.NewServer(gallery.Handler())
	defer server.Close()
	open := func(name string) {
		t.Helper()
		if err := b.Open(server.URL+"/"+name, desk, "light"); err != nil {
			t.Fatal(err)
		}
		until(t, b, `document.readyState === "complete"`)
	}
	press := func(keys string) {
		t.Helper()
		if err := b.Press(keys); err != nil {
			t.Fatal(err)
		}
	}
	focused := func(want string) {
		t.Helper()
		if got := eval[string](t, b, `document.activeElement.id || document.activeElement.textContent.trim()`); got != want {
			t.Errorf("the focus is on %q, want %q", got, want)
		}
	}
	open("card-proposed")
	press("a")
	focused("confirm")
	if path := eval[string](t, b, `location.pathname`); path != "/card-proposed" {
		t.Errorf("a key pressed Confirm: %s", path)
	}
	press("r")
	focused("reason")
	press("a?")
	if got := eval[string](t, b, `document.getElementById("reason").value`); got != "a?" {
		t.Errorf("keys were taken while typing: %q", got)
	}
	open("queue")
	press("j")
	press("j")
	focused("Maria Jensen")
	press("?")
	until(t, b, `document.getElementById("keys").matches(":popover-open")`)
	eval[any](t, b, `document.getElementById("keys").hidePopover(); 0`)
	open("queue-keys-off") // the account has them off
	press("j")
	if got := eval[string](t, b, `document.activeElement.tagName`); got != "BODY" {
		t.Errorf("j works after keys were switched off: the focus is on %s", got)
	}
	press("?")
	if eval[bool](t, b, `document.getElementById("keys").matches(":popover-open")`) {
		t.Error("keys work after they were switched off")
	}
}

// The printed sheet has its day in words, the time of print, the zone, page numbers and no controls.
func TestPrintedDay(t *testing.T) {
	b := browser(t)
	server := httptest.NewServer(gallery.Handler())
	defer server.Close()
	if err := b.Open(server.URL+"/day", desk, "print"); err != nil {
		t.Fatal(err)
	}
	text := eval[string](t, b, `document.body.innerText`)
	for _, want := range []string{"Wednesday 21 October 2026", "21 October 2026, 11:16", "Europe/Copenhagen (UTC+02:00)", "Søren Łukasz Groß", "Fulfilled", "Nurse Liv Dahl"} {
		if !strings.Contains(text, want) {
			t.Errorf("the print does not say %q", want)
		}
	}
	for _, not := range []string{"Find", "Keys and help", "Book"} {
		if strings.Contains(text, not+"\n") {
			t.Errorf("the print says %q", not)
		}
	}
	pdf, err := b.PDF()
	if err != nil || len(pdf) < 10_000 {
		t.Fatalf("%d bytes, %v", len(pdf), err)
	}
	if dir := os.Getenv("GALLERY_PDF"); dir != "" {
		if err := os.WriteFile(dir, pdf, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
