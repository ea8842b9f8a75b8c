package assistant

import (
	"strconv"
	"strings"
)

// readBorn reads the date behind words such as "born": all of one, or only a year, a month, a day. Two digits are a
// year of the past; where they can be of two centuries the words are asked about.
func (r *reading) readBorn(s span) span {
	i := s.to
	take := func(b *Born, to int) span {
		s.born, s.to = b, to
		return s
	}
	if i >= len(r.tokens) || r.tokens[i].quote {
		return s
	}
	if day := r.withYear(r.match(i)); strings.HasPrefix(day.means(), "day") {
		if b, _ := r.born(day); b != nil {
			return take(b, day.to)
		}
	}
	t := r.tokens[i]
	if month, ok := r.lang.Months[t.word]; ok {
		if i+1 < len(r.tokens) {
			if year := r.slot("year", i+1); year != nil {
				return take(&Born{Year: year[0].n, Month: month}, i+2)
			}
		}
		return take(&Born{Month: month}, i+1)
	}
	digits := strings.TrimLeft(t.raw, "'’‘")
	if n, err := strconv.Atoi(digits); err == nil {
		switch {
		case len(digits) == 4 && n >= 1880 && n <= r.today.Year:
			return take(&Born{Year: n}, i+1)
		case len(digits) == 2 && n > r.today.Year%100:
			return take(&Born{Year: 1900 + n}, i+1)
		case len(digits) == 2:
			s.to = i + 1
			r.ask("year", n, n)
		}
	}
	return s
}

// born reads a day span as a birth. The text is YYYY-MM-DD if it is a whole date that can be read in one way.
func (r *reading) born(s span) (b *Born, text string) {
	number := func(slot string) int { c, _ := s.cap(slot); return c.n }
	switch s.means() {
	case "day.iso":
		c, _ := s.cap("iso")
		p := strings.FieldsFunc(c.text, func(c rune) bool { return c < '0' || c > '9' })
		b = &Born{atoi(p[0]), atoi(p[1]), atoi(p[2])}
	case "day.named":
		c, _ := s.cap("named")
		m := namedShape.FindStringSubmatch(strings.ToLower(c.text))
		b = &Born{atoi(m[3]), r.lang.Months[m[2]], atoi(m[1])}
	case "day.date":
		b = &Born{number("year"), number("month"), max(number("day"), number("ordinal"))}
	case "day.month.named":
		b = &Born{Year: number("year"), Month: number("month")}
	case "day.numeric":
		c, _ := s.cap("slashed")
		m := slashedShape.FindStringSubmatch(c.text)
		first, second, year := atoi(m[1]), atoi(m[3]), atoi(m[4])
		switch {
		case second > 12:
			b = &Born{year, first, second}
		case m[2] == "/" && first <= 12 && first != second:
			return &Born{Year: year}, "" // either could be the month
		default:
			b = &Born{year, second, first}
		}
	default:
		return nil, ""
	}
	return b, r.fullDate(*b)
}
