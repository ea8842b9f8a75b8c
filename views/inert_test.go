package views

import (
	"strings"
	"testing"
)

// A stored card that somebody tampered with is drawn as text and tables; nothing of it can act or stand in for the page.
func TestAStoredCardIsInert(t *testing.T) {
	var b strings.Builder
	err := inert(`<h2 id="risk">Risk</h2><form action="/x/confirm"><button formaction="/x">Go</button></form><a href="javascript:1">link</a><script>alert(1)</script>
		<svg onload="x()"><p>in</p></svg><p onclick="x()" style="color:red" class="small" hx-get="/x">text</p><iframe src="/"></iframe><table><tr><th scope="row">A<td>B</table>`).Render(t.Context(), &b)
	got := b.String()
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<form", "<button", "href", "script", "alert", "onload", "onclick", "style", "hx-", "<iframe", "id=", "<h2", "svg"} {
		if strings.Contains(got, bad) {
			t.Errorf("it holds %q: %s", bad, got)
		}
	}
	for _, word := range []string{`<p class="head">Risk</p>`, "Go", "link", `<p class="small">text</p>`, `<th scope="row">A</th><td>B</td>`} {
		if !strings.Contains(got, word) {
			t.Errorf("it lacks %q: %s", word, got)
		}
	}
}
