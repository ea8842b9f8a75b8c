package clinic

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func everyDay(opens, closes int) []Hours {
	var hours []Hours
	for d := time.Sunday; d <= time.Saturday; d++ {
		hours = append(hours, Hours{d, opens, closes})
	}
	return hours
}

func schedule(grid int, hours []Hours) Schedule {
	return Schedule{ID: "s", Practitioner: "p", Location: "l", From: Date{2020, 1, 1}, Grid: grid, Types: []string{"standard"}, Hours: hours}
}

// clock lists the starts as the zone's clocks show them.
func clock(slots []SlotSpec, zone *time.Location) []string {
	out := []string{}
	for _, s := range slots {
		out = append(out, s.StartsAt.In(zone).Format("02T15:04-0700"))
	}
	return out
}

func TestHoursKeepWallTimeOverTheClockChange(t *testing.T) { // T01
	zone := zoneOf(t, "America/New_York")
	s := schedule(15, everyDay(13*60, 18*60))
	for day, want := range map[string][2]string{
		"2026-03-07": {"2026-03-07T18:00:00Z", "2026-03-07T23:00:00Z"},
		"2026-03-08": {"2026-03-08T17:00:00Z", "2026-03-08T22:00:00Z"},
		"2026-03-09": {"2026-03-09T17:00:00Z", "2026-03-09T22:00:00Z"},
	} {
		got := Generate(s, zone, dateIn(t, day), dateIn(t, day), nil, nil)
		if len(got) != 20 || got[0].StartsAt.Format(time.RFC3339) != want[0] || got[19].EndsAt.Format(time.RFC3339) != want[1] {
			t.Errorf("%s: %v", day, clock(got, zone))
		}
	}
}

func TestSlotsAroundTheChangeItself(t *testing.T) {
	for _, c := range []struct {
		name, zone, day     string
		grid, opens, closes int
		want                []string
	}{
		{"slots inside the jump do not exist", "America/New_York", "2026-03-08", 30, 60, 240,
			[]string{"08T01:00-0500", "08T01:30-0500", "08T03:00-0400", "08T03:30-0400"}},
		{"the last must end within hours also across the jump", "America/New_York", "2026-03-08", 60, 90, 150, []string{}},
		{"a repeated hour has its slots twice", "America/New_York", "2026-11-01", 30, 30, 150,
			[]string{"01T00:30-0400", "01T01:00-0400", "01T01:30-0400", "01T01:00-0500", "01T01:30-0500", "01T02:00-0500"}},
		{"half of a repeated hour", "Europe/Copenhagen", "2026-10-25", 30, 150, 210,
			[]string{"25T02:30+0200", "25T02:30+0100", "25T03:00+0100"}},
		{"a slot does not run through minutes outside the hours", "Europe/Copenhagen", "2026-10-25", 60, 150, 330,
			[]string{"25T02:30+0100", "25T03:30+0100", "25T04:30+0100"}},
		{"half-hour jump, slots of an hour do not overlap", "Australia/Lord_Howe", "2026-10-04", 60, 90, 270,
			[]string{"04T01:30+1030", "04T03:30+1100"}},
		{"half-hour repeat, slots of an hour do not overlap", "Australia/Lord_Howe", "2026-04-05", 60, 30, 210,
			[]string{"05T00:30+1100", "05T01:30+1100", "05T02:30+1030"}},
	} {
		zone := zoneOf(t, c.zone)
		got := clock(Generate(schedule(c.grid, everyDay(c.opens, c.closes)), zone, dateIn(t, c.day), dateIn(t, c.day), nil, nil), zone)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

func TestOvernight(t *testing.T) { // D01
	zone := zoneOf(t, "Europe/Copenhagen")
	s := schedule(30, []Hours{{time.Tuesday, 22 * 60, 26 * 60}})
	got := Generate(s, zone, dateIn(t, "2026-06-08"), dateIn(t, "2026-06-10"), nil, nil)
	want := []string{"09T22:00+0200", "09T22:30+0200", "09T23:00+0200", "09T23:30+0200", "10T00:00+0200", "10T00:30+0200", "10T01:00+0200", "10T01:30+0200"}
	if !slices.Equal(clock(got, zone), want) {
		t.Fatal(clock(got, zone))
	}
	if got[3].Day.String() != "2026-06-09" || got[4].Day.String() != "2026-06-10" {
		t.Error("Day is the local date on which the slot starts:", got[3].Day, got[4].Day)
	}
	// The night after midnight alone belongs to the window of the second day.
	if late := Generate(s, zone, dateIn(t, "2026-06-10"), dateIn(t, "2026-06-10"), nil, nil); !slices.Equal(clock(late, zone), want[4:]) {
		t.Error(clock(late, zone))
	}
	// Visits of 60 minutes start at 22:00 … 01:00, 23:30 among them.
	var free []FreeSlot
	for i, slot := range got {
		free = append(free, FreeSlot{ID: fmt.Sprint(i), StartsAt: slot.StartsAt, EndsAt: slot.EndsAt, Types: slot.Types, Free: true})
	}
	starts := FreeStarts(free, 60, "standard")
	if len(starts) != 7 || DateOf(starts[6].StartsAt, zone).String() != "2026-06-10" || WallOf(starts[6].StartsAt, zone).Minute != 60 ||
		WallOf(starts[3].StartsAt, zone).Minute != 23*60+30 {
		t.Error(starts)
	}
}

func TestExceptions(t *testing.T) {
	zone := zoneOf(t, "Europe/Copenhagen")
	from, to := dateIn(t, "2026-03-11"), dateIn(t, "2026-03-14")
	perDay := func(s Schedule, ex ...Exception) (got [4]int) {
		for _, slot := range Generate(s, zone, from, to, ex, nil) {
			for i := range got {
				if from.AddDays(i) == slot.Day {
					got[i]++
				}
			}
		}
		return got
	}
	day := schedule(60, everyDay(8*60, 16*60))
	twelfth, thirteenth := dateIn(t, "2026-03-12"), dateIn(t, "2026-03-13")
	// D04: an override to 24:00 does not open the next day, which is closed.
	if got := perDay(day, Exception{Schedule: "s", Date: twelfth, Opens: 20 * 60, Closes: 24 * 60}, Exception{Schedule: "s", Date: thirteenth, Closed: true}); got != [4]int{8, 4, 0, 8} {
		t.Error("D04:", got)
	}
	if got := perDay(day, Exception{Schedule: "s", Date: twelfth, Opens: 8 * 60, Closes: 10 * 60}, Exception{Schedule: "s", Date: twelfth, Opens: 12 * 60, Closes: 13 * 60}); got != [4]int{8, 3, 8, 8} {
		t.Error("two spans:", got)
	}
	if got := perDay(day, Exception{Schedule: "other", Date: twelfth, Closed: true}); got != [4]int{8, 8, 8, 8} {
		t.Error("another schedule's exception:", got)
	}
	night := schedule(60, everyDay(22*60, 26*60))
	if got := perDay(night, Exception{Schedule: "s", Date: thirteenth, Closed: true}); got != [4]int{4, 4, 0, 2} {
		t.Error("a closed date has no hours, not even of the night before:", got)
	}
	if got := perDay(night, Exception{Schedule: "s", Date: thirteenth, Opens: 22 * 60, Closes: 23 * 60}); got != [4]int{4, 4, 3, 2} {
		t.Error("other hours of a date leave the night before alone:", got)
	}
}

func TestLunchIsTheGapBetweenTwoSpans(t *testing.T) {
	zone := zoneOf(t, "Europe/Copenhagen")
	s := schedule(15, append(everyDay(8*60, 12*60), everyDay(12*60+30, 16*60)...))
	d := dateIn(t, "2026-06-09")
	got := Generate(s, zone, d, d, nil, nil)
	if len(got) != 16+14 || WallOf(got[15].EndsAt, zone).Minute != 720 || WallOf(got[16].StartsAt, zone).Minute != 750 {
		t.Error(clock(got, zone))
	}
	// A span that is no multiple of the grid leaves its rest unused.
	if got := Generate(schedule(25, everyDay(480, 540)), zone, d, d, nil, nil); len(got) != 2 {
		t.Error(clock(got, zone))
	}
}

func TestWholeDayLeave(t *testing.T) { // D05, D06
	for _, c := range []struct{ zone, day string }{
		{"Europe/Copenhagen", "2026-06-09"}, {"America/New_York", "2026-06-09"}, {"Pacific/Honolulu", "2026-06-09"},
		{"America/New_York", "2026-03-08"}, {"Europe/Copenhagen", "2026-10-25"},
	} {
		zone, day := zoneOf(t, c.zone), dateIn(t, c.day)
		for _, whole := range []Leave{{Opens: 0, Closes: 1440}, {Opens: -1, Closes: -1}} {
			whole.Practitioner, whole.From, whole.To = "p", day, day
			others := Leave{Practitioner: "q", From: day.AddDays(-5), To: day.AddDays(5), Closes: 1440}
			s := schedule(30, everyDay(0, 1440+120)) // round the clock, with the night shift after midnight
			n := 0
			for _, slot := range Generate(s, zone, day.AddDays(-1), day.AddDays(1), nil, []Leave{others, whole}) {
				if slot.OnLeave != (DateOf(slot.StartsAt, zone) == day) {
					t.Errorf("%v: slot %v on leave: %v", c, slot.StartsAt.In(zone), slot.OnLeave)
				}
				if slot.OnLeave {
					n++
				}
			}
			if from, to := DayBounds(day, zone); n != int(to.Sub(from)/(30*time.Minute)) {
				t.Errorf("%v: %d slots on leave", c, n)
			}
		}
	}
}

func TestASlotThatRunsIntoLeaveIsOnLeave(t *testing.T) {
	zone, day := zoneOf(t, "Europe/Copenhagen"), dateIn(t, "2026-06-09")
	s := schedule(60, everyDay(21*60+30, 25*60+30)) // 23:30-00:30 is one of its slots
	leave := []Leave{{Practitioner: "p", From: day.AddDays(1), To: day.AddDays(1), Closes: 1440}}
	var got []string
	for _, slot := range Generate(s, zone, day, day, nil, leave) {
		if slot.OnLeave {
			got = append(got, clock([]SlotSpec{slot}, zone)...)
		}
	}
	if !slices.Equal(got, []string{"09T23:30+0200"}) {
		t.Error(got)
	}
}

func TestPartialLeave(t *testing.T) {
	zone := zoneOf(t, "America/New_York")
	s := schedule(30, everyDay(0, 180))
	leave := []Leave{{Practitioner: "p", From: dateIn(t, "2026-10-31"), To: dateIn(t, "2026-11-01"), Opens: 75, Closes: 105}} // 01:15-01:45
	var got []string
	for _, slot := range Generate(s, zone, dateIn(t, "2026-10-31"), dateIn(t, "2026-11-02"), nil, leave) {
		if slot.OnLeave {
			got = append(got, clock([]SlotSpec{slot}, zone)[0])
		}
	}
	want := []string{"31T01:00-0400", "31T01:30-0400", "01T01:00-0400", "01T01:30-0400", "01T01:00-0500", "01T01:30-0500"}
	if !slices.Equal(got, want) {
		t.Error(got)
	}
}

func TestNothingOutsideTheScheduleDates(t *testing.T) { // S14
	zone := zoneOf(t, "Europe/Copenhagen")
	last := dateIn(t, "2026-06-30")
	s := schedule(60, everyDay(22*60, 26*60))
	s.From, s.To = dateIn(t, "2026-06-29"), &last
	got := clock(Generate(s, zone, dateIn(t, "2026-06-01"), dateIn(t, "2026-07-31"), nil, nil), zone)
	want := []string{"29T22:00+0200", "29T23:00+0200", "30T00:00+0200", "30T01:00+0200", "30T22:00+0200", "30T23:00+0200"}
	if !slices.Equal(got, want) {
		t.Error(got)
	}
}

func TestGenerateProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := drawZone(t)
		from := drawDate(t, zone)
		days := rapid.IntRange(0, 4).Draw(t, "days")
		to := from.AddDays(days)
		s := schedule(rapid.SampledFrom([]int{5, 10, 15, 20, 25, 30, 45, 60, 90, 120}).Draw(t, "grid"), nil)
		for range rapid.IntRange(1, 6).Draw(t, "spans") {
			opens := rapid.IntRange(0, 287).Draw(t, "opens") * 5
			s.Hours = append(s.Hours, Hours{time.Weekday(rapid.IntRange(0, 6).Draw(t, "weekday")), opens, opens + 5*rapid.IntRange(1, 200).Draw(t, "length")})
		}
		if rapid.Bool().Draw(t, "ends") {
			last := from.AddDays(1)
			s.To = &last
		}
		leave := []Leave{{Practitioner: "p", From: from, To: from, Opens: 0, Closes: 1440}}
		ex := []Exception{{Schedule: "s", Date: from.AddDays(2), Closed: true}}
		got := Generate(s, zone, from, to, ex, leave)

		for i, slot := range got {
			if slot.EndsAt.Sub(slot.StartsAt) != time.Duration(s.Grid)*time.Minute || slot.StartsAt.Location() != time.UTC {
				t.Fatalf("slot %v to %v", slot.StartsAt, slot.EndsAt)
			}
			if i > 0 && slot.StartsAt.Before(got[i-1].EndsAt) {
				t.Fatalf("slots overlap: %v and %v", got[i-1], slot)
			}
			if slot.Day != DateOf(slot.StartsAt, zone) || slot.Day.Before(from) || slot.Day.After(to) || slot.Day == from.AddDays(2) {
				t.Fatalf("slot on %v", slot.Day)
			}
			if slot.Day == from && !slot.OnLeave {
				t.Fatalf("not on leave: %v", slot)
			}
			if last := DateOf(slot.EndsAt.Add(-time.Second), zone); s.To != nil && last.After(*s.To) {
				t.Fatalf("after the schedule's last date: %v", slot)
			}
			for at := slot.StartsAt; at.Before(slot.EndsAt); at = at.Add(time.Minute) {
				if !openAt(s, at, zone) {
					t.Fatalf("%v lies outside the hours", at.In(zone))
				}
			}
		}
	})
}

// openAt judges one instant by what the clock shows, with none of the generator's arithmetic.
func openAt(s Schedule, at time.Time, zone *time.Location) bool {
	wall := WallOf(at, zone)
	for back := range 3 {
		for _, h := range s.Hours {
			minute := wall.Minute + back*1440
			if h.Weekday == wall.AddDays(-back).Weekday() && h.Opens <= minute && minute < h.Closes {
				return true
			}
		}
	}
	return false
}

func TestWindowsMakeTheSameSlots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := drawZone(t)
		from := drawDate(t, zone)
		s := schedule(30, everyDay(20*60, 26*60))
		var parts []SlotSpec
		for i := range 4 {
			parts = append(parts, Generate(s, zone, from.AddDays(i), from.AddDays(i), nil, nil)...)
		}
		if whole := Generate(s, zone, from, from.AddDays(3), nil, nil); !slices.Equal(clock(whole, zone), clock(parts, zone)) {
			t.Fatalf("whole %v, by day %v", clock(whole, zone), clock(parts, zone))
		}
	})
}

func BenchmarkGenerateYear(b *testing.B) {
	zone := zoneOf(b, "Europe/Copenhagen")
	s := schedule(15, append(everyDay(8*60, 12*60), everyDay(12*60+30, 16*60)...))
	leave := []Leave{{Practitioner: "p", From: Date{2026, 7, 1}, To: Date{2026, 7, 31}, Closes: 1440}}
	for b.Loop() {
		if n := len(Generate(s, zone, Date{2026, 1, 1}, Date{2026, 12, 31}, nil, leave)); n != 365*30 {
			b.Fatal(n)
		}
	}
}
