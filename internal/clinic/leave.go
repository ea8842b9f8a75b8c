package clinic

import "time"

// OnLeave tells whether any part of the slot falls into leave of the practitioner, judged in the zone of the slot's
// location.
func OnLeave(leave []Leave, practitioner string, slot Interval, zone *time.Location) bool {
	return overlapsAny(leaveIntervals(leave, practitioner, DateOf(slot.From, zone), DateOf(slot.To, zone), zone), slot)
}
