package proposal

import (
	"time"

	"countersign/internal/clinic"
)

// Codes that the trail adds to a change that came late (clinic.Late). Late is no no-show.
const (
	LateChange       = "late_change"
	LateCancellation = "late_cancellation"
)

// lateCode is the code of a move or cancellation of a visit that was made late, "" for any other.
func lateCode(p Plan, now time.Time) string {
	switch {
	case !p.Before.OfVisit() || !clinic.Late(now, p.Before.StartsAt):
		return ""
	case p.After.Status == clinic.StatusCancelled:
		return LateCancellation
	}
	return LateChange
}
