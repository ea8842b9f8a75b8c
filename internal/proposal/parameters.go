package proposal

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// kind of a parameter's value.
type kind int

const (
	kindID kind = iota
	kindTime
	kindBool
	kindText
	kindCode
	kindName
	kindBirthDate
	kindMRN
	kindPhone
	kindEmail
	kindItems
	kindAction
	kindPeople
	kindRemote // an id in the EHR, as FHIR has them
)

// parameter describes one member of an action's parameters.
type parameter struct {
	name     string
	kind     kind
	required bool
	codes    []string    // kindCode
	absent   any         // value when null: true for notify
	items    []parameter // kindItems: the members of each
}

// MaxText is the most characters of free text (contract section 6).
const MaxText = 500

// MaxName is the most characters of a family or given name.
const MaxName = 100

var mrnShape = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9./-]{0,31}$`)

var remoteShape = regexp.MustCompile(`^[A-Za-z0-9.-]{1,64}$`)

// readParameters checks types, required members and unknown names, all at once, and gives every parameter of the
// action: strings, booleans, nil. It never trusts a nested value.
func readParameters(spec []parameter, given map[string]any) (map[string]any, []refusal.Field) {
	var wrong []refusal.Field
	bad := func(name, message string) { wrong = append(wrong, refusal.Field{Name: name, Message: message}) }
	out := map[string]any{}
	for _, p := range spec {
		v, there := given[p.name]
		if s, ok := v.(string); ok && strings.TrimSpace(s) == "" {
			v = nil
		}
		if !there || v == nil {
			if p.required {
				bad(p.name, "This is needed.")
			}
			out[p.name] = p.absent
			continue
		}
		switch p.kind {
		case kindItems:
			list, more := readItems(p, v)
			out[p.name], wrong = list, append(wrong, more...)
		case kindBool:
			b, ok := v.(bool)
			if !ok {
				bad(p.name, "Give true or false.")
			}
			out[p.name] = b
		case kindID:
			s, ok := v.(string)
			if !ok || !clinic.ValidID(s) {
				bad(p.name, unknownWords(p.name))
			}
			out[p.name] = s
		case kindTime:
			s, ok := v.(string)
			if _, err := parseWhen(s); !ok || err != nil {
				bad(p.name, "Give a date and time such as 2027-03-28T10:00, or with an offset.")
			}
			out[p.name] = s
		case kindCode:
			s, ok := v.(string)
			if !ok || !slices.Contains(p.codes, s) {
				bad(p.name, "Choose one of: "+strings.Join(p.codes, ", ")+".")
			}
			out[p.name] = s
		case kindText:
			s, ok := v.(string)
			if !ok {
				bad(p.name, "Give text.")
				continue
			}
			clean, err := clinic.CleanLines(s, MaxText)
			if err != nil {
				bad(p.name, fmt.Sprintf("At most %d characters; nothing was cut.", MaxText))
			}
			if out[p.name] = any(clean); clean == "" {
				out[p.name] = nil
				if p.required && err == nil {
					bad(p.name, "This is needed.")
				}
			}
		case kindAction:
			s, ok := v.(string)
			if !ok || !slices.Contains(Actions(), s) {
				bad(p.name, "Choose one of: "+strings.Join(Actions(), ", ")+".")
			}
			out[p.name] = s
		case kindRemote:
			s, ok := v.(string)
			if s = strings.TrimSpace(s); !ok || !remoteShape.MatchString(s) {
				bad(p.name, "Give the id as the EHR shows it: up to 64 letters, digits, hyphens or points.")
			}
			out[p.name] = s
		case kindPeople:
			n, ok := readPeople(v)
			if !ok {
				bad(p.name, fmt.Sprintf("Give a number of people from 1 to %d, or none.", MaxPeople))
			}
			out[p.name] = n
		default:
			s, ok := v.(string)
			clean, wrong := readPersonal(p.kind, s)
			if !ok || wrong != "" {
				bad(p.name, orWords(wrong, "Give text."))
			}
			out[p.name] = clean
		}
	}
	known := map[string]bool{}
	for _, p := range spec {
		known[p.name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !known[name] {
			bad(name, "This action has no such field.")
		}
	}
	return out, wrong
}

// readPeople reads a number as JSON, a stored plan or a form gives it.
func readPeople(v any) (n int64, ok bool) {
	switch v := v.(type) {
	case int64:
		n = v
	case float64:
		n = int64(v)
		if float64(n) != v {
			return 0, false
		}
	case string:
		var err error
		if n, err = strconv.ParseInt(v, 10, 64); err != nil {
			return 0, false
		}
	}
	return n, n >= 1 && n <= MaxPeople
}

// readPersonal reads one value of a person's record, as it is stored; wrong says what it must look like.
func readPersonal(k kind, s string) (clean, wrong string) {
	var err error
	switch k {
	case kindName:
		if clean, err = clinic.CleanText(s, MaxName); err != nil {
			return "", fmt.Sprintf("At most %d characters; nothing was cut.", MaxName)
		}
		if clinic.Fold(clean) == "" {
			return "", "A name has letters."
		}
	case kindBirthDate:
		if _, err = clinic.ParseDate(s); err != nil {
			return "", "Give a day that exists, as YYYY-MM-DD."
		}
		clean = s
	case kindMRN:
		if clean = strings.TrimSpace(s); !mrnShape.MatchString(clean) {
			return "", "Up to 32 letters, digits, points, hyphens or slashes."
		}
	case kindPhone:
		if clean, err = clinic.ParsePhone(s); err != nil {
			return "", "Give the whole number with its country code, such as +45 20 12 34 56."
		}
	case kindEmail:
		if clean, err = clinic.ParseEmail(s); err != nil {
			return "", "Give one address, such as name@example.org."
		}
	}
	return clean, ""
}

func orWords(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func unknownWords(name string) string { return "There is no such " + name + " in this clinic." }

// text reads a parameter that is a string or null.
func text(params map[string]any, name string) string {
	s, _ := params[name].(string)
	return s
}

// merge lays what an edit gives over the last revision's parameters; null clears.
func merge(last, edit map[string]any) map[string]any {
	out := maps.Clone(last)
	maps.Copy(out, edit)
	return out
}
