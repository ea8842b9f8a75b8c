package db

import (
	"context"

	"github.com/lib/pq"

	"countersign/internal/clinic"
)

// Leave lists the practitioner's leave that ends on the day or later, by first day.
func (t *Tx) Leave(ctx context.Context, practitioner string, since clinic.Date) ([]clinic.Leave, error) {
	return t.leaveOf(ctx, pq.StringArray{practitioner}, since, distantDay)
}

// leaveOf is the practitioners' leave that touches from..to, both inclusive, by first day.
func (t *Tx) leaveOf(ctx context.Context, practitioners pq.StringArray, from, to clinic.Date) ([]clinic.Leave, error) {
	var rows []struct {
		clinic.Leave
		From, To string
	}
	err := t.sel(ctx, &rows, `SELECT id, practitioner, from_day::text AS "from", to_day::text AS "to",
		coalesce(opens, 0) AS opens, coalesce(closes, 1440) AS closes
		FROM leave WHERE practitioner = ANY ($1) AND from_day <= $3 AND to_day >= $2 ORDER BY from_day, id`,
		practitioners, from.String(), to.String())
	if err != nil {
		return nil, err
	}
	var found []clinic.Leave
	for _, r := range rows {
		l := r.Leave
		if l.From, err = clinic.ParseDate(r.From); err != nil {
			return nil, err
		}
		if l.To, err = clinic.ParseDate(r.To); err != nil {
			return nil, err
		}
		found = append(found, l)
	}
	return found, nil
}
