package clinic

import (
	"testing"
	"time"
)

func TestParseDate(t *testing.T) {
	for _, s := range []string{"2026-02-28", "2028-02-29", "0001-01-01", "9999-12-31"} {
		if d, err := ParseDate(s); err != nil || d.String() != s {
			t.Errorf("%s: %v %v", s, d, err)
		}
	}
	for _, s := range []string{"", "2026-02-29", "2026-2-28", "2026-02-28T00:00", "28-02-2026", "2026/02/28", "0000-01-01", " 2026-02-28", "10000-01-01"} {
		if d, err := ParseDate(s); err == nil {
			t.Errorf("%q was read as %v", s, d)
		}
	}
}

func TestDateArithmetic(t *testing.T) {
	d := dateIn(t, "2028-02-28")
	if got := d.AddDays(2).String(); got != "2028-03-01" {
		t.Error(got)
	}
	if got := d.AddDays(-59).String(); got != "2027-12-31" {
		t.Error(got)
	}
	if d.Weekday() != time.Monday || d.Before(d) || d.After(d) || !d.Before(d.AddDays(1)) || !d.AddDays(1).After(d) {
		t.Error("order or weekday of", d)
	}
	if !(Date{}).IsZero() || d.IsZero() {
		t.Error("IsZero")
	}
	if got := d.At(1440 + 90).String(); got != "2028-02-29 01:30" {
		t.Error(got)
	}
}

func TestAge(t *testing.T) {
	for _, c := range []struct {
		birth, on string
		want      int
	}{
		{"2008-02-29", "2026-02-28", 17}, // D11
		{"2008-02-29", "2026-03-01", 18},
		{"2008-02-29", "2028-02-28", 19},
		{"2008-02-29", "2028-02-29", 20},
		{"1984-03-11", "2026-03-10", 41},
		{"1984-03-11", "2026-03-11", 42},
		{"1984-12-31", "2026-01-01", 41},
		{"2026-06-03", "2026-06-03", 0},
		{"2026-06-03", "2026-06-02", -1},
	} {
		if got := Age(dateIn(t, c.birth), dateIn(t, c.on)); got != c.want {
			t.Errorf("born %s, on %s: %d, want %d", c.birth, c.on, got, c.want)
		}
	}
}
