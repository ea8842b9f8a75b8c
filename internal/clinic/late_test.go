package clinic

import (
	"testing"
	"time"
)

// 24 real hours, whatever the clocks do: over the night of 24 to 25 October 2026 a Copenhagen day has 25 hours, and over
// that of 27 to 28 March 2027 it has 23.
func TestLate(t *testing.T) {
	zone, err := LoadZone("Europe/Copenhagen")
	if err != nil {
		t.Fatal(err)
	}
	at := func(s string) time.Time {
		x, err := time.ParseInLocation("2006-01-02 15:04:05", s, zone)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, c := range []struct {
		start, changed string
		late           bool
	}{
		{"2026-06-10 10:00:00", "2026-06-09 10:00:00", false}, // exactly 24 h
		{"2026-06-10 10:00:00", "2026-06-09 10:00:01", true},
		{"2026-10-25 10:00:00", "2026-10-24 10:00:00", false}, // the same wall time is 25 h before
		{"2026-10-25 10:00:00", "2026-10-24 11:00:00", false}, // exactly 24 h
		{"2026-10-25 10:00:00", "2026-10-24 11:00:01", true},
		{"2027-03-28 10:00:00", "2027-03-27 10:00:00", true}, // 23 h
		{"2027-03-28 10:00:00", "2027-03-27 09:00:00", false},
		{"2027-03-28 10:00:00", "2027-03-27 09:00:01", true},
		{"2026-06-10 10:00:00", "2026-06-10 10:05:00", true}, // after its start
	} {
		if got := Late(at(c.changed), at(c.start)); got != c.late {
			t.Errorf("%s changed %s: %v", c.start, c.changed, got)
		}
	}
}
