package clinic

import "testing"

func TestParseDay(t *testing.T) {
	shown, today := Date{2026, 1, 31}, Date{2026, 10, 21}
	for text, want := range map[string]string{
		"":                "2026-10-21",
		"today":           "2026-10-21",
		" Today ":         "2026-10-21",
		"tomorrow":        "2026-10-22",
		"yesterday":       "2026-10-20",
		"2026-10-21":      "2026-10-21",
		"2026-3-1":        "2026-03-01",
		"21-Oct-2026":     "2026-10-21",
		"21-OCT-2026":     "2026-10-21",
		"1-oct-2026":      "2026-10-01",
		"21 October 2026": "2026-10-21",
		"21. okt 2026":    "2026-10-21",
		"21.10.2026":      "2026-10-21",
		"1. 2. 2026":      "2026-02-01",
		"29-Feb-2028":     "2028-02-29",
		"+3d":             "2026-02-03",
		"3d":              "2026-02-03",
		" 3d":             "2026-02-03", // a + that a URL turned into a space
		"-2w":             "2026-01-17",
		"−2w":             "2026-01-17", // the minus sign of a phone's keyboard
		"+1m":             "2026-02-28",
		"-1m":             "2025-12-31",
		"+1M":             "2026-02-28",
		"+13m":            "2027-02-28",
		"+2y":             "2028-01-31",
		"+0d":             "2026-01-31",
	} {
		got, err := ParseDay(text, shown, today)
		if err != nil || got.String() != want {
			t.Errorf("%q: %v, %v; want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]error{
		"32-Okt":         errNoDay,
		"next Tuesday":   errNoDay,
		"21-Foo-2026":    errNoDay,
		"+3":             errNoDay,
		"+3h":            errNoDay,
		"+99999d":        errNoDay,
		"0":              errNoDay,
		"21-Oct-26":      errNoDay,
		"31-Feb-2026":    errNoSuchDay,
		"29.02.2027":     errNoSuchDay,
		"2026-13-01":     errNoSuchDay,
		"03/04/2026":     errTwoDays,
		"03-04-2026":     errTwoDays,
		"0001-01-01":     errFarDay,
		"9999-12-31":     errFarDay,
		"-9999y":         errFarDay,
		"+9999m":         errFarDay,
		"2026-10-21 x":   errNoDay,
		"2026-10-21\n+3": errNoDay,
	} {
		if got, err := ParseDay(text, shown, today); err != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}
