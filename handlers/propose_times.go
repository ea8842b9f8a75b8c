package handlers

import (
	"time"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
	"countersign/views"
)

// pickerDays is how many days the list of starts shows.
const pickerDays = 7

// fillTimes lists a week of free starts, from the slot rows that a confirmation reads too. For a move the visit's own
// slots count as free.
func (s *Server) fillTimes(c echo.Context, t *db.Tx, p *views.ProposePage) error {
	ctx := c.Request().Context()
	practitioners, err := t.Practitioners(ctx)
	if err != nil {
		return err
	}
	locations, err := t.Locations(ctx)
	if err != nil {
		return err
	}
	types, err := t.Types(ctx)
	if err != nil {
		return err
	}
	p.Practitioners = choose(offers(practitioners, p), &p.Practitioner)
	p.Locations = choose(locationOptions(locations), &p.Location)
	p.Types = choose(typeOptions(types), &p.Type)
	for _, l := range locations {
		if l.ID == p.Location {
			p.Times.Zone, p.Zone = l.Zone, l.Zone
		}
	}
	zone := time.UTC
	if p.Times.Zone != "" {
		if zone, err = clinic.LoadZone(p.Times.Zone); err != nil {
			return err
		}
	}
	from := listFrom(p, clinic.DateOf(t.Now(), zone), zone)
	p.StartsAt = chosenStart(p.StartsAt, zone)
	p.Times.Asked = p.Practitioner != "" && p.Location != "" && p.Type != ""
	if !p.Times.Asked {
		return nil
	}
	begin, _ := clinic.DayBounds(from, zone)
	_, end := clinic.DayBounds(from.AddDays(pickerDays-1), zone)
	f := db.StartFilter{Practitioner: p.Practitioner, Location: p.Location, Type: p.Type, From: begin, To: end}
	if p.Visit != nil {
		f.Moving = p.Visit.ID
	}
	starts, err := t.FreeStarts(ctx, f)
	for _, st := range starts {
		day := clinic.DateOf(st.StartsAt, zone).String()
		if n := len(p.Times.Days); n == 0 || p.Times.Days[n-1].Date != day {
			p.Times.Days = append(p.Times.Days, views.SlotDay{Date: day})
		}
		d := &p.Times.Days[len(p.Times.Days)-1]
		d.Slots = append(d.Slots, views.Slot{Value: slotValue(st.StartsAt), StartsAt: st.StartsAt, EndsAt: st.EndsAt})
	}
	return err
}

// listFrom settles the day the list starts on: as typed, else that of the start asked for, else that of the visit,
// never before today. What is no day is said, beside what was typed.
func listFrom(p *views.ProposePage, today clinic.Date, zone *time.Location) clinic.Date {
	from := today
	if p.Visit != nil {
		from = clinic.DateOf(p.Visit.StartsAt, zone)
	}
	if at, ok := instantOfText(p.StartsAt); ok {
		from = clinic.DateOf(at, zone)
	} else if w, err := clinic.ParseWallTime(p.StartsAt); err == nil {
		from = w.Date
	}
	if p.From != "" {
		day, err := clinic.ParseDay(p.From, from, today)
		if err != nil {
			wrong := refusal.Invalid(refusal.Field{Name: "from", Message: err.Error()})
			p.FromText = p.From
			if !p.Refusal.Is() {
				p.Refusal = pageRefusal(wrong)
			}
		} else {
			from = day
		}
	}
	if from.Before(today) {
		from = today
	}
	p.From, p.Times.Later = from.String(), from.AddDays(pickerDays).String()
	if from.After(today) {
		earlier := from.AddDays(-pickerDays)
		if earlier.Before(today) {
			earlier = today
		}
		p.Times.Earlier = earlier.String()
	}
	return from
}

// chosenStart is the start typed as the picker names it; wall time only where it is one instant.
func chosenStart(typed string, zone *time.Location) string {
	if at, ok := instantOfText(typed); ok {
		return slotValue(at)
	}
	if w, err := clinic.ParseWallTime(typed); err == nil {
		if at := clinic.Instants(w, zone); len(at) == 1 {
			return slotValue(at[0])
		}
	}
	return ""
}

func instantOfText(s string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, s)
	return at, err == nil
}

// slotValue is a start as forms and links name it: an instant, so that an hour that exists twice is no riddle.
func slotValue(at time.Time) string { return at.UTC().Format(time.RFC3339) }
