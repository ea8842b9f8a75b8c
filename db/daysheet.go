package db

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/lib/pq"

	"countersign/internal/clinic"
)

// DaySheet is one local day at one location. Instants are UTC.
type DaySheet struct {
	Location      clinic.Location
	Day           clinic.Date
	From, To      time.Time             // the local day: 23, 24 or 25 hours
	Practitioners []clinic.Practitioner // who has slots or visits here that day, by name
	Slots         []clinic.Slot         // that start on the day, by start: open, on leave, or closed and still held
	Visits        []DayVisit            // that overlap the day, by start; cancelled ones too
	Leave         []clinic.Leave        // of those practitioners, touching the day, by first day
	Waiting       []Waiting             // proposals that would change something here that day, by id
	Revision      string                // tag of all of the above: equal tags, equal sheets
}

// DayVisit is an appointment as a line of the sheet.
type DayVisit struct {
	ID, Status       string
	StartsAt, EndsAt time.Time
	Version          int64
	Practitioner     string // id
	Type             clinic.Ref
	Patient          clinic.Ref
	BirthDate, MRN   string
}

// DaySheet reads the sheet. Six statements, whatever its size. Errors: sql.ErrNoRows for an unknown location.
func (t *Tx) DaySheet(ctx context.Context, location string, day clinic.Date) (DaySheet, error) {
	s := DaySheet{Day: day}
	var err error
	if s.Location, err = t.Location(ctx, location); err != nil {
		return s, err
	}
	if s.From, s.To, err = dayAt(s.Location, day); err != nil {
		return s, err
	}
	for _, read := range []func(context.Context, *DaySheet) error{
		t.daySlots, t.dayVisits, t.dayPractitioners, t.dayLeave, t.dayWaiting,
	} {
		if err := read(ctx, &s); err != nil {
			return s, err
		}
	}
	s.Revision = s.tag()
	return s, nil
}

func (t *Tx) daySlots(ctx context.Context, s *DaySheet) error {
	var rows []slotRow
	err := t.sel(ctx, &rows, `SELECT `+slotColumns+` FROM slots s WHERE s.location = $1 AND s.day = $2
		AND (s.state <> 'closed' OR s.appointment IS NOT NULL OR s.held_by IS NOT NULL) ORDER BY s.starts_at, s.id`, s.Location.ID, s.Day.String())
	s.Slots = slotsOf(rows)
	return err
}

func (t *Tx) dayVisits(ctx context.Context, s *DaySheet) error {
	return t.sel(ctx, &s.Visits, `SELECT a.id, a.status, a.starts_at AS startsat, a.ends_at AS endsat, a.version, a.practitioner,
		y.id AS "type.id", y.name AS "type.name", p.id AS "patient.id", p.given || ' ' || p.family AS "patient.name",
		p.birth_date::text AS birthdate, p.mrn
		FROM appointments a
		JOIN patients p ON p.clinic = a.clinic AND p.id = a.patient
		JOIN appointment_types y ON y.clinic = a.clinic AND y.id = a.type
		WHERE a.location = $1 AND a.starts_at < $3 AND a.starts_at > $2::timestamptz - interval '1 day' AND a.ends_at > $2
		ORDER BY a.starts_at, a.id`, s.Location.ID, s.From, s.To)
}

func (t *Tx) dayPractitioners(ctx context.Context, s *DaySheet) error {
	seen := map[string]bool{}
	for _, x := range s.Slots {
		seen[x.Practitioner] = true
	}
	for _, v := range s.Visits {
		seen[v.Practitioner] = true
	}
	return t.sel(ctx, &s.Practitioners, `SELECT id, name, active, version FROM practitioners WHERE id = ANY ($1) ORDER BY name, id`, keys(seen))
}

func (t *Tx) dayLeave(ctx context.Context, s *DaySheet) error {
	var ids pq.StringArray
	for _, p := range s.Practitioners {
		ids = append(ids, p.ID)
	}
	var err error
	s.Leave, err = t.leaveOf(ctx, ids, s.Day, s.Day)
	return err
}

func (t *Tx) dayWaiting(ctx context.Context, s *DaySheet) error {
	var visits pq.StringArray
	for _, v := range s.Visits {
		visits = append(visits, v.ID)
	}
	return t.sel(ctx, &s.Waiting, waitingOrExecuting(` AND (w.appointment = ANY ($2) OR w.location = $3 AND w.starts_at < $5 AND w.ends_at > $4)`),
		t.now, visits, s.Location.ID, s.From, s.To)
}

// tag names each row by its version, and spells out what no version of the sheet's rows covers. Encoding the whole
// sheet as JSON took as long as reading it.
func (s DaySheet) tag() string {
	var b bytes.Buffer
	put := func(version int64, words ...string) {
		for _, w := range words {
			b.WriteString(w)
			b.WriteByte(0)
		}
		b.WriteString(strconv.FormatInt(version, 10))
		b.WriteByte('\n')
	}
	put(s.Location.Version, s.Location.ID, s.Day.String())
	for _, p := range s.Practitioners {
		put(p.Version, p.ID)
	}
	for _, x := range s.Slots {
		put(x.Version, x.ID)
	}
	for _, v := range s.Visits {
		put(v.Version, v.ID, v.Patient.Name, v.BirthDate, v.MRN, v.Type.Name)
	}
	for _, l := range s.Leave {
		fmt.Fprintln(&b, l)
	}
	for _, w := range s.Waiting {
		put(int64(w.Revision), w.ID, strconv.FormatBool(w.Executing))
	}
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:12])
}

func keys(set map[string]bool) pq.StringArray {
	list := make(pq.StringArray, 0, len(set))
	for k := range set {
		list = append(list, k)
	}
	return list
}
