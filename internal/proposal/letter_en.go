package proposal

import (
	"fmt"
	"time"
)

// english has long dates and twelve hours: Tuesday 27 October 2026 at 2:15pm (Copenhagen time).
var english = language{
	code: "en", name: "English",
	date:  func(t time.Time) string { return t.Format("Monday 2 January 2006") },
	short: func(t time.Time) string { return t.Format("Mon 2 Jan 2006") },
	clock: englishClock,
	at:    " at ",
	zone:  func(zone string) string { return zoneCity(zone) + " time" },
	event: func(place PlaceFacts) string { return "Appointment at " + place.Name },
	subjects: map[string]string{
		KindConfirmation: "Your appointment",
		KindChange:       "Your appointment has moved",
		KindCancellation: "Your appointment is cancelled",
		KindReminder:     "Reminder of your appointment",
	},
	emails: map[string]func(letter) string{
		KindConfirmation: func(l letter) string {
			a := l.visit
			return lines("Dear "+l.name,
				fmt.Sprintf("Your appointment is on %s (%s) with %s at %s.", l.when(a), l.zone(), a.Practitioner.Name, a.Location.Line()),
				a.Location.call("If this does not suit you, call us on %s.", "If this does not suit you, contact us."), a.Location.Name)
		},
		KindChange: func(l letter) string {
			a := l.visit
			return lines("Dear "+l.name,
				"Your appointment on "+l.when(l.was)+" has moved.",
				fmt.Sprintf("Your new appointment is on %s (%s) with %s at %s.", l.when(a), l.zone(), a.Practitioner.Name, a.Location.Name),
				ifSo(l.moved(), "Please note that the place has changed from %s to %s.%s", l.was.Location.Name, a.Location.Name,
					ifSo(a.Location.Address != "", " The address is %s.", a.Location.Address)),
				a.Location.call("If this does not suit you, call us on %s.", "If this does not suit you, contact us."), a.Location.Line())
		},
		KindCancellation: func(l letter) string {
			b := l.visit
			return lines("Dear "+l.name,
				fmt.Sprintf("Your appointment on %s (%s) with %s at %s is cancelled.", l.when(b), l.zone(), b.Practitioner.Name, b.Location.Name),
				b.Location.call("To book a new one, call us on %s.", "To book a new one, contact us."), b.Location.Line())
		},
		KindReminder: func(l letter) string {
			a := l.visit
			return lines("Dear "+l.name,
				fmt.Sprintf("This is a reminder of your appointment on %s (%s) with %s at %s.", l.when(a), l.zone(), a.Practitioner.Name, a.Location.Line()),
				a.Location.call("If you cannot come, call us on %s.", "If you cannot come, contact us."), a.Location.Name)
		},
	},
	sms: map[string]func(letter) string{
		KindConfirmation: func(l letter) string {
			a := l.visit
			return fmt.Sprintf("Dear %s, your appointment is on %s (%s) at %s. %s", l.given, l.short(a), l.zone(), a.Location.Line(), a.Location.call("If this does not suit you, call %s.", "If this does not suit you, contact us."))
		},
		KindChange: func(l letter) string {
			a := l.visit
			return fmt.Sprintf("Dear %s, your appointment on %s has moved to %s (%s) at %s.%s %s", l.given, l.short(l.was), l.short(a), l.zone(),
				a.Location.Line(), ifSo(l.moved(), " Please note that the place has changed."), a.Location.call("If this does not suit you, call %s.", "If this does not suit you, contact us."))
		},
		KindCancellation: func(l letter) string {
			b := l.visit
			return fmt.Sprintf("Dear %s, your appointment on %s (%s) at %s is cancelled. %s", l.given, l.short(b), l.zone(), b.Location.Line(), b.Location.call("To book a new one, call %s.", "To book a new one, contact us."))
		},
		KindReminder: func(l letter) string {
			a := l.visit
			return fmt.Sprintf("Dear %s, we remind you of your appointment on %s (%s) at %s. %s", l.given, l.short(a), l.zone(), a.Location.Line(), a.Location.call("If you cannot come, call %s.", "If you cannot come, contact us."))
		},
	},
}

func englishClock(t time.Time) string {
	switch {
	case t.Hour() == 12 && t.Minute() == 0:
		return "midday"
	case t.Hour() == 0 && t.Minute() == 0:
		return "midnight"
	case t.Minute() == 0:
		return t.Format("3pm")
	}
	return t.Format("3:04pm")
}
