package views

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/a-h/templ"

	"countersign/static"
)

// hours are the labels of the hours column, by row.
func (s daySheet) hours() []dayBlock {
	var out []dayBlock
	for i := 0; i < s.rows; i++ {
		m := s.from + i*s.grid
		if i > 0 && m/60 == (m-s.grid)/60 || m >= s.p.LunchFrom && m < s.p.LunchTo {
			continue
		}
		out = append(out, dayBlock{row: i, rows: 1, word: wallText(m / 60 * 60)})
	}
	return out
}

func wallText(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60%24, minute%60) }

func (s daySheet) shutText(b dayBlock) string {
	a, e := s.from+b.row*s.grid, min(s.to, s.from+(b.row+b.rows)*s.grid)
	return wallText(a) + "–" + wallText(e) + " " + b.word
}

func (s daySheet) css() string {
	return static.HoursURL(s.from, s.to, s.grid, s.p.LunchFrom, s.p.LunchTo)
}

func (s daySheet) bookURL(practitioner string, at time.Time) string {
	return BookURL("", Booking{Practitioner: practitioner, Location: s.p.Location, StartsAt: at.UTC().Format(time.RFC3339)})
}

// dayURL is the sheet of another day, with the same filters.
func (p DayPage) dayURL(date string) string {
	q := url.Values{"location": {p.Location}, "date": {date}}
	if p.Practitioner != "" {
		q.Set("practitioner", p.Practitioner)
	}
	return "/?" + q.Encode()
}

func (p DayPage) day(plus int) string {
	return civil(p.Date).AddDate(0, 0, plus).Format("2006-01-02")
}

// oneLine is a visit in a single low row: its status is a shape, the word is for screen readers and the key.
func (b dayBlock) oneLine(s daySheet) bool { return b.rows == 1 && s.grid <= 20 }

func dayShell(p DayPage) Shell {
	if p.Shell.Title == "" {
		p.Shell.Title = LongDate(civil(p.Date)) + ", " + p.LocationName
	}
	return p.Shell
}

func laneClass(l dayLane) string {
	if l.lanes > 1 {
		return fmt.Sprintf("w%d", l.lanes)
	}
	return ""
}

func nowClass(s daySheet) string { return fmt.Sprintf("r%d k%d", s.nowRow+1, s.nowPercent) }

// askURL opens the one proposal that waits, or the visit, or the queue, where all of them are listed.
func askURL(b dayBlock) string {
	switch {
	case len(b.asks) == 1:
		return cardURL(b.asks[0].Proposal)
	case b.kind == blockVisit:
		return visitURL(b.visit.ID)
	}
	return "/queue"
}

func askText(s daySheet, b dayBlock) string {
	if len(b.asks) > 1 {
		return "Waits: " + Count(len(b.asks), "proposal")
	}
	if b.asks[0].Outside {
		return "Waits for the EHR: " + askWords(b.asks[0], s.loc)
	}
	if to := b.asks[0].StartsAt.In(s.loc); b.asks[0].Action == ActionMove && to.Format(time.DateOnly) == s.date.Format(time.DateOnly) {
		return "Waits: move to " + Clock(to) + " this day"
	}
	return "Waits: " + askWords(b.asks[0], s.loc)
}

// askWords says what a waiting proposal would do: "move to Fri 23 Oct 2026, 09:00", "cancel".
func askWords(a DayAsk, loc *time.Location) string {
	switch {
	case a.Action == ActionMove && !a.StartsAt.IsZero():
		return "move to " + ShortDate(a.StartsAt.In(loc)) + ", " + Clock(a.StartsAt.In(loc))
	case a.Action == ActionBook:
		return "book " + a.Patient + " here"
	}
	return strings.ToLower(ActionWord(a.Action))
}

// askState tells what may still be decided from what was.
func askState(a DayAsk) string {
	if a.Outside {
		return "Confirmed, waits for the EHR"
	}
	return "Proposed"
}

func timesWord(n int) string {
	if n == 2 {
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// head is the first three letters of a type, for a low row; the rest is read out but not drawn.
func head(s string) string {
	n := 0
	for i := range s {
		if n == 3 {
			return s[:i]
		}
		n++
	}
	return s
}

// later keeps the further rows of a free block out of the tab order: the first is there, and the form has all starts.
func later(b dayBlock) templ.Attributes {
	if b.underFirst {
		return templ.Attributes{"tabindex": "-1"}
	}
	return nil
}

// typeText is the second line of a visit: its type, and the MRN where the name alone does not tell.
func (b dayBlock) typeText() string {
	if b.mrn {
		return b.visit.Type + ", MRN " + b.visit.Patient.MRN
	}
	return b.visit.Type
}
