package architecture

import (
	"slices"
	"strings"
	"testing"
)

// booking are the packages that can change a visit, or ask another system to.
var booking = []string{"internal/proposal", "internal/ehr", "internal/assistant", "db", "handlers", "cmd"}

// reaches follows the imports of everything under part, as far as they go within the module, and gives the ways, one a
// package, that end in one of targets.
func reaches(files []file, part string, targets []string) (ways []string) {
	imports := map[string][]string{}
	for _, f := range files {
		if !f.test() {
			for _, path := range f.imports() {
				if ours, isOurs := strings.CutPrefix(path, module); isOurs {
					imports[f.dir()] = append(imports[f.dir()], ours)
				}
			}
		}
	}
	under := func(dir, part string) bool { return dir == part || strings.HasPrefix(dir, part+"/") }
	seen := map[string]bool{}
	var walk func(dir, way string)
	walk = func(dir, way string) {
		if seen[dir] {
			return
		}
		seen[dir] = true
		if slices.ContainsFunc(targets, func(t string) bool { return under(dir, t) }) {
			ways = append(ways, way)
			return
		}
		for _, next := range imports[dir] {
			walk(next, way+" -> "+next)
		}
	}
	for dir := range imports {
		if under(dir, part) {
			walk(dir, dir)
		}
	}
	return ways
}

// A message can be tried for ever without touching the booking: no code of it can call any.
func TestNoMessageReachesABooking(t *testing.T) {
	files := tree(t)
	if ways := reaches(files, "internal/outbox", booking); len(ways) > 0 {
		t.Errorf("the message path reaches the booking path: %v", ways)
	}
	if !slices.ContainsFunc(files, func(f file) bool { return f.in("internal/outbox") && !f.test() }) {
		t.Fatal("there is no internal/outbox")
	}
	planted := slices.Clone(files)
	for path, imports := range map[string]string{"internal/outbox/far/x.go": "countersign/internal/near", "internal/near/x.go": "countersign/internal/proposal"} {
		f, err := parsed(path, "package x\n\nimport _ \""+imports+"\"\n")
		if err != nil {
			t.Fatal(err)
		}
		planted = append(planted, f)
	}
	if ways := reaches(planted, "internal/outbox", booking); len(ways) != 1 || !strings.HasSuffix(ways[0], "internal/near -> internal/proposal") {
		t.Errorf("planted one way over another package, found %v", ways)
	}
}
