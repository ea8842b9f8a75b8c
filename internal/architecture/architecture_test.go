// Package architecture holds the tree to the arrows and habits of the house. Each rule is a function of one file; the
// rules are tried on planted faults before they are believed on the tree.
package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// file is one file of the tree. Go files are parsed.
type file struct {
	path string // from the root, with slashes
	text string
	*ast.File
}

func (f file) dir() string { return f.path[:max(0, strings.LastIndexByte(f.path, '/'))] }
func (f file) test() bool {
	return strings.HasSuffix(f.path, "_test.go") || strings.HasSuffix(f.dir(), "test")
}
func (f file) generated() bool    { return strings.HasSuffix(f.path, "_templ.go") }
func (f file) in(dir string) bool { return f.dir() == dir || strings.HasPrefix(f.path, dir+"/") }

func parsed(path, text string) (file, error) {
	f := file{path: path, text: text}
	if !strings.HasSuffix(path, ".go") {
		return f, nil
	}
	var err error
	f.File, err = parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
	return f, err
}

// imports of a Go file.
func (f file) imports() (paths []string) {
	if f.File != nil {
		for _, i := range f.Imports {
			p, _ := strconv.Unquote(i.Path.Value)
			paths = append(paths, p)
		}
	}
	return paths
}

// literals are the texts of a Go file's strings.
func (f file) literals() (all []string) {
	if f.File != nil {
		ast.Inspect(f.File, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				s, _ := strconv.Unquote(l.Value)
				all = append(all, s)
			}
			return true
		})
	}
	return all
}

// tree is every source file of the module.
func tree(t *testing.T) (files []file) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules" || name == "bin") {
			return filepath.SkipDir
		}
		if !slices.Contains([]string{".go", ".templ", ".sql"}, filepath.Ext(path)) {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		f, err := parsed(filepath.ToSlash(rel), string(b))
		files = append(files, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 100 {
		t.Fatalf("only %d files found under %s", len(files), root)
	}
	return files
}

// rule gives what is wrong with one file.
type rule func(file) []string

var rules = map[string]rule{
	"arrows": arrows, "long": long, "names": names, "init": inits, "raw": raw, "sql": sqlOutside, "star": star, "err": rowsErr, "skip": skips,
}

func TestTheHouse(t *testing.T) {
	for _, f := range tree(t) {
		for name, rule := range rules {
			for _, wrong := range rule(f) {
				t.Errorf("%s (%s): %s", f.path, name, wrong)
			}
		}
	}
}

const module = "countersign/"

// may lists what a part of the house may import of the module, by prefix. The longest part that fits counts.
var may = map[string][]string{
	"cmd":           {""},
	"handlers":      {"db", "internal/", "static", "views"},
	"views":         {"internal/", "static"},
	"views/gallery": {"internal/", "static", "views", "views/"},
	"static":        {},
	"migrations":    {},
	"db":            {"internal/", "migrations"},
	"db/embedded":   {},
	"db/seed":       {"db", "internal/"},
	"internal":      {"internal/"},
	// Inward again: nouns and refusals know nobody.
	"internal/refusal": {},
	"internal/clinic":  {"internal/refusal"},
	"internal/audit":   {"internal/clinic"},
	// Nothing of a message can reach the booking it speaks of; TestNoMessageReachesABooking follows the imports all the way.
	"internal/outbox": {"internal/clinic", "internal/outbox", "internal/outbox/", "internal/refusal"},
}

// mayNot lists foreign packages that a part may not import.
var mayNot = map[string][]string{
	"internal": {"github.com/labstack/echo", "github.com/a-h/templ", "github.com/jmoiron/sqlx", "github.com/lib/pq", "github.com/pressly/goose", "database/sql", "net/http", "net/smtp"},
	"handlers": {"github.com/jmoiron/sqlx", "github.com/lib/pq", "github.com/pressly/goose", "database/sql"},
	"views":    {"github.com/labstack/echo", "github.com/jmoiron/sqlx", "github.com/lib/pq", "database/sql"},
	"db":       {"github.com/labstack/echo", "github.com/a-h/templ", "net/http"},
}

// outside are the packages of the domain that speak to other machines.
var outside = []string{"internal/ehr", "internal/outbox", "internal/assistant"}

// arrows point inward: cmd -> handlers -> views -> internal, db -> internal.
func arrows(f file) (wrong []string) {
	if f.test() {
		return nil
	}
	part := ""
	for p := range may {
		if f.in(p) && len(p) > len(part) {
			part = p
		}
	}
	if part == "" && f.File != nil {
		return []string{"in no part of the house"}
	}
	for _, path := range f.imports() {
		ours, isOurs := strings.CutPrefix(path, module)
		if isOurs && !slices.ContainsFunc(may[part], func(p string) bool {
			return ours == p || p == "" || strings.HasSuffix(p, "/") && strings.HasPrefix(ours, p)
		}) {
			wrong = append(wrong, part+" may not import "+path)
		}
		for p, banned := range mayNot {
			for _, b := range banned {
				free := strings.HasPrefix(b, "net/") && slices.ContainsFunc(outside, f.in)
				if f.in(p) && !free && (path == b || strings.HasPrefix(path, b+"/")) && part != "views/gallery" {
					wrong = append(wrong, p+" may not import "+path)
				}
			}
		}
	}
	return wrong
}

const most = 400

// long: a file has one subject.
func long(f file) []string {
	if n := strings.Count(f.text, "\n"); n >= most && !f.generated() {
		return []string{fmt.Sprintf("%d lines; under %d a file has one subject", n, most)}
	}
	return nil
}

var vague = regexp.MustCompile(`^(utils?|helpers?|common|misc|shared|base)(_test)?$`)

// names say what is inside.
func names(f file) (wrong []string) {
	base := strings.TrimSuffix(filepath.Base(f.path), filepath.Ext(f.path))
	for _, name := range append(strings.Split(f.dir(), "/"), base) {
		if vague.MatchString(name) {
			wrong = append(wrong, name+" says nothing of what is inside")
		}
	}
	return wrong
}

// inits: nothing happens before main.
func inits(f file) (wrong []string) {
	if f.File == nil {
		return nil
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			wrong = append(wrong, "a func init")
		}
	}
	return wrong
}

var rawText = regexp.MustCompile(`\btempl\.(Raw|SafeURL|URL|SafeCSS|SafeCSSProperty|JSUnsafeFuncCall|JSExpression|SafeScript|SafeScriptInline|WithNonce)\b`)

// raw: everything a page shows is escaped by its place in it.
func raw(f file) []string {
	if f.generated() || f.in("internal/architecture") {
		return nil // what templ makes of what is checked
	}
	return rawText.FindAllString(f.text, -1)
}

var statement = regexp.MustCompile(`(?s)^\s*(WITH \w+ AS|SELECT .*|INSERT INTO \w|UPDATE \w+ SET|DELETE FROM \w|BEGIN;|SET LOCAL |CREATE (TABLE|FUNCTION|ROLE)|LOCK TABLE)`)

// sqlOutside: SQL is in db and migrations; the benchmark that measures bare SQL holds its own.
func sqlOutside(f file) (wrong []string) {
	if f.test() || f.in("db") || f.in("cmd/bench") {
		return nil
	}
	for _, s := range f.literals() {
		if statement.MatchString(s) {
			wrong = append(wrong, fmt.Sprintf("SQL outside db: %.40q", s))
		}
	}
	return wrong
}

var everything = regexp.MustCompile(`(?i)\bSELECT\s+(\w+\.)?\*`)

// star: a statement names what it reads.
func star(f file) (wrong []string) {
	texts := f.literals()
	if strings.HasSuffix(f.path, ".sql") {
		texts = []string{f.text}
	}
	for _, s := range texts {
		if !f.test() && everything.MatchString(s) {
			wrong = append(wrong, fmt.Sprintf("%.60q", everything.FindString(s)))
		}
	}
	return wrong
}

// rowsErr: who walks rows asks in the same function, by Err or by db's closeRows, whether they ended for a fault.
func rowsErr(f file) (wrong []string) {
	if f.File == nil || !f.in("db") {
		return nil
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		calls := map[string]bool{}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok {
				switch called := c.Fun.(type) {
				case *ast.SelectorExpr:
					calls[called.Sel.Name] = true
				case *ast.Ident:
					calls[called.Name] = true
				}
			}
			return true
		})
		if calls["Next"] && !calls["Err"] && !calls["closeRows"] {
			wrong = append(wrong, fn.Name.Name+" walks rows and does not ask Err")
		}
	}
	return wrong
}

// skips: a test that lacks something fails. (Of a generated history, rapid's T may leave out a step.)
func skips(f file) (wrong []string) {
	if f.File == nil || !f.test() {
		return nil
	}
	var in func(n ast.Node, testers []string)
	in = func(n ast.Node, testers []string) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Body != nil {
					in(n.Body, testersOf(n.Type, testers))
				}
				return false
			case *ast.FuncLit:
				in(n.Body, testersOf(n.Type, testers))
				return false
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				if ok && slices.Contains(testers, x.Name) && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, n.Sel.Name) {
					wrong = append(wrong, "a test that can skip")
				}
			}
			return true
		})
	}
	in(f.File, nil)
	return wrong
}

// testersOf names the *testing.T and the like that a function sees: those around it, less what its parameters hide.
func testersOf(f *ast.FuncType, around []string) (names []string) {
	names = slices.Clone(around)
	for _, p := range f.Params.List {
		typ := p.Type
		if star, ok := typ.(*ast.StarExpr); ok {
			typ = star.X
		}
		sel, _ := typ.(*ast.SelectorExpr)
		pkg := &ast.Ident{}
		if sel != nil {
			pkg, _ = sel.X.(*ast.Ident)
		}
		for _, name := range p.Names {
			names = slices.DeleteFunc(names, func(n string) bool { return n == name.Name })
			if pkg != nil && pkg.Name == "testing" {
				names = append(names, name.Name)
			}
		}
	}
	return names
}
