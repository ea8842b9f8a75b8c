package seed

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"countersign/db"
	"countersign/internal/clinic"
)

// daysAhead is how far visits are booked; each of those days has fewer than the one before.
const daysAhead = 60

// fillVisits makes the named visits and, day by day and practitioner by practitioner, the generated ones.
func (s *site) fillVisits(ctx context.Context, tx *db.Tx, patients []clinic.Patient) (made int, err error) {
	var alive []string
	for _, p := range patients[len(s.named):] {
		if !p.Deceased {
			alive = append(alive, p.ID)
		}
	}
	length := map[string]int{}
	for _, y := range s.types {
		length[y.ID] = y.Minutes
	}
	fixedOn, list := s.fixedVisits(length)
	today := s.today(s.locations[0])
	days := daybook{site: s, r: s.random("visits"), alive: alive, length: length}
	for day := today.AddDays(-s.historyDays); !day.After(today.AddDays(daysAhead)); day = day.AddDays(1) {
		if !isWorkday(day) {
			continue
		}
		days.open(day, s.share(today, day))
		for _, p := range s.practitioners {
			if p.ID == s.leaveOf && day == s.leaveDay() {
				continue
			}
			list = append(list, days.fill(p, fixedOn[place{p.ID, day}])...)
		}
		if len(list) >= 4000 || day == today.AddDays(daysAhead) {
			if err := tx.AddVisits(ctx, "seed", "seed", list); err != nil {
				return made, err
			}
			made, list = made+len(list), list[:0]
		}
	}
	if err := tx.AddVisits(ctx, "seed", "seed", list); err != nil {
		return made, err
	}
	return made + len(list), nil
}

// share is how much of a full day is booked: all of it up to today, then less and less.
func (s *site) share(today, day clinic.Date) float64 {
	ahead := 0
	for d := today; d.Before(day); d = d.AddDays(1) {
		ahead++
	}
	return max(0.08, 1-float64(ahead)/30)
}

type place struct {
	practitioner string
	day          clinic.Date
}

// fixedVisits are the visits of the named patients, and when each practitioner is not to be booked for others.
func (s *site) fixedVisits(length map[string]int) (map[place][]fixed, []db.NewVisit) {
	on := map[place][]fixed{}
	var visits []db.NewVisit
	for _, f := range s.appointments {
		var p practitioner
		for _, x := range s.practitioners {
			if x.ID == f.practitioner {
				p = x
			}
		}
		day := workday(s.today(s.locations[0]).AddDays(2), f.workday)
		v := db.NewVisit{ID: f.id, Patient: f.patient, Practitioner: p.ID, Location: p.locationOn(day), Type: f.typ, Status: clinic.StatusBooked}
		v.StartsAt = clinic.Instants(day.At(f.minute), s.zone(s.location(v.Location).Zone))[0]
		v.EndsAt = v.StartsAt.Add(time.Duration(length[f.typ]) * time.Minute)
		v.ChangedAt = s.now.AddDate(0, 0, -3)
		visits = append(visits, v)
		on[place{p.ID, day}] = append(on[place{p.ID, day}], f)
	}
	return on, visits
}

// daybook fills the days of one clinic, one after the other.
type daybook struct {
	*site
	r      *rand.Rand
	alive  []string       // patients to draw from
	length map[string]int // of a type, minutes

	day   clinic.Date
	share float64
	seen  map[string]bool // patients who have a visit that day
}

func (b *daybook) open(day clinic.Date, share float64) {
	b.day, b.share, b.seen = day, share, map[string]bool{}
}

// spots are the starts of the grid on a working day, lunch left out, in minutes.
var spots = func() (list []int) {
	for m := opens; m < closes; m += grid {
		if m < lunch || m >= back {
			list = append(list, m)
		}
	}
	return list
}()

// fill books one practitioner's day.
func (b *daybook) fill(p practitioner, reserved []fixed) []db.NewVisit {
	taken := map[int]bool{} // minutes of spots
	for _, f := range reserved {
		take(taken, f.minute, b.length[f.typ])
	}
	want := int((float64(b.perDay-2)+b.r.Float64()*4)*b.share + 0.5)
	types := make([]string, want)
	for i := range types {
		types[i] = p.types[0]
		if b.r.IntN(100) < 15 {
			types[i] = p.types[1]
		}
	}
	// The long ones first: they need the room.
	slices.SortStableFunc(types, func(x, y string) int { return b.length[y] - b.length[x] })
	location := b.location(p.locationOn(b.day))
	zone := b.zone(location.Zone)
	var visits []db.NewVisit
	for _, typ := range types {
		minute, ok := b.findRoom(taken, b.length[typ])
		if !ok {
			continue
		}
		start := clinic.Instants(b.day.At(minute), zone)[0]
		v := db.NewVisit{ID: newID(b.r, "appt_"), Patient: b.patient(), Practitioner: p.ID, Location: location.ID, Type: typ,
			StartsAt: start, EndsAt: start.Add(time.Duration(b.length[typ]) * time.Minute)}
		b.live(&v, zone)
		if v.Status != clinic.StatusCancelled {
			take(taken, minute, b.length[typ])
		}
		visits = append(visits, v)
	}
	return visits
}

// findRoom looks at a few spots and then at every one.
func (b *daybook) findRoom(taken map[int]bool, minutes int) (minute int, ok bool) {
	free := func(m int) bool {
		for n := m; n < m+minutes; n += grid {
			if taken[n] || n >= closes || n >= lunch && n < back {
				return false
			}
		}
		return true
	}
	for range 6 {
		if m := spots[b.r.IntN(len(spots))]; free(m) {
			return m, true
		}
	}
	for _, m := range spots {
		if free(m) {
			return m, true
		}
	}
	return 0, false
}

func take(taken map[int]bool, minute, minutes int) {
	for n := minute; n < minute+minutes; n += grid {
		taken[n] = true
	}
}

// patient draws one who has no other visit that day.
func (b *daybook) patient() string {
	for {
		if id := pick(b.r, b.alive); !b.seen[id] {
			b.seen[id] = true
			return id
		}
	}
}
