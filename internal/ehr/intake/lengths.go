package intake

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// lengths finds out how long the visits of each type are: FHIR has no resource that says so. What visits mostly last
// counts; for a type without any, the slots that are for it; else half an hour.
type lengths struct {
	names     map[[2]string]string
	visits    map[[2]string]map[int]int
	slots     map[[2]string]map[int]int
	schedules map[string]map[int]int // slots of a schedule, by its id
	offered   map[string][]TypeCode  // by schedules
}

const (
	halfHour                  = 30
	leastMinutes, mostMinutes = 5, 720 // the schema's limits
)

func newLengths() lengths {
	return lengths{map[[2]string]string{}, map[[2]string]map[int]int{}, map[[2]string]map[int]int{}, map[string]map[int]int{}, map[string][]TypeCode{}}
}

func (l lengths) name(t TypeCode) [2]string {
	key := [2]string{t.System, t.Code}
	if l.names[key] == "" || l.names[key] == t.Code {
		l.names[key] = t.Name
	}
	return key
}

func count[K comparable](in map[K]map[int]int, key K, length time.Duration) {
	minutes := int(length / time.Minute)
	if minutes < leastMinutes || minutes > mostMinutes {
		return
	}
	if in[key] == nil {
		in[key] = map[int]int{}
	}
	in[key][minutes]++
}

func (l lengths) see(r Row) {
	switch r := r.(type) {
	case *Schedule:
		for _, t := range r.Types {
			l.name(t)
		}
		l.offered[r.Remote] = r.Types
	case *Slot:
		for _, t := range r.Types {
			count(l.slots, l.name(t), r.EndsAt.Sub(r.StartsAt))
		}
		count(l.schedules, r.Schedule, r.EndsAt.Sub(r.StartsAt))
	case *Appointment:
		length := time.Duration(r.Minutes) * time.Minute
		if length == 0 {
			length = r.EndsAt.Sub(r.StartsAt)
		}
		if r.Type.Code != "" {
			count(l.visits, l.name(r.Type), length)
		}
	}
}

// wishes lists every type that was seen, in a fixed order.
func (l lengths) wishes() (list []TypeWish) {
	ofSchedule := map[[2]string]map[int]int{}
	for id, types := range l.offered {
		for _, t := range types {
			key := [2]string{t.System, t.Code}
			for minutes, n := range l.schedules[id] {
				if ofSchedule[key] == nil {
					ofSchedule[key] = map[int]int{}
				}
				ofSchedule[key][minutes] += n
			}
		}
	}
	keys := slices.SortedFunc(maps.Keys(l.names), func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	for _, key := range keys {
		w := TypeWish{TypeCode{key[0], key[1], l.names[key]}, halfHour}
		for _, seen := range []map[int]int{l.visits[key], l.slots[key], ofSchedule[key]} {
			if m := most(seen); m > 0 {
				w.Minutes = m
				break
			}
		}
		list = append(list, w)
	}
	return list
}

// most is the length that was seen most often, the shortest of several; 0 for none.
func most(seen map[int]int) (minutes int) {
	for _, m := range slices.Sorted(maps.Keys(seen)) {
		if minutes == 0 || seen[m] > seen[minutes] {
			minutes = m
		}
	}
	return minutes
}

// TypesOf lists the types that rows name, as wishes: for rows that come without a file around them.
func TypesOf(rows []Row) []TypeWish {
	l := newLengths()
	for _, r := range rows {
		l.see(r)
	}
	return l.wishes()
}
