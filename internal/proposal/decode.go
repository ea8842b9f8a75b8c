package proposal

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// SyntaxError says at which byte strict JSON was left, and why. It holds nothing
// of the input, so it may be shown and logged.
type SyntaxError struct {
	Offset int
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("malformed JSON at byte %d: %s", e.Offset, e.Reason)
}

// DecodeStrict reads one JSON object of the canonical form's profile (see
// Canonical), in any member order and with any white space. It serves stored
// plans and API request bodies alike, so nothing is guessed: duplicate members at
// any depth, floats, exponents, -0, leading zeros, lone surrogates, invalid
// UTF-8, a byte order mark, raw control characters, more than MaxDepth levels and
// anything after the object are refused. Names are kept exactly as written. The
// error is a *SyntaxError.
//
// The result holds nil, bool, int64, string, []any and map[string]any only, and
// does not alias b.
func DecodeStrict(b []byte) (map[string]any, error) {
	d := decoder{s: string(b)}
	if strings.HasPrefix(d.s, "\ufeff") {
		return nil, &SyntaxError{0, "byte order mark"}
	}
	if !utf8.ValidString(d.s) {
		return nil, &SyntaxError{invalidUTF8(d.s), "invalid UTF-8"}
	}
	d.space()
	if d.peek() != '{' {
		return nil, d.fail("expected an object")
	}
	object, err := d.object(1)
	if err != nil {
		return nil, err
	}
	d.space()
	if d.i < len(d.s) {
		return nil, d.fail("bytes after the object")
	}
	return object, nil
}

type decoder struct {
	s string
	i int
}

// peek is the next byte, or 0 at the end: a NUL byte is legal nowhere outside a
// string, so the two need not be told apart.
func (d *decoder) peek() byte {
	if d.i < len(d.s) {
		return d.s[d.i]
	}
	return 0
}

func (d *decoder) space() {
	for d.i < len(d.s) {
		switch d.s[d.i] {
		case ' ', '\t', '\n', '\r':
			d.i++
		default:
			return
		}
	}
}

func (d *decoder) fail(reason string) *SyntaxError {
	if d.i >= len(d.s) {
		return &SyntaxError{len(d.s), "unexpected end: " + reason}
	}
	return &SyntaxError{d.i, reason}
}

func (d *decoder) value(depth int) (any, *SyntaxError) {
	switch c := d.peek(); {
	case c == '"':
		return wrap(d.text())
	case c == '{':
		return wrap(d.object(depth))
	case c == '[':
		return wrap(d.array(depth))
	case c == '-' || c >= '0' && c <= '9':
		return wrap(d.integer())
	case d.word("null"):
		return nil, nil
	case d.word("true"):
		return true, nil
	case d.word("false"):
		return false, nil
	}
	return nil, d.fail("expected a value")
}

func wrap[T any](v T, err *SyntaxError) (any, *SyntaxError) { return v, err }

func (d *decoder) word(w string) bool {
	if !strings.HasPrefix(d.s[d.i:], w) {
		return false
	}
	d.i += len(w)
	return true
}

func (d *decoder) object(depth int) (map[string]any, *SyntaxError) {
	if depth > MaxDepth {
		return nil, d.fail("nested too deeply")
	}
	d.i++ // {
	members := map[string]any{}
	d.space()
	if d.peek() == '}' {
		d.i++
		return members, nil
	}
	for {
		d.space()
		if d.peek() != '"' {
			return nil, d.fail("expected a member name")
		}
		at := d.i
		name, err := d.text()
		if err != nil {
			return nil, err
		}
		if !printableASCII(name) {
			return nil, &SyntaxError{at, "member name is not printable ASCII"}
		}
		if _, twice := members[name]; twice {
			return nil, &SyntaxError{at, "duplicate member"}
		}
		d.space()
		if d.peek() != ':' {
			return nil, d.fail("expected ':'")
		}
		d.i++
		d.space()
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		members[name] = v
		more, err := d.more('}')
		if err != nil {
			return nil, err
		}
		if !more {
			return members, nil
		}
	}
}

func (d *decoder) array(depth int) ([]any, *SyntaxError) {
	if depth > MaxDepth {
		return nil, d.fail("nested too deeply")
	}
	d.i++ // [
	items := []any{}
	d.space()
	if d.peek() == ']' {
		d.i++
		return items, nil
	}
	for {
		d.space()
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
		more, err := d.more(']')
		if err != nil {
			return nil, err
		}
		if !more {
			return items, nil
		}
	}
}

// more reads the comma before a further member or item, or the closing byte.
func (d *decoder) more(closing byte) (bool, *SyntaxError) {
	d.space()
	switch d.peek() {
	case ',':
		d.i++
		return true, nil
	case closing:
		d.i++
		return false, nil
	}
	return false, d.fail("expected ',' or '" + string(rune(closing)) + "'")
}

func (d *decoder) integer() (int64, *SyntaxError) {
	at := d.i
	negative := d.peek() == '-'
	if negative {
		d.i++
	}
	first := d.i
	var n int64
	for c := d.peek(); c >= '0' && c <= '9'; c = d.peek() {
		if n = n*10 + int64(c-'0'); n > MaxInt {
			return 0, &SyntaxError{at, "integer beyond ±(2^53-1)"}
		}
		d.i++
	}
	switch c := d.peek(); {
	case d.i == first:
		return 0, d.fail("expected a digit")
	case c == '.' || c == 'e' || c == 'E':
		return 0, &SyntaxError{at, "not an integer"}
	case d.s[first] == '0' && d.i > first+1:
		return 0, &SyntaxError{at, "leading zero"}
	case negative && n == 0:
		return 0, &SyntaxError{at, "minus zero"}
	}
	if negative {
		n = -n
	}
	return n, nil
}

func (d *decoder) text() (string, *SyntaxError) {
	d.i++ // "
	start := d.i
	for d.i < len(d.s) {
		switch c := d.s[d.i]; {
		case c == '"':
			d.i++
			return d.s[start : d.i-1], nil
		case c == '\\':
			return d.escapedText(start)
		case c < ' ':
			return "", d.fail("raw control character in a string")
		}
		d.i++
	}
	return "", d.fail("unterminated string")
}

// escapedText goes on where text met the first backslash.
func (d *decoder) escapedText(start int) (string, *SyntaxError) {
	out := []byte(d.s[start:d.i])
	for d.i < len(d.s) {
		switch c := d.s[d.i]; {
		case c == '"':
			d.i++
			return string(out), nil
		case c == '\\':
			r, err := d.escape()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
			continue
		case c < ' ':
			return "", d.fail("raw control character in a string")
		default:
			out = append(out, c)
		}
		d.i++
	}
	return "", d.fail("unterminated string")
}

func (d *decoder) escape() (rune, *SyntaxError) {
	at := d.i
	d.i++ // backslash
	c := d.peek()
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return d.unicodeEscape(at)
	default:
		return 0, d.fail("unknown escape")
	}
	d.i++
	return rune(c), nil
}

func (d *decoder) unicodeEscape(at int) (rune, *SyntaxError) {
	r, err := d.hex4()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if !strings.HasPrefix(d.s[d.i:], `\u`) {
		return 0, &SyntaxError{at, "lone surrogate"}
	}
	d.i++
	low, err := d.hex4()
	if err != nil {
		return 0, err
	}
	pair := utf16.DecodeRune(r, low)
	if pair == utf8.RuneError { // no pair decodes to U+FFFD
		return 0, &SyntaxError{at, "lone surrogate"}
	}
	return pair, nil
}

// hex4 reads the letter u and four hexadecimal digits.
func (d *decoder) hex4() (rune, *SyntaxError) {
	d.i++ // u
	var r rune
	for range 4 {
		switch c := d.peek(); {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, d.fail("expected four hexadecimal digits")
		}
		d.i++
	}
	return r, nil
}

func invalidUTF8(s string) int {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(s)
}
