package views_test

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"countersign/views/gallery"
)

// drawn is a gallery item as a browser reads it.
type drawn struct {
	gallery.Item
	source string
	root   *html.Node
}

func draw(t *testing.T) []drawn {
	t.Helper()
	var out []drawn
	for _, item := range gallery.Items() {
		var b bytes.Buffer
		if err := item.Component.Render(context.Background(), &b); err != nil {
			t.Fatalf("%s: %v", item.Name, err)
		}
		root, err := html.Parse(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatalf("%s: %v", item.Name, err)
		}
		out = append(out, drawn{item, b.String(), root})
	}
	if len(out) < 50 {
		t.Fatalf("only %d items in the gallery", len(out))
	}
	return out
}

func elements(n *html.Node, names ...string) []*html.Node {
	var out []*html.Node
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && (len(names) == 0 || slices.Contains(names, d.Data)) {
			out = append(out, d)
		}
	}
	return out
}

func attr(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

func get(n *html.Node, name string) string {
	v, _ := attr(n, name)
	return v
}

// An attribute that the pinned htmx does not know is silently dead: the known ones are read out of the vendored file.
func TestEveryHtmxAttributeIsKnown(t *testing.T) {
	source, err := os.ReadFile("../static/vendor/htmx-4.0.1.min.js")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, m := range regexp.MustCompile(`["'\[](hx-[a-z-]+)["'\]:]`).FindAllStringSubmatch(string(source), -1) {
		known[m[1]] = true
	}
	for _, need := range []string{"hx-target", "hx-swap", "hx-sync", "hx-trigger", "hx-select", "hx-swap-oob", "hx-post", "hx-get"} {
		if !known[need] {
			t.Errorf("%s not found in the vendored file: the list read from it is broken", need)
		}
	}
	if known["hx-disabled-elt"] || !bytes.Contains(source, []byte(`"hx-status:"`)) {
		t.Error("this is not htmx 4")
	}
	status := regexp.MustCompile(`^hx-status:(\d\d\d|\d\dx|\dxx)$`)
	seen := 0
	for _, d := range draw(t) {
		for _, n := range elements(d.root) {
			for _, a := range n.Attr {
				if !strings.HasPrefix(a.Key, "hx-") && !strings.HasPrefix(a.Key, "data-hx-") {
					continue
				}
				seen++
				if !known[a.Key] && !status.MatchString(a.Key) {
					t.Errorf("%s: <%s %s> is unknown to the pinned htmx", d.Name, n.Data, a.Key)
				}
				if strings.HasPrefix(a.Val, "js:") || strings.HasPrefix(a.Key, "hx-on") || a.Key == "hx-trigger" && strings.Contains(a.Val, "[") {
					t.Errorf("%s: %s=%q needs eval", d.Name, a.Key, a.Val)
				}
				if regexp.MustCompile(`[^ -~]|Maria|Jensen|"`).MatchString(a.Val) {
					t.Errorf("%s: %s=%q holds text of a person", d.Name, a.Key, a.Val)
				}
			}
			if post, ok := attr(n, "hx-post"); ok && (get(n, "hx-target") == "" || get(n, "hx-swap") == "" || get(n, "hx-sync") == "") {
				t.Errorf("%s: hx-post=%q without its own target, swap and sync", d.Name, post)
			}
		}
	}
	if seen == 0 {
		t.Error("no hx- attribute seen at all")
	}
}

func TestNothingInline(t *testing.T) {
	for _, d := range draw(t) {
		for _, n := range elements(d.root) {
			for _, a := range n.Attr {
				if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
					t.Errorf("%s: <%s %s>", d.Name, n.Data, a.Key)
				}
				if (a.Key == "href" || a.Key == "action" || a.Key == "src") && !regexp.MustCompile(`^(/[^/]|/$|#)`).MatchString(a.Val) {
					t.Errorf("%s: <%s %s=%q> leaves this site", d.Name, n.Data, a.Key, a.Val)
				}
			}
			if n.Data == "style" || n.Data == "script" && get(n, "src") == "" {
				t.Errorf("%s: inline <%s>", d.Name, n.Data)
			}
		}
	}
}

func TestFormsWorkWithoutScriptAndFieldsAreLabelled(t *testing.T) {
	for _, d := range draw(t) {
		labels := map[string]bool{}
		for _, n := range elements(d.root, "label") {
			labels[get(n, "for")] = true
		}
		for _, f := range elements(d.root, "form") {
			method, action := get(f, "method"), get(f, "action")
			if method != "get" && method != "post" || !strings.HasPrefix(action, "/") {
				t.Errorf("%s: form method=%q action=%q", d.Name, method, action)
			}
			if post := get(f, "hx-post"); post != "" && post != action {
				t.Errorf("%s: hx-post %q and action %q differ", d.Name, post, action)
			}
		}
		for _, n := range elements(d.root, "input", "select", "textarea") {
			if get(n, "type") == "hidden" {
				continue
			}
			wrapped := false
			for p := n.Parent; p != nil; p = p.Parent {
				wrapped = wrapped || p.Data == "label"
			}
			if !wrapped && !labels[get(n, "id")] {
				t.Errorf("%s: <%s name=%q> has no label", d.Name, n.Data, get(n, "name"))
			}
		}
		for _, n := range elements(d.root, "input", "select", "textarea", "button") {
			inForm := get(n, "form") != "" || get(n, "type") == "button" || get(n, "id") == "keys-on"
			for p := n.Parent; p != nil; p = p.Parent {
				inForm = inForm || p.Data == "form"
			}
			if !inForm {
				t.Errorf("%s: <%s name=%q> does nothing without script", d.Name, n.Data, get(n, "name"))
			}
		}
	}
}

// Case D8: nothing drops the integrity token on its way through a form; and confirm and reject have keys of their own.
func TestCardFormsAreBoundToWhatIsShown(t *testing.T) {
	hash := regexp.MustCompile(`^[0-9a-f]{64}$`)
	seen := map[string]int{}
	for _, d := range draw(t) {
		keys := map[string]bool{}
		for _, f := range elements(d.root, "form") {
			act := get(f, "action")[strings.LastIndex(get(f, "action"), "/")+1:]
			if act != "confirm" && act != "reject" && act != "revisions" {
				continue
			}
			seen[act]++
			fields := map[string]string{}
			for _, n := range elements(f, "input") {
				fields[get(n, "name")] = get(n, "value")
			}
			if fields["revision"] == "" || fields["revision"] == "0" || !hash.MatchString(fields["plan_hash"]) {
				t.Errorf("%s: the %s form has revision %q, plan_hash %q", d.Name, act, fields["revision"], fields["plan_hash"])
			}
			if act != "revisions" && (fields["idempotency_key"] == "" || keys[fields["idempotency_key"]]) {
				t.Errorf("%s: the %s form has no key of its own", d.Name, act)
			}
			keys[fields["idempotency_key"]] = true
			if act == "confirm" && len(fields) != 3 {
				t.Errorf("%s: the confirm form holds more than the three fields: %v", d.Name, fields)
			}
		}
	}
	for _, act := range []string{"confirm", "reject", "revisions"} {
		if seen[act] == 0 {
			t.Errorf("no %s form in the gallery", act)
		}
	}
}

// The second press of a double click must not confirm what nobody has read.
func TestNoRefusalHoldsALiveConfirm(t *testing.T) {
	refused, live := 0, 0
	for _, d := range draw(t) {
		confirms := strings.Count(d.source, "/confirm\"") + strings.Count(d.source, "btn sign")
		if d.Refused {
			refused++
			if confirms > 0 {
				t.Errorf("%s holds a live confirm", d.Name)
			}
		} else if confirms > 0 {
			live++
		}
		if strings.HasPrefix(d.Name, "queue") && confirms > 0 {
			t.Errorf("%s: a list holds a confirm", d.Name)
		}
	}
	if refused < 7 || live < 5 {
		t.Errorf("%d refused states and %d live ones drawn: the gallery lost some", refused, live)
	}
}

func TestPagesAreWellFormed(t *testing.T) {
	for _, d := range draw(t) {
		ids := map[string]bool{}
		for _, n := range elements(d.root) {
			if id, ok := attr(n, "id"); ok {
				if ids[id] || id == "" {
					t.Errorf("%s: id %q twice or empty", d.Name, id)
				}
				ids[id] = true
			}
		}
		if d.Fragment {
			continue
		}
		if n := len(elements(d.root, "h1")); n != 1 {
			t.Errorf("%s: %d h1", d.Name, n)
		}
		for _, n := range elements(d.root) {
			for _, name := range []string{"hx-target", "aria-labelledby", "aria-describedby", "popovertarget"} {
				for _, ref := range strings.Fields(get(n, name)) {
					if ref = strings.TrimPrefix(ref, "#"); ref != "this" && !ids[ref] {
						t.Errorf("%s: %s=%q points nowhere", d.Name, name, ref)
					}
				}
			}
		}
	}
}

// A fragment replaces #work and carries the tools and the live region out of band.
func TestFragmentsReplaceTheWork(t *testing.T) {
	for _, d := range draw(t) {
		if !d.Fragment || strings.HasPrefix(d.Name, "patients") {
			continue
		}
		if strings.Contains(d.source, "<html") || strings.Count(d.source, `id="work"`) != 1 {
			t.Errorf("%s is no fragment of the work", d.Name)
		}
		for _, oob := range []string{`<div id="tools" hx-swap-oob="innerHTML">`, `<div id="status" hx-swap-oob="innerHTML">`, `<title>`} {
			if !strings.Contains(d.source, oob) {
				t.Errorf("%s has no %s", d.Name, oob)
			}
		}
	}
}
