package proposal

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// MailFrom is the address that messages come from where the operator set none; nobody can answer to it.
const MailFrom = "no-reply@countersign.invalid"

// entry is the iCalendar text (RFC 5545, 5546) that goes with an e-mail about a visit: put it into the calendar, or take
// it out. The UID is the visit's for its whole life, whatever becomes of it; SEQUENCE is the version that the visit will
// have, and so rises with every message. The same plan gives the same bytes.
func (d *drafting) entry(l letter, kind, recipient string) string {
	f := l.visit
	method, status := "REQUEST", "CONFIRMED"
	if kind == KindCancellation {
		method, status = "CANCEL", "CANCELLED"
	}
	var c calendar
	c.line("BEGIN", "VCALENDAR")
	c.line("VERSION", "2.0")
	c.line("PRODID", "-//Countersign//Countersign//EN")
	c.line("CALSCALE", "GREGORIAN")
	c.line("METHOD", method)
	c.line("BEGIN", "VEVENT")
	c.line("UID", f.Appointment+"@"+d.plan.Clinic+".countersign.invalid")
	c.line("SEQUENCE", strconv.FormatInt(d.plan.Steps[0].versionAfter(), 10))
	c.line("DTSTAMP", icalTime(d.now))
	c.line("DTSTART", icalTime(f.StartsAt))
	c.line("DTEND", icalTime(f.EndsAt))
	c.line("STATUS", status)
	c.line("CLASS", "PRIVATE")
	c.line("SUMMARY", icalText(l.in.event(f.Location)))
	c.line("LOCATION", icalText(f.Location.Line()))
	c.line("ORGANIZER;CN="+icalParam(f.Location.Name), "mailto:"+d.mailFrom)
	// Accepted, and no answer is asked for: nobody reads answers from calendars.
	c.line("ATTENDEE;CN="+icalParam(l.name)+";ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED;RSVP=FALSE", "mailto:"+recipient)
	c.line("END", "VEVENT")
	c.line("END", "VCALENDAR")
	return c.String()
}

// calendar writes content lines: CRLF, folded at 75 octets between characters.
type calendar struct{ strings.Builder }

func (c *calendar) line(name, value string) {
	s, most := name+":"+value, 75
	for len(s) > most {
		cut := most
		for !utf8.RuneStart(s[cut]) {
			cut--
		}
		c.WriteString(s[:cut] + "\r\n ")
		s, most = s[cut:], 74 // the space counts
	}
	c.WriteString(s + "\r\n")
}

func icalTime(t time.Time) string { return t.UTC().Format("20060102T150405Z") }

var icalEscapes = strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\r\n", `\n`, "\n", `\n`)

func icalText(s string) string { return icalEscapes.Replace(s) }

// icalParam is a parameter's value, quoted, with the escapes of RFC 6868.
func icalParam(s string) string {
	return `"` + strings.NewReplacer("^", "^^", `"`, "^'", "\n", "^n", "\r", "").Replace(s) + `"`
}
