package clinic

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestCleanText(t *testing.T) {
	for in, want := range map[string]string{
		"  Maria\t Jensen \n": "Maria Jensen", "Jose\u0301": "José", "A\u030a": "Å",
		"zero\u200bwidth\u200c\u200d\u2060\ufeff": "zerowidth", "\u202ereversed\u202c\u2066x\u2069\u200e\u200f\u061c": "reversedx",
		"soft\u00adhyphen": "softhyphen", "heart\ufe0f\U000e0101": "heart", "tag\U000e0001\U000e0041\U000e007f": "tag",
		"a\u034fb\u115fc\u3164d\uffa0e\u180bf\u2800": "abcdef", "a\x00b\x1bc\x7fd\u0080e": "abcde", "x\u00a0\u2003\u3000y": "x y",
		"a\u2028b\u0085c": "a b c", "\u0600١": "\u0600١", "e\u200b\u0301": "é", "": "", " \u200b ": "", "Søren <b> & 😂 é": "Søren <b> & 😂 é",
	} {
		if got, err := CleanText(in, 100); err != nil || got != want {
			t.Errorf("%q: got %q %v, want %q", in, got, err, want)
		}
	}
}

func TestCleanLines(t *testing.T) {
	for in, want := range map[string]string{
		"Dear Maria,\r\n\r\nyour visit  was moved. \u200b\n  See you\r": "Dear Maria,\n\nyour visit  was moved.\n  See you",
		"\n\n one \n\n": "one", "a\u2029b\vc": "a\nb\nc", "tab\there": "tab here", "": "",
	} {
		if got, err := CleanLines(in, 100); err != nil || got != want {
			t.Errorf("%q: got %q %v, want %q", in, got, err, want)
		}
	}
}

func TestTextOverTheLimitIsRefused(t *testing.T) { // Z10
	for _, clean := range []func(string, int) (string, error){CleanText, CleanLines} {
		_, err := clean(strings.Repeat("ø", 600), 500)
		var long *TooLongError
		if !errors.As(err, &long) || *long != (TooLongError{500, 600}) || !strings.Contains(err.Error(), "500") {
			t.Error(err)
		}
		// Characters count, as they are after cleaning.
		for _, fits := range []string{strings.Repeat("ø", 500), strings.Repeat("o\u0308", 500), "  " + strings.Repeat("x\u200b", 500) + "  "} {
			if got, err := clean(fits, 500); err != nil || utf8.RuneCountInString(got) != 500 {
				t.Error(err)
			}
		}
		if _, err := clean("a\xffb", 500); !errors.Is(err, ErrNotUTF8) {
			t.Error(err)
		}
	}
}

func TestCleaningTwiceChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := strings.ToValidUTF8(rapid.String().Draw(t, "s"), "")
		for _, clean := range []func(string, int) (string, error){CleanText, CleanLines} {
			once, err := clean(in, 10_000)
			if err != nil {
				t.Fatal(err)
			}
			if twice, err := clean(once, 10_000); err != nil || twice != once || !norm.NFC.IsNormalString(once) {
				t.Fatalf("%q: %q, then %q %v", in, once, twice, err)
			}
		}
	})
}
