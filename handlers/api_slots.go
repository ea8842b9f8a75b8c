package handlers

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

type startJSON struct {
	StartsAt     time.Time  `json:"starts_at"`
	EndsAt       time.Time  `json:"ends_at"`
	Practitioner clinic.Ref `json:"practitioner"`
	Location     clinic.Ref `json:"location"`
}

// longestSearch is the most days one search for free starts covers.
const longestSearch = 31

// apiSlots is GET /slots?practitioner=&location=&type=&from=&to=: free starts for the type, by start. From and to are
// instants, or dates of the clinic: then from its first location's midnight, to inclusive.
func (s *Server) apiSlots(c echo.Context) error {
	if err := onlyQuery(c, "practitioner", "location", "type", "from", "to"); err != nil {
		return err
	}
	ctx := c.Request().Context()
	f := db.StartFilter{Practitioner: c.QueryParam("practitioner"), Location: c.QueryParam("location"), Type: c.QueryParam("type")}
	var items []startJSON
	err := s.read(c, func(t *db.Tx) error {
		b, err := bookableIn(ctx, t)
		if err == nil {
			items, err = b.free(ctx, t, f, c.QueryParam("from"), c.QueryParam("to"))
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.json(c, http.StatusOK, listOf(items, ""))
}

// bookable is what a clinic has that a visit is made of.
type bookable struct {
	practitioners []db.Offer
	locations     []clinic.Location
	types         []clinic.Type
}

func bookableIn(ctx context.Context, t *db.Tx) (b bookable, err error) {
	if b.locations, err = t.Locations(ctx); err != nil {
		return b, err
	}
	if b.practitioners, err = t.Practitioners(ctx); err != nil {
		return b, err
	}
	b.types, err = t.Types(ctx)
	return b, err
}

// free lists the free starts that fit, by start. From and to as GET /slots takes them.
func (b bookable) free(ctx context.Context, t *db.Tx, f db.StartFilter, from, to string) ([]startJSON, error) {
	zone, err := zoneFor(b.locations, f.Location)
	if err != nil {
		return nil, err
	}
	names := nameTable(b.practitioners, b.locations)
	if f.From, f.To, err = searchRange(from, to, f, zone, names, b.types); err != nil {
		return nil, err
	}
	starts, err := t.FreeStarts(ctx, f)
	items := make([]startJSON, len(starts))
	for i, st := range starts {
		items[i] = startJSON{st.StartsAt, st.EndsAt, clinic.Ref{ID: st.Practitioner, Name: names[st.Practitioner]}, clinic.Ref{ID: st.Location, Name: names[st.Location]}}
	}
	return items, err
}

// nameTable gives the names of practitioners and locations by id.
func nameTable(practitioners []db.Offer, locations []clinic.Location) map[string]string {
	names := map[string]string{}
	for _, p := range practitioners {
		names[p.ID] = p.Name
	}
	for _, l := range locations {
		names[l.ID] = l.Name
	}
	return names
}

// zoneFor is the zone in which dates are read: of the location asked for, or of the clinic's first.
func zoneFor(locations []clinic.Location, id string) (*time.Location, error) {
	for _, l := range locations {
		if id == "" || l.ID == id {
			return clinic.LoadZone(l.Zone)
		}
	}
	return time.UTC, nil
}

func searchRange(first, last string, f db.StartFilter, zone *time.Location, names map[string]string, types []clinic.Type) (from, to time.Time, err error) {
	var wrong []refusal.Field
	bad := func(name, message string) { wrong = append(wrong, refusal.Field{Name: name, Message: message}) }
	known := false
	for _, y := range types {
		known = known || y.ID == f.Type
	}
	if f.Type == "" {
		bad("type", "This is needed.")
	} else if !known {
		bad("type", "There is no such type in this clinic.")
	}
	if _, ok := names[f.Practitioner]; f.Practitioner != "" && !ok {
		bad("practitioner", "There is no such practitioner in this clinic.")
	}
	if _, ok := names[f.Location]; f.Location != "" && !ok {
		bad("location", "There is no such location in this clinic.")
	}
	from, fromOK := instantOf(first, zone, false)
	if !fromOK {
		bad("from", "Give a date such as 2027-03-28, or a time with its offset.")
	}
	to, toOK := instantOf(last, zone, true)
	switch {
	case !toOK:
		bad("to", "Give a date such as 2027-03-28, or a time with its offset.")
	case fromOK && to.Before(from):
		bad("to", "This is before from.")
	case fromOK && to.Sub(from) > longestSearch*24*time.Hour+2*time.Hour: // days of 25 hours
		bad("to", "At most 31 days at once.")
	}
	if len(wrong) > 0 {
		return from, to, refusal.Invalid(wrong...)
	}
	return from, to, nil
}

// instantOf reads an instant, or a date as the local midnight that begins it, or that ends it.
func instantOf(s string, zone *time.Location, end bool) (time.Time, bool) {
	if day, err := clinic.ParseDate(s); err == nil {
		from, to := clinic.DayBounds(day, zone)
		if end {
			return to, true
		}
		return from, true
	}
	t, err := time.Parse(time.RFC3339, s)
	return t.UTC(), err == nil
}
