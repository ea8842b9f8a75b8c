package outbox

import (
	"time"

	"countersign/internal/clinic"
)

// Quiet is the part of the day in which nobody is woken: wall minutes from midnight where the recipient lives, From up to,
// not including, To. From after To runs over midnight; From equal To is no part at all.
type Quiet struct{ From, To int }

// DefaultQuiet is 21:00 to 08:00.
var DefaultQuiet = Quiet{From: 21 * 60, To: 8 * 60}

// Until tells whether it is quiet at an instant in an IANA zone, and when it ends: the first instant from which the clocks
// there show To or later, also where To is shown twice or jumped over. A zone that is none counts as UTC.
func (q Quiet) Until(now time.Time, zone string) (until time.Time, quiet bool) {
	loc, err := clinic.LoadZone(zone)
	if err != nil {
		loc = time.UTC
	}
	wall := clinic.WallOf(now, loc)
	day := wall.Date
	switch {
	case q.From <= q.To:
		quiet = wall.Minute >= q.From && wall.Minute < q.To
	case wall.Minute >= q.From:
		quiet, day = true, day.AddDays(1)
	default:
		quiet = wall.Minute < q.To
	}
	if !quiet {
		return time.Time{}, false
	}
	at := clinic.Instants(day.At(q.To), loc)
	if len(at) == 0 {
		at = clinic.Offers(day.At(q.To), loc)
	}
	return at[len(at)-1], true
}
