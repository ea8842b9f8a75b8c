package assistant

import (
	"fmt"
	"strings"
)

// clockOf is the minute of the day a clock span says, and whether it could be of either half of the day.
func clockOf(s span) (minute int, bare, ok bool) {
	switch s.Means {
	case "clock.at":
		return s.N, false, true
	case "clock":
		c, _ := s.cap("clock")
		return c.n, c.bare, true
	case "clock.hour", "clock.past":
		hour, found := s.cap("hour")
		if !found {
			hour, _ = s.cap("hourword")
		}
		minutes := s.N
		if s.Means == "clock.past" {
			m, found := s.cap("minute")
			if !found {
				m, _ = s.cap("minword")
			}
			minutes = s.N * m.n
		}
		return (hour.n + minutes + 24*60) % (24 * 60), hour.bare, true
	}
	return 0, false, false
}

// timeOfDay gathers what a message says of the time.
type timeOfDay struct {
	clock       *saidClock
	from, until *saidClock
	part        *rule
	first       bool
	several     []string // clocks that cannot both be meant
	zoned       bool
}

type saidClock struct {
	minute int
	bare   bool
	text   string
}

// half decides which half of the day a bare time means. The rule: a part of the day that was said decides; without one,
// 7:00 to 12:59 are taken as written (a clinic's morning), and 1:00 to 6:59 are asked about.
func (r *reading) half(c saidClock, part *rule) (minute int, ok bool) {
	if part == nil || part.From == nil && part.Until == nil {
		if c.bare && c.minute < 7*60 {
			r.ask("clock_half", wall(c.minute), wall(c.minute+12*60))
			return 0, false
		}
		return c.minute, true
	}
	from, until := 0, 24*60
	if part.From != nil {
		from = *part.From
		if from < 17*60 {
			until = 19 * 60 // no afternoon is longer
		}
	}
	if part.Until != nil {
		until = *part.Until
	}
	readings := []int{c.minute}
	if c.bare {
		readings = append(readings, (c.minute+12*60)%(24*60))
	}
	for _, minute := range readings {
		if from <= minute && minute <= until {
			return minute, true
		}
	}
	r.ask("clock_part", c.text)
	return 0, false
}

func wall(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60%24, minute%60) }

// resolve puts the time into the meaning. A clock is exact, so a part of the day only helps to read it.
func (r *reading) resolveTime(t timeOfDay) {
	r.m.First = t.first
	switch {
	case t.zoned:
		r.askZone(t)
	case len(t.several) > 1:
		r.ask("clock_half", t.several[0], t.several[1])
	case t.clock != nil:
		if n, ok := r.half(*t.clock, t.part); ok {
			r.m.Clock = &n
		}
	case t.from != nil || t.until != nil:
		r.resolveWindow(t)
	case t.part != nil:
		r.m.From, r.m.Until = t.part.From, t.part.Until
	}
}

// resolveWindow reads "between one and three": when one end is clear, the other is the reading on its right side.
func (r *reading) resolveWindow(t timeOfDay) {
	from, until := t.from, t.until
	if from != nil && until != nil && from.bare && until.bare && from.minute < 7*60 && until.minute < 7*60 && t.part == nil {
		r.ask("clock_half", wall(from.minute), wall(from.minute+12*60))
		return
	}
	if from != nil && until != nil && until.bare && until.minute <= from.minute {
		until.minute, until.bare = until.minute+12*60, false
	}
	if from != nil {
		if n, ok := r.half(*from, t.part); ok {
			r.m.From = &n
		}
	} else if t.part != nil {
		r.m.From = t.part.From
	}
	if until != nil {
		if n, ok := r.half(*until, t.part); ok {
			r.m.Until = &n
		}
	} else if t.part != nil {
		r.m.Until = t.part.Until
	}
	if r.m.From != nil && r.m.Until != nil && *r.m.From >= *r.m.Until {
		r.m.From, r.m.Until = nil, nil
	}
}

// addTime takes a span of the time of day; false if it is none.
func (r *reading) addTime(t *timeOfDay, s span) bool {
	if s.rule == nil {
		return false
	}
	said := func(c capture) *saidClock { return &saidClock{c.n, c.bare, c.text} }
	var times []capture
	for _, c := range s.caps {
		if c.slot == "time" {
			times = append(times, c)
		}
	}
	if (len(times) > 0 || strings.HasPrefix(s.Means, "clock")) && r.zoned(s) {
		t.zoned = true
	}
	switch s.Means {
	case "clock", "clock.at", "clock.hour", "clock.past":
		n, bare, _ := clockOf(s)
		text := r.source(s.from, s.to)
		if t.clock != nil && t.clock.minute != n {
			t.several = append(t.several, t.clock.text, text)
		}
		t.clock = &saidClock{n, bare, text}
		if s.From != nil || s.Until != nil {
			t.part = s.rule
		}
	case "clock.vague":
		r.ask("clock_vague", r.source(s.from, s.to))
	case "between", "from_to":
		t.from, t.until = said(times[0]), said(times[1])
	case "after", "from_time":
		t.from = said(times[0])
	case "before":
		t.until = said(times[0])
	case "around":
		c := times[0]
		if n, ok := r.half(*said(c), t.part); ok {
			t.from, t.until = &saidClock{minute: max(0, n-30)}, &saidClock{minute: min(24*60, n+30)}
		}
	case "part":
		t.part = s.rule
	case "first":
		t.first = true
		if s.Until != nil {
			t.part = s.rule
		}
	default:
		return false
	}
	return true
}
