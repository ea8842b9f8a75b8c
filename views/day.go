package views

import "time"

// DayPage is the day sheet, GET /?location=&date=&practitioner=.
type DayPage struct {
	Shell
	Location         string   // id of the one shown
	LocationName     string   //
	LocationAddress  string   //
	Locations        []Option // the clinic's
	Date             string   // civil date YYYY-MM-DD in LocationZone
	Today            string   // civil date of now in LocationZone
	DateText         string   // as typed, only when DateError is set
	DateError        string   // "" or why the typed date was not understood; the sheet then shows Date
	LocationZone     string   // IANA
	Practitioner     string   // id of the filter; "" = everybody
	PractitionerList []Option // of the filter, without "everybody"
	From, To         int      // opening hours, minutes after local midnight of Date; To may pass 1440. Visits outside widen it
	Grid             int      // minutes of a row, 5..60
	LunchFrom        int      // minutes, drawn half as high; LunchFrom == LunchTo: no lunch
	LunchTo          int      //
	Columns          []DayColumn
	ChangedURL       string // polled every 20 s: 204 while the sheet is what it was, else the DayChanged fragment; "" = no poll
	Search           PatientSearch
}

// DayColumn is one practitioner's day. Order inside the slices does not matter.
type DayColumn struct {
	ID, Name string
	Visits   []DayVisit
	Free     []DayFree
	Shut     []DayShut
	Marks    []DayMark
}

// DayVisit is one appointment, cancelled ones too. Times are UTC.
type DayVisit struct {
	ID               string
	StartsAt, EndsAt time.Time
	Patient          Person
	Type             string
	Status           string
	Waiting          []DayAsk // proposals that would move or cancel it
}

// DayFree is time that can be booked, with nothing in it.
type DayFree struct {
	StartsAt, EndsAt time.Time
}

// DayShut is leave, closed time or lunch, in words.
type DayShut struct {
	StartsAt, EndsAt time.Time
	Word             string // "Leave", "Closed", "Lunch"
}

// DayMark is time that waiting proposals would take. Two asks or more are rivals.
type DayMark struct {
	StartsAt, EndsAt time.Time
	Asks             []DayAsk
}

// DayAsk is one waiting proposal as marked on the sheet.
type DayAsk struct {
	Proposal string
	Action   string
	Patient  string    // name
	StartsAt time.Time // where it would go; zero for a cancellation
	Outside  bool      // confirmed, and the EHR has not answered: its time is held
}

// DayChangedNotice is what the poll answers when the sheet changed: a notice with a link, never a moved row.
type DayChangedNotice struct {
	ReloadURL string // the sheet as it stands
}
