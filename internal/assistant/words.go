package assistant

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// startWords is when a visit begins, as staff read it: weekday, day and 24-hour time, with its offset.
func startWords(t time.Time, zoneName string) string {
	zone, err := clinic.LoadZone(zoneName)
	if err != nil {
		zone = time.UTC
	}
	local := t.In(zone)
	_, offset := local.Zone()
	return local.Format("Monday 2 January 2006, 15:04") + " (" + proposal.OffsetLabel(offset/60) + ")"
}

func dateWords(d clinic.Date) string {
	return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC).Format("Monday 2 January 2006")
}

func dayWords(w *When) string {
	switch {
	case w == nil || len(w.Days) == 0:
		return ""
	case !w.DaysEnd.IsZero():
		return w.Days[0].String() + "/" + w.DaysEnd.String()
	}
	days := make([]string, len(w.Days))
	for i, d := range w.Days {
		days[i] = d.String()
	}
	return strings.Join(days, " or ")
}

func clockText(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }

func clockWords(w *When) string {
	switch {
	case w == nil:
		return ""
	case w.Clock != nil:
		return clockText(*w.Clock)
	case w.From != nil && w.Until != nil:
		return clockText(*w.From) + "-" + clockText(*w.Until)
	case w.From != nil:
		return "from " + clockText(*w.From)
	case w.Until != nil:
		return "before " + clockText(*w.Until)
	}
	return ""
}

// whenWords is a day and a time of day in a sentence.
func whenWords(w *When) string {
	var out string
	switch {
	case w == nil:
		return "then"
	case len(w.Days) > 0 && !w.DaysEnd.IsZero():
		out = "from " + dateWords(w.Days[0]) + " to " + dateWords(w.DaysEnd)
	case len(w.Days) > 0:
		out = "on " + dateWords(w.Days[0])
	}
	if c := clockWords(w); c != "" {
		if w.Clock != nil {
			c = "at " + c
		}
		out = strings.TrimSpace(out + " " + c)
	}
	return out
}

// Words is the day and time of day, for people; "" when nothing is known.
func (w *When) Words() string {
	if w == nil || w.empty() {
		return ""
	}
	return whenWords(w)
}

// Line is when the visit is, and with whom.
func (b Booked) Line() string {
	return startWords(b.StartsAt, b.Zone) + " with " + b.Practitioner.Name
}

func countPeople(n int) string {
	words := []string{"No patients", "One patient", "Two patients", "Three patients", "Four patients", "Five patients", "Six patients", "Seven patients", "Eight patients"}
	if n < len(words) {
		return words[n]
	}
	return fmt.Sprintf("%d patients", n)
}

// short is the beginning of a message, for a list of conversations.
func short(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if utf8.RuneCountInString(line) <= 60 {
		return line
	}
	return strings.TrimSpace(string([]rune(line)[:59])) + "…"
}

// titleOf names a conversation by its wish and whom it is about, as told from others of the same name; "" while neither
// somebody nor words for them are known. Birth dates are as staff read them, DD-Mmm-YYYY.
func titleOf(w Work) string {
	name, born := w.Query, ""
	switch {
	case w.Workflow == Register:
		name, born = strings.TrimSpace(w.Given+" "+w.Family), w.BirthDate
	case w.Patient != nil:
		name, born = w.Patient.Name, w.Patient.BirthDate
	}
	if name == "" || w.Workflow == "" {
		return ""
	}
	title := map[string]string{Reschedule: "Move", Book: "Book", Cancel: "Cancel", Register: "Register", UpdateContact: "Contact", Message: "Message"}[w.Workflow] + ": " + name
	if d, err := time.Parse(time.DateOnly, born); err == nil {
		title += ", born " + d.Format("02-Jan-2006")
	}
	return title
}

// cut keeps a reason within what a proposal takes.
func cut(text string) string {
	if utf8.RuneCountInString(text) <= proposal.MaxText {
		return text
	}
	return ""
}

func monthOf(m int) time.Month { return time.Month(m) }

var reasonWords = map[string]string{"patient_request": "The patient asked for it", "practitioner_unavailable": "The practitioner is not available",
	"clinic_closed": "The clinic is closed", "booked_in_error": "It was booked in error", "patient_deceased": "The patient has died", "other": "Another reason"}

var contactWords = map[string]string{"email": "By e-mail", "sms": "By SMS", "phone": "By phone call", "none": "Not at all"}
