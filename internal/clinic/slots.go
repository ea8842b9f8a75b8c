package clinic

import (
	"slices"
	"time"
)

// SlotSpec is a slot as the template makes it. Day is the local date on which the slot starts, which after midnight
// is not the date on which the shift opened. Types is shared with the schedule: do not change it.
type SlotSpec struct {
	Practitioner, Location, Schedule string
	Day                              Date
	StartsAt, EndsAt                 time.Time // UTC
	Types                            []string
	OnLeave                          bool // the row exists, but nothing may be booked in it
}

// Generate makes exactly those slots of the schedule that start on the local dates from..to (both inclusive), in
// order, never overlapping. zone is the location's; exceptions and leave of others are ignored.
//
// Hours are judged in wall time on each day. A slot starts at a multiple of the grid after the hours open and lasts
// Grid real minutes; at every one of them the clock must show a time inside the hours. So a slot inside a jump of
// the clock does not exist, and a repeated hour has its slots twice. A slot ends on the schedule's last date at the
// latest, and none touches a closed date. It is on leave if any part of it is.
func Generate(s Schedule, zone *time.Location, from, to Date, exceptions []Exception, leave []Leave) []SlotSpec {
	if s.Grid <= 0 || to.Before(from) {
		return nil
	}
	replaced := map[Date][]Exception{}
	var closed []Interval
	for _, x := range exceptions {
		if x.Schedule != s.ID {
			continue
		}
		replaced[x.Date] = append(replaced[x.Date], x)
		if x.Closed {
			start, end := DayBounds(x.Date, zone)
			closed = append(closed, Interval{start, end})
		}
	}
	if s.To != nil {
		_, end := DayBounds(*s.To, zone)
		forever := end.AddDate(1000, 0, 0)
		closed = append(closed, Interval{end, forever})
	}
	away := leaveIntervals(leave, s.Practitioner, from, to.AddDays(1), zone)

	var starts []time.Time
	for date := from.AddDays(-1); !date.After(to); date = date.AddDays(1) { // -1: its hours may pass midnight
		for _, h := range s.spansOn(date, replaced) {
			starts = append(starts, startsIn(date, h, s.Grid, zone)...)
		}
	}
	slices.SortFunc(starts, time.Time.Compare)

	var slots []SlotSpec
	var free time.Time // nothing made so far goes past it
	for _, start := range starts {
		slot := Interval{start, start.Add(time.Duration(s.Grid) * time.Minute)}
		if start.Before(free) || overlapsAny(closed, slot) {
			continue
		}
		free = slot.To
		if day := DateOf(start, zone); !day.Before(from) && !day.After(to) {
			slots = append(slots, SlotSpec{Practitioner: s.Practitioner, Location: s.Location, Schedule: s.ID,
				Day: day, StartsAt: start, EndsAt: slot.To, Types: s.Types, OnLeave: overlapsAny(away, slot)})
		}
	}
	return slots
}

// startsIn lists where a slot of grid minutes fits into the hours of a date.
func startsIn(date Date, h span, grid int, zone *time.Location) []time.Time {
	open := Readings(date, h.opens, h.closes, zone)
	var starts []time.Time
	for minute := h.opens; minute < h.closes; minute += grid {
		for _, start := range Instants(date.At(minute), zone) {
			slot := Interval{start, start.Add(time.Duration(grid) * time.Minute)}
			if slices.ContainsFunc(open, func(i Interval) bool { return i.Contains(slot) }) {
				starts = append(starts, start)
			}
		}
	}
	return starts
}

func overlapsAny(intervals []Interval, slot Interval) bool {
	return slices.ContainsFunc(intervals, slot.Overlaps)
}
