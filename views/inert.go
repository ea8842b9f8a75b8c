package views

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/a-h/templ"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

var (
	inertTags = []atom.Atom{atom.Div, atom.Span, atom.Section, atom.P, atom.B, atom.Br, atom.Small, atom.Ul, atom.Ol, atom.Li, atom.Table, atom.Caption, atom.Thead,
		atom.Tbody, atom.Tr, atom.Th, atom.Td, atom.Blockquote, atom.Pre, atom.Del, atom.Ins, atom.Dl, atom.Dt, atom.Dd, atom.Time, atom.Wbr}
	inertAttributes = []string{"class", "colspan", "scope", "role", "datetime"}
)

// inert draws a stored card so that nothing of it can act: known elements with known attributes only, links, forms,
// scripts, ids and everything else reduced to their text, headings to bold lines, and nothing folded away.
func inert(card string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		nodes, err := html.ParseFragment(bytes.NewReader([]byte(card)), &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
		if err != nil {
			return err
		}
		root := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
		for _, n := range nodes {
			tame(root, n)
		}
		return html.Render(w, root)
	})
}

// tame appends what of n may be drawn to the parent.
func tame(parent, n *html.Node) {
	switch {
	case n.Type == html.TextNode:
		parent.AppendChild(&html.Node{Type: html.TextNode, Data: n.Data})
		return
	case n.Type != html.ElementNode, n.Namespace != "", n.DataAtom == atom.Script, n.DataAtom == atom.Style, n.DataAtom == atom.Template, n.DataAtom == atom.Noscript:
		return
	}
	to := parent
	switch {
	case slices.Contains(inertTags, n.DataAtom):
		to = &html.Node{Type: html.ElementNode, Data: n.Data, DataAtom: n.DataAtom}
		for _, a := range n.Attr {
			if a.Namespace == "" && slices.Contains(inertAttributes, a.Key) {
				to.Attr = append(to.Attr, a)
			}
		}
		parent.AppendChild(to)
	case n.DataAtom == atom.H1 || n.DataAtom == atom.H2 || n.DataAtom == atom.H3 || n.DataAtom == atom.Summary:
		to = &html.Node{Type: html.ElementNode, Data: "p", DataAtom: atom.P, Attr: []html.Attribute{{Key: "class", Val: "head"}}}
		parent.AppendChild(to)
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		tame(to, child)
	}
}
