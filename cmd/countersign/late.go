package main

import (
	"context"
	"log/slog"

	"countersign/db"
)

// lateAlarm says in the log how many confirmed changes are past their deadline while nobody knows whether the EHR has
// them (case G7). It repeats until somebody has looked.
func lateAlarm(d *db.DB, log *slog.Logger) func(context.Context, string) error {
	return func(ctx context.Context, clinic string) error {
		var n int
		err := d.Read(ctx, clinic, func(t *db.Tx) (err error) {
			n, err = t.LateOperations(ctx)
			return err
		})
		if err == nil && n > 0 {
			log.ErrorContext(ctx, "ALARM: confirmed changes are past their deadline and nobody knows whether the EHR has them; a reviewer must look", "clinic", clinic, "changes", n)
		}
		return err
	}
}
