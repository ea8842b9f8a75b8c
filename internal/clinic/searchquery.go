package clinic

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The parts of a search query that are not names. Each take function hands its terms to add and returns the query
// without them; what only looks like one is left where it is.

var (
	emailWord    = regexp.MustCompile(`[^\s,;<>()]*@[^\s,;<>()]*`)
	recordNumber = regexp.MustCompile(`\bmrn\b`)

	international = regexp.MustCompile(`\+[\d\s().-]*\d`)
	grouped       = regexp.MustCompile(`\(?\b\d+\)?(?:[\s().-]+\d+)+\b`)

	yearFirst  = regexp.MustCompile(born + `\b(\d{4})[-./](\d{1,2})(?:[-./](\d{1,2}))?\b`)
	yearLast   = regexp.MustCompile(born + `\b(\d{1,2})\s*[-./ ]\s*(\d{1,2})\s*[-./ ]\s*(\d{4})\b`)
	monthInner = regexp.MustCompile(born + `\b(\d{1,2})(?:st|nd|rd|th)?[\s./-]*(\pL{3,9})[\s.,/-]*(\d{4})\b`)
	monthOuter = regexp.MustCompile(born + `\b(\pL{3,9})[\s.]*(\d{1,2})(?:st|nd|rd|th)?[\s,]+(\d{4})\b`)
)

// apart stands where something was taken, so that its neighbours do not grow together.
const apart = " | "

// born is what may introduce a birth date.
const born = `(?:\b(?:b|born|dob)\b[.:]?\s*)?`

func takeEmails(query string, add func(string)) string {
	return emailWord.ReplaceAllStringFunc(query, func(word string) string {
		if word = strings.Trim(foldEmail(word), "."); word != "@" {
			add(word)
		}
		return " "
	})
}

func takePhones(shape *regexp.Regexp, query string, add func(string)) string {
	return shape.ReplaceAllStringFunc(query, func(text string) string {
		digits := digitsOf(text)
		if len(digits) < 5 || len(digits) > 15 || separateNumbers(text) {
			return text
		}
		add(numberTerm(digits))
		return apart
	})
}

// separateNumbers tells "1984 100234" from the groups of one phone number, whose first is a code of up to three digits
// or begins with 0.
func separateNumbers(text string) bool {
	groups := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	return text[0] != '+' && groups[0][0] != '0' && len(groups[0]) > 3 &&
		slices.ContainsFunc(groups, func(group string) bool { return len(group) > 5 })
}

func takeDates(query string, add func(string)) string {
	take := func(shape *regexp.Regexp, term func(a, b, c string) string) {
		query = shape.ReplaceAllStringFunc(query, func(text string) string {
			m := shape.FindStringSubmatch(text)
			found := term(m[1], m[2], m[3])
			if found == "" {
				return text
			}
			add(" " + found)
			return apart
		})
	}
	take(yearFirst, func(y, m, d string) string {
		if d == "" {
			return month(y, m)
		}
		return day(y, m, d)
	})
	take(yearLast, func(a, b, y string) string { return dayOrMonth(y, a, b) })
	take(monthInner, func(d, name, y string) string { return day(y, monthNumber(name), d) })
	take(monthOuter, func(name, d, y string) string { return day(y, monthNumber(name), d) })
	return query
}

// day is the term for a date that can be read in one way, "" if there is no such day.
func day(y, m, d string) string {
	date, err := ParseDate(y + "-" + twoDigits(m) + "-" + twoDigits(d))
	if err != nil || !plausible(date.Year) {
		return ""
	}
	return exactDay(date)
}

// dayOrMonth is the term for two numbers of which either may be the month.
func dayOrMonth(y, a, b string) string {
	dayFirst, monthFirst := day(y, b, a), day(y, a, b)
	switch {
	case dayFirst == "":
		return monthFirst
	case monthFirst == "":
		return dayFirst
	}
	date, _ := ParseDate(y + "-" + twoDigits(b) + "-" + twoDigits(a))
	return eitherDay(date)
}

// month is the beginning of the terms of all its days.
func month(y, m string) string {
	first := day(y, m, "1")
	return strings.TrimSuffix(first, "01")
}

// plausible keeps phone and record numbers from being read as dates.
func plausible(year int) bool { return year >= 1880 && year < 2100 }

func twoDigits(s string) string {
	if len(s) == 1 {
		return "0" + s
	}
	return s
}

// monthNumber reads an English or Danish month name or its beginning; "" if it is none.
func monthNumber(name string) string {
	for m := time.January; m <= time.December; m++ {
		for _, full := range []string{strings.ToLower(m.String()), danishMonths[m-1]} {
			if strings.HasPrefix(full, name) {
				return strconv.Itoa(int(m))
			}
		}
	}
	return ""
}

var danishMonths = [...]string{"januar", "februar", "marts", "april", "maj", "juni", "juli", "august", "september", "oktober",
	"november", "december"}
