package clinic

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

var clockText = regexp.MustCompile(`^(\d{1,2})(?:[:.](\d{2}))?\s*(am|pm)?$`)

// ParseClock reads a time of day as people type it: "8:00", "08.00", "5:00pm",
// "12:30 PM", "5 pm". The answer is in minutes from 00:00, at most 1439. A bare
// hour, a zone beside the time and 24:00 are refused, never guessed at; the error
// says why in words for the person who typed it.
func ParseClock(s string) (minuteOfDay int, err error) {
	m := clockText.FindStringSubmatch(strings.ToLower(strings.TrimSpace(s)))
	if m == nil || m[2] == "" && m[3] == "" {
		if hasLetters(s) {
			return 0, errors.New("only a time such as 08:00 or 5:00 pm is read here, without a time zone")
		}
		return 0, errors.New("not a time such as 08:00")
	}
	hour, _ := strconv.Atoi(m[1])
	minute, _ := strconv.Atoi(m[2]) // "" is 0
	switch half := m[3]; {
	case minute > 59:
		return 0, errors.New("an hour has 60 minutes")
	case half != "" && (hour < 1 || hour > 12):
		return 0, errors.New("with am or pm the hour is from 1 to 12")
	case half == "am":
		hour %= 12
	case half == "pm":
		hour = hour%12 + 12
	case hour == 24 && minute == 0:
		return 0, errors.New("24:00 is the end of a day, not a start; the next day starts at 00:00")
	case hour > 23:
		return 0, errors.New("the last time of a day is 23:59")
	}
	return hour*60 + minute, nil
}

// ParseClosing is ParseClock for the end of something: it reads 24:00 too (1440).
func ParseClosing(s string) (minute int, err error) {
	switch strings.TrimSpace(s) {
	case "24:00", "24.00":
		return 24 * 60, nil
	}
	return ParseClock(s)
}

func hasLetters(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r > 127 })
}
