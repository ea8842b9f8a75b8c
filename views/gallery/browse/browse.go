// Package browse starts the one headless browser there is, for the gallery's pictures and for tests that need a real one.
package browse

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Size is a window in css pixels.
type Size struct{ Width, Height int64 }

// Browser is one tab. It is not safe for concurrent use, but tabs are, beside each other.
type Browser struct {
	ctx  context.Context
	stop []func()

	mu       sync.Mutex
	refusals []string
	uncaught []string
}

// Start opens a browser with a new, empty profile. An error names what to install.
func Start() (*Browser, error) {
	profile, err := os.MkdirTemp("", "countersign-browser")
	if err != nil {
		return nil, err
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(profile),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("hide-scrollbars", true))
	alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), opts...)
	b := &Browser{}
	ctx, stopTab := chromedp.NewContext(alloc, chromedp.WithListener(b.listen))
	b.ctx, b.stop = ctx, []func(){stopTab, stopAlloc, func() { _ = os.RemoveAll(profile) }}
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		b.Stop()
		return nil, fmt.Errorf("no browser: install chromium (Debian: apt-get install chromium fonts-liberation): %w", err)
	}
	return b, nil
}

// Tab opens a further tab of the same browser: with the same cookies, or, for another person, with none. Stop closes it.
func (b *Browser) Tab(otherPerson bool) (*Browser, error) {
	t := &Browser{}
	opts := []chromedp.ContextOption{chromedp.WithListener(t.listen)}
	if otherPerson {
		opts = append(opts, chromedp.WithNewBrowserContext())
	}
	ctx, stop := chromedp.NewContext(b.ctx, opts...)
	t.ctx, t.stop = ctx, []func(){stop}
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		stop()
		return nil, err
	}
	return t, nil
}

// listen keeps what the browser says about the content security policy, and what its scripts threw.
func (b *Browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry != nil && strings.Contains(e.Entry.Text, "Content Security Policy") {
			b.refusals = append(b.refusals, e.Entry.URL+": "+e.Entry.Text)
		}
	case *runtime.EventExceptionThrown:
		if d := e.ExceptionDetails; d != nil {
			said := d.Text
			if d.Exception != nil {
				said += " " + d.Exception.Description
			}
			b.uncaught = append(b.uncaught, said)
		}
	}
}

// patience bounds each act in a tab: a page that never comes is an error, not a silence.
const patience = 45 * time.Second

func (b *Browser) soon() (context.Context, context.CancelFunc) {
	return context.WithTimeout(b.ctx, patience)
}

// Uncaught are the errors of scripts that nothing caught so far.
func (b *Browser) Uncaught() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.uncaught)
}

// Refusals are the things that a page's content security policy stopped so far.
func (b *Browser) Refusals() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.refusals)
}

// Stop ends the browser and removes its profile.
func (b *Browser) Stop() {
	for _, f := range b.stop {
		f()
	}
}

// Open loads a page in a window of the given size, in the light or dark scheme, or in forced colours or for print when
// media says so ("print", "dark", "forced"); "" is light.
func (b *Browser) Open(url string, size Size, media string) error {
	if err := b.Do(chromedp.EmulateViewport(size.Width, size.Height)); err != nil {
		return err
	}
	m := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}}}
	switch media {
	case "print":
		m.Media = "print"
	case "dark":
		m.Features[0].Value = "dark"
	case "forced":
		m.Features = append(m.Features, &emulation.MediaFeature{Name: "forced-colors", Value: "active"})
	}
	emulate := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, m)
		return err
	})
	return b.Do(emulate, chromedp.Navigate(url))
}

// Shot is a picture of a page, whole height.
func (b *Browser) Shot(url string, size Size, media string) ([]byte, error) {
	if err := b.Open(url, size, media); err != nil {
		return nil, err
	}
	return b.Look()
}

// PDF prints the page that is open.
func (b *Browser) PDF() ([]byte, error) {
	return chromedp.Run(b.ctx, chromedp.PrintToPDF(chromedp.PDFPreferCSSPageSize()))
}

// Do runs chromedp's own actions in the tab, within the patience.
func (b *Browser) Do(actions ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := b.soon()
	defer cancel()
	return chromedp.Do(ctx, actions...)
}

// Call sends one command of the browser's protocol to the tab.
func Call[P, R any](b *Browser, command cdp.Command[P, R], params P) (R, error) {
	ctx, cancel := b.soon()
	defer cancel()
	return chromedp.Run(ctx, func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, command, params) })
}

//go:embed axe/axe-4.14.1.min.js
var axe string

// Axe looks at the open page with axe-core, WCAG 2.2 A and AA and its best practices: "" or one line for each fault.
func Axe(b *Browser) (string, error) {
	if _, err := Eval[int](b, axe+";0"); err != nil {
		return "", err
	}
	return Eval[string](b, `axe.run(document, {runOnly: ["wcag2a","wcag2aa","wcag21a","wcag21aa","wcag22aa","best-practice"], resultTypes: ["violations"]}).then(r =>
  r.violations.flatMap(v => v.nodes.map(n => v.id + ": " + n.target.join(" ") + ": " + (n.any[0] || n.all[0] || n.none[0] || {}).message)).join("\n"))`)
}

// Press sends keys to the focused element, each as a keyboard does: its text comes with the key going down, so a key
// that the page takes types nothing.
func (b *Browser) Press(keys string) error {
	return chromedp.Do(b.ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, r := range keys {
			events := kb.Encode(r)
			down, up := events[0], events[len(events)-1]
			if len(events) == 3 {
				down.Text, down.UnmodifiedText = events[1].Text, events[1].UnmodifiedText
			}
			for _, e := range []*input.DispatchKeyEventParams{down, up} {
				if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, *e); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// Eval runs an expression in the page and reads its value; a promise is awaited.
func Eval[T any](b *Browser, expression string) (T, error) {
	ctx, cancel := b.soon()
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Look is a picture of the page that is open, whole height.
func (b *Browser) Look() ([]byte, error) { return chromedp.Run(b.ctx, chromedp.FullScreenshot(100)) }
