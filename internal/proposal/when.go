package proposal

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// when is a start as given: an instant, or wall time to be read in the destination's zone.
type when struct {
	instant time.Time // zero when wall is meant
	wall    clinic.WallTime
}

var wallShape = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:00)?$`)

// parseWhen reads `2027-03-28T10:00` as wall time and anything with an offset or Z as an instant of whole seconds, which
// may be left out.
func parseWhen(s string) (when, error) {
	if m := wallShape.FindStringSubmatch(s); m != nil {
		w, err := clinic.ParseWallTime(m[1] + " " + m[2])
		if y := w.Date.Year; err == nil && (y < 1900 || y > 9998) {
			err = errors.New("not a time")
		}
		return when{wall: w}, err
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t, err = time.Parse("2006-01-02T15:04Z07:00", s)
	}
	if err != nil || t.Nanosecond() != 0 || t.Year() < 1900 || t.Year() > 9998 {
		return when{}, errors.New("not a time")
	}
	return when{instant: t.UTC()}, nil
}

// Choice is one reading of a wall time, for a person to pick.
type Choice struct {
	StartsAt      time.Time `json:"starts_at"`
	OffsetMinutes int       `json:"offset_minutes"`
	Label         string    `json:"label"`
}

// resolve turns a start into one instant in the zone. A wall time that does not exist or exists twice is refused with
// choices; none is picked for anybody.
func (w when) resolve(zone *time.Location) (time.Time, error) {
	if !w.instant.IsZero() {
		return w.instant, nil
	}
	at := clinic.Instants(w.wall, zone)
	switch len(at) {
	case 1:
		return at[0], nil
	case 0:
		return time.Time{}, refusal.New(refusal.TimeDoesNotExist).With("choices", choices(clinic.Offers(w.wall, zone), zone))
	default:
		return time.Time{}, refusal.New(refusal.TimeIsAmbiguous).With("choices", choices(at, zone))
	}
}

func choices(at []time.Time, zone *time.Location) []Choice {
	out := make([]Choice, 0, len(at))
	for _, t := range at {
		out = append(out, Choice{StartsAt: t.UTC(), OffsetMinutes: offsetMinutes(t, zone), Label: t.In(zone).Format("Monday 2 January 2006, 15:04") + " (" + OffsetLabel(offsetMinutes(t, zone)) + ")"})
	}
	return out
}

func offsetMinutes(t time.Time, zone *time.Location) int {
	_, seconds := t.In(zone).Zone()
	return seconds / 60
}

// OffsetLabel is an offset as staff read it: UTC+02:00.
func OffsetLabel(minutes int) string {
	sign := '+'
	if minutes < 0 {
		sign, minutes = '-', -minutes
	}
	return fmt.Sprintf("UTC%c%02d:%02d", sign, minutes/60, minutes%60)
}
