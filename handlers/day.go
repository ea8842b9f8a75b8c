package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
	"countersign/views"
)

// showDay is GET /?location=&date=&practitioner=&shown=: the day sheet. date is what clinic.ParseDay reads; steps go
// from the day shown, otherwise from today. Without a location it is the clinic's first. A date that cannot be read
// answers 422 and leaves the sheet where it was.
func (s *Server) showDay(c echo.Context) error {
	var p views.DayPage
	err := s.DB.InClinic(c.Request().Context(), actor(c).Clinic, func(t *db.Tx) (err error) {
		p, err = s.dayPage(c, t)
		return err
	})
	if err != nil {
		return err
	}
	status := http.StatusOK
	if p.DateError != "" {
		status = http.StatusUnprocessableEntity
	}
	return s.render(c, status, views.Day(p))
}

func (s *Server) dayPage(c echo.Context, t *db.Tx) (p views.DayPage, err error) {
	ctx := c.Request().Context()
	if p.Shell, err = s.shell(c, t, views.NavDay, ""); err != nil {
		return p, err
	}
	locations, err := t.Locations(ctx)
	if err != nil {
		return p, err
	}
	if len(locations) == 0 { // a clinic before its first import
		p.Today = clinic.DateOf(t.Now(), time.UTC).String()
		p.Date, p.LocationZone = p.Today, "UTC"
		return p, nil
	}
	at, err := dayAsked(c, t, locations)
	if err != nil {
		return p, err
	}
	sheet, err := t.DaySheet(ctx, at.location.ID, at.day)
	if err != nil {
		return p, err
	}
	offers, err := t.Practitioners(ctx)
	if err != nil {
		return p, err
	}
	only, err := practitionerAsked(c, offers)
	if err != nil {
		return p, err
	}
	p.Shell.Zone = at.location.Zone
	p.Location, p.LocationName, p.LocationAddress, p.LocationZone = at.location.ID, at.location.Name, at.location.Address, at.location.Zone
	p.Date, p.Today = at.day.String(), at.today.String()
	p.DateText, p.DateError = at.text, at.wrong
	for _, l := range locations {
		p.Locations = append(p.Locations, views.Option{Value: l.ID, Label: l.Name, Selected: l.ID == at.location.ID})
	}
	p.Practitioner, p.PractitionerList = only.ID, practitionersAt(at.location.ID, sheet, offers, only.ID)
	p.Columns = dayColumns(sheet, only)
	h := hoursOf(sheet, at.zone)
	p.From, p.To, p.Grid, p.LunchFrom, p.LunchTo = h.from, h.to, h.grid, h.lunchFrom, h.lunchTo
	p.ChangedURL = dayURL(dayPoll, at, only.ID, sheet.Revision)
	return p, t.Audit(ctx, s.readEvent(t, actor(c), audit.ReadDay, "location", at.location.ID, 0, ""))
}

// dayPoll is the path that an open day sheet asks by itself.
const dayPoll = "/day/changed"

// dayChanged is GET /day/changed?location=&date=&practitioner=&tag=: 204 while the sheet is still what the tag says,
// otherwise a notice with a link. It shows nothing of anybody, so it leaves no row in the trail.
func (s *Server) dayChanged(c echo.Context) error {
	var at dayPlace
	var only clinic.Ref
	same := false
	err := s.read(c, func(t *db.Tx) error {
		ctx := c.Request().Context()
		locations, err := t.Locations(ctx)
		if err != nil {
			return err
		}
		if at, err = dayAsked(c, t, locations); err != nil {
			return err
		}
		if at.wrong != "" {
			return refusal.Invalid(refusal.Field{Name: "date", Message: at.wrong})
		}
		offers, err := t.Practitioners(ctx)
		if err != nil {
			return err
		}
		if only, err = practitionerAsked(c, offers); err != nil {
			return err
		}
		sheet, err := t.DaySheet(ctx, at.location.ID, at.day)
		same = err == nil && sheet.Revision == c.QueryParam("tag")
		return err
	})
	if err != nil {
		return err
	}
	if same {
		return c.NoContent(http.StatusNoContent)
	}
	return s.render(c, http.StatusOK, views.DayChanged(views.DayChangedNotice{ReloadURL: dayURL("/", at, only.ID, "")}))
}

// dayPlace is the sheet that was asked for. wrong says why the date in text could not be read; day is then the one
// that was shown.
type dayPlace struct {
	location    clinic.Location
	zone        *time.Location
	day, today  clinic.Date
	text, wrong string
}

func dayAsked(c echo.Context, t *db.Tx, locations []clinic.Location) (at dayPlace, err error) {
	wanted := c.QueryParam("location")
	i := slices.IndexFunc(locations, func(l clinic.Location) bool { return wanted == "" || l.ID == wanted })
	if i < 0 {
		return at, refusal.New(refusal.NotFound)
	}
	at.location = locations[i]
	if at.zone, err = clinic.LoadZone(at.location.Zone); err != nil {
		return at, err
	}
	at.today = clinic.DateOf(t.Now(), at.zone)
	shown, err := clinic.ParseDay(c.QueryParam("shown"), at.today, at.today)
	if err != nil {
		shown = at.today
	}
	if at.day, err = clinic.ParseDay(c.QueryParam("date"), shown, at.today); err != nil {
		at.day, at.text, at.wrong = shown, c.QueryParam("date"), sentence(err.Error())
	}
	return at, nil
}

// sentence makes one of words for a person.
func sentence(words string) string { return strings.ToUpper(words[:1]) + words[1:] + "." }

// practitionerAsked is the practitioner of the filter, zero for everybody.
func practitionerAsked(c echo.Context, offers []db.Offer) (clinic.Ref, error) {
	wanted := c.QueryParam("practitioner")
	if wanted == "" {
		return clinic.Ref{}, nil
	}
	for _, o := range offers {
		if o.ID == wanted {
			return clinic.Ref{ID: o.ID, Name: o.Name}, nil
		}
	}
	return clinic.Ref{}, refusal.New(refusal.NotFound)
}

// practitionersAt is the choice of the filter: who works at the location, whatever the day, and who is on the sheet.
func practitionersAt(location string, sheet db.DaySheet, offers []db.Offer, chosen string) []views.Option {
	var list []views.Option
	for _, o := range offers {
		onSheet := slices.ContainsFunc(sheet.Practitioners, func(p clinic.Practitioner) bool { return p.ID == o.ID })
		if onSheet || o.ID == chosen || o.Active && slices.Contains(o.Locations, location) {
			list = append(list, views.Option{Value: o.ID, Label: o.Name, Selected: o.ID == chosen})
		}
	}
	return list
}

func dayURL(path string, at dayPlace, practitioner, tag string) string {
	q := url.Values{"location": {at.location.ID}, "date": {at.day.String()}}
	if practitioner != "" {
		q.Set("practitioner", practitioner)
	}
	if tag != "" {
		q.Set("tag", tag)
	}
	return path + "?" + q.Encode()
}
