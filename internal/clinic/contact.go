package clinic

import (
	"errors"
	"net/mail"
	"slices"
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// How a patient wants to be told (contract section 6, contact_preference).
const (
	ContactEmail = "email"
	ContactSMS   = "sms"
	ContactPhone = "phone"
	ContactNone  = "none"
)

// ContactPreferences lists them.
var ContactPreferences = []string{ContactEmail, ContactSMS, ContactPhone, ContactNone}

var (
	errNotPhone = errors.New("not a phone number with its country code")
	errNotEmail = errors.New("not an e-mail address")
)

// ParsePhone reads a phone number with its country code (+45 ... or 0045 ...) and gives its international form, as it is
// stored: +45 20 12 34 56. Whether somebody answers there is not asked: a number only has to have a length that its
// country uses. There is no country to fall back on: a clinic may have patients from anywhere.
func ParsePhone(s string) (string, error) {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "00"); ok {
		s = "+" + rest
	}
	if !strings.HasPrefix(s, "+") || strings.ContainsFunc(s, isLetter) {
		return "", errNotPhone
	}
	n, err := phonenumbers.Parse(s, "")
	if err != nil || !phonenumbers.IsPossibleNumber(n) {
		return "", errNotPhone
	}
	return phonenumbers.Format(n, phonenumbers.INTERNATIONAL), nil
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// ParseEmail reads one plain address, without a name or comments, at a domain with a dot. The domain is given in lower
// case; the rest stays as written.
func ParseEmail(s string) (string, error) {
	s = strings.TrimSpace(s)
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s || a.Name != "" || len(s) > 254 || strings.ContainsAny(s, "\"(),:;<>[\\] ") {
		return "", errNotEmail
	}
	at := strings.LastIndexByte(s, '@')
	local, domain := s[:at], strings.ToLower(s[at+1:])
	labels := strings.Split(domain, ".")
	if len(local) > 64 || len(labels) < 2 || slices.ContainsFunc(labels, badLabel) {
		return "", errNotEmail
	}
	return local + "@" + domain, nil
}

func badLabel(l string) bool {
	return l == "" || len(l) > 63 || strings.HasPrefix(l, "-") || strings.HasSuffix(l, "-")
}

// Reachable gives what a contact preference lacks: "" when a patient with these addresses ("" = none) can be told that
// way, else ContactEmail or ContactPhone, the address that is missing.
func Reachable(preference, phone, email string) (missing string) {
	switch {
	case preference == ContactEmail && email == "":
		return ContactEmail
	case (preference == ContactSMS || preference == ContactPhone) && phone == "":
		return ContactPhone
	}
	return ""
}
