package db

import (
	"encoding/base64"
	"strings"
	"time"

	"countersign/internal/clinic"
)

// MakeCursor names the last row of a page, for every list: an instant and an id, and nothing of a patient.
func MakeCursor(at time.Time, id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(at.UTC().Format(time.RFC3339Nano) + " " + id))
}

// ReadCursor reads what MakeCursor made; ok is false for anything else. The instant is UTC.
func ReadCursor(s string) (at time.Time, id string, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return at, "", false
	}
	text, id, found := strings.Cut(string(raw), " ")
	at, err = time.Parse(time.RFC3339Nano, text)
	return at.UTC(), id, err == nil && found && clinic.ValidID(id) // PostgreSQL reads fewer offsets than Go
}
