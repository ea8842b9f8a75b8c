package db

import "context"

// Frame is what every page shows around its work.
type Frame struct {
	Waiting int    // proposals of the clinic that are neither decided nor past their deadline
	Zone    string // of the clinic's first location by name; "" for a clinic without any
}

// Frame reads it in one statement.
func (t *Tx) Frame(ctx context.Context) (Frame, error) {
	var f Frame
	err := t.get(ctx, &f, `SELECT (SELECT count(*) FROM proposals WHERE state = 'proposed' AND expires_at > $1) AS waiting,
		coalesce((SELECT zone FROM locations ORDER BY name, id LIMIT 1), '') AS zone`, t.now)
	return f, err
}
