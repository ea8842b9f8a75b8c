package clinic

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Fold is a name as it is compared: words of lower-case letters and digits with one space between them. Latin letters
// become a to z, however they were composed (Søren, Łukasz, Groß, Nguyễn: soren, lukasz, gross, nguyen); apostrophes of
// any kind join what they stand in (O’Brien: obrien); hyphens and all other signs part words. Other scripts keep their
// letters without marks. Folding twice changes nothing.
func Fold(s string) string { return fold(s, -1) }

// Tokens is the words of Fold.
func Tokens(query string) []string { return strings.Fields(Fold(query)) }

// fold is Fold with a choice of what an apostrophe becomes; -1 leaves it out.
func fold(s string, apostrophe rune) string {
	// Before decomposing, which turns ´ into a space and a mark.
	s = strings.Map(func(r rune) rune {
		if isApostrophe(r) {
			return apostrophe
		}
		return r
	}, s)
	var out strings.Builder
	out.Grow(len(s))
	parted := false
	for _, r := range norm.NFKD.String(s) {
		r = unicode.ToLower(r)
		switch spelt, ok := latin[r]; {
		case isApostrophe(r): // out of a decomposition, as in ŉ
		case ok:
			part(&out, &parted)
			out.WriteString(spelt)
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Mc, r):
			part(&out, &parted)
			out.WriteRune(r)
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
			// Marks and invisible characters belong to the word they stand in.
		default:
			parted = true
		}
	}
	return out.String()
}

func part(out *strings.Builder, parted *bool) {
	if *parted && out.Len() > 0 {
		out.WriteByte(' ')
	}
	*parted = false
}

// isApostrophe holds what people and keyboards use for one, the half rings of Arabic names and the middle dot of
// Catalan ones.
func isApostrophe(r rune) bool {
	switch r {
	case '\'', '’', '‘', '‛', '`', '´', 'ʼ', 'ʻ', 'ʽ', 'ʹ', 'ʾ', 'ʿ', '′', '＇', '·', 'ꞌ':
		return true
	}
	return false
}
