package clinic

import "time"

// Schedule is a weekly template of bookable hours of one practitioner at one location, in that location's wall time.
type Schedule struct {
	ID, Practitioner, Location string
	From                       Date
	To                         *Date    // inclusive; nil = open
	Grid                       int      // minutes of one slot
	Types                      []string // ids of the appointment types offered
	Hours                      []Hours  // several of a weekday are several spans: lunch is the gap between two
}

// Hours is one span of a weekday in minutes from that weekday's 00:00. Closes may pass 1440: 22:00 to 02:00 of the
// next day is 1320 to 1560.
type Hours struct {
	Weekday       time.Weekday
	Opens, Closes int
}

// Exception replaces the hours that open on one date; several of a date are several spans. A closed date has no hours
// at all, not even those after midnight of the shift before.
type Exception struct {
	Schedule      string // id
	Date          Date
	Closed        bool
	Opens, Closes int // as in Hours
}

// Leave is time a practitioner does not work, whatever the schedule: local dates, both inclusive, in the zone of
// whichever location the slot is at. Opens and Closes are wall minutes of each of the dates; 0 and 1440, or -1 and -1,
// are the whole local day, however many hours that has.
type Leave struct {
	ID, Practitioner string
	From, To         Date
	Opens, Closes    int
}

func (l Leave) wholeDay() bool { return l.Opens <= 0 && (l.Closes < 0 || l.Closes >= 24*60) }

// span is hours of one date.
type span struct{ opens, closes int }

// spansOn is the hours that open on the date, exceptions applied.
func (s Schedule) spansOn(date Date, exceptions map[Date][]Exception) []span {
	var spans []span
	if date.Before(s.From) || s.To != nil && date.After(*s.To) {
		return nil
	}
	if replaced, ok := exceptions[date]; ok {
		for _, x := range replaced {
			if x.Closed {
				return nil
			}
			spans = append(spans, span{x.Opens, x.Closes})
		}
		return spans
	}
	for _, h := range s.Hours {
		if h.Weekday == date.Weekday() {
			spans = append(spans, span{h.Opens, h.Closes})
		}
	}
	return spans
}

// leaveIntervals is the leave of one practitioner that touches the dates, as instants in the zone.
func leaveIntervals(leave []Leave, practitioner string, from, to Date, zone *time.Location) []Interval {
	var found []Interval
	for _, l := range leave {
		if l.Practitioner != practitioner {
			continue
		}
		first, last := l.From, l.To
		if first.Before(from) {
			first = from
		}
		if last.After(to) {
			last = to
		}
		if last.Before(first) {
			continue
		}
		if l.wholeDay() {
			start, _ := DayBounds(first, zone)
			_, end := DayBounds(last, zone)
			found = append(found, Interval{start, end})
			continue
		}
		for d := first; !d.After(last); d = d.AddDays(1) {
			found = append(found, Readings(d, l.Opens, l.Closes, zone)...)
		}
	}
	return found
}
