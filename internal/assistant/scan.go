package assistant

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"countersign/internal/clinic"
)

// token is one word of a message.
type token struct {
	raw      string // as written, without signs around it
	word     string // folded, without spaces; with digits in it: in lower case, signs kept
	stem     string // word without the s of a possessive
	poss     bool   // written with ’s
	digits   bool   // holds a digit
	quote    bool   // a stretch in quotation marks, or a quoted line: data
	after    rune   // the sign behind it that ends a phrase; 0 for none
	from, to int    // bytes of the text
}

func (t token) is(word string) bool { return t.word == word || t.stem == word }

// large reports a word that begins with a capital letter.
func (t token) large() bool {
	r, _ := utf8.DecodeRuneInString(t.raw)
	return unicode.IsUpper(r) || unicode.IsTitle(r)
}

// foldWord is clinic.Fold without spaces: e-mail and email are one word.
func foldWord(s string) string { return strings.ReplaceAll(clinic.Fold(s), " ", "") }

var (
	joinedInstant = regexp.MustCompile(`(?i)^(\d{4}-\d{1,2}-\d{1,2})t(\d{1,2}:\d{2})(?::\d{2}(?:\.\d+)?)?(z|[+-]\d{2}:?\d{2})?$`)
	zonedClock    = regexp.MustCompile(`(?i)^(\d{1,2}[:.]\d{2})(z|[+-]\d{2}:?\d{2}|[a-z]{3,4})$`)
	possessive    = regexp.MustCompile(`(?i)['’‘´` + "`" + `]s$`)
)

// quotes by their opening mark. A single straight one is an apostrophe.
var quotes = map[rune]rune{'"': '"', '“': '”', '”': '”', '„': '“', '«': '»', '»': '«', '「': '」'}

// scan takes a text apart. Quotation marks without their twin quote to the end: what follows is data, not a request.
func (g *Grammar) scan(text string) (tokens []token) {
	end := func(r rune) {
		if n := len(tokens); n > 0 && (tokens[n-1].after == 0 || tokens[n-1].after == ',' || r == '\n') {
			tokens[n-1].after = r
		}
	}
	lineStart := true
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		closing := quotes[r]
		switch {
		case r == '\n':
			end(r)
			lineStart, i = true, i+size
			continue
		case unicode.IsSpace(r):
			i += size
			continue
		case r == '>' && lineStart: // a line quoted from another message
			to := i + strings.IndexByte(text[i:]+"\n", '\n')
			end(r)
			tokens = append(tokens, token{raw: strings.TrimLeft(text[i:to], "> "), quote: true, after: '\n', from: i, to: to})
			i = to
			continue
		case closing != 0:
			to, next := len(text), len(text)
			if n := strings.IndexFunc(text[i+size:], func(c rune) bool { return c == closing || closing == '“' && c == '”' }); n >= 0 {
				to = i + size + n
				_, w := utf8.DecodeRuneInString(text[to:])
				next = to + w
			}
			tokens = append(tokens, token{raw: strings.TrimSpace(text[i+size : to]), quote: true, after: '"', from: i, to: next})
			lineStart, i = false, next
			continue
		}
		lineStart = false
		to := i
		for to < len(text) {
			c, w := utf8.DecodeRuneInString(text[to:])
			if unicode.IsSpace(c) || quotes[c] != 0 || strings.ContainsRune("–—;!?()[]{}|<>=…", c) {
				break
			}
			if strings.ContainsRune(",:*\\", c) && !(digitAt(text, to-1) && digitAt(text, to+w)) {
				break
			}
			to += w
		}
		if to == i { // a sign alone
			end(r)
			i += size
			continue
		}
		tokens = g.word(tokens, text, i, to)
		i = to
	}
	return tokens
}

func digitAt(s string, i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }

// word adds the token, or tokens, of one stretch without spaces.
func (g *Grammar) word(tokens []token, text string, from, to int) []token {
	for from < to && strings.IndexByte(".,-/'#&~_+", text[from]) >= 0 && !(text[from] == '+' && digitAt(text, from+1)) {
		from++
	}
	var after rune
	for to > from && strings.IndexByte(".,/'-&~_+%", text[to-1]) >= 0 {
		if c := text[to-1]; c == '.' || c == ',' || c == '/' {
			after = rune(c)
		}
		to--
	}
	if from == to {
		return tokens
	}
	raw := text[from:to]
	add := func(raw string, from, to int) {
		t := token{raw: raw, from: from, to: to, digits: strings.ContainsAny(raw, "0123456789")}
		if t.digits || strings.Contains(raw, "@") {
			t.word = strings.ToLower(raw)
		} else {
			t.word = foldWord(raw)
		}
		t.stem = t.word
		if possessive.MatchString(raw) {
			t.poss, t.stem = true, strings.TrimSuffix(t.word, "s")
			if t.digits {
				t.word = possessive.ReplaceAllString(t.word, "")
				t.stem = t.word
			}
		}
		if t.word != "" {
			tokens = append(tokens, t)
		}
	}
	if m := joinedInstant.FindStringSubmatchIndex(raw); m != nil {
		add(raw[m[2]:m[3]], from+m[2], from+m[3])
		add(raw[m[4]:m[5]], from+m[4], from+m[5])
		if m[6] >= 0 {
			add("utc", from+m[6], from+m[7])
		}
	} else if m := zonedClock.FindStringSubmatchIndex(raw); m != nil && (text[from+m[4]] == '+' || text[from+m[4]] == '-' || g.is("zones", strings.ToLower(raw[m[4]:m[5]]))) {
		add(raw[m[2]:m[3]], from+m[2], from+m[3])
		add("utc", from+m[4], from+m[5])
	} else if strings.Contains(raw, "/") && !strings.ContainsAny(raw, "0123456789@") {
		for part := range strings.SplitSeq(raw, "/") {
			add(part, from, from+len(part))
			from += len(part) + 1
		}
	} else {
		add(raw, from, to)
	}
	if n := len(tokens); n > 0 && after != 0 {
		last := &tokens[n-1]
		if short := g.is("abbreviations", last.word) || utf8.RuneCountInString(last.word) == 1; !(short && after == '.') {
			last.after = after
		}
	}
	return tokens
}
