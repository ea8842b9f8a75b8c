package assistant

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"countersign/internal/clinic"
)

// slotNames are what patterns may ask for in braces.
var slotNames = map[string]bool{"month": true, "weekday": true, "number": true, "digits": true, "hour": true, "hourword": true,
	"minute": true, "minword": true, "day": true, "dayth": true, "year": true, "ordinal": true, "iso": true, "named": true,
	"slashed": true, "minus": true, "clock": true, "time": true, "type": true, "practitioner": true, "word": true}

var (
	clockShape   = regexp.MustCompile(`^(\d{1,2}[:.]\d{2}(am|pm)?|\d{1,2}(am|pm))$`)
	hourShape    = regexp.MustCompile(`^(\d{1,2})h(\d{2})$`)
	isoShape     = regexp.MustCompile(`^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}$`)
	namedShape   = regexp.MustCompile(`^(\d{1,2})[-.](\pL{3,9})(?:[-.](\d{4}))?$`)
	slashedShape = regexp.MustCompile(`^(\d{1,2})([-/.])(\d{1,2})(?:[-/.](\d{4}))?$`)
)

// slot is every way in which the slot can be filled from token i.
func (r *reading) slot(name string, i int) []capture {
	t := r.tokens[i]
	one := func(n int, ok bool) []capture {
		if !ok {
			return nil
		}
		return []capture{{n: n, text: t.raw, to: i + 1}}
	}
	number, err := strconv.Atoi(t.word)
	plain := err == nil && t.word[0] != '+' && t.word[0] != '-'
	switch name {
	case "month":
		n, ok := r.lang.Months[t.word]
		return one(n, ok)
	case "weekday":
		n, ok := r.lang.Weekdays[t.stem]
		if !ok { // tuesdays
			n, ok = r.lang.Weekdays[strings.TrimSuffix(t.word, "s")]
			ok = ok && len(t.word) > 6
		}
		return one(n, ok)
	case "number":
		if strings.Trim(t.word, "0123456789") == "" && !r.minus(i) {
			if len(t.word) > 6 {
				number = 999999
			}
			return one(number, true)
		}
		n, ok := r.lang.Numbers[t.word]
		return one(n, ok)
	case "minus":
		return one(-number, err == nil && r.minus(i))
	case "digits":
		return one(number, plain && number > 0 && number < 100)
	case "ordinal":
		n, ok := r.lang.Ordinals[t.word]
		if !ok {
			n, ok = r.dayNumber(t.word, true)
		}
		return one(n, ok)
	case "day":
		n, ok := r.dayNumber(t.word, false)
		return one(n, ok)
	case "dayth":
		n, ok := r.dayNumber(t.word, true)
		return one(n, ok)
	case "year":
		return one(number, plain && len(t.word) == 4 && number >= 1900 && number < 2200)
	case "iso":
		return one(0, isoShape.MatchString(t.word))
	case "named":
		m := namedShape.FindStringSubmatch(t.word)
		return one(0, m != nil && r.lang.Months[m[2]] > 0)
	case "slashed":
		m := slashedShape.FindStringSubmatch(t.word)
		return one(0, m != nil && (m[4] != "" || m[2] == "/" || m[2] == "." && len(m[3]) == 2 && (atoi(m[1]) > 23 || r.behindDay(i))))
	case "word":
		return one(0, !t.digits)
	case "type", "practitioner":
		if s := r.lexicon(i); s.rule != nil && s.Means == name {
			return []capture{{text: s.Value, to: s.to}}
		}
		return nil
	case "hourword":
		n, ok := r.lang.Hours[t.word]
		if c := one(n*60, ok); ok {
			c[0].bare = true
			return c
		}
	case "hour":
		if plain && len(t.word) <= 2 && number < 24 {
			c := one(number*60, true)
			c[0].bare = number > 0 && number <= 12 && t.word[0] != '0'
			return c
		}
		return r.slot("hourword", i)
	case "minute":
		if plain && len(t.word) <= 2 && number > 0 && number < 60 {
			return one(number, true)
		}
		return r.slot("minword", i)
	case "minword":
		n, ok := r.lang.Minutes[t.word]
		if i+1 < len(r.tokens) && t.after == 0 {
			if both, found := r.lang.Minutes[t.word+r.tokens[i+1].word]; found {
				return []capture{{n: both, to: i + 2}}
			}
		}
		return one(n, ok)
	case "clock":
		return r.clockSlot(i)
	case "time":
		best := span{}
		for _, p := range r.patterns {
			if !p.begins(t) || p.rule.From != nil || p.rule.Until != nil { // the part of the day is read by itself
				continue
			}
			if p.rule.Means == "clock" || p.rule.Means == "clock.at" || p.rule.Means == "clock.past" || p.rule.Means == "clock.hour" {
				r.walk(p.seq, i, i, nil, func(end int, caps []capture) {
					if end > best.to {
						best = span{rule: p.rule, caps: slices.Clone(caps), from: i, to: end}
					}
				})
			}
		}
		if best.rule == nil {
			return r.slot("hour", i)
		}
		n, bare, _ := clockOf(best)
		return []capture{{n: n, bare: bare, text: r.source(best.from, best.to), to: best.to}}
	}
	return nil
}

// minus reports a number with a sign of its own: not the hyphen of a stretch.
func (r *reading) minus(i int) bool {
	before := r.text[:r.tokens[i].from]
	rest := strings.TrimSuffix(strings.TrimSuffix(before, "-"), "−")
	return rest != before && (rest == "" || strings.HasSuffix(rest, " ") || strings.HasSuffix(rest, "("))
}

// behindDay: "on 3.12" and "Thu 3.12" are dates, where "3.12" could be a time.
func (r *reading) behindDay(i int) bool {
	if i == 0 || r.tokens[i-1].after != 0 && r.tokens[i-1].after != '.' {
		return false
	}
	_, weekday := r.lang.Weekdays[r.tokens[i-1].word]
	return weekday && r.tokens[i].after == '.' || r.is("day_words", r.tokens[i-1].word)
}

// dayNumber reads 27 or, when a language's ending is asked for, 27th.
func (r *reading) dayNumber(word string, ending bool) (int, bool) {
	digits := strings.TrimRightFunc(word, func(c rune) bool { return !unicode.IsDigit(c) })
	if rest := word[len(digits):]; ending && rest == "" || rest != "" && !slices.Contains(r.lang.OrdinalEndings, rest) {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && len(digits) <= 2 && n >= 1 && n <= 31
}

// clockSlot reads 10:30, 10.30, 5pm and 5 pm with clinic.ParseClock. A time of the first twelve hours without am or pm and
// without a leading zero could be of either half of the day.
func (r *reading) clockSlot(i int) (found []capture) {
	t := r.tokens[i]
	try := func(s string, to int) {
		if !clockShape.MatchString(s) {
			return
		}
		if n, err := clinic.ParseClock(s); err == nil {
			bare := t.word[0] != '0' && n >= 60 && n < 13*60 && !strings.HasSuffix(s, "m")
			found = append(found, capture{n: n, bare: bare, text: s, to: to})
		}
	}
	try(hourShape.ReplaceAllString(t.word, "$1:$2"), i+1)
	if i+1 < len(r.tokens) && t.after == 0 && t.digits {
		if half := r.tokens[i+1].word; half == "am" || half == "pm" {
			try(t.word+half, i+2)
		}
	}
	return found
}
