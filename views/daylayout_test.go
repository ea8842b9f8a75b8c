package views

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func minuteAt(m int) time.Time {
	loc := zone("Europe/Copenhagen")
	return time.Date(2026, 6, 9, 0, m, 0, 0, loc).UTC()
}

func onSheet(c DayColumn) daySheet {
	return DayPage{Shell: Shell{Now: minuteAt(600)}, Date: "2026-06-09", LocationZone: "Europe/Copenhagen", From: 480, To: 960, Grid: 15, LunchFrom: 720, LunchTo: 750, Columns: []DayColumn{c}}.layout()
}

// Whatever comes in, no visit is lost and nothing lies on anything else.
func TestLayoutLosesNothingAndOverlapsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c DayColumn
		for i := range rapid.IntRange(0, 12).Draw(t, "visits") {
			start, length := rapid.IntRange(0, 1300).Draw(t, "start"), rapid.IntRange(5, 120).Draw(t, "minutes")
			status := rapid.SampledFrom([]string{"booked", "cancelled", "noshow"}).Draw(t, "status")
			c.Visits = append(c.Visits, DayVisit{ID: fmt.Sprint("v", i), StartsAt: minuteAt(start), EndsAt: minuteAt(start + length), Status: status, Patient: Person{ID: fmt.Sprint(i), Name: "N"}})
		}
		for range rapid.IntRange(0, 4).Draw(t, "free") {
			a := rapid.IntRange(480, 900).Draw(t, "from")
			c.Free = append(c.Free, DayFree{StartsAt: minuteAt(a), EndsAt: minuteAt(a + 60)})
			c.Marks = append(c.Marks, DayMark{StartsAt: minuteAt(a), EndsAt: minuteAt(a + 30), Asks: []DayAsk{{Proposal: "p"}}})
		}
		s := onSheet(c)
		lane := s.lanes[0]
		seen := map[string]int{}
		for _, v := range lane.also {
			seen[v.ID]++
		}
		cells := make([][]string, s.rows)
		for _, b := range lane.blocks {
			if b.row < 0 || b.rows < 1 || b.row+b.rows > s.rows {
				t.Fatalf("block %+v is off a sheet of %d rows", b, s.rows)
			}
			if b.kind == blockVisit || b.kind == blockCancelled {
				seen[b.visit.ID]++
			}
			for r := b.row; r < b.row+b.rows; r++ {
				key := fmt.Sprint(b.lane)
				if b.lane < 4 && (slices.Contains(cells[r], key) || b.lane == 0 && len(cells[r]) > 0 || slices.Contains(cells[r], "0")) {
					t.Fatalf("row %d holds two blocks in lane %d", r, b.lane)
				}
				cells[r] = append(cells[r], key)
			}
		}
		for _, v := range c.Visits {
			if seen[v.ID] != 1 {
				t.Fatalf("visit %s is drawn %d times", v.ID, seen[v.ID])
			}
		}
		for r, in := range cells {
			if len(in) == 0 {
				t.Fatalf("row %d is empty", r)
			}
		}
	})
}

func TestLayoutOfASimpleMorning(t *testing.T) {
	s := onSheet(DayColumn{ID: "h", Visits: []DayVisit{
		{ID: "a", StartsAt: minuteAt(480), EndsAt: minuteAt(510), Status: "booked", Patient: Person{ID: "1", Name: "Anna Nielsen"}},
		{ID: "b", StartsAt: minuteAt(660), EndsAt: minuteAt(675), Status: "booked", Patient: Person{ID: "2", Name: "Anna Nielsen"}},
		{ID: "c", StartsAt: minuteAt(690), EndsAt: minuteAt(720), Status: "cancelled", Patient: Person{ID: "3", Name: "Maja Rask"}}},
		Free:  []DayFree{{minuteAt(585), minuteAt(645)}, {minuteAt(690), minuteAt(720)}},
		Marks: []DayMark{{minuteAt(630), minuteAt(645), []DayAsk{{Proposal: "1"}}}, {minuteAt(630), minuteAt(660), []DayAsk{{Proposal: "2"}}}}})
	var got []string
	for _, b := range s.lanes[0].blocks {
		got = append(got, fmt.Sprintf("%s %d+%d mrn=%t asks=%d book=%t", b.kind, b.row, b.rows, b.mrn, len(b.asks), b.bookable))
	}
	want := []string{
		"visit 0+2 mrn=true asks=0 book=false", "shut 2+5 mrn=false asks=0 book=false", "unused 7+2 mrn=false asks=0 book=false", "free 9+1 mrn=false asks=0 book=false",
		"mark 10+2 mrn=false asks=2 book=false", "visit 12+1 mrn=true asks=0 book=false", "shut 13+1 mrn=false asks=0 book=false", "cancelled 14+2 mrn=false asks=0 book=true",
		"shut 16+2 mrn=false asks=0 book=false", "shut 18+14 mrn=false asks=0 book=false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if s.nowRow != 8 || s.lanes[0].free != 45 {
		t.Errorf("now in row %d, %d minutes free", s.nowRow, s.lanes[0].free)
	}
}

func TestHoursOvernightAndOnTheNightTheClocksChange(t *testing.T) {
	loc := zone("Europe/Copenhagen")
	start := time.Date(2026, 10, 24, 22, 0, 0, 0, loc)
	p := DayPage{Date: "2026-10-24", LocationZone: "Europe/Copenhagen", From: 1320, To: 1620, Grid: 30, Columns: []DayColumn{{ID: "n", Visits: []DayVisit{
		{ID: "first", StartsAt: start.UTC(), EndsAt: start.Add(time.Hour).UTC(), Status: "booked"},
		{ID: "02:30 summer", StartsAt: time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC), EndsAt: time.Date(2026, 10, 25, 1, 0, 0, 0, time.UTC), Status: "booked"},
		{ID: "02:30 winter", StartsAt: time.Date(2026, 10, 25, 1, 30, 0, 0, time.UTC), EndsAt: time.Date(2026, 10, 25, 2, 0, 0, 0, time.UTC), Status: "booked"}}}}}
	s := p.layout()
	rows := map[string]int{}
	for _, b := range s.lanes[0].blocks {
		if b.kind == blockVisit {
			rows[b.visit.ID] = b.row
		}
	}
	if len(rows) != 3 || rows["first"] != 0 || rows["02:30 summer"] != 9 || rows["02:30 winter"] != 9 || s.lanes[0].lanes != 2 {
		t.Errorf("rows %v, %d lanes: both half past two belong in one row, side by side", rows, s.lanes[0].lanes)
	}
}

func TestSeenRowsMarkTheWordsThatChanged(t *testing.T) {
	was, is := wordDiff("on Tuesday at 2:15pm with Dr Ben", "on Tuesday at 2:45pm with Dr Ben")
	if was.changed != "2:15pm" || is.changed != "2:45pm" || is.before != "on Tuesday at" || is.after != "with Dr Ben" {
		t.Errorf("%+v %+v", was, is)
	}
	if was, is := wordDiff("", "new line"); was.changed != "" || is.changed != "new line" {
		t.Errorf("%+v %+v", was, is)
	}
}
