// Package migrations holds the numbered SQL files that make the database. Forward only; applied by db.Migrate.
package migrations

import "embed"

// FS holds every migration in the order of its number.
//
//go:embed *.sql
var FS embed.FS
