package clinic

import (
	"slices"
	"time"
)

// NearestStarts picks those of the starts that are wanted and touch no slot that is taken, the nearest to a time first,
// at most so many; of two as near, the earlier. Starts come by start.
func NearestStarts(starts []Start, near time.Time, most int, taken map[string]bool, wanted func(Start) bool) []Start {
	var found []Start
	for _, s := range starts {
		if wanted(s) && !slices.ContainsFunc(s.Slots, func(id string) bool { return taken[id] }) {
			found = append(found, s)
		}
	}
	slices.SortStableFunc(found, func(a, b Start) int { return int(a.StartsAt.Sub(near).Abs() - b.StartsAt.Sub(near).Abs()) })
	return found[:min(len(found), most)]
}
