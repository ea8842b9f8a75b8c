package casetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	ics "github.com/arran4/golang-ical"

	"countersign/internal/proposal"
)

// entry is a calendar part as a reader that we did not write reads it.
type entry struct {
	method, uid, status, summary, location, organizer, attendee string
	sequence                                                    int
	start, end, stamp                                           time.Time
}

func read(t *testing.T, p proposal.Plan) entry {
	t.Helper()
	text := *p.Messages[0].Calendar
	if !strings.HasSuffix(text, "END:VCALENDAR\r\n") || strings.Count(text, "\n") != strings.Count(text, "\r\n") {
		t.Errorf("line ends: %q", text)
	}
	for _, line := range strings.Split(text, "\r\n") {
		if len(line) > 75 {
			t.Errorf("%d octets: %s", len(line), line)
		}
	}
	c, err := ics.ParseCalendar(strings.NewReader(text))
	if err != nil || len(c.Events()) != 1 {
		t.Fatal(err, text)
	}
	e := c.Events()[0]
	var out entry
	for _, p := range c.CalendarProperties {
		if p.IANAToken == "METHOD" {
			out.method = p.Value
		}
	}
	get := func(name ics.ComponentProperty) string {
		p := e.GetProperty(name)
		if p == nil {
			t.Fatalf("no %s in %s", name, text)
		}
		return ics.FromText(p.Value)
	}
	out.uid, out.status, out.summary, out.location = get(ics.ComponentPropertyUniqueId), get(ics.ComponentPropertyStatus), get(ics.ComponentPropertySummary), get(ics.ComponentPropertyLocation)
	out.organizer, out.attendee = get(ics.ComponentPropertyOrganizer), get(ics.ComponentPropertyAttendee)
	fmt.Sscan(get(ics.ComponentPropertySequence), &out.sequence)
	if out.start, err = e.GetStartAt(); err != nil {
		t.Fatal(err)
	}
	if out.end, err = e.GetEndAt(); err != nil {
		t.Fatal(err)
	}
	if out.stamp, err = e.GetDtStampTime(); err != nil {
		t.Fatal(err)
	}
	return out
}

// N08, N10: one UID for the visit's whole life, at another time and with another practitioner too; the number of its
// entries rises, and a cancellation takes it out of the calendar.
func TestACalendarEntryFollowsItsVisit(t *testing.T) {
	w := worldAt(t, usual)
	w.desk.MailFrom = "desk@havnegade.test"
	w.clear("2026-06-17")
	r := w.propose(ana, book("pat_maria84", "prac_holm", "loc_hav12", "2026-06-17T14:00"))
	first := read(t, r.Plan)
	if first.method != "REQUEST" || first.status != "CONFIRMED" || first.organizer != "mailto:desk@havnegade.test" || first.attendee != "mailto:maria.jensen.84@example.test" ||
		first.summary != "Appointment at Havnegade 12" || !strings.HasPrefix(first.location, "Havnegade 12, 1058") {
		t.Errorf("%+v", first)
	}
	if !first.start.Equal(at(t, "2026-06-17 14:00")) || !first.end.Equal(at(t, "2026-06-17 14:30")) || time.Until(first.stamp).Abs() < time.Hour {
		t.Errorf("%s to %s, made %s", first.start, first.end, first.stamp) // made by the database's clock
	}
	visit := w.confirm(ana, r, "k0").Plan.After.Appointment
	last := first
	for i, wish := range []proposal.Proposing{
		move(visit, "2026-06-17T15:00"), move(visit, "2026-06-17T15:00", "practitioner", "prac_okafor"), move(visit, "2026-06-17T14:00", "practitioner", "prac_holm"), cancelling(visit, "other"),
	} {
		r := w.propose(ana, wish)
		e := read(t, r.Plan)
		if e.uid != first.uid || e.sequence <= last.sequence {
			t.Errorf("%d: %s %d after %s %d", i, e.uid, e.sequence, last.uid, last.sequence)
		}
		if cancelled := wish.Action == "cancel_appointment@1"; cancelled != (e.method == "CANCEL") || cancelled != (e.status == "CANCELLED") {
			t.Errorf("%d: %s %s", i, e.method, e.status)
		}
		if !e.start.Equal(r.Plan.After.StartsAt) {
			t.Errorf("%d: %s", i, e.start)
		}
		done := w.confirm(ana, r, fmt.Sprint("k", i+1))
		if stored := w.text(`SELECT calendar || version FROM outbox WHERE proposal = $1 AND kind <> 'reminder'`, done.ID); stored != *r.Plan.Messages[0].Calendar+fmt.Sprint(e.sequence) {
			t.Errorf("%d: stored: %s", i, stored)
		}
		last = e
	}
	w.clear("2026-06-18")
	if other := read(t, w.propose(ana, move("appt_maria84", "2026-06-18T14:00")).Plan); other.uid == first.uid {
		t.Error("two visits have one UID")
	}
}

// Whatever names hold stays in its own property.
func TestACalendarEntryCannotBeWidened(t *testing.T) {
	w := worldAt(t, usual)
	w.exec(`UPDATE locations SET name = 'Hav, "12"; ^ ' || repeat('åß€😀', 30), address = E'Line 1\nBEGIN:VALARM,;:\\' WHERE id = 'loc_hav12'`)
	w.exec(`UPDATE patients SET given = E'Ma"ria:;\r\nATTENDEE:mailto:eve@example.test' WHERE id = 'pat_maria84'`)
	p := w.propose(ana, move("appt_maria84", "2026-06-17T14:00")).Plan
	e := read(t, p)
	if e.location != p.After.Location.Line() {
		t.Errorf("%q, want %q", e.location, p.After.Location.Line())
	}
	text := strings.ReplaceAll(*p.Messages[0].Calendar, "\r\n ", "")
	if n := strings.Count(text, "\r\nATTENDEE"); n != 1 || strings.Contains(text, "\r\nBEGIN:VALARM") {
		t.Error(text)
	}
}
