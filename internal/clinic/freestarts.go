package clinic

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// FreeSlot is a slot row as read for a search. Free means that the caller could book it: open, and held by nobody or
// by the very visit that is to be moved.
type FreeSlot struct {
	ID, Practitioner, Location string
	StartsAt, EndsAt           time.Time
	Types                      []string
	Free                       bool
	Version                    int64
}

// Start is a time at which a visit can begin, and the ids of every slot it covers, by start.
type Start struct {
	Practitioner, Location string
	StartsAt, EndsAt       time.Time
	Slots                  []string
}

// FreeStarts lists each slot start from which a visit of so many minutes lies wholly in free slots of one
// practitioner and location that offer the type, one following the other without a gap. The last slot may be covered
// in part: it is taken as a whole. Slots may come in any order; the answer is by start, then practitioner, location.
func FreeStarts(slots []FreeSlot, minutes int, typ string) []Start {
	if minutes <= 0 {
		return nil
	}
	sorted := slices.Clone(slots)
	slices.SortFunc(sorted, func(a, b FreeSlot) int {
		return cmp.Or(strings.Compare(a.Practitioner, b.Practitioner), strings.Compare(a.Location, b.Location), a.StartsAt.Compare(b.StartsAt))
	})
	ids := make([]string, len(sorted)) // every Start's Slots is a piece of it
	for i, s := range sorted {
		ids[i] = s.ID
	}
	usable := func(s FreeSlot) bool { return s.Free && slices.Contains(s.Types, typ) }

	var starts []Start
	for first := 0; first < len(sorted); { // a run of usable slots at a time
		end := first + 1
		if !usable(sorted[first]) {
			first = end
			continue
		}
		for end < len(sorted) && follows(sorted[end-1], sorted[end]) && usable(sorted[end]) {
			end++
		}
		for i, last := first, first; i < end; i++ {
			visitEnd := sorted[i].StartsAt.Add(time.Duration(minutes) * time.Minute)
			for last < end && sorted[last].EndsAt.Before(visitEnd) {
				last++
			}
			if last == end {
				break
			}
			starts = append(starts, Start{sorted[i].Practitioner, sorted[i].Location, sorted[i].StartsAt, visitEnd,
				slices.Clip(ids[i : last+1])})
		}
		first = end
	}
	slices.SortFunc(starts, func(a, b Start) int {
		return cmp.Or(a.StartsAt.Compare(b.StartsAt), strings.Compare(a.Practitioner, b.Practitioner), strings.Compare(a.Location, b.Location))
	})
	return starts
}

// Cover lists the ids of the slots that a visit of so many minutes takes, by start. The slots are of one practitioner
// and location, by start. ok is false when the visit does not begin with a slot, or slots are missing on its way:
// whether they are free and offer the type is for the caller to judge.
func Cover(slots []FreeSlot, start time.Time, minutes int) (ids []string, ok bool) {
	end := start.Add(time.Duration(minutes) * time.Minute)
	i := slices.IndexFunc(slots, func(s FreeSlot) bool { return s.StartsAt.Equal(start) })
	if i < 0 || minutes <= 0 {
		return nil, false
	}
	for ids = append(ids, slots[i].ID); slots[i].EndsAt.Before(end); i++ {
		if i+1 == len(slots) || !follows(slots[i], slots[i+1]) {
			return nil, false
		}
		ids = append(ids, slots[i+1].ID)
	}
	return ids, true
}

func follows(a, b FreeSlot) bool {
	return a.Practitioner == b.Practitioner && a.Location == b.Location && a.EndsAt.Equal(b.StartsAt)
}
