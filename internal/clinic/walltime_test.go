package clinic

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"pgregory.net/rapid"
)

type wallCases struct {
	Cases []struct {
		Wall, Zone string
		Instants   []string
	}
	Weekly struct {
		Zone, First string
		Instants    []string
	}
	DayLengthHours [][3]any    `json:"day_length_hours"`
	ClockTexts     [][2]string `json:"clock_texts"`
}

func loadWallCases(t *testing.T) wallCases {
	t.Helper()
	b, err := os.ReadFile("testdata/walltime.json")
	if err != nil {
		t.Fatal(err)
	}
	var c wallCases
	if err := json.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Cases) == 0 || len(c.Weekly.Instants) == 0 || len(c.DayLengthHours) == 0 || len(c.ClockTexts) == 0 {
		t.Fatal("testdata/walltime.json lost a section")
	}
	return c
}

func zoneOf(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := LoadZone(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func dateIn(t testing.TB, s string) Date {
	t.Helper()
	d, err := ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func wallIn(t testing.TB, s string) WallTime {
	t.Helper()
	w, err := ParseWallTime(s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func texts(ts []time.Time) []string {
	out := []string{}
	for _, t := range ts {
		out = append(out, t.Format(time.RFC3339))
	}
	return out
}

func TestInstants(t *testing.T) {
	for _, c := range loadWallCases(t).Cases {
		wall, zone := wallIn(t, c.Wall), zoneOf(t, c.Zone)
		if got := texts(Instants(wall, zone)); !slices.Equal(got, c.Instants) {
			t.Errorf("%s %s: got %v, want %v", c.Wall, c.Zone, got, c.Instants)
		}
		if offers := Offers(wall, zone); (len(c.Instants) == 0) != (len(offers) == 2) {
			t.Errorf("%s %s: offers %v", c.Wall, c.Zone, offers)
		}
	}
}

func TestWeeklyKeepsWallTime(t *testing.T) {
	c := loadWallCases(t).Weekly
	first, zone := wallIn(t, c.First), zoneOf(t, c.Zone)
	for i, want := range c.Instants {
		got := Instants(first.AddDays(7*i).At(first.Minute), zone)
		if len(got) != 1 || got[0].Format(time.RFC3339) != want {
			t.Errorf("week %d: got %v, want %s", i, got, want)
		}
	}
}

func TestOffers(t *testing.T) {
	for _, c := range []struct{ wall, zone, early, late string }{
		{"2026-03-29 02:30", "Europe/Copenhagen", "2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00"},
		{"2026-03-08 02:30", "America/New_York", "2026-03-08T01:30:00-05:00", "2026-03-08T03:30:00-04:00"},
		{"2026-10-04 02:15", "Australia/Lord_Howe", "2026-10-04T01:45:00+10:30", "2026-10-04T02:45:00+11:00"},
		{"2026-03-29 02:00", "Europe/Copenhagen", "2026-03-29T01:00:00+01:00", "2026-03-29T03:00:00+02:00"},
		{"2011-12-30 12:00", "Pacific/Apia", "2011-12-29T12:00:00-10:00", "2011-12-31T12:00:00+14:00"}, // a whole day left out
	} {
		zone := zoneOf(t, c.zone)
		var got []string
		for _, o := range Offers(wallIn(t, c.wall), zone) {
			if o.Location() != time.UTC {
				t.Errorf("%s: offer not in UTC", c.wall)
			}
			got = append(got, o.In(zone).Format(time.RFC3339))
		}
		if !slices.Equal(got, []string{c.early, c.late}) {
			t.Errorf("%s %s: got %v", c.wall, c.zone, got)
		}
	}
	if got := Offers(wallIn(t, "2026-03-29 03:00"), zoneOf(t, "Europe/Copenhagen")); got != nil {
		t.Errorf("03:00 exists, yet there are offers: %v", got)
	}
}

func TestDayBounds(t *testing.T) {
	for _, c := range loadWallCases(t).DayLengthHours {
		from, to := DayBounds(dateIn(t, c[0].(string)), zoneOf(t, c[1].(string)))
		if got := to.Sub(from).Hours(); got != c[2].(float64) {
			t.Errorf("%v: %v hours", c, got)
		}
	}
	for _, c := range []struct{ date, zone, from, to string }{
		{"2026-06-09", "Europe/Copenhagen", "2026-06-08T22:00:00Z", "2026-06-09T22:00:00Z"},
		{"2026-05-22", "Pacific/Honolulu", "2026-05-22T10:00:00Z", "2026-05-23T10:00:00Z"},
		{"2026-10-04", "Australia/Lord_Howe", "2026-10-03T13:30:00Z", "2026-10-04T13:00:00Z"}, // 23.5 hours
		{"2026-09-06", "America/Santiago", "2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"},    // no midnight
		{"2026-04-04", "America/Santiago", "2026-04-04T03:00:00Z", "2026-04-05T04:00:00Z"},    // 23:00 twice
		{"2026-11-01", "America/Havana", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"},      // midnight twice
		{"2011-12-30", "Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z"},        // no such day
	} {
		from, to := DayBounds(dateIn(t, c.date), zoneOf(t, c.zone))
		if got := texts([]time.Time{from, to}); !slices.Equal(got, []string{c.from, c.to}) {
			t.Errorf("%s %s: got %v", c.date, c.zone, got)
		}
	}
}

// The last day of a leap year once the zone's table has ended: an earlier version never came back from it.
func TestLastDayOfALeapYear(t *testing.T) {
	for _, name := range testZones {
		zone := zoneOf(t, name)
		for _, s := range []string{"2028-12-31", "2040-12-31", "2096-12-31", "2400-12-31"} {
			day := dateIn(t, s)
			from, to := DayBounds(day, zone)
			if got := Instants(day.At(600), zone); to.Sub(from) != 24*time.Hour || len(got) != 1 || !got[0].Equal(from.Add(10*time.Hour)) {
				t.Errorf("%s %s: %v to %v, 10:00 is %v", s, name, from, to, got)
			}
		}
	}
}

func TestReadings(t *testing.T) {
	for _, c := range []struct {
		date          string
		opens, closes int
		want          string
	}{
		{"2026-11-01", 0, 1440, "04:00-05:00"},             // all 25 hours, joined
		{"2026-11-01", 30, 90, "04:30-05:30 06:00-06:30"},  // 00:30-01:30: the repeated hour is half inside
		{"2026-11-01", 90, 120, "05:30-06:00 06:30-07:00"}, // 01:30-02:00, twice
		{"2026-03-08", 120, 180, ""},                       // 02:00-03:00 does not exist
		{"2026-03-08", 90, 210, "06:30-07:30"},             // 01:30-03:30 is one hour
		{"2026-03-07", 1380, 1530, "04:00-06:30"},          // 23:00-01:30
	} {
		var got []string
		for _, i := range Readings(dateIn(t, c.date), c.opens, c.closes, zoneOf(t, "America/New_York")) {
			got = append(got, i.From.Format("15:04")+"-"+i.To.Format("15:04"))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s %d-%d: got %v, want %s", c.date, c.opens, c.closes, got, c.want)
		}
	}
}

func TestLoadZone(t *testing.T) {
	for _, name := range []string{"", "Local", "UTC", "EST", "CET", "EST5EDT", "PST", "Europe", "Europe/", "/Copenhagen",
		"Europe/Nowhere", "../etc/passwd", "Europe/../EST", "posix/Europe/Copenhagen", "right/Europe/Copenhagen", "+01:00"} {
		if zone, err := LoadZone(name); err == nil {
			t.Errorf("%q was read as %v", name, zone)
		}
	}
	for _, name := range []string{"Europe/Copenhagen", "America/Argentina/Buenos_Aires", "Australia/Lord_Howe"} {
		if zone, err := LoadZone(name); err != nil || zone.String() != name {
			t.Errorf("%s: %v %v", name, zone, err)
		}
	}
}

func TestParseWallTime(t *testing.T) {
	for in, want := range map[string]string{
		"2027-03-28T10:00":    "2027-03-28 10:00",
		"2027-03-28 10:05":    "2027-03-28 10:05",
		"2027-03-28T10:05:00": "2027-03-28 10:05",
		"2027-03-28T10:00:00": "2027-03-28 10:00",
	} {
		if got, err := ParseWallTime(in); err != nil || got.String() != want {
			t.Errorf("%s: got %v %v", in, got, err)
		}
	}
	for _, in := range []string{"", "2027-03-28", "2027-03-28T9:00", "2027-03-28T24:00", "2027-02-29T10:00", "2027-03-28T10:00Z",
		"2027-03-28T10:00+02:00", "2027-03-28T10:05:30", "2027-03-28T10", "2027-03-28T10:00:00:00", "0000-01-01T10:00", "2027-03-28T9:00:00"} {
		if got, err := ParseWallTime(in); err == nil {
			t.Errorf("%q was read as %v", in, got)
		}
	}
}

var testZones = []string{"Europe/Copenhagen", "America/New_York", "Australia/Lord_Howe", "Pacific/Honolulu", "America/Santiago",
	"America/Havana", "Asia/Kathmandu", "Africa/Casablanca", "Pacific/Apia", "America/St_Johns", "Antarctica/Troll", "Africa/Cairo"}

func drawZone(t *rapid.T) *time.Location {
	zone, err := LoadZone(rapid.SampledFrom(testZones).Draw(t, "zone"))
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// drawDate prefers the days around a clock change, where the faults are.
func drawDate(t *rapid.T, zone *time.Location) Date {
	at := time.Unix(rapid.Int64Range(1_262_304_000, 3_786_912_000).Draw(t, "unix"), 0) // 2010 to 2089
	if _, change := at.In(zone).ZoneBounds(); !change.IsZero() && rapid.IntRange(0, 3).Draw(t, "near a change") > 0 {
		at = change
	}
	return DateOf(at, zone).AddDays(rapid.IntRange(-1, 1).Draw(t, "days"))
}

func TestInstantsAreTheInverseOfWallOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := drawZone(t)
		day := drawDate(t, zone)
		wall := day.At(rapid.IntRange(0, 1439).Draw(t, "minute"))
		found := Instants(wall, zone)
		for i, at := range found {
			if WallOf(at, zone) != wall || i > 0 && !at.After(found[i-1]) {
				t.Fatalf("%v: instants %v", wall, found)
			}
		}
		// Counting the minutes of three days by hand finds the same ones.
		start, _ := DayBounds(day.AddDays(-1), zone)
		var counted []time.Time
		for at, end := start, start.Add(72*time.Hour); at.Before(end); at = at.Add(time.Minute) {
			if WallOf(at, zone) == wall {
				counted = append(counted, at)
			}
		}
		if !slices.EqualFunc(found, counted, time.Time.Equal) {
			t.Fatalf("%v: got %v, counted %v", wall, found, counted)
		}
		if offers := Offers(wall, zone); (len(found) == 0) != (len(offers) == 2) {
			t.Fatalf("%v: instants %v, offers %v", wall, found, offers)
		}
	})
}

func TestDaysPartitionTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := drawZone(t)
		day := drawDate(t, zone)
		from, to := DayBounds(day, zone)
		if next, _ := DayBounds(day.AddDays(1), zone); !next.Equal(to) {
			t.Fatalf("%v ends %v, the next starts %v", day, to, next)
		}
		if from.Equal(to) {
			return
		}
		if DateOf(from, zone) != day || DateOf(from.Add(-time.Second), zone) == day ||
			DateOf(to.Add(-time.Second), zone) != day || DateOf(to, zone) == day {
			t.Fatalf("%v: %v to %v", day, from, to)
		}
	})
}
