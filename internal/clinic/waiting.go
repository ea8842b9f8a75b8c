package clinic

import (
	"slices"
	"time"
)

// Wish is what a patient on the waiting list would come earlier for. "" and zero members mean any.
type Wish struct {
	Type, Practitioner, Location string
	Earliest, Latest             Date      // local days, inclusive
	Before                       time.Time // the visit that would be moved: only earlier times help
}

// Wants tells whether a start suits the wish. zone is that of the start's location.
func (w Wish) Wants(s Start, zone *time.Location) bool {
	day := DateOf(s.StartsAt, zone)
	return (w.Practitioner == "" || w.Practitioner == s.Practitioner) && (w.Location == "" || w.Location == s.Location) &&
		(w.Earliest.IsZero() || !day.Before(w.Earliest)) && (w.Latest.IsZero() || !day.After(w.Latest)) &&
		(w.Before.IsZero() || s.StartsAt.Before(w.Before))
}

// Opening is time of a practitioner at a location that was given back.
type Opening struct {
	Practitioner, Location string
	From, To               time.Time
}

// In reports whether a start lies in, or reaches into, one of the openings.
func (s Start) In(openings []Opening) bool {
	return slices.ContainsFunc(openings, func(o Opening) bool {
		return o.Practitioner == s.Practitioner && o.Location == s.Location && s.StartsAt.Before(o.To) && s.EndsAt.After(o.From)
	})
}
