package proposal

import (
	"testing"
	"time"

	"countersign/internal/clinic"
)

func TestTheDayBefore(t *testing.T) {
	zone, err := clinic.LoadZone("Europe/Copenhagen")
	if err != nil {
		t.Fatal(err)
	}
	for starts, want := range map[string]string{
		"2026-10-26T08:00:00+01:00": "2026-10-25T07:00:00Z", // the night before had an hour more: 24 hours
		"2026-10-25T08:00:00+01:00": "2026-10-24T06:00:00Z", // 25 hours before, at 08:00
		"2027-03-28T08:00:00+02:00": "2027-03-27T07:00:00Z", // 23 hours before, at 08:00
		"2027-03-29T02:30:00+02:00": "2027-03-28T00:30:00Z", // 02:30 was skipped the day before: 24 hours
		"2026-10-26T02:30:00+01:00": "2026-10-25T01:30:00Z", // 02:30 came twice the day before: 24 hours
		"2026-10-25T02:30:00+02:00": "2026-10-24T00:30:00Z", // it comes twice on the day itself
		"2026-10-25T02:30:00+01:00": "2026-10-24T00:30:00Z",
		"2027-01-01T00:15:00+01:00": "2026-12-30T23:15:00Z",
	} {
		at, err := time.Parse(time.RFC3339, starts)
		if err != nil {
			t.Fatal(err)
		}
		if got := dayBefore(at.In(zone)).Format(time.RFC3339); got != want {
			t.Errorf("%s: %s, want %s", starts, got, want)
		}
	}
}

// Every kind of message has its words in every language and channel.
func TestEveryLanguageIsWhole(t *testing.T) {
	f := Facts{Appointment: "a", Zone: "America/New_York", StartsAt: time.Date(2026, 11, 1, 5, 30, 0, 0, time.UTC), OffsetMinutes: -240,
		Location: PlaceFacts{ID: "lv", Name: "Lakeview", Address: "1 Lake Street", Phone: "+1 555 0100"}}
	for _, in := range languages {
		l := letter{given: "Ann", name: "Ann Ode", visit: &f, was: &f, in: in}
		for _, kind := range []string{KindConfirmation, KindChange, KindCancellation, KindReminder} {
			for _, p := range []clinic.Patient{{Contact: ChannelEmail, Email: "a@example.test"}, {Contact: ChannelSMS, Phone: "+45 1"}} {
				m := l.message(kind, p)
				if m.Text == "" || m.Recipient == "" || (m.Subject == nil) != (m.Channel == ChannelSMS) || m.Subject != nil && *m.Subject == "" {
					t.Errorf("%s, %s: %+v", in.name, kind, m)
				}
			}
		}
		// An hour that comes twice says which.
		if got, want := l.when(&f), map[string]string{"en": "Sunday 1 November 2026 at 1:30am UTC-04:00", "da": "søndag den 1. november 2026 kl. 01.30 UTC-04:00"}[in.code]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got, want := l.zone(), map[string]string{"en": "New York time", "da": "tid i New York"}[in.code]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for tag, want := range map[string]string{"da": "da", "DA-dk": "da", "en-GB": "en", "": "en", "dan": "en", "de": "en"} {
		if got := languageOf(tag).code; got != want {
			t.Errorf("%q: %s", tag, got)
		}
	}
}
