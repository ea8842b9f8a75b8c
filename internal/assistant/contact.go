package assistant

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var emailShape = regexp.MustCompile(`^[^\s@<>()"',;:]{1,64}@[^\s@<>()"',;:]{1,190}\.[^\s@<>()"',;:.]{1,60}$`)

// contactValues reads e-mail addresses and telephone numbers, and marks their tokens as read. Words that only name a way
// of contact answer a question for one.
func (r *reading) contactValues() {
	emails, phones, wishes := 0, 0, 0
	for n, s := range r.spans {
		switch {
		case s.means() == "email" || s.means() == "act.lead" && s.Contact == "email" && r.action(n) == "":
			emails += 1 + s.N
		case s.means() == "phone":
			phones += 1 + s.N
		case s.rule == nil && emailShape.MatchString(r.tokens[s.from].raw):
			r.m.Email = r.tokens[s.from].raw
			r.spans[n].rule = &rule{Means: "email.value"}
		case s.means() == "contact":
			wishes += s.N
		}
	}
	if phones > 0 || r.registers() || r.m.Workflow == UpdateContact || r.asksContact() {
		r.phone(phones > 0)
	}
	if r.m.Workflow == "" && r.r.Asks == "" && (phones > 0 && r.m.Phone != "" || emails > 0 && r.m.Email != "" || phones > 1 || emails > 1 || wishes > 0 && len(r.runs()) > 0) {
		r.m.Workflow = UpdateContact
	}
	if r.m.Workflow != "" && r.m.Workflow != Register && r.m.Workflow != UpdateContact {
		if r.m.Workflow == Message && r.m.Email != "" {
			r.ask("recipient", r.m.Email)
		}
		r.m.Email, r.m.Phone = "", "" // of nobody that this request is about
	}
	if r.asksContact() && r.m.Email == "" && r.m.Phone == "" {
		switch {
		case emails > 0 && phones == 0:
			r.m.Contact = "email"
		case phones > 0 && emails == 0:
			r.m.Contact = "phone"
		}
	}
}

// phone takes the first stretch of number tokens with 7 to 15 digits; six and fewer are no telephone number.
func (r *reading) phone(named bool) {
	for n := 0; n < len(r.spans); n++ {
		digits, to := 0, n
		for ; to < len(r.spans); to++ {
			s := r.spans[to]
			word := r.tokens[s.from].word
			if s.to-s.from != 1 || strings.Trim(word, "+0123456789-./") != "" || s.rule != nil && s.Means != "pick.ordinal" && s.Means != "day.numeric" {
				break
			}
			digits += len(strings.Map(onlyDigits, word))
		}
		if digits >= 7 && digits <= 15 && (n == 0 || r.spans[n-1].means() != "mrn") && (named || digits >= 8) {
			r.m.Phone = r.source(r.spans[n].from, r.spans[to-1].to)
			for i := n; i < to; i++ {
				r.spans[i].rule = &rule{Means: "phone.value"}
			}
			return
		}
		n = max(n, to-1)
	}
}

func onlyDigits(c rune) rune {
	if c < '0' || c > '9' {
		return -1
	}
	return c
}

// numbers reads what is left of numbers: record numbers, the number of a choice, an hour or a year that was asked for.
// Any other is asked about.
func (r *reading) numbers() {
	alone := 0
	for _, s := range r.spans {
		if s.means() != "skip" {
			alone++
		}
	}
	for n, s := range r.spans {
		if s.rule != nil || r.tokens[s.from].quote {
			continue
		}
		t := r.tokens[s.from]
		hour, word := r.lang.Hours[t.word]
		number, err := strconv.Atoi(t.word)
		plain := err == nil && number >= 0 && t.word[0] != '+' && t.word[0] != '-'
		switch {
		case !t.digits && !(word && alone == 1):
		case plain && (len(t.word) >= 5 && len(t.word) <= 12 || n > 0 && r.spans[n-1].means() == "mrn"):
			if r.m.Patient != "" && !r.ofPerson(s) {
				r.ask("people", r.m.Patient, t.word)
				if r.person.from > s.from {
					r.m.Patient, r.person = t.word, run{s.from, s.to, n}
				}
				continue
			}
			r.person.to = s.to
			r.m.Patient = strings.TrimSpace(r.m.Patient + " " + t.word)
		case plain && r.r.Asks == AskPatient && len(t.word) == 4 && number >= 1880 && number <= r.today.Year:
			r.m.Born = &Born{Year: number}
		case alone == 1 && r.r.Asks == AskTime && (plain && number > 6 && number < 24 && len(t.word) <= 2 || word && hour > 6):
			minute := 60 * max(hour, number)
			r.m.Clock = &minute
		case alone == 1 && (plain && number > 0 && number < 20 || word) && (r.r.Asks == "" || r.r.Asks == AskDay || r.picks()):
			r.m.Pick = max(hour, number)
		default:
			r.ask("number", t.raw)
			r.m.Lost = r.m.Lost || r.m.Workflow != Register && r.m.Workflow != UpdateContact && r.m.Workflow != Message
		}
	}
}

// ofPerson reports a record number that stands beside the name: right before it, or behind it with nothing of its own
// between them.
func (r *reading) ofPerson(s span) bool {
	if s.to == r.person.from {
		sign := r.tokens[s.from].after
		return sign == 0 || sign == ','
	}
	for _, o := range r.spans {
		if o.from >= r.person.to && o.to <= s.from && !slices.Contains([]string{"skip", "mrn", "title", "born"}, o.means()) {
			return false
		}
	}
	return s.from >= r.person.to && strings.Trim(r.m.Patient, "0123456789") != ""
}
