package proposal

import (
	"fmt"
	"time"
)

// danish has dates and hours as they are written in Denmark: onsdag den 13. maj 2026 kl. 10.00 (dansk tid).
var danish = language{
	code: "da", name: "Danish",
	date: func(t time.Time) string {
		return fmt.Sprintf("%s den %d. %s %d", danishDays[t.Weekday()], t.Day(), danishMonths[t.Month()-1], t.Year())
	},
	short: func(t time.Time) string {
		return fmt.Sprintf("%s %d/%d %d", danishDays[t.Weekday()], t.Day(), t.Month(), t.Year())
	},
	clock: func(t time.Time) string { return t.Format("15.04") },
	at:    " kl. ",
	zone: func(zone string) string {
		if zone == "Europe/Copenhagen" {
			return "dansk tid"
		}
		return "tid i " + zoneCity(zone)
	},
	event: func(place PlaceFacts) string { return "Aftale: " + place.Name },
	subjects: map[string]string{
		KindConfirmation: "Din tid hos os",
		KindChange:       "Din tid er flyttet",
		KindCancellation: "Din tid er aflyst",
		KindReminder:     "Husk din tid hos os",
	},
	emails: map[string]func(letter) string{
		KindConfirmation: func(l letter) string {
			a := l.visit
			return lines("Kære "+l.name,
				fmt.Sprintf("Du har tid %s (%s) hos %s, %s.", l.when(a), l.zone(), a.Practitioner.Name, a.Location.Line()),
				a.Location.call("Passer tiden dig ikke, så ring til os på %s.", "Passer tiden dig ikke, så kontakt os."), a.Location.Name)
		},
		KindChange: func(l letter) string {
			a := l.visit
			return lines("Kære "+l.name,
				"Din tid "+l.when(l.was)+" er flyttet.",
				fmt.Sprintf("Din nye tid er %s (%s) hos %s, %s.", l.when(a), l.zone(), a.Practitioner.Name, a.Location.Name),
				ifSo(l.moved(), "Bemærk, at stedet er ændret fra %s til %s.%s", l.was.Location.Name, a.Location.Name,
					ifSo(a.Location.Address != "", " Adressen er %s.", a.Location.Address)),
				a.Location.call("Passer tiden dig ikke, så ring til os på %s.", "Passer tiden dig ikke, så kontakt os."), a.Location.Line())
		},
		KindCancellation: func(l letter) string {
			b := l.visit
			return lines("Kære "+l.name,
				fmt.Sprintf("Din tid %s (%s) hos %s, %s, er aflyst.", l.when(b), l.zone(), b.Practitioner.Name, b.Location.Name),
				b.Location.call("Ring til os på %s, hvis du vil have en ny tid.", "Kontakt os, hvis du vil have en ny tid."), b.Location.Line())
		},
		KindReminder: func(l letter) string {
			a := l.visit
			return lines("Kære "+l.name,
				fmt.Sprintf("Husk, at du har tid %s (%s) hos %s, %s.", l.when(a), l.zone(), a.Practitioner.Name, a.Location.Line()),
				a.Location.call("Kan du ikke komme, så ring til os på %s.", "Kan du ikke komme, så kontakt os."), a.Location.Name)
		},
	},
	sms: map[string]func(letter) string{
		KindConfirmation: func(l letter) string {
			a := l.visit
			return fmt.Sprintf("Kære %s, du har tid %s (%s), %s. %s", l.given, l.short(a), l.zone(), a.Location.Line(), a.Location.call("Passer det ikke, så ring på %s.", "Passer det ikke, så kontakt os."))
		},
		KindChange: func(l letter) string {
			a := l.visit
			return fmt.Sprintf("Kære %s, din tid %s er flyttet til %s (%s), %s.%s %s", l.given, l.short(l.was), l.short(a), l.zone(),
				a.Location.Line(), ifSo(l.moved(), " Bemærk, at stedet er ændret."), a.Location.call("Passer det ikke, så ring på %s.", "Passer det ikke, så kontakt os."))
		},
		KindCancellation: func(l letter) string {
			b := l.visit
			return fmt.Sprintf("Kære %s, din tid %s (%s), %s, er aflyst. %s", l.given, l.short(b), l.zone(), b.Location.Line(), b.Location.call("Ring på %s for at få en ny tid.", "Kontakt os for at få en ny tid."))
		},
		KindReminder: func(l letter) string {
			a := l.visit
			return fmt.Sprintf("Kære %s, husk din tid %s (%s), %s. %s", l.given, l.short(a), l.zone(), a.Location.Line(), a.Location.call("Kan du ikke komme, så ring på %s.", "Kan du ikke komme, så kontakt os."))
		},
	},
}

var (
	danishDays   = [...]string{"søndag", "mandag", "tirsdag", "onsdag", "torsdag", "fredag", "lørdag"}
	danishMonths = [...]string{"januar", "februar", "marts", "april", "maj", "juni", "juli", "august", "september", "oktober", "november", "december"}
)
