package assistant

import (
	"slices"
	"strings"
)

// lexicon is the span of a name of the clinic's at token i, if there is one: a practitioner by title and any of the
// names, by full name, or by one name after "with"; a place or a type by its full name, or by one of its words after
// "at". A name that could be of several is "practitioner.many" or "location.many", whose Value lists them.
func (r *reading) lexicon(i int) span {
	if s := r.practitioner(i); s.rule != nil {
		return s
	}
	if s := r.named(i, "location", r.r.Names.Locations); s.rule != nil {
		return s
	}
	return r.named(i, "type", r.r.Names.Types)
}

// nameParts are the folded words of a name.
func nameParts(name string) (parts []string) {
	for word := range strings.FieldsSeq(name) {
		if w := foldWord(word); w != "" {
			parts = append(parts, w)
		}
	}
	return parts
}

// nameParts of a name of the lexicon are folded once for a message.
func (r *reading) nameParts(name string) []string {
	parts, ok := r.folded[name]
	if !ok {
		parts = nameParts(name)
		r.folded[name] = parts
	}
	return parts
}

// follows is how many tokens from i say the parts in this order; 0 when they do not.
func (r *reading) follows(i int, parts []string) int {
	for n, part := range parts {
		if i+n >= len(r.tokens) || r.tokens[i+n].quote || !r.tokens[i+n].is(part) || n > 0 && r.tokens[i+n-1].after != 0 {
			return 0
		}
	}
	return len(parts)
}

func (r *reading) practitioner(i int) span {
	titled := r.is("title", r.tokens[i].word) && r.tokens[i].after == 0
	from := i
	if titled {
		from++
	}
	var found []string
	length := 0
	for _, name := range r.r.Names.Practitioners {
		parts := r.nameParts(name)
		for len(parts) > 1 && r.is("title", parts[0]) {
			parts = parts[1:]
		}
		n := r.follows(from, parts)
		if n == 0 && (titled || r.alone(from, AskPractitioner)) {
			for _, part := range parts {
				n = max(n, r.follows(from, []string{part}))
			}
		}
		switch {
		case n == 0 || n < length:
		case n > length:
			found, length = []string{name}, n
		default:
			found = append(found, name)
		}
	}
	return lexiconSpan("practitioner", found, i, from+length)
}

func lexiconSpan(means string, found []string, from, to int) span {
	slices.Sort(found)
	switch found = slices.Compact(found); len(found) {
	case 0:
		return span{}
	case 1:
		return span{rule: &rule{Means: means, Value: found[0]}, from: from, to: to}
	}
	return span{rule: &rule{Means: means + ".many", Value: strings.Join(found, ", ")}, from: from, to: to}
}

// alone reports whether one word at token i may name something by itself: it is the answer to that question, all of the
// message, or stands behind a word such as "with" and not before another name.
func (r *reading) alone(i int, ask string) bool {
	if i >= len(r.tokens) {
		return false
	}
	if r.r.Asks == ask || len(r.tokens) == 1 {
		return true
	}
	return i > 0 && r.tokens[i-1].after == 0 && r.is("by", r.tokens[i-1].word)
}

// named finds a place or a type.
func (r *reading) named(i int, means string, names []string) span {
	var found, part []string
	length := 0
	for _, name := range names {
		parts := r.nameParts(name)
		if n := r.follows(i, parts); n > length {
			found, length = []string{name}, n
		}
		ask := AskLocation
		if means == "type" {
			ask = AskType
		}
		behind := i+1 < len(r.tokens) && r.tokens[i].after == 0 && r.is("visit", r.tokens[i+1].word)
		if means == "location" && r.alone(i, ask) || means == "type" && (behind || r.r.Asks == ask) {
			for _, p := range parts {
				if strings.Trim(p, "0123456789") != "" && r.tokens[i].is(p) {
					part = append(part, name)
				}
			}
		}
	}
	if length == 0 && len(part) > 0 {
		found, length = part, 1
	}
	s := lexiconSpan(means, found, i, i+length)
	if s.rule != nil && means == "type" && r.partOfName(i) {
		return span{}
	}
	return s
}

// partOfName: in "book Peter Long" the type Long is a surname, being written large behind one large word.
func (r *reading) partOfName(i int) bool {
	if i == 0 || !r.tokens[i].large() || !r.tokens[i-1].large() || r.tokens[i-1].after != 0 || r.tokens[i-1].poss || !r.unknown(i-1) {
		return false
	}
	behind := i+1 < len(r.tokens) && r.tokens[i].after == 0 && r.is("visit", r.tokens[i+1].word)
	return !behind && !(i > 1 && r.unknown(i-2) && r.tokens[i-2].after == 0)
}

// unknown reports a word that no pattern begins with.
func (r *reading) unknown(i int) bool {
	t := r.tokens[i]
	if t.quote || t.digits || r.is("breaks", t.word) {
		return false
	}
	for _, p := range r.patterns {
		if p.seq[0].slot == "" && p.seq[0].alts == nil && len(p.seq) == 1 && t.is(p.seq[0].word) {
			return false
		}
	}
	return !r.startsAct(i)
}

func (r *reading) startsAct(i int) bool { return strings.HasPrefix(r.plain(i).means(), "act") }
