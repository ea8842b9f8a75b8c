package db

import (
	"context"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// Holder is the visit that stands in the way, as a detail "holder" of a refusal.
type Holder struct {
	Appointment string     `json:"appointment"`
	Patient     clinic.Ref `json:"patient"`
	StartsAt    time.Time  `json:"starts_at"`
	EndsAt      time.Time  `json:"ends_at"`
}

// SetStatus changes an appointment's arrival status if it still has that version, and gives the new version. The slots
// follow: a status that holds no time (clinic.HoldsTime) gives them back, and one that does takes them again.
// Messages that failed need nobody once the visit is over; whether one that waits is still right shows when it would be
// sent. The caller writes the audit row. Errors: sql.ErrNoRows; resource_changed with `changed`; validation_failed for a
// change that clinic.MayBecome does not know, or (with `holder`) when somebody else has the time by now.
func (t *Tx) SetStatus(ctx context.Context, actorID, appointment, status string, version int64) (newVersion int64, err error) {
	var now struct {
		Status           string
		Version          int64
		Practitioner     string
		StartsAt, EndsAt time.Time
	}
	err = t.get(ctx, &now, `SELECT status, version, practitioner, starts_at AS startsat, ends_at AS endsat
		FROM appointments WHERE id = $1 FOR NO KEY UPDATE`, appointment)
	if err != nil {
		return 0, err
	}
	if now.Version != version {
		return 0, refusal.New(refusal.ResourceChanged).With("changed", []proposal.Change{
			{Kind: proposal.PinAppointment, ID: appointment, Expected: version, Current: now.Version, Label: "This visit"}})
	}
	if waits, err := (proposalTx{t}).OpenOperation(ctx, appointment); err != nil {
		return 0, err
	} else if waits != "" { // asked with the row locked: nothing is confirmed meanwhile
		return 0, refusal.Invalid(refusal.Field{Name: "status", Message: "A confirmed change of this visit waits for the EHR. Wait for its outcome."})
	}
	mayBecome := clinic.MayBecome(now.Status, status)
	held, holds := clinic.HoldsTime(now.Status), clinic.HoldsTime(status)
	var holders []Holder
	if !held && (holds || !mayBecome) {
		if holders, err = t.holders(ctx, appointment, now.Practitioner, now.StartsAt, now.EndsAt); err != nil {
			return 0, err
		}
	}
	if !mayBecome || len(holders) > 0 {
		return 0, statusRefusal(now.Status, status, holders)
	}
	err = t.get(ctx, &newVersion, `UPDATE appointments SET status = $2, changed_by = $3, changed_via = 'status', proposal = NULL,
		reason_code = NULL, changed_at = app_now() WHERE id = $1 RETURNING version`, appointment, status, actorID)
	if err != nil {
		return 0, err
	}
	if status == clinic.StatusNoShow || status == clinic.StatusFulfilled {
		if err := t.endTroubles(ctx, appointment); err != nil {
			return 0, err
		}
	}
	switch {
	case held && !holds:
		_, err = t.exec(ctx, `UPDATE slots SET appointment = NULL WHERE appointment = $1`, appointment)
	case !held && holds:
		_, err = t.exec(ctx, `UPDATE slots SET appointment = $1 WHERE practitioner = $2 AND starts_at < $4 AND ends_at > $3
			AND starts_at > $3::timestamptz - interval '1 day' AND state <> 'closed' AND appointment IS NULL AND held_by IS NULL`,
			appointment, now.Practitioner, now.StartsAt, now.EndsAt)
	}
	return newVersion, err
}

// holders is who has the practitioner's time, by start.
func (t *Tx) holders(ctx context.Context, except, practitioner string, from, to time.Time) ([]Holder, error) {
	var found []Holder
	err := t.sel(ctx, &found, `SELECT a.id AS appointment, p.id AS "patient.id", p.given || ' ' || p.family AS "patient.name",
		a.starts_at AS startsat, a.ends_at AS endsat
		FROM appointments a JOIN patients p ON p.clinic = a.clinic AND p.id = a.patient
		WHERE a.practitioner = $1 AND a.starts_at < $3 AND a.starts_at > $2::timestamptz - interval '1 day' AND a.ends_at > $2
			AND a.id <> $4 AND a.status IN ('booked', 'arrived', 'checked-in')
		ORDER BY a.starts_at`, practitioner, from, to, except)
	return found, err
}

func statusRefusal(now, next string, holders []Holder) *refusal.Error {
	message := "This visit cannot become that from what it is now."
	switch {
	case now == clinic.StatusCancelled:
		message = "A cancelled visit stays cancelled. Book a new one."
	case now == next:
		message = "The visit is that already."
	case len(holders) > 0:
		message = "Its time has been given to another visit."
	}
	e := refusal.Invalid(refusal.Field{Name: "status", Message: message})
	if len(holders) > 0 {
		e = e.With("holder", holders[0])
	}
	return e
}
