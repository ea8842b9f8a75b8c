package clinic

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// ErrNotUTF8 refuses text that is not UTF-8.
var ErrNotUTF8 = errors.New("the text is not valid UTF-8")

// TooLongError refuses text over its limit; both counts are characters. Text is never cut (case Z10).
type TooLongError struct{ Max, Got int }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("at most %d characters; this has %d", e.Max, e.Got)
}

// CleanText is how one line of text is entered: NFC, without invisible and bidi control characters, every run of
// spaces and line breaks one space, trimmed. What is shown, hashed and sent is then the same. Text that is longer than
// max characters when cleaned is a *TooLongError.
func CleanText(s string, max int) (string, error) {
	return clean(s, max, func(s string) string { return strings.Join(strings.Fields(s), " ") })
}

// CleanLines is CleanText for text of several lines: line breaks stay (as \n), and so do spaces within a line.
func CleanLines(s string, max int) (string, error) {
	return clean(s, max, func(s string) string {
		lines := strings.Split(s, "\n")
		for i, line := range lines {
			lines[i] = strings.TrimRight(line, " ")
		}
		return strings.TrimSpace(strings.Join(lines, "\n"))
	})
}

func clean(s string, max int, layout func(string) string) (string, error) {
	if !utf8.ValidString(s) {
		return "", ErrNotUTF8
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = layout(norm.NFC.String(strings.Map(visible, s)))
	if n := utf8.RuneCountInString(s); n > max {
		return "", &TooLongError{Max: max, Got: n}
	}
	return s, nil
}

// visible maps every kind of line break to \n and of space to a plain one, and drops what nobody can see: controls,
// zero-width and bidi characters, soft hyphens, variation selectors, the tag block, fillers.
func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029' || r == '\v' || r == '\f':
		return '\n'
	case r == '\t' || unicode.Is(unicode.Zs, r):
		return ' '
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // format characters that do show
		return r
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point,
		unicode.Noncharacter_Code_Point), r == '\u2800': // a blank that is not a space
		return -1
	}
	return r
}
