package clinic

import (
	"errors"
	"regexp"
	"strconv"
)

// Errors of ParseDay, in words for the person who typed.
var (
	errNoDay     = errors.New("this is no date; write 21-Oct-2026, or go from the day shown with +3d, -2w, +1m")
	errNoSuchDay = errors.New("there is no such day in the calendar")
	errTwoDays   = errors.New("this could be two days; write the month as a word, as in 03-Apr-2026")
	errFarDay    = errors.New("this is too far away; give a day between 1900 and 2199")
)

var (
	dayNumbers = regexp.MustCompile(`^(\d{4})-(\d{1,2})-(\d{1,2})$`)
	dayDotted  = regexp.MustCompile(`^(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})$`)
	dayNamed   = regexp.MustCompile(`^(\d{1,2})[-. ]{1,2}(\pL{3,9})[-. ]{1,2}(\d{4})$`)
	dayStep    = regexp.MustCompile(`^([+-]?)\s?(\d{1,4})\s?([dwmy])$`)
	daySlashed = regexp.MustCompile(`^\d{1,4}[/-]\d{1,2}[/-]\d{1,4}$`)
)

// ParseDay reads a day as the desk types it: 2026-10-21, 21-Oct-2026, 21 October 2026, 21.10.2026; today, tomorrow,
// yesterday; and steps of days, weeks, months or years from the day that is shown: +3d, -2w, +1m, 1y. A month is the
// same day of another month, or that month's last day when it has no such day. "" is today. Numbers that could be two
// days (03/04/2026) are refused, never guessed. The error says, in words for that person, what to write.
func ParseDay(text string, shown, today Date) (Date, error) {
	text = plain(text)
	switch text {
	case "", "today":
		return today, nil
	case "tomorrow":
		return today.AddDays(1), nil
	case "yesterday":
		return today.AddDays(-1), nil
	}
	if m := dayStep.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[2]) // at most four digits
		if m[1] == "-" {
			n = -n
		}
		return near(step(shown, n, m[3]))
	}
	if m := dayNumbers.FindStringSubmatch(text); m != nil {
		return civilDay(m[1], m[2], m[3])
	}
	if m := dayDotted.FindStringSubmatch(text); m != nil {
		return civilDay(m[3], m[2], m[1])
	}
	if m := dayNamed.FindStringSubmatch(text); m != nil {
		if month := monthNumber(m[2]); month != "" {
			return civilDay(m[3], month, m[1])
		}
	}
	if daySlashed.MatchString(text) {
		return Date{}, errTwoDays
	}
	return Date{}, errNoDay
}

func civilDay(y, m, d string) (Date, error) {
	date, err := ParseDate(y + "-" + twoDigits(m) + "-" + twoDigits(d))
	if err != nil {
		return Date{}, errNoSuchDay
	}
	return near(date)
}

func step(from Date, n int, unit string) Date {
	switch unit {
	case "d":
		return from.AddDays(n)
	case "w":
		return from.AddDays(7 * n)
	case "y":
		n *= 12
	}
	first := dateOf(Date{from.Year, from.Month, 1}.utc().AddDate(0, n, 0))
	last := first.utc().AddDate(0, 1, -1).Day()
	return Date{first.Year, first.Month, min(from.Day, last)}
}

// near keeps days within what a clinic can mean, and what a database can hold.
func near(d Date) (Date, error) {
	if d.Year < 1900 || d.Year > 2199 {
		return Date{}, errFarDay
	}
	return d, nil
}
