package views

import (
	"fmt"
	"strings"
	"time"
)

// Staff formats: 24 hours, weekday and full date, birth dates as DD-Mmm-YYYY. Patients' texts are made elsewhere.

// zone loads an IANA zone once for a page. A name that is not there draws in UTC, which the text beside it says.
func zone(name string) *time.Location {
	loc, err := time.LoadLocation(name)
	if err != nil || name == "" {
		return time.UTC
	}
	return loc
}

// LongDate is "Thursday 22 October 2026".
func LongDate(t time.Time) string { return t.Format("Monday 2 January 2006") }

// ShortDate is "Thu 22 Oct 2026".
func ShortDate(t time.Time) string { return t.Format("Mon 2 Jan 2006") }

// Clock is "10:30".
func Clock(t time.Time) string { return t.Format("15:04") }

// ClockSeconds is "10:30:05".
func ClockSeconds(t time.Time) string { return t.Format("15:04:05") }

// Lately is when something happened, as seen from now: "today 10:03", "yesterday 16:20", "Mon 2 Nov 08:15", and with its
// year when that is another one. Both instants are read in the zone of now.
func Lately(t, now time.Time) string {
	t = t.In(now.Location())
	switch day := t.Format(time.DateOnly); {
	case day == now.Format(time.DateOnly):
		return "today " + Clock(t)
	case day == now.AddDate(0, 0, -1).Format(time.DateOnly):
		return "yesterday " + Clock(t)
	case t.Year() == now.Year():
		return t.Format("Mon 2 Jan 15:04")
	}
	return ShortDate(t) + " " + Clock(t)
}

// Span is "10:30–11:00", both in the zone of from.
func Span(from, to time.Time) string { return Clock(from) + "–" + Clock(to.In(from.Location())) }

// Birth turns YYYY-MM-DD into "02-Jul-1991"; what is no date comes back as it is.
func Birth(civil string) string {
	t, err := time.Parse("2006-01-02", civil)
	if err != nil {
		return civil
	}
	return t.Format("02-Jan-2006")
}

// Offset is "UTC+02:00" for minutes east of UTC.
func Offset(minutes int) string {
	sign := '+'
	if minutes < 0 {
		sign, minutes = '-', -minutes
	}
	return fmt.Sprintf("UTC%c%02d:%02d", sign, minutes/60, minutes%60)
}

// OffsetOf is the offset of an instant in its own zone.
func OffsetOf(t time.Time) string {
	_, seconds := t.Zone()
	return Offset(seconds / 60)
}

// ZoneText is "Europe/Copenhagen (UTC+02:00)".
func ZoneText(t time.Time) string {
	if t.Location() == time.UTC {
		return "UTC"
	}
	return t.Location().String() + " (" + OffsetOf(t) + ")"
}

// Within is "in 14 min", "in 3 h 5 min" or "less than 1 min": how long until a deadline. Past deadlines are "over".
func Within(d time.Duration) string {
	if d <= 0 {
		return "over"
	}
	if d < time.Minute {
		return "in less than 1 min"
	}
	return "in " + minutesText(int(d/time.Minute))
}

func minutesText(m int) string {
	if m < 60 {
		return fmt.Sprintf("%d min", m)
	}
	if m%60 == 0 {
		return fmt.Sprintf("%d h", m/60)
	}
	return fmt.Sprintf("%d h %d min", m/60, m%60)
}

// Count is "1 appointment", "2 appointments".
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	if one == "SMS" {
		return fmt.Sprintf("%d SMS", n)
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// ShortHash is the first 12 digits, as shown everywhere.
func ShortHash(hash string) string {
	if len(hash) > 12 {
		return hash[:12]
	}
	return hash
}

// Possessive is "Maria Jensen’s", "Lars’".
func Possessive(name string) string {
	if strings.HasSuffix(name, "s") {
		return name + "’"
	}
	return name + "’s"
}

// civil reads YYYY-MM-DD; the zero time when it is none.
func civil(date string) time.Time {
	t, _ := time.Parse("2006-01-02", date)
	return t
}

// FieldDate is a civil date as the date field shows and takes it: "21-Oct-2026".
func FieldDate(date string) string { return Birth(date) }
