package clinic

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Date is a calendar day without a zone. The zero Date is no day.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// ParseDate reads YYYY-MM-DD and nothing else; days that do not exist are refused.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil || t.Year() < 1 {
		return Date{}, errors.New("not a date of the form YYYY-MM-DD")
	}
	return dateOf(t), nil
}

// DateOf is the local date on which the instant falls in the zone.
func DateOf(t time.Time, zone *time.Location) Date { return dateOf(t.In(zone)) }

func dateOf(t time.Time) Date {
	var d Date
	d.Year, d.Month, d.Day = t.Date()
	return d
}

// String is YYYY-MM-DD.
func (d Date) String() string { return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day) }

// IsZero tells whether d is no day.
func (d Date) IsZero() bool { return d == Date{} }

// AddDays goes n calendar days forward, or back.
func (d Date) AddDays(n int) Date { return dateOf(d.utc().AddDate(0, 0, n)) }

func (d Date) Weekday() time.Weekday { return d.utc().Weekday() }

// Compare is -1, 0 or 1, earlier days first.
func (d Date) Compare(o Date) int {
	return cmp.Or(cmp.Compare(d.Year, o.Year), cmp.Compare(d.Month, o.Month), cmp.Compare(d.Day, o.Day))
}

func (d Date) Before(o Date) bool { return d.Compare(o) < 0 }
func (d Date) After(o Date) bool  { return d.Compare(o) > 0 }

// At is the wall time that many minutes after the date's 00:00.
func (d Date) At(minute int) WallTime { return WallTime{Date: d, Minute: minute} }

// utc is a carrier for calendar arithmetic, not an instant.
func (d Date) utc() time.Time { return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC) }
