package clinic

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// How patients are found. One column holds SearchText; a query is the terms of SearchTerms, each of which must occur in
// that column as a plain substring (LIKE '%term%', served by a trigram index). Words stand in the column with a space
// before them. A part of a word matches anywhere in it, but one or two letters only at its beginning: their term begins
// with that space.
//
//	" jensen maria 100234 d19840311 x19840311 p4500200871 @MARIA@EXAMPLE.TEST"
//
//   - names: every word, the words of a double name also joined (obriennunez), what follows an apostrophe also alone
//     (brien), and ø å ä ö ü also as oe aa ae oe ue (soeren)
//   - birth date: d + YYYYMMDD, and x + YYYY + the smaller and the larger of month and day. 11-03-1984 may be either of
//     two days, and x finds both
//   - phone: p + digits. Numbers of 4 digits and more match anywhere, and by their last 8 digits at most, so a country
//     code is needed neither in the column nor in the query
//   - e-mail: @ + address in capitals, so that parts of names do not match in it; a query with an @ matches anywhere in it
//
// The order of words never matters, and no term holds a character that is special in LIKE.

// SearchText is the content of the search column for a patient.
func SearchText(p Patient) string {
	var words []string
	for _, name := range []string{p.Family, p.Given, p.MRN} {
		words = append(words, nameWords(name)...)
	}
	if d, err := ParseDate(p.BirthDate); err == nil {
		words = append(words, exactDay(d), eitherDay(d))
	}
	if digits := digitsOf(p.Phone); digits != "" {
		words = append(words, "p"+digits)
	}
	if email := foldEmail(p.Email); email != "" {
		words = append(words, "@"+email)
	}
	var text strings.Builder
	for i, w := range words {
		if !slices.Contains(words[:i], w) {
			text.WriteString(" " + w)
		}
	}
	return text.String()
}

// SearchTerms is what must occur in the search column, all of it. It reads names, MRN, phone, e-mail and birth dates
// (1984-03-11, 11-03-1984, 11.3.1984, 11-Mar-1984, also only 1984-03) in any order, and the words with which a
// patient line shows them ("b. 1984-03-11 MRN 100234"). No terms means that the query asks for nothing.
func SearchTerms(query string) []string {
	rest := plain(query)
	var terms []string
	add := func(term string) {
		if !slices.Contains(terms, term) {
			terms = append(terms, term)
		}
	}
	rest = takeEmails(rest, add)
	rest = takePhones(international, rest, add) // first, for its digits could read as a date
	rest = takeDates(rest, add)
	rest = recordNumber.ReplaceAllString(rest, " ")
	rest = takePhones(grouped, rest, add)
	for _, word := range Tokens(rest) {
		switch digits := digitsOf(word); {
		case digits == word && len(word) > 1:
			add(numberTerm(digits))
		case utf8.RuneCountInString(word) > 2:
			add(word)
		default:
			add(" " + word)
		}
	}
	return terms
}

func nameWords(name string) []string {
	words := Tokens(name)
	if len(words) > 1 {
		words = append(words, strings.Join(words, ""))
	}
	words = append(words, strings.Fields(fold(name, ' '))...)
	return append(words, Tokens(digraphs.Replace(strings.ToLower(norm.NFC.String(name))))...)
}

// digraphs is how Danish, German and their neighbours spell without their letters.
var digraphs = strings.NewReplacer("ø", "oe", "å", "aa", "ä", "ae", "ö", "oe", "ü", "ue")

func exactDay(d Date) string { return fmt.Sprintf("d%04d%02d%02d", d.Year, d.Month, d.Day) }

func eitherDay(d Date) string {
	return fmt.Sprintf("x%04d%02d%02d", d.Year, min(int(d.Month), d.Day), max(int(d.Month), d.Day))
}

// numberTerm leaves out the country code, with its + or 00, and the 0 that stands for it.
func numberTerm(digits string) string { return digits[max(0, len(digits)-8):] }

func digitsOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// foldEmail keeps letters, in capitals, digits, @ and dots; all else becomes a hyphen, for _ and % are special in LIKE.
func foldEmail(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '@' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '-'
	}, strings.ToUpper(plain(s)))
}

// plain is lower case with compatibility forms resolved, every dash a hyphen and every space the same.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Pd, r) || r == '−':
			return '-'
		case unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKC.String(s))
	return strings.TrimSpace(s)
}
