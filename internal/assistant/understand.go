package assistant

import (
	"slices"
	"strings"
	"time"

	"countersign/internal/clinic"
)

// understand turns the spans of one request into its meaning.
func (r *reading) understand() {
	if r.m.Text != "" && r.textOf >= len(r.tokens) && r.textOf > 0 {
		r.m.Text = "" // of another request, which was not read
	}
	if r.onlyCancel() {
		return
	}
	r.contactValues()
	r.answers()
	r.when()
	r.where()
	r.people()
	r.numbers()
	r.notThat()
	if r.m.Workflow == "" || r.m.Workflow == Cancel {
		if r.m.ReasonCode = r.reason(); r.m.ReasonCode == "" && r.m.Note != "" {
			r.m.ReasonCode = r.reasonIn(r.m.Note)
		}
	}
	if r.r.Asks == AskReasonCode && r.m.ReasonCode == "" && r.m.Empty() {
		r.m.Note = r.text
	}
}

// onlyCancel: in the middle of a request, "cancel" can mean the request or a visit.
func (r *reading) onlyCancel() bool {
	if r.m.Workflow != Cancel || r.r.Asks == "" {
		return false
	}
	for _, s := range r.spans {
		if m := s.means(); m != "skip" && m != "act" {
			return false
		}
	}
	r.m.Workflow = ""
	r.ask("cancel_what")
	return true
}

// onlyAgreed: "book it" and "send it" by themselves agree to something, and ask for nothing.
func (r *reading) onlyAgreed() {
	it := false
	for n, s := range r.spans {
		switch m := s.means(); {
		case m == "yes" || m == "skip":
			it = it || n > 0 && r.spans[n-1].means() == "act" && r.is("agreed", r.tokens[s.from].word)
			it = it || n > 0 && r.spans[n-1].means() == "act.lead" && r.is("agreed", r.tokens[s.from].word)
		case m == "act" && s.Value == Book || m == "act.lead":
		default:
			return
		}
	}
	if it && (r.m.Workflow == Book || r.m.Workflow == Message) && r.m.Text == "" {
		r.m.Workflow, r.m.Contact, r.m.Yes = "", "", true
	}
}

// notThat: "don't move it" drops the wish; with more beside it, what is wished instead is asked for and nothing is taken.
func (r *reading) notThat() {
	if r.m.Workflow != "" || !slices.ContainsFunc(r.spans, func(s span) bool { return s.means() == "act.not" }) {
		return
	}
	told := r.m
	r.m = Meaning{Yes: told.Yes, No: told.No, Note: told.Note}
	if told.Yes, told.No, told.Note, told.Leave = false, false, "", false; told.Empty() && len(r.unsure) == 0 {
		r.m.Leave = true
		return
	}
	r.unsure = nil
	r.ask("not_that", r.text)
}

// answers are the words that answer or direct the conversation.
func (r *reading) answers() {
	leading := true
	for n, s := range r.spans {
		switch s.means() {
		case "yes":
			r.m.Yes = r.m.Yes || leading
		case "no":
			r.m.No = r.m.No || leading
		case "leave":
			r.m.Leave = r.m.Leave || leading
		case "start_over":
			r.m.StartOver = r.m.StartOver || leading
		case "other":
			r.m.Other = true
		case "any_doctor":
			r.m.AnyDoctor = true
		case "whatever":
			r.m.AnyDoctor = r.m.AnyDoctor || r.r.Asks == AskPractitioner
		case "silent":
			r.m.Silent = true
		case "many":
			r.ask("many", r.source(s.from, s.to))
		case "contact":
			r.m.Contact = s.Value
		case "act.lead":
			if s.Contact != "" && r.asksContact() && r.action(n) == "" {
				r.m.Contact = s.Contact
			}
		case "bare_contact":
			switch {
			case r.asksContact() || r.m.Workflow == Message && r.m.Contact == "":
				r.m.Contact = s.Value
			case s.N == 1:
				r.m.No = r.m.No || leading
			}
		case "pick.of_two":
			if r.m.Workflow == "" {
				r.m.Pick = s.N
			}
		case "pick.last":
			r.ask("last")
		case "pick.number":
			if c, _ := s.cap("digits"); r.m.Workflow == "" {
				if c.n == 0 {
					c, _ = s.cap("hourword")
					c.n /= 60
				}
				r.m.Pick = c.n
			}
		case "pick.ordinal":
			c, _ := s.cap("ordinal")
			if word := strings.ContainsAny(c.text, "0123456789"); r.m.Workflow == "" && (!word || r.picks()) {
				r.m.Pick = c.n
			} else if word {
				c.slot = "dayth"
				r.spans[n] = span{rule: &rule{Means: "day.ofmonth"}, caps: []capture{c}, from: s.from, to: s.to}
			}
		}
		if m := s.means(); m != "skip" && m != "yes" && m != "no" && m != "drop" {
			leading = false
		}
	}
	r.onlyAgreed()
	if r.m.Yes && r.m.No {
		r.m.Yes, r.m.No = false, false
	}
}

func (r *reading) asksContact() bool { return r.r.Asks == AskContact || r.r.Asks == AskChannel }

// picks reports a question whose answer can be the number of a choice.
func (r *reading) picks() bool {
	return slices.Contains([]string{AskPatient, AskAppointment, AskType, AskPractitioner, AskLocation, AskTime, AskReasonCode}, r.r.Asks)
}

// when reads days and times. Of a move, what stands before "to", behind "from" or before the word for a visit says
// which visit; the rest says where it goes.
func (r *reading) when() {
	var target, visit []saidDay
	var time, visitTime timeOfDay
	toAt := r.movedTo()
	var lost []span // days that cannot be meant
	before := len(r.unsure)
	from, or := false, false
	for n, s := range r.spans {
		for i := s.from; i < s.to; i++ {
			from = from && !r.is("to", r.tokens[i].word) || r.is("from", r.tokens[i].word) && r.m.Workflow == Reschedule
		}
		if n > 0 && r.spans[n-1].means() == "drop" && (strings.HasPrefix(s.means(), "day") || strings.HasPrefix(s.means(), "clock")) {
			continue
		}
		old := r.m.Workflow == Reschedule && (s.to <= toAt || from && s.means() != "from_to" || toAt < 0 && r.beforeVisit(n))
		if s.means() == "from_to" && r.m.Workflow == Reschedule && (toAt < 0 || s.to <= toAt) {
			visitTime.clock = &saidClock{s.caps[0].n, s.caps[0].bare, s.caps[0].text}
			time.clock = &saidClock{s.caps[1].n, s.caps[1].bare, s.caps[1].text}
			continue
		}
		if s.means() == "from_time" && old {
			s = span{rule: &rule{Means: "clock"}, caps: []capture{{slot: "clock", n: s.caps[0].n, bare: s.caps[0].bare}}, from: s.from, to: s.to}
		}
		if s.means() == "part" && s.Value != "" { // this morning
			target = append(target, saidDay{days: []clinic.Date{r.today}, text: r.source(s.from, s.to)})
		}
		if old && r.addTime(&visitTime, s) || !old && r.addTime(&time, s) {
			continue
		}
		if !strings.HasPrefix(s.means(), "day") || s.means() == "day.of.birth" {
			continue
		}
		if r.birthDay(s) {
			continue
		}
		asked := len(r.unsure)
		d, ok := r.dayOf(s)
		if !ok && len(r.unsure) > asked {
			lost = append(lost, s)
		}
		d.from, d.to = s.from, s.to
		switch {
		case !ok:
		case old:
			visit = append(visit, d)
		default:
			gap := r.between(n)
			or = or || len(target) > 0 && gap == "or"
			if len(target) > 0 && gap == "through" {
				target[len(target)-1] = r.stretch(target[len(target)-1], d)
				continue
			}
			target = append(target, d)
		}
	}
	// "Wednesday 3 December 2025" is not the coming Wednesday: what stands beside a day that cannot be meant goes with it.
	beside := func(d saidDay) bool {
		return slices.ContainsFunc(lost, func(s span) bool { return s.from == d.to || s.to == d.from })
	}
	target, visit = slices.DeleteFunc(target, beside), slices.DeleteFunc(visit, beside)
	r.resolveTime(visitTime)
	r.m.VisitClock = r.m.Clock
	r.m.Clock, r.m.From, r.m.Until, r.m.First = nil, nil, nil, false
	r.m.VisitDays, _ = r.resolveDays(visit, false, nil)
	r.resolveTime(time)
	r.m.Days, r.m.DaysEnd = r.resolveDays(target, or, r.m.Clock)
	r.m.Lost = len(r.unsure) > before && r.m.Workflow != Register
}

// movedTo is the token of the "to" before the day or the time a visit is moved to; -1 for none.
func (r *reading) movedTo() int {
	for n, s := range r.spans {
		if s.to-s.from != 1 || !r.is("to", r.tokens[s.from].word) {
			continue
		}
		for _, o := range r.spans[n+1:] {
			m := o.means()
			if m == "skip" && r.tokens[o.to-1].after == 0 {
				continue
			}
			if strings.HasPrefix(m, "day") || strings.HasPrefix(m, "clock") || m == "around" || m == "first" || m == "part" {
				return s.from
			}
			break
		}
	}
	return -1
}

// beforeVisit reports a span that stands right before the word for a visit.
func (r *reading) beforeVisit(n int) bool {
	if n+1 >= len(r.spans) || r.tokens[r.spans[n].to-1].after != 0 {
		return false
	}
	next := r.spans[n+1]
	return next.means() == "skip" && r.is("visit", r.tokens[next.from].word) || next.means() == "type" && r.beforeVisit(n+1)
}

// between is how a day span is joined to the one before it: by "or", by the "and" or "to" of "between … and …", or "".
func (r *reading) between(n int) string {
	if n < 2 || r.spans[n-1].to-r.spans[n-1].from != 1 || !strings.HasPrefix(r.spans[n-2].means(), "day") {
		return ""
	}
	word := r.tokens[r.spans[n-1].from].word
	if r.is("or", word) {
		return "or"
	}
	if n >= 3 && r.is("through", word) {
		before := r.tokens[r.spans[n-3].to-1].word
		if r.is("between", before) || r.is("from", before) {
			return "through"
		}
	}
	return ""
}

// stretch is every day from the first reading of a to the next b.
func (r *reading) stretch(a, b saidDay) saidDay {
	end := b.days[len(b.days)-1]
	for _, d := range slices.Backward(b.days) {
		if !d.Before(a.days[0]) {
			end = d
		}
	}
	if end.Before(a.days[0]) && b.weekday != nil {
		end = end.AddDays(7)
	}
	if end.Before(a.days[0]) {
		r.ask("days_differ", a.text+", "+b.text)
		return a
	}
	return saidDay{days: a.days[:1], end: end, text: a.text + " " + b.text}
}

// where reads the clinic's own names. The practitioner a visit is moved away from is not the one it goes to.
func (r *reading) where() {
	not := ""
	for n, s := range r.spans {
		away := n > 0 && r.m.Workflow == Reschedule && r.is("from", r.tokens[r.spans[n-1].to-1].word)
		switch s.means() {
		case "practitioner":
			switch {
			case away:
			case n > 0 && r.spans[n-1].means() == "drop":
				not = s.Value
			case r.m.Practitioner != "" && r.m.Practitioner != s.Value:
				r.ask("practitioner_many", r.m.Practitioner+", "+s.Value)
				r.m.Practitioner = ""
				return
			default:
				r.m.Practitioner = s.Value
			}
		case "practitioner.many":
			r.ask("practitioner_many", s.Value)
		case "location":
			if !away {
				r.m.Location = s.Value
			}
		case "location.many", "type.many":
			r.ask("location_many", s.Value)
		case "type":
			r.m.Type = s.Value
		case "act":
			if c, ok := s.cap("type"); ok {
				r.m.Type = c.text
			}
		}
	}
	if not != "" && r.m.Practitioner == "" && !r.m.AnyDoctor {
		r.ask("practitioner_not", not)
		r.lost()
	}
}

// lost keeps a place in a wish that was not understood from being left out of its card unasked.
func (r *reading) lost() {
	if r.m.Workflow == "" || r.m.Workflow == Reschedule || r.m.Workflow == Book {
		r.m.Lost = true
	}
}

// birthDay takes a day of the past as a birth date where one is wanted.
func (r *reading) birthDay(s span) bool {
	if !r.registers() && r.r.Asks != AskBirthDate && !(r.r.Asks == AskPatient && r.m.Workflow == "") {
		return false
	}
	b, text := r.born(s)
	if b == nil || b.Year == 0 || b.Year > r.today.Year {
		return false
	}
	if text == "" && r.r.Asks == AskBirthDate {
		r.ask("birth", r.source(s.from, s.to))
	}
	if r.r.Asks == AskPatient && r.m.Workflow == "" {
		r.m.Born = b
	} else {
		r.m.BirthDate = text
	}
	return true
}

// fullDate is YYYY-MM-DD of a birth that can have been; "" if it cannot.
func (r *reading) fullDate(b Born) string {
	d := clinic.Date{Year: b.Year, Month: time.Month(b.Month), Day: b.Day}
	if _, ok := civil(b.Year, b.Month, b.Day); !ok || d.After(r.today) {
		return ""
	}
	return d.String()
}
