package assistant

import (
	"regexp"
	"strings"
)

// A time that is said in another zone is never read as the clock at the location: it is asked about.

var offsetShape = regexp.MustCompile(`^(utc|gmt)[+-]\d`)

// zoned reports a zone right behind a time, or in capitals right before it, and takes its tokens from the names. The
// city of the location's own zone is no other zone. What stands for a zone: an abbreviation, a word such as "Eastern",
// somebody's or some place's "time", and "in" some place that nobody here knows.
func (r *reading) zoned(s span) bool {
	i := s.to
	if r.zoneWord(s.from - 1) {
		r.markZone(s.from-1, s.from)
		return true
	}
	if i >= len(r.tokens) || !strings.ContainsRune(" (", orSpace(r.tokens[i-1].after)) {
		return false
	}
	end, from := i, i
	switch t := r.tokens[i]; {
	case r.is("zones", t.word) || offsetShape.MatchString(t.word):
		for end = i + 1; end < len(r.tokens) && r.tokens[end-1].after == 0 && (r.is("zone_ends", r.tokens[end].word) || r.text[r.tokens[end-1].to] == '/'); end++ {
		}
		from = -1 // the words are a zone's whatever they are
	default:
		if end = r.endsInTime(i); end == i && r.is("zone_in", t.word) && t.after == 0 {
			from = i + 1
			for end = from; end < len(r.tokens) && r.placeWord(end) && (end == from || r.tokens[end-1].after == 0); end++ {
			}
			if end == from {
				end = i
			}
		}
	}
	if end == i {
		return false
	}
	r.markZone(i, end)
	if from < 0 {
		return true
	}
	zone := r.r.Now.Location().String()
	city := foldWord(zone[strings.LastIndexByte(zone, '/')+1:])
	said := ""
	for _, t := range r.tokens[from:end] {
		if !r.is("zone_ends", t.word) {
			said += t.word
		}
	}
	return said != city
}

// endsInTime is the end of up to three words and "time" at token i, one of them of somebody or of nothing known; i if
// there is no such phrase.
func (r *reading) endsInTime(i int) int {
	foreign := false
	for j := i; j < len(r.tokens) && j < i+4 && (j == i || r.tokens[j-1].after == 0); j++ {
		word := r.tokens[j].word
		if r.is("zone_ends", word) && foreign {
			return j + 1
		}
		foreign = foreign || r.is("zone_of", word) || r.placeWord(j)
	}
	return i
}

// placeWord reports a word that no pattern and no name of the clinic's begins.
func (r *reading) placeWord(i int) bool {
	for _, s := range r.spans {
		if s.from <= i && i < s.to {
			return (s.rule == nil || s.Means == "zone") && !r.tokens[i].digits && !r.tokens[i].quote && !r.is("breaks", r.tokens[i].word) || r.is("zone_parts", r.tokens[i].word)
		}
	}
	return false
}

// zoneWord reports an abbreviation of a zone in capitals at token i.
func (r *reading) zoneWord(i int) bool {
	if i < 0 || i >= len(r.tokens) {
		return false
	}
	t := r.tokens[i]
	return r.is("zones", t.word) && len(t.raw) >= 3 && len(t.raw) <= 4 && strings.ToUpper(t.raw) == t.raw && t.after == 0
}

func (r *reading) markZone(from, to int) {
	for n, s := range r.spans {
		if s.from >= from && s.to <= to {
			r.spans[n].rule = &rule{Means: "zone"}
		}
	}
}

// askZone asks about a time of another zone. The one time that was said is offered, as the location's own.
func (r *reading) askZone(t timeOfDay) {
	said := ""
	switch {
	case t.clock != nil:
		n, ok := r.half(*t.clock, t.part)
		if said = wall(n); !ok {
			said = t.clock.text
		} else if len(t.several) == 0 {
			r.m.Zoned = &n
		}
	case t.from != nil:
		said = t.from.text
	case t.until != nil:
		said = t.until.text
	}
	r.ask("zone", r.r.Now.Location().String(), said)
}

// zoneByClock reports an abbreviation of a zone beside a number: "10 EST" names nobody.
func (r *reading) zoneByClock(i int) bool {
	return r.zoneWord(i) && (i > 0 && r.tokens[i-1].digits || i+1 < len(r.tokens) && r.tokens[i+1].digits)
}
