package db

import (
	"context"
	"time"

	"github.com/lib/pq"

	"countersign/internal/clinic"
)

// Waiting is a proposal that is neither decided nor past its deadline, as marked where it would change something.
type Waiting struct {
	ID, Action             string
	Revision               int
	Appointment            string     // whose old place it is, "" for a booking
	Patient                clinic.Ref // zero for a proposal without one
	Practitioner, Location string     // ids of the new place; "" for a cancellation
	StartsAt, EndsAt       time.Time  // of the new place, UTC; zero for a cancellation
	ExpiresAt              time.Time
	Executing              bool // confirmed, and the EHR has not answered
}

const (
	waitingColumns = `w.id, w.action, w.revision, coalesce(w.appointment, '') AS appointment,
	coalesce(p.id, '') AS "patient.id", coalesce(p.given || ' ' || p.family, '') AS "patient.name",
	coalesce(w.practitioner, '') AS practitioner, coalesce(w.location, '') AS location,
	coalesce(w.starts_at, '0001-01-01Z') AS startsat, coalesce(w.ends_at, '0001-01-01Z') AS endsat, w.expires_at AS expiresat`
	// $1 is the transaction's clock: app_now() is volatile, so no index could serve it.
	waitingTables = ` FROM proposals w LEFT JOIN patients p ON p.clinic = w.clinic AND p.id = w.patient
	WHERE w.state = 'proposed' AND w.expires_at > $1`
	// Those on their way into the EHR. Found by the few operations that are open.
	executingTables = ` FROM ehr_operations o JOIN proposals w ON w.clinic = o.clinic AND w.id = o.proposal LEFT JOIN patients p ON p.clinic = w.clinic AND p.id = w.patient
	WHERE o.ended_at IS NULL AND o.item = 0`
)

// waitingOrExecuting selects both, where the condition holds, by id.
func waitingOrExecuting(condition string) string {
	return `SELECT ` + waitingColumns + `, false AS executing` + waitingTables + condition + ` UNION ALL SELECT ` + waitingColumns + `, true` + executingTables + condition + ` ORDER BY id`
}

// WaitingFor lists the proposals that would change one of the appointments, or are about to, by id. One statement.
func (t *Tx) WaitingFor(ctx context.Context, appointments ...string) ([]Waiting, error) {
	var found []Waiting
	err := t.sel(ctx, &found, waitingOrExecuting(` AND w.appointment = ANY ($2)`), t.now, pq.StringArray(appointments))
	return found, err
}
