package clinic

import "testing"

func TestPhoneNumbers(t *testing.T) {
	for given, want := range map[string]string{
		"+4520123456":         "+45 20 12 34 56",
		"+45 20 12 34 56":     "+45 20 12 34 56",
		"0045 20123456":       "+45 20 12 34 56",
		"+1 (312) 555-0142":   "+1 312-555-0142",
		"+45 00 20 03 00":     "+45 00200300", // no such number: not grouped
		" +353 86 123 4567 ":  "+353 86 123 4567",
		"20123456":            "",
		"+45 20 12":           "",
		"+45 20 12 34 56 789": "",
		"+45 call me":         "",
		"+1-800-FLOWERS":      "",
		"":                    "",
		"+":                   "",
		"+999 12345678":       "",
	} {
		got, err := ParsePhone(given)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", given, got, err, want)
		}
		if again, err := ParsePhone(got); want != "" && (err != nil || again != got) {
			t.Errorf("%q is not stable: %q, %v", got, again, err)
		}
	}
}

func TestEmailAddresses(t *testing.T) {
	for given, want := range map[string]string{
		"maria.jensen@Example.Test": "maria.jensen@example.test",
		"o'brien+x@sub.example.org": "o'brien+x@sub.example.org",
		" a@b.example ":             "a@b.example",
		"søren@example.test":        "søren@example.test",
		"maria":                     "",
		"maria@localhost":           "",
		"maria@@example.test":       "",
		"Maria <maria@example.org>": "",
		"a b@example.test":          "",
		"a@example..test":           "",
		"a@-example.test":           "",
		"a@example.test, b@x.test":  "",
		"\"a b\"@example.test":      "",
		"a@[127.0.0.1]":             "",
		"a@example.test\nBcc: x@y":  "",
		"":                          "",
	} {
		if got, err := ParseEmail(given); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", given, got, err, want)
		}
	}
}
