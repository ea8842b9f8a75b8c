package clinic

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// WallTime is what a clock on the wall of some place shows: a date and the
// minutes shown since its 00:00. Minute may be 1440 or more for the hours after
// midnight of a shift that opened on Date. It is no instant until a zone is known.
type WallTime struct {
	Date
	Minute int
}

// ParseWallTime reads YYYY-MM-DDTHH:MM (what forms send), a space instead of the
// T, and seconds only if they are :00.
func ParseWallTime(s string) (WallTime, error) {
	const layout = "2006-01-02T15:04"
	if len(s) == len(layout)+len(":00") {
		s = strings.TrimSuffix(s, ":00")
	}
	t, err := time.Parse(layout, strings.Replace(s, " ", "T", 1))
	if err != nil || len(s) != len(layout) || t.Year() < 1 {
		return WallTime{}, errors.New("not a time of the form YYYY-MM-DDTHH:MM")
	}
	return dateOf(t).At(t.Hour()*60 + t.Minute()), nil
}

// WallOf is what a clock in the zone shows at the instant; seconds are dropped.
func WallOf(t time.Time, zone *time.Location) WallTime {
	t = t.In(zone)
	return dateOf(t).At(t.Hour()*60 + t.Minute())
}

// String is YYYY-MM-DD HH:MM, with Minute past 1440 carried into the next days.
func (w WallTime) String() string { return w.utc().Format("2006-01-02 15:04") }

func (w WallTime) utc() time.Time { return w.Date.utc().Add(time.Duration(w.Minute) * time.Minute) }

// zones keeps what has been read: the time package reads and parses its file anew at every call. Only names of existing
// zones get in, so it is bounded.
var zones sync.Map

// LoadZone reads an IANA name of the form Area/City. The empty name and Local
// (the server's zone) are refused, and so are UTC and abbreviations such as EST:
// a location must say where it is. The program must embed time/tzdata.
func LoadZone(name string) (*time.Location, error) {
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location), nil
	}
	area, _, found := strings.Cut(name, "/")
	if found && area != "posix" && area != "right" {
		if zone, err := time.LoadLocation(name); err == nil {
			zones.Store(name, zone)
			return zone, nil
		}
	}
	return nil, fmt.Errorf("%q is not an IANA zone such as Europe/Copenhagen", name)
}

// Instants is the only place where wall time becomes instants: none where the
// clock jumps over it, two (ascending) where the clock is set back over it, else
// one. All UTC.
func Instants(wall WallTime, zone *time.Location) []time.Time {
	var found []time.Time
	for _, p := range periodsAround(wall, zone) {
		if t := wall.utc().Add(-p.offset); p.holds(t) {
			found = append(found, t)
		}
	}
	return found
}

// Offers is what to offer instead of a wall time that does not exist: the same
// clock reading under the offset after and before the jump, so that 02:30 becomes
// 01:30 and 03:30 (ascending, UTC). It is nil for a wall time that exists.
func Offers(wall WallTime, zone *time.Location) []time.Time {
	periods := periodsAround(wall, zone)
	for i := 1; i < len(periods); i++ {
		before, after := periods[i-1], periods[i]
		early, late := wall.utc().Add(-after.offset), wall.utc().Add(-before.offset)
		if early.Before(after.start) && !late.Before(after.start) {
			return []time.Time{early, late}
		}
	}
	return nil
}

// Interval is the instants from From up to, not including, To.
type Interval struct{ From, To time.Time }

// Overlaps tells whether the two share an instant.
func (i Interval) Overlaps(o Interval) bool { return i.From.Before(o.To) && o.From.Before(i.To) }

// Contains tells whether all of o lies inside i.
func (i Interval) Contains(o Interval) bool { return !o.From.Before(i.From) && !o.To.After(i.To) }

// Readings is every instant at which a clock in the zone shows a time from
// minute opens up to, not including, closes of the date (minutes as in WallTime).
// Ascending, UTC, neighbours joined: one interval on most days, two where a
// repeated hour lies half inside, none where the clock jumps over all of it.
func Readings(date Date, opens, closes int, zone *time.Location) []Interval {
	var found []Interval
	for _, p := range periodsBetween(date.At(opens), date.At(closes), zone) {
		piece := Interval{date.At(opens).utc().Add(-p.offset), date.At(closes).utc().Add(-p.offset)}
		if piece.From.Before(p.start) {
			piece.From = p.start
		}
		if !p.end.IsZero() && piece.To.After(p.end) {
			piece.To = p.end
		}
		switch last := len(found) - 1; {
		case !piece.From.Before(piece.To):
		case last >= 0 && found[last].To.Equal(piece.From):
			found[last].To = piece.To
		default:
			found = append(found, piece)
		}
	}
	return found
}

// DayBounds is the local day in UTC instants: from the first instant the zone's
// clocks show the date up to the first that they show a later one. Days have 23,
// 24 or 25 hours, and some zones skip midnight; a date a zone left out altogether
// has no length.
func DayBounds(date Date, zone *time.Location) (from, to time.Time) {
	return dayStart(date, zone), dayStart(date.AddDays(1), zone)
}

// dayStart is midnight, or the jump where midnight was jumped over.
func dayStart(date Date, zone *time.Location) time.Time {
	periods := periodsAround(date.At(0), zone)
	for i := 0; ; i++ { // the last period always holds it
		p := periods[i]
		t := date.utc().Add(-p.offset)
		if t.Before(p.start) {
			t = p.start
		}
		if p.holds(t) {
			return t
		}
	}
}

// period is a stretch of one offset; a zero end is open, as is a zero start.
type period struct {
	start, end time.Time
	offset     time.Duration
}

func (p period) holds(t time.Time) bool {
	return !t.Before(p.start) && (p.end.IsZero() || t.Before(p.end))
}

func periodsAround(wall WallTime, zone *time.Location) []period {
	return periodsBetween(wall, wall, zone)
}

// periodsBetween lists the zone's periods in which the wall times could lie, with open ends: no zone was ever 16 hours
// away from UTC. Changes are found by asking for offsets alone, for time.ZoneBounds can answer with an end before the
// instant asked about (golang/go#81583: the last day of a leap year). None keeps two changes within the step.
func periodsBetween(from, to WallTime, zone *time.Location) []period {
	const widest, step = 16 * time.Hour, 4 * time.Hour
	t, last := from.utc().Add(-widest), to.utc().Add(widest)
	periods := []period{{offset: offsetAt(t, zone)}}
	for t.Before(last) {
		now := &periods[len(periods)-1]
		next := t.Add(step)
		if offsetAt(next, zone) != now.offset {
			next = changeBetween(t, next, zone)
			now.end = next
			periods = append(periods, period{start: next, offset: offsetAt(next, zone)})
		}
		t = next
	}
	return periods
}

// changeBetween is the first second at which the offset is no longer that of before.
func changeBetween(before, after time.Time, zone *time.Location) time.Time {
	old := offsetAt(before, zone)
	for after.Sub(before) > time.Second {
		middle := before.Add(after.Sub(before) / 2).Truncate(time.Second)
		if offsetAt(middle, zone) == old {
			before = middle
		} else {
			after = middle
		}
	}
	return after
}

func offsetAt(t time.Time, zone *time.Location) time.Duration {
	_, seconds := t.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}
