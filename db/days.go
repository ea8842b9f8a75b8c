package db

import (
	"context"
	"fmt"
	"time"

	"countersign/internal/clinic"
)

// days is one local day at every location of the clinic.
type days struct {
	locations     []string
	opens, closes []time.Time // its bounds at each, UTC
	first, last   time.Time   // the widest
}

func (t *Tx) dayEverywhere(ctx context.Context, day clinic.Date) (days, error) {
	var d days
	locations, err := t.Locations(ctx)
	for _, l := range locations {
		from, to, err := dayAt(l, day)
		if err != nil {
			return d, err
		}
		if len(d.locations) == 0 || from.Before(d.first) {
			d.first = from
		}
		if to.After(d.last) {
			d.last = to
		}
		d.locations, d.opens, d.closes = append(d.locations, l.ID), append(d.opens, from), append(d.closes, to)
	}
	return d, err
}

// Today is the local date at each location of the clinic, by its id.
func (t *Tx) Today(ctx context.Context) (map[string]clinic.Date, error) {
	locations, err := t.Locations(ctx)
	today := map[string]clinic.Date{}
	for _, l := range locations {
		zone, err := zoneOf(l)
		if err != nil {
			return nil, err
		}
		today[l.ID] = clinic.DateOf(t.now, zone)
	}
	return today, err
}

func dayAt(l clinic.Location, day clinic.Date) (from, to time.Time, err error) {
	zone, err := zoneOf(l)
	if err != nil {
		return from, to, err
	}
	from, to = clinic.DayBounds(day, zone)
	return from, to, nil
}

func zoneOf(l clinic.Location) (*time.Location, error) {
	zone, err := clinic.LoadZone(l.Zone)
	if err != nil {
		return nil, fmt.Errorf("location %s: %w", l.ID, err)
	}
	return zone, nil
}
