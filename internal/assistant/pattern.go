package assistant

import (
	"errors"
	"slices"
	"strings"
)

// pattern is one way to say a rule: words, (one|of several), [perhaps], <a set of words>, {a slot}.
type pattern struct {
	rule  *rule
	seq   []node
	first map[string]bool // the words it can begin with; nil for any
}

// firsts adds the words a sequence can begin with; false when a slot can be first, or nothing of it is needed.
func firsts(seq []node, words map[string]bool) (known bool) {
	for _, n := range seq {
		switch {
		case n.slot != "":
			return false
		case n.word != "":
			words[n.word] = true
			return true
		}
		all := true
		for _, alt := range n.alts {
			all = firsts(alt, words) && all || len(alt) == 0 && all
		}
		if !all {
			return false
		}
		if !slices.ContainsFunc(n.alts, func(alt []node) bool { return len(alt) == 0 }) {
			return true
		}
	}
	return false
}

// begins reports whether the pattern can begin with the token.
func (p pattern) begins(t token) bool { return p.first == nil || p.first[t.word] || p.first[t.stem] }

// node is a literal, a slot, or alternatives.
type node struct {
	word, slot string
	alts       [][]node
}

// capture is what a slot took.
type capture struct {
	slot     string
	n        int
	bare     bool // a clock that could be of either half of the day
	text     string
	from, to int
}

func (g *Grammar) compile(say string) ([]node, error) {
	seq, rest, err := g.sequence(say, "")
	if err == nil && rest != "" {
		err = errors.New("unbalanced")
	}
	return seq, err
}

// sequence reads nodes up to one of the end characters.
func (g *Grammar) sequence(s, ends string) (seq []node, rest string, err error) {
	for s = strings.TrimLeft(s, " "); s != ""; s = strings.TrimLeft(s, " ") {
		switch c := s[0]; {
		case strings.IndexByte(ends, c) >= 0:
			return seq, s, nil
		case c == '(' || c == '[':
			n := node{}
			closing, stops := ")", "|)"
			if c == '[' {
				closing, stops = "]", "]"
				n.alts = append(n.alts, nil)
			}
			for s = s[1:]; ; s = s[1:] {
				var alt []node
				if alt, s, err = g.sequence(s, stops); err != nil || s == "" {
					return nil, "", errors.New("unbalanced")
				}
				n.alts = append(n.alts, alt)
				if s[0] == closing[0] {
					break
				}
			}
			s = s[1:]
			seq = append(seq, n)
		case c == '<':
			name, after, _ := strings.Cut(s[1:], ">")
			n := node{}
			for _, words := range g.lang.Sets[name] {
				alt, _, _ := g.sequence(words, "")
				n.alts = append(n.alts, alt)
			}
			if n.alts == nil {
				return nil, "", errors.New("no set " + name)
			}
			seq, s = append(seq, n), after
		case c == '{':
			name, after, _ := strings.Cut(s[1:], "}")
			if !slotNames[name] {
				return nil, "", errors.New("no slot " + name)
			}
			seq, s = append(seq, node{slot: name}), after
		default:
			end := strings.IndexAny(s, " ()[]|<{")
			if end < 0 {
				end = len(s)
			}
			if end == 0 {
				return nil, "", errors.New("unbalanced")
			}
			seq, s = append(seq, node{word: foldWord(s[:end])}), s[end:]
		}
	}
	return seq, "", nil
}

// span is a stretch of tokens with one meaning; a span without a rule is one token that no pattern knows.
type span struct {
	*rule
	caps     []capture
	from, to int // tokens, half open
	born     *Born
}

func (s span) cap(slot string) (capture, bool) {
	for _, c := range s.caps {
		if c.slot == slot {
			return c, true
		}
	}
	return capture{}, false
}

// match is the longest span at token i; of equal ones the first in the file.
func (r *reading) match(i int) span { return r.matchTo(i, len(r.tokens)) }

// matchTo is match within the tokens before limit.
func (r *reading) matchTo(i, limit int) span {
	best := span{from: i, to: i + 1}
	for _, p := range r.patterns {
		if !p.begins(r.tokens[i]) {
			continue
		}
		r.walk(p.seq, i, i, nil, func(end int, caps []capture) {
			if end > i && end <= limit && (best.rule == nil || end > best.to) {
				best = span{rule: p.rule, caps: append([]capture(nil), caps...), from: i, to: end}
			}
		})
	}
	return best
}

// walk calls done for every way in which the sequence fits from token i; start is where the whole pattern began.
func (r *reading) walk(seq []node, start, i int, caps []capture, done func(int, []capture)) {
	if len(seq) == 0 {
		done(i, caps)
		return
	}
	n := seq[0]
	if n.alts != nil {
		for _, alt := range n.alts {
			r.walk(alt, start, i, caps, func(end int, caps []capture) { r.walk(seq[1:], start, end, caps, done) })
		}
		return
	}
	if i >= len(r.tokens) || i > start && r.tokens[i-1].after != 0 || r.tokens[i].quote {
		return
	}
	if n.word != "" {
		if r.tokens[i].is(n.word) {
			r.walk(seq[1:], start, i+1, caps, done)
		}
		return
	}
	for _, c := range r.slot(n.slot, i) {
		c.slot, c.from = n.slot, i
		r.walk(seq[1:], start, c.to, append(caps[:len(caps):len(caps)], c), done)
	}
}
