package gallery

import (
	"fmt"
	"time"

	"countersign/views"
)

func days() []Item {
	full := sheet()
	filtered := sheet()
	filtered.Practitioner, filtered.Columns, filtered.ChangedURL = "dahl", filtered.Columns[2:3], ""
	wrong := sheet()
	wrong.DateText, wrong.DateError = "32-Okt", "“32-Okt” is no date. Write 21-Oct-2026, or +3d, -2w."
	done := sheet()
	done.Shell = flashed(done.Shell, views.FlashDone, "Villads Brandt has arrived.")
	empty := sheet()
	empty.Date, empty.Columns = "2026-10-24", nil
	return []Item{
		{Name: "day", Component: views.Day(full)},
		{Name: "day-one-practitioner", Component: views.Day(filtered)},
		{Name: "day-wrong-date", Component: views.Day(wrong)},
		{Name: "day-flash", Component: views.Day(done)},
		{Name: "day-nobody", Component: views.Day(empty)},
		{Name: "day-twenty", Component: views.Day(twenty())},
		{Name: "day-overnight", Component: views.Day(overnight())},
		{Name: "day-odd", Component: views.Day(odd())},
		{Name: "day-fragment", Component: views.Day(views.DayPage{Shell: fragment(full.Shell), Date: full.Date, LocationZone: copenhagen, Columns: full.Columns, Location: full.Location, Today: full.Today}), Fragment: true},
		{Name: "day-changed", Component: inPage(views.DayChanged(views.DayChangedNotice{ReloadURL: "/?date=2026-10-21&location=h12"}))},
	}
}

// visit is one line of the sheet: hhmm start, minutes.
func visit(name string, hhmm, minutes int, status, kind string) views.DayVisit {
	start := at(21, hhmm/100, hhmm%100)
	id := fmt.Sprintf("%x%d", len(name)*31+int(name[0]), hhmm)
	return views.DayVisit{ID: "a" + id, StartsAt: start, EndsAt: start.Add(time.Duration(minutes) * time.Minute), Patient: named("p"+id, name), Status: status, Type: kind}
}

func withPatient(v views.DayVisit, p views.Person) views.DayVisit {
	v.Patient = p
	return v
}

func asking(v views.DayVisit, asks ...views.DayAsk) views.DayVisit {
	v.Waiting = asks
	return v
}

func free(from, to int) views.DayFree {
	return views.DayFree{StartsAt: at(21, from/100, from%100), EndsAt: at(21, to/100, to%100)}
}

func sheet() views.DayPage {
	const std, long, inj = "Standard", "Long", "Injection"
	move := views.DayAsk{Proposal: "2226", Action: views.ActionMove, Patient: soren.Name, StartsAt: at(23, 9, 0)}
	return views.DayPage{
		Shell: shell(views.NavDay), Location: "h12", LocationName: "Havnegade 12", LocationAddress: "Havnegade 12, 1058 København K",
		Locations: []views.Option{{Value: "h12", Label: "Havnegade 12"}, {Value: "annex", Label: "Havnegade Annex"}},
		Date:      "2026-10-21", Today: "2026-10-21", LocationZone: copenhagen,
		PractitionerList: []views.Option{{Value: "holm", Label: "Dr Anna Holm"}, {Value: "okafor", Label: "Dr Ben Okafor"}, {Value: "dahl", Label: "Nurse Liv Dahl"}, {Value: "thorsen", Label: "Dr Signe Thorsen"}},
		From:             480, To: 960, Grid: 15, LunchFrom: 720, LunchTo: 750, ChangedURL: "/day/changed?seen=3f9a",
		Columns: []views.DayColumn{
			{ID: "holm", Name: "Dr Anna Holm", Visits: []views.DayVisit{
				visit("Lars Kjærgaard", 800, 30, "fulfilled", std), visit("Åse Bjørndal", 830, 30, "fulfilled", std), visit("Hüseyin Çelik", 900, 60, "fulfilled", long),
				visit("Freja Østergaard", 1000, 30, "noshow", std), visit("Noah Đorđević", 1030, 30, "fulfilled", std), visit("Emma Nørgaard", 1100, 30, "checked-in", std),
				visit("Villads Brandt", 1130, 30, "arrived", std), asking(withPatient(visit(soren.Name, 1300, 60, "booked", long), soren), move),
				visit("Kirsten Damgaard", 1400, 30, "booked", std), visit("Marek Wiśniewski", 1500, 30, "booked", std),
			}, Free: []views.DayFree{free(1230, 1300), free(1430, 1500), free(1530, 1600)}},
			{ID: "okafor", Name: "Dr Ben Okafor", Visits: []views.DayVisit{
				visit("Ida Thomsen", 800, 30, "fulfilled", std), visit("Poul Erik Dam", 830, 60, "fulfilled", long), visit("Sofie Lindqvist", 1000, 30, "fulfilled", std),
				visit("Karim Haddad", 1030, 30, "fulfilled", std), visit("Inger Marie Holst", 1100, 30, "arrived", std), withPatient(visit("Anna Nielsen", 1130, 30, "booked", std), anna1),
				visit("Bo Frederiksen", 1230, 60, "booked", long), visit("Maja Rask", 1330, 30, "cancelled", std), visit("Theodor Vang", 1400, 30, "booked", std),
				withPatient(visit(aoife.Name, 1500, 30, "booked", std), aoife), visit("Jens-Ole Møller", 1530, 30, "booked", std),
			}, Free: []views.DayFree{free(930, 1000), free(1330, 1400), free(1430, 1500)},
				Marks: []views.DayMark{{StartsAt: at(21, 14, 30), EndsAt: at(21, 15, 0), Asks: []views.DayAsk{{Proposal: "2229", Action: views.ActionBook, Patient: "Anna Nielsen"}, {Proposal: "2227", Action: views.ActionMove, Patient: "Kirsten Damgaard"}}}}},
			{ID: "dahl", Name: "Nurse Liv Dahl", Visits: []views.DayVisit{
				visit("Ruth Abel", 800, 15, "fulfilled", inj), visit("Kasper Juhl", 815, 15, "fulfilled", inj), visit("Mette Sørensen", 830, 15, "fulfilled", inj),
				visit("Yusuf Demir", 845, 15, "noshow", inj), visit("Gudrun Aagaard", 900, 30, "fulfilled", std), visit("Ole Winther", 930, 15, "fulfilled", inj),
				visit("Tilde Krag", 945, 15, "fulfilled", inj), visit("Sára Þórsdóttir", 1030, 15, "fulfilled", inj), visit("Bent Iversen", 1045, 15, "fulfilled", inj),
				visit("Nanna Bech", 1100, 15, "fulfilled", inj), visit("Carl Ege", 1115, 15, "checked-in", inj), visit("Amina Warsame", 1130, 15, "arrived", inj),
				visit("Lone Toft", 1230, 15, "booked", inj), visit("Elias Nyberg", 1245, 15, "booked", inj), visit("Rigmor Clausen", 1300, 30, "booked", std),
				withPatient(visit("Anna Nielsen", 1345, 15, "booked", inj), anna2), visit("Per Lauritzen", 1400, 15, "booked", inj), visit("Zuzanna Nowak", 1500, 30, "booked", std),
				visit("Dorte Friis", 1530, 15, "booked", inj),
			}, Free: []views.DayFree{free(1000, 1030), free(1145, 1200), free(1330, 1345), free(1415, 1500), free(1545, 1600)}},
			{ID: "thorsen", Name: "Dr Signe Thorsen", Visits: []views.DayVisit{
				visit("Anders Qvist", 1000, 30, "fulfilled", std), visit("Linh Nguyễn", 1030, 30, "fulfilled", std), visit("Birgit Stæhr", 1100, 60, "checked-in", long),
				visit("Frederik Oxholm", 1230, 30, "booked", std), visit("Mia Rosenkilde", 1300, 30, "booked", std), visit("Hans Peter Lund", 1400, 60, "booked", long),
				visit("Sanne Ellegaard", 1500, 30, "booked", std), visit("Otto Bay", 1330, 30, "cancelled", std),
			}, Free: []views.DayFree{free(1330, 1400), free(1530, 1600)},
				Marks: []views.DayMark{{StartsAt: at(21, 13, 30), EndsAt: at(21, 14, 0), Asks: []views.DayAsk{{Proposal: "2240", Action: views.ActionBook, Patient: maria91.Name}}}},
				Shut:  []views.DayShut{{StartsAt: at(21, 8, 0), EndsAt: at(21, 10, 0), Word: "Leave"}}},
		},
	}
}

// twenty is a medium clinic: twenty columns, and the desk scrolls.
func twenty() views.DayPage {
	p := sheet()
	four := p.Columns
	p.Columns = nil
	for i := range 20 {
		c := four[i%4]
		c.ID, c.Name = fmt.Sprintf("%s%d", c.ID, i), fmt.Sprintf("%s %d", c.Name, i+1)
		p.Columns = append(p.Columns, c)
	}
	return p
}

// overnight is a night clinic, 22:00 to 02:00, with rows of half an hour.
func overnight() views.DayPage {
	p := sheet()
	p.From, p.To, p.Grid, p.LunchFrom, p.LunchTo = 1320, 1560, 30, 0, 0
	late := func(day, hour, minute int, name, status string) views.DayVisit {
		v := visit(name, 800, 30, status, "Long")
		v.StartsAt, v.EndsAt = at(day, hour, minute), at(day, hour, minute).Add(time.Hour)
		return v
	}
	p.Columns = []views.DayColumn{{ID: "night", Name: "Dr Nils Wåhlin", Visits: []views.DayVisit{late(21, 22, 0, "Runa Falk", "booked"), late(21, 23, 30, "Þórunn Jónsdóttir", "booked")},
		Free: []views.DayFree{{StartsAt: at(21, 23, 0), EndsAt: at(21, 23, 30)}, {StartsAt: at(22, 0, 30), EndsAt: at(22, 2, 0)}}}}
	return p
}

// odd has what imports bring: visits off the grid and before opening, two at once, a long name, a whole free day.
func odd() views.DayPage {
	p := sheet()
	early := visit("Early Bird", 710, 20, "booked", "Standard")
	a, b := visit("Two At Once", 900, 30, "booked", "Standard"), visit("Second Of Two", 915, 30, "booked", "Long")
	p.Columns = []views.DayColumn{
		{ID: "odd", Name: "Dr Maximiliane-Henriette von Württemberg-Hohenlohe", Visits: []views.DayVisit{early, a, b, withPatient(visit("x", 1000, 30, "booked", "Standard"), longest),
			withPatient(visit("y", 1030, 15, "booked", "Injection"), longest), visit("Gone Before", 1000, 30, "cancelled", "Standard"),
			asking(visit("One Row Waiting", 1300, 15, "booked", "Injection"), views.DayAsk{Proposal: "1", Action: views.ActionCancel})}},
		{ID: "free", Name: "Dr Free All Day", Free: []views.DayFree{free(800, 1200), free(1230, 1600)}},
		{ID: "off", Name: "Dr Not Today"},
	}
	return p
}
