package assistant

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign/internal/clinic"
)

// saidDay is one phrase about a day: the days it can be (days), every day of a stretch (days[0] to end), or any day of that
// weekday (also given as days, the next ones).
type saidDay struct {
	days    []clinic.Date
	end     clinic.Date
	weekday *time.Weekday
	text    string

	from, to int // its tokens
}

// dayOf reads a day span. No past day ever comes out: what lies in the past is asked about. Nothing depends on the day
// a week starts with, other than "next week", which is Monday to Sunday; a weekday of next week that differs between
// the two habits has two readings. A date without a year is the next one ahead.
func (r *reading) dayOf(s span) (d saidDay, ok bool) {
	d.text = r.source(s.from, s.to)
	if r.minus(s.from) {
		d.text = "-" + d.text
	}
	number := func(slot string) int { c, _ := s.cap(slot); return c.n }
	weekday := time.Weekday(number("weekday"))
	ahead := func(from clinic.Date) clinic.Date { // that weekday on or after
		return from.AddDays((int(weekday-from.Weekday()) + 7) % 7)
	}
	monday := r.today.AddDays(-(int(r.today.Weekday()) + 6) % 7)
	one := func(day clinic.Date) (saidDay, bool) { d.days = []clinic.Date{day}; return d, true }
	switch s.Means {
	case "day.offset":
		return one(r.today.AddDays(s.N))
	case "day.days":
		n := 1
		if c, said := s.cap("number"); said {
			n = c.n
		}
		if n == 0 || n*s.N > farthest {
			return r.notFar(d, r.today.AddDays(min(n*s.N, farthest+1)), n)
		}
		return one(r.today.AddDays(n * s.N))
	case "day.months":
		n := number("number")
		return r.notFar(d, addMonths(r.today, min(n, farthest)), n)
	case "day.on":
		if r.r.On.IsZero() {
			r.ask("day_after_what", d.text)
			return d, false
		}
		return r.notPast(d, r.r.On.AddDays(s.N))
	case "day.weekday":
		next := ahead(r.today)
		d.weekday, d.days = &weekday, []clinic.Date{next}
		if next == r.today { // said on that very day: today or in a week
			d.days = append(d.days, next.AddDays(7))
		}
		return d, true
	case "day.weekday.next": // the coming one to some, the one after to others
		next := ahead(r.today.AddDays(1))
		d.days = []clinic.Date{next, next.AddDays(7)}
		return d, true
	case "day.weekday.on":
		next := ahead(r.today)
		d.days = []clinic.Date{next.AddDays(s.N)}
		if next == r.today {
			d.days = append(d.days, next.AddDays(7+s.N))
		}
		return d, true
	case "day.week.weekday":
		sunday := r.today.AddDays(-int(r.today.Weekday()))
		d.days = []clinic.Date{ahead(monday.AddDays(7 * s.N)), ahead(sunday.AddDays(7 * s.N))}
		d.days = ascending(d.days)
		return d, true
	case "day.week":
		d.days, d.end = []clinic.Date{latest(r.today, monday.AddDays(7*s.N))}, monday.AddDays(7*s.N+6)
		return d, true
	case "day.weekend":
		d.days, d.end = []clinic.Date{latest(r.today, monday.AddDays(5))}, monday.AddDays(6)
		return d, true
	case "day.month", "day.month.named":
		return r.monthOf(d, s, number("month"), number("year"))
	case "day.past":
		r.ask("day_past", d.text)
	case "day.vague":
		r.ask("day_vague", d.text)
	case "day.date":
		n := number("day")
		if n == 0 {
			n = number("ordinal")
		}
		return r.dateOf(d, number("year"), number("month"), n)
	case "day.ofmonth":
		n := number("dayth")
		if n == 0 {
			n = number("day")
		}
		first := clinic.Date{Year: r.today.Year, Month: r.today.Month, Day: 1}
		for i := range 12 {
			if day, ok := civil(addMonths(first, i).Year, int(addMonths(first, i).Month), n); ok && !day.Before(r.today) {
				return one(day)
			}
		}
		r.ask("day_none", d.text)
	case "day.iso":
		c, _ := s.cap("iso")
		p := strings.FieldsFunc(c.text, func(c rune) bool { return c < '0' || c > '9' })
		return r.dateOf(d, atoi(p[0]), atoi(p[1]), atoi(p[2]))
	case "day.named":
		c, _ := s.cap("named")
		m := namedShape.FindStringSubmatch(strings.ToLower(c.text))
		return r.dateOf(d, atoi(m[3]), r.lang.Months[m[2]], atoi(m[1]))
	case "day.numeric":
		c, _ := s.cap("slashed")
		m := slashedShape.FindStringSubmatch(c.text)
		return r.numeric(d, m[2], atoi(m[1]), atoi(m[3]), atoi(m[4]))
	}
	return d, false
}

// numeric reads 27/10. With points or hyphens the day is first; with a slash either can be, and 3/4 is a question.
func (r *reading) numeric(d saidDay, sign string, a, b, year int) (saidDay, bool) {
	if sign != "/" || a == b || b > 12 == (a > 12) && a > 12 {
		return r.dateOf(d, year, b, a)
	}
	switch {
	case a > 12:
		return r.dateOf(d, year, b, a)
	case b > 12:
		return r.dateOf(d, year, a, b)
	}
	before := len(r.unsure)
	dayFirst, one := r.dateOf(d, year, b, a)
	monthFirst, two := r.dateOf(d, year, a, b)
	if one || two {
		r.unsure = r.unsure[:before]
	}
	d.days = ascending(append(dayFirst.days, monthFirst.days...))
	return d, len(d.days) > 0
}

// dateOf is a date of the calendar; year 0 is the next one ahead.
func (r *reading) dateOf(d saidDay, year, month, day int) (saidDay, bool) {
	if year != 0 {
		found, ok := civil(year, month, day)
		if !ok {
			r.ask("day_none", d.text)
			return d, false
		}
		return r.notPast(d, found)
	}
	for i := range 9 { // 29 February: eight years apart at most
		if found, ok := civil(r.today.Year+i, month, day); ok && !found.Before(r.today) {
			d.days = []clinic.Date{found}
			return d, true
		}
	}
	r.ask("day_none", d.text)
	return d, false
}

func (r *reading) notPast(d saidDay, day clinic.Date) (saidDay, bool) {
	if day.Before(r.today) {
		r.ask("day_past", d.text)
		return d, false
	}
	return r.notFar(d, day, 1)
}

// farthest is how many days ahead something is planned at most; what is said beyond is asked about.
const farthest = 3 * 366

// notFar takes a day that is near enough; n is the number by which it was said, and none is no day.
func (r *reading) notFar(d saidDay, day clinic.Date, n int) (saidDay, bool) {
	switch {
	case n == 0:
		r.ask("day_vague", d.text)
		return d, false
	case day.After(r.today.AddDays(farthest)):
		r.ask("day_far", d.text)
		return d, false
	}
	d.days = []clinic.Date{day}
	return d, true
}

func (r *reading) monthOf(d saidDay, s span, month, year int) (saidDay, bool) {
	first := clinic.Date{Year: r.today.Year, Month: r.today.Month, Day: 1}
	switch {
	case s.Means == "day.month":
		first = addMonths(first, s.N)
	case year != 0:
		first = clinic.Date{Year: year, Month: time.Month(month), Day: 1}
	default:
		for int(first.Month) != month {
			first = addMonths(first, 1)
		}
	}
	end := addMonths(first, 1).AddDays(-1)
	if end.Before(r.today) {
		r.ask("day_past", d.text)
		return d, false
	}
	if _, ok := r.notFar(d, first, 1); !ok {
		return d, false
	}
	d.days, d.end = []clinic.Date{latest(first, r.today)}, end
	return d, true
}

// resolveDays makes one answer of all that was said of the day: what the phrases share, or all of them when they were
// joined by "or". clock is the exact time, if known: a weekday said on that day after that time is next week's.
func (r *reading) resolveDays(said []saidDay, or bool, clock *int) (days []clinic.Date, end clinic.Date) {
	if len(said) == 0 {
		return nil, clinic.Date{}
	}
	now := r.r.Now.Hour()*60 + r.r.Now.Minute()
	for i, d := range said {
		if d.weekday != nil && len(d.days) == 2 && clock != nil && *clock <= now {
			said[i].days = d.days[1:]
		}
	}
	if len(said) == 1 {
		return said[0].days, said[0].end
	}
	if or {
		for _, d := range said {
			days = append(days, d.days...)
		}
		return ascending(days), clinic.Date{}
	}
	slices.SortStableFunc(said, func(a, b saidDay) int { return breadth(a) - breadth(b) })
	for _, day := range said[0].every() {
		if !slices.ContainsFunc(said[1:], func(o saidDay) bool { return !o.holds(day) }) {
			days = append(days, day)
		}
	}
	if len(days) == 0 {
		var texts []string
		for _, d := range said {
			texts = append(texts, d.text)
		}
		r.ask("days_differ", strings.Join(texts, ", "))
	}
	return ascending(days), clinic.Date{}
}

// breadth orders phrases from days by themselves over weekdays to stretches; a weekday goes through a stretch's days.
func breadth(d saidDay) int {
	switch {
	case d.weekday != nil:
		return 2
	case !d.end.IsZero():
		return 1
	}
	return 0
}

func (d saidDay) every() []clinic.Date {
	if d.end.IsZero() {
		return d.days
	}
	var all []clinic.Date
	for day := d.days[0]; !day.After(d.end); day = day.AddDays(1) {
		all = append(all, day)
	}
	return all
}

func (d saidDay) holds(day clinic.Date) bool {
	switch {
	case d.weekday != nil:
		return day.Weekday() == *d.weekday
	case !d.end.IsZero():
		return !day.Before(d.days[0]) && !day.After(d.end)
	}
	return slices.Contains(d.days, day)
}

func ascending(days []clinic.Date) []clinic.Date {
	slices.SortFunc(days, clinic.Date.Compare)
	return slices.Compact(days)
}

func latest(a, b clinic.Date) clinic.Date {
	if a.Before(b) {
		return b
	}
	return a
}

// civil is a day of the calendar between 1900 and 2199.
func civil(y, month, day int) (clinic.Date, bool) {
	d := clinic.Date{Year: y, Month: time.Month(month), Day: day}
	return d, y >= 1900 && y < 2200 && month >= 1 && month <= 12 && day >= 1 && d.AddDays(0) == d
}

// addMonths is the same day of a later month, or that month's last day when it has no such day.
func addMonths(from clinic.Date, n int) clinic.Date {
	months := from.Year*12 + int(from.Month) - 1 + n
	for day := from.Day; ; day-- {
		if d, ok := civil(months/12, months%12+1, day); ok || day <= 1 {
			return d
		}
	}
}

func atoi(s string) int { n, _ := strconv.Atoi(s); return n }
