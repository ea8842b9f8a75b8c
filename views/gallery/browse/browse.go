// Package browse drives one headless browser for the gallery's pictures and the tests that need a real one.
package browse

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/chromedp"
)

// Size is a window in css pixels.
type Size struct{ Width, Height int64 }

// Browser is one tab. It is not safe for concurrent use.
type Browser struct {
	ctx  context.Context
	stop []func()

	mu       sync.Mutex
	refusals []string
}

// Start opens a browser with a new, empty profile. An error names what to install.
func Start() (*Browser, error) {
	profile, err := os.MkdirTemp("", "countersign-browser")
	if err != nil {
		return nil, err
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(profile),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true))
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

// listen keeps what the browser says about the content security policy.
func (b *Browser) listen(event any) {
	if e, ok := event.(*log.EventEntryAdded); ok && e.Entry != nil && strings.Contains(e.Entry.Text, "Content Security Policy") {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.refusals = append(b.refusals, e.Entry.URL+": "+e.Entry.Text)
	}
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
	if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(size.Width, size.Height)); err != nil {
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
	return chromedp.Do(b.ctx, emulate, chromedp.Navigate(url))
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

// Press sends keys to the focused element.
func (b *Browser) Press(keys string) error { return chromedp.Do(b.ctx, chromedp.KeyEvent(keys)) }

// Eval runs an expression in the page and reads its value; a promise is awaited.
func Eval[T any](b *Browser, expression string) (T, error) {
	return chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Look is a picture of the page that is open, whole height.
func (b *Browser) Look() ([]byte, error) { return chromedp.Run(b.ctx, chromedp.FullScreenshot(100)) }
