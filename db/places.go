package db

import (
	"context"

	"github.com/lib/pq"

	"countersign/internal/clinic"
)

// Offer is a practitioner and what can be booked with them, from the schedules that have not ended.
type Offer struct {
	clinic.Practitioner
	Types     []string // ids of appointment types, sorted
	Locations []string // ids, sorted
}

// Practitioners lists the clinic's, by name, inactive ones too. One statement.
func (t *Tx) Practitioners(ctx context.Context) ([]Offer, error) {
	var rows []struct {
		clinic.Practitioner
		Types     pq.StringArray
		Locations pq.StringArray
	}
	err := t.sel(ctx, &rows, `SELECT p.id, p.name, p.active, p.version,
		coalesce(array_agg(DISTINCT y.type) FILTER (WHERE y.type IS NOT NULL), '{}') AS types,
		coalesce(array_agg(DISTINCT s.location::text) FILTER (WHERE s.location IS NOT NULL), '{}') AS locations
		FROM practitioners p
		LEFT JOIN schedules s ON s.clinic = p.clinic AND s.practitioner = p.id AND (s.valid_to IS NULL OR s.valid_to >= ($1::timestamptz)::date - 1)
		LEFT JOIN LATERAL unnest(s.types) AS y(type) ON true
		GROUP BY p.clinic, p.id ORDER BY p.name, p.id`, t.now)
	offers := make([]Offer, len(rows))
	for i, r := range rows {
		offers[i] = Offer{r.Practitioner, r.Types, r.Locations}
	}
	return offers, err
}

const locationColumns = `l.id, l.name, l.address, l.phone, l.zone, l.version`

// Locations lists the clinic's, by name.
func (t *Tx) Locations(ctx context.Context) ([]clinic.Location, error) {
	var found []clinic.Location
	err := t.sel(ctx, &found, `SELECT `+locationColumns+` FROM locations l ORDER BY l.name, l.id`)
	return found, err
}

// Location is one of the clinic's. Errors: sql.ErrNoRows.
func (t *Tx) Location(ctx context.Context, id string) (clinic.Location, error) {
	var l clinic.Location
	err := t.get(ctx, &l, `SELECT `+locationColumns+` FROM locations l WHERE l.id = $1`, id)
	return l, err
}

// Types lists the clinic's appointment types, by name.
func (t *Tx) Types(ctx context.Context) ([]clinic.Type, error) {
	var found []clinic.Type
	err := t.sel(ctx, &found, `SELECT id, name, minutes, version FROM appointment_types ORDER BY name, id`)
	return found, err
}
