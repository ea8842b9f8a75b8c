package handlers

import (
	"time"

	"countersign/db"
	"countersign/internal/clinic"
	"countersign/views"
)

// dayColumns draws the sheet up by practitioner. With a filter it is that one column, there even when it is empty.
func dayColumns(sheet db.DaySheet, only clinic.Ref) []views.DayColumn {
	var columns []views.DayColumn
	place := map[string]int{}
	add := func(id, name string) {
		if only.ID == "" || only.ID == id {
			place[id] = len(columns)
			columns = append(columns, views.DayColumn{ID: id, Name: name})
		}
	}
	for _, p := range sheet.Practitioners {
		add(p.ID, p.Name)
	}
	if only.ID != "" && len(columns) == 0 {
		add(only.ID, only.Name)
	}
	asks := asksByVisit(sheet.Waiting)
	for _, v := range sheet.Visits {
		if i, ok := place[v.Practitioner]; ok {
			columns[i].Visits = append(columns[i].Visits, views.DayVisit{ID: v.ID, StartsAt: v.StartsAt, EndsAt: v.EndsAt, Type: v.Type.Name, Status: v.Status,
				Patient: views.Person{ID: v.Patient.ID, Name: v.Patient.Name, BirthDate: v.BirthDate, MRN: v.MRN}, Waiting: asks[v.ID]})
		}
	}
	for _, x := range sheet.Slots {
		i, ok := place[x.Practitioner]
		switch {
		case !ok || x.Appointment != "":
		case x.State == "open":
			columns[i].Free = append(columns[i].Free, views.DayFree{StartsAt: x.StartsAt, EndsAt: x.EndsAt})
		case x.State == "leave":
			columns[i].Shut = addShut(columns[i].Shut, x, "Leave")
		}
	}
	for _, w := range sheet.Waiting {
		if i, ok := place[w.Practitioner]; ok && takes(w, sheet) {
			columns[i].Marks = append(columns[i].Marks, views.DayMark{StartsAt: w.StartsAt, EndsAt: w.EndsAt, Asks: []views.DayAsk{askOf(w)}})
		}
	}
	return columns
}

// addShut adds a slot to the time before it, or begins another.
func addShut(list []views.DayShut, x clinic.Slot, word string) []views.DayShut {
	if n := len(list); n > 0 && list[n-1].Word == word && list[n-1].EndsAt.Equal(x.StartsAt) {
		list[n-1].EndsAt = x.EndsAt
		return list
	}
	return append(list, views.DayShut{StartsAt: x.StartsAt, EndsAt: x.EndsAt, Word: word})
}

// takes reports whether the proposal would take time on the sheet.
func takes(w db.Waiting, sheet db.DaySheet) bool {
	return w.Location == sheet.Location.ID && w.StartsAt.Before(sheet.To) && w.EndsAt.After(sheet.From)
}

func askOf(w db.Waiting) views.DayAsk {
	return views.DayAsk{Proposal: w.ID, Action: w.Action, Patient: w.Patient.Name, StartsAt: w.StartsAt, Outside: w.Executing}
}

// asksByVisit is what waits for each visit, by its id.
func asksByVisit(waiting []db.Waiting) map[string][]views.DayAsk {
	asks := map[string][]views.DayAsk{}
	for _, w := range waiting {
		if w.Appointment != "" {
			asks[w.Appointment] = append(asks[w.Appointment], askOf(w))
		}
	}
	return asks
}

// dayHours are minutes after the local midnight that begins the sheet's day, and the minutes of one row.
type dayHours struct{ from, to, grid, lunchFrom, lunchTo int }

// hoursOf reads the opening hours off the slots. The rows are as fine as the slots need; the page itself widens the
// hours for visits outside them, except those that began on the day before.
func hoursOf(sheet db.DaySheet, zone *time.Location) dayHours {
	var h dayHours
	if len(sheet.Slots) > 0 {
		h.from = 2880
	}
	for _, x := range sheet.Slots {
		from, to := wallMinutes(sheet.Day, x.StartsAt, x.EndsAt, zone)
		h.from, h.to = min(h.from, from), max(h.to, to)
	}
	h.to = min(h.to, 2880)
	for _, x := range sheet.Slots {
		from, to := wallMinutes(sheet.Day, x.StartsAt, x.EndsAt, zone)
		h.grid = common(common(h.grid, to-from), from-h.from)
	}
	h.grid = rowOf(h.grid)
	h.lunchFrom, h.lunchTo = lunchOf(sheet, zone, h)
	for _, v := range sheet.Visits {
		if v.StartsAt.Before(sheet.From) {
			if h.to == 0 {
				h.from, h.to = 8*60, 16*60
			}
			h.from %= h.grid
		}
	}
	return h
}

// wallMinutes is a span as the wall clock of the day shows it. An hour that the clock repeats counts once.
func wallMinutes(day clinic.Date, from, to time.Time, zone *time.Location) (a, b int) {
	midnight := time.Date(day.Year, day.Month, day.Day, 0, 0, 0, 0, time.UTC)
	wall := func(t time.Time) int {
		w := t.In(zone)
		return int(time.Date(w.Year(), w.Month(), w.Day(), w.Hour(), w.Minute(), 0, 0, time.UTC).Sub(midnight) / time.Minute)
	}
	a, b = wall(from), wall(to)
	if b <= a {
		b = a + int(to.Sub(from)/time.Minute)
	}
	return a, b
}

// common is the greatest common divisor; 0 is none yet.
func common(a, b int) int {
	if b < 0 {
		b = -b
	}
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// rowOf fits a grid into the 5 to 60 minutes that a row can have, so that slots still begin with a row where they can.
func rowOf(grid int) int {
	if grid == 0 {
		return 15
	}
	for row := 60; row >= 5; row-- {
		if grid%row == 0 {
			return row
		}
	}
	return 5
}

// lunchOf is the longest pause, of two hours at most, that begins from 11 to 14 and in which nobody has a slot, a visit
// or a proposal.
func lunchOf(sheet db.DaySheet, zone *time.Location, h dayHours) (from, to int) {
	rows := make([]bool, (h.to-h.from)/h.grid)
	busy := func(starts, ends time.Time) {
		a, b := wallMinutes(sheet.Day, starts, ends, zone)
		for i := range rows {
			if at := h.from + i*h.grid; at < b && a < at+h.grid {
				rows[i] = true
			}
		}
	}
	for _, x := range sheet.Slots {
		busy(x.StartsAt, x.EndsAt)
	}
	for _, v := range sheet.Visits {
		busy(v.StartsAt, v.EndsAt)
	}
	for _, w := range sheet.Waiting {
		if takes(w, sheet) {
			busy(w.StartsAt, w.EndsAt)
		}
	}
	for i := 0; i < len(rows); i++ {
		j := i
		for j < len(rows) && !rows[j] {
			j++
		}
		at, length := h.from+i*h.grid, (j-i)*h.grid
		if at >= 11*60 && at < 14*60 && length <= 120 && length > to-from {
			from, to = at, at+length
		}
		i = max(i, j-1)
	}
	return from, to
}
