package proposal

import (
	"testing"
	"time"
)

func TestStartsAreWallTimeOrInstants(t *testing.T) {
	for given, want := range map[string]string{
		"2027-03-29T10:00Z": "2027-03-29T10:00:00Z", "2027-03-29T10:00+02:00": "2027-03-29T08:00:00Z", "2027-03-29T10:00:00-10:00": "2027-03-29T20:00:00Z",
	} {
		if w, err := parseWhen(given); err != nil || w.instant.Format(time.RFC3339) != want {
			t.Errorf("%s: %v %v", given, w.instant, err)
		}
	}
	for given, want := range map[string]string{"2027-03-29T10:00": "2027-03-29 10:00", "2027-03-29 10:00": "2027-03-29 10:00", "2027-03-29T10:00:00": "2027-03-29 10:00"} {
		if w, err := parseWhen(given); err != nil || !w.instant.IsZero() || w.wall.String() != want {
			t.Errorf("%s: %v %v", given, w.wall, err)
		}
	}
	for _, given := range []string{"", "soon", "2027-02-29T10:00", "2027-03-29T24:00", "2027-03-29T10:00:30", "2027-03-29T10:00:00.5Z", "2027-03-29T10:00z",
		"2027-03-29", "0001-01-01T00:00", "0001-01-01T00:00Z", "1899-12-31T10:00", "9999-12-31T23:59", "9999-12-31T23:59:59Z", "10000-01-01T00:00"} {
		if w, err := parseWhen(given); err == nil {
			t.Errorf("%q was read: %v %v", given, w.instant, w.wall)
		}
	}
}
