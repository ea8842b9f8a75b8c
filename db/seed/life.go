package seed

import (
	"time"

	"countersign/db"
	"countersign/internal/clinic"
)

// live gives a visit its status and how it came to it: 12 % were moved at least once; of those gone by 80 % are done,
// 10 % cancelled (a third of them under 24 hours before), 5 % missed, and the rest nobody closed after arrival.
func (b *daybook) live(v *db.NewVisit, zone *time.Location) {
	booked := b.moment(v.StartsAt.AddDate(0, 0, -70), earlier(v.StartsAt.AddDate(0, 0, -1), b.now))
	v.Status, v.ChangedAt = clinic.StatusBooked, booked
	if b.r.IntN(100) < 12 {
		old := db.PastVersion{Status: clinic.StatusBooked, Practitioner: v.Practitioner, Location: v.Location, ChangedAt: booked}
		weeks := b.r.IntN(8) - 4 // the same weekday and hour
		if weeks >= 0 {
			weeks++
		}
		wall := clinic.WallOf(v.StartsAt, zone)
		old.StartsAt = clinic.Instants(wall.AddDays(7*weeks).At(wall.Minute), zone)[0]
		old.EndsAt = old.StartsAt.Add(v.EndsAt.Sub(v.StartsAt))
		v.Before = append(v.Before, old)
		v.ChangedAt = b.moment(booked, earlier(v.StartsAt, b.now))
	}
	dice := b.r.IntN(100)
	switch past := !v.EndsAt.After(b.now); {
	case dice < 10:
		b.cancel(v, dice < 3)
	case past && dice < 15:
		b.become(v, clinic.StatusNoShow, v.StartsAt.Add(15*time.Minute))
	case past && dice < 20:
		b.become(v, clinic.StatusArrived, v.StartsAt)
	case past:
		b.become(v, clinic.StatusFulfilled, v.EndsAt)
	case !v.StartsAt.After(b.now): // under way
		b.become(v, clinic.StatusArrived, v.StartsAt)
	}
}

func (b *daybook) cancel(v *db.NewVisit, late bool) {
	limit := v.StartsAt.Add(-24 * time.Hour)
	from, to := v.ChangedAt, limit
	if late {
		from, to = limit, v.StartsAt
	}
	if from.Before(v.ChangedAt) {
		from = v.ChangedAt
	}
	if from.After(b.now) {
		return // too early to be cancelled late
	}
	b.become(v, clinic.StatusCancelled, b.moment(from, earlier(to, b.now)))
	v.ReasonCode = "patient_request"
	switch b.r.IntN(10) {
	case 0:
		v.ReasonCode = "practitioner_unavailable"
	case 1:
		v.ReasonCode = "other"
	}
}

// become closes the version there is and begins the next.
func (b *daybook) become(v *db.NewVisit, status string, at time.Time) {
	v.Before = append(v.Before, db.PastVersion{Status: v.Status, Practitioner: v.Practitioner, Location: v.Location,
		StartsAt: v.StartsAt, EndsAt: v.EndsAt, ChangedAt: v.ChangedAt})
	v.Status, v.ChangedAt = status, at
}

// moment is a whole minute from..to; from when there is nothing between.
func (b *daybook) moment(from, to time.Time) time.Time {
	minutes := int64(to.Sub(from) / time.Minute)
	if minutes <= 0 {
		return from
	}
	return from.Add(time.Duration(b.r.Int64N(minutes)) * time.Minute)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
