package architecture

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What this release owes, by the section of docs/cases.md.
var owed = map[string]string{
	"Scheduling": `T01 T02 T05 T06 T08 T09 R01 R02 R04 R06 R09 R10 R11 R12 S01 S02 S03 S05 S11 S13 S14 S15 S19 D01 D04 D05 D06 D08 D09 D11 C01 C03 C10
		N01 N02 N03 N04 N05 N07 N08 N10 N11 N15 N16 N18 P01 P04 P05 P08 P12 A02 A06 A07 A08 A11 A13 S21 T13 X02 X03 X06 X07 X09 X10 X12 Z01 Z02 Z04 Z06 Z08 Z10`,
	"Approval": `A1 A2 A3 A7 A8 A9 A11 A12 A13 A14 A17 A19 A20 B3 B6 B7 B9 B10 B13 B14 C1 C2 C3 C4 C6 C8 C9 C11 C13 C14 C15 C16 C17 D1 D2 D3 D6 D8
		D10 E3 F2 F3 F5 F6 F7 F9 F10 F12 G1 G2 G4 G5 G6 G7 G8 G9 G11 G12 G13 G14 G15 G17 G18`,
}

var (
	caseRow  = regexp.MustCompile(`(?m)^\| ([A-Z]\d+) \| .* \| (.*) \|$`)
	testName = regexp.MustCompile("`([a-z/]+)\\.(Test\\w+)`")
)

// unproven gives what is wrong with a section: cases that are missing, and tests that are not there. tests are
// "package.Name".
func unproven(section, cases string, tests map[string]bool) (wrong []string) {
	var listed []string
	for _, row := range caseRow.FindAllStringSubmatch(section, -1) {
		listed = append(listed, row[1])
		names := testName.FindAllStringSubmatch(row[2], -1)
		if len(names) == 0 {
			wrong = append(wrong, row[1]+" names no test")
		}
		for _, n := range names {
			if !tests[n[1]+"."+n[2]] {
				wrong = append(wrong, row[1]+": no test "+n[1]+"."+n[2])
			}
		}
	}
	for _, c := range strings.Fields(cases) {
		if !slices.Contains(listed, c) {
			wrong = append(wrong, c+" is missing")
		}
	}
	return wrong
}

func TestEveryCaseHasItsTest(t *testing.T) {
	page, err := os.ReadFile("../../docs/cases.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, f := range tree(t) {
		if strings.HasSuffix(f.path, "_test.go") {
			for _, m := range function.FindAllStringSubmatch(f.text, -1) {
				tests[f.dir()+"."+m[1]] = true
			}
		}
	}
	for title, cases := range owed {
		_, section, _ := strings.Cut(string(page), "\n## "+title+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		for _, wrong := range unproven(section, cases, tests) {
			t.Errorf("%s: %s", title, wrong)
		}
	}
	planted := "| A1 | x | `db.TestGone` |\n| A2 | x | nothing |\n"
	if got := unproven(planted, "A1 A2 A3", tests); len(got) != 3 {
		t.Errorf("planted three, found %v", got)
	}
}
