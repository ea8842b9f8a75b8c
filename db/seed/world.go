package seed

import (
	"context"
	"fmt"
	"time"

	"countersign/db"
	"countersign/internal/clinic"
)

// site is one clinic as it will be made.
type site struct {
	id, name      string
	secondPerson  bool
	locations     []clinic.Location
	types         []clinic.Type
	practitioners []practitioner
	named         []clinic.Patient
	appointments  []fixed
	patients      int // to generate
	perDay        int // visits of one practitioner on a working day
	historyDays   int
	leaveOf       string // who is away on one of the coming days, "" = nobody
	phone         func(n uint64) string
	firstMRN      int

	seed uint64
	now  time.Time // whole hour
	say  func(line string)
}

// practitioner works 08:00 to 16:00 without lunch, Monday to Friday, each weekday at one place.
type practitioner struct {
	clinic.Practitioner
	at    [5]string // location id by weekday, Monday first
	types []string  // ids
}

// fixed is a visit of a named patient, on the nth working day that is more than a day ahead (from 0).
type fixed struct {
	id, patient, practitioner, typ string
	workday, minute                int
}

// Working hours in minutes after midnight: lunch is the gap.
const (
	opens, lunch, back, closes = 8 * 60, 12 * 60, 12*60 + 30, 16 * 60
	grid                       = 15
)

func everyDay(location string) [5]string {
	return [5]string{location, location, location, location, location}
}

func (s *site) fill(ctx context.Context, tx *db.Tx) error {
	if err := tx.AddLocations(ctx, s.locations); err != nil {
		return err
	}
	if err := tx.AddTypes(ctx, s.types); err != nil {
		return err
	}
	var people []clinic.Practitioner
	for _, p := range s.practitioners {
		people = append(people, p.Practitioner)
	}
	if err := tx.AddPractitioners(ctx, people); err != nil {
		return err
	}
	if err := s.fillSlots(ctx, tx); err != nil {
		return err
	}
	s.say(fmt.Sprintf("%d practitioners", len(people)))
	patients := append(s.named[:len(s.named):len(s.named)], s.makePatients()...)
	if err := tx.AddPatients(ctx, patients); err != nil {
		return err
	}
	s.say(fmt.Sprintf("%d patients", len(patients)))
	n, err := s.fillVisits(ctx, tx, patients)
	if err != nil {
		return err
	}
	s.say(fmt.Sprintf("%d visits", n))
	return nil
}

// fillSlots makes one schedule for each place a practitioner works at, and its slots.
func (s *site) fillSlots(ctx context.Context, tx *db.Tx) error {
	byZone := map[string][]string{} // schedule ids
	var zones []string
	var schedules []clinic.Schedule
	for _, p := range s.practitioners {
		made := map[string]int{} // location: place in schedules
		for i, location := range p.at {
			n, ok := made[location]
			if !ok {
				n = len(schedules)
				made[location] = n
				place := s.location(location)
				id := "sched_" + p.ID[len("prac_"):] + "_" + location[len("loc_"):]
				schedules = append(schedules, clinic.Schedule{ID: id, Practitioner: p.ID, Location: location,
					From: s.today(place).AddDays(-s.historyDays), Grid: grid, Types: p.types})
				if byZone[place.Zone] == nil {
					zones = append(zones, place.Zone)
				}
				byZone[place.Zone] = append(byZone[place.Zone], id)
			}
			day := time.Weekday(i + 1)
			schedules[n].Hours = append(schedules[n].Hours, clinic.Hours{Weekday: day, Opens: opens, Closes: lunch},
				clinic.Hours{Weekday: day, Opens: back, Closes: closes})
		}
	}
	if err := tx.AddSchedules(ctx, schedules); err != nil {
		return err
	}
	if s.leaveOf != "" {
		day := s.leaveDay()
		err := tx.SaveLeave(ctx, clinic.Leave{ID: "leave_" + s.leaveOf[len("prac_"):], Practitioner: s.leaveOf, From: day, To: day, Opens: -1, Closes: -1})
		if err != nil {
			return err
		}
	}
	for _, zone := range zones {
		today := s.todayIn(zone)
		if err := tx.MakeSlotsBetween(ctx, byZone[zone], today.AddDays(-slotDaysBack), today.AddDays(slotDaysAhead)); err != nil {
			return err
		}
	}
	return nil
}

func (s *site) location(id string) clinic.Location {
	for _, l := range s.locations {
		if l.ID == id {
			return l
		}
	}
	panic("seed: no location " + id)
}

func (s *site) zone(name string) *time.Location {
	zone, err := clinic.LoadZone(name)
	if err != nil {
		panic("seed: " + err.Error())
	}
	return zone
}

func (s *site) todayIn(zone string) clinic.Date        { return clinic.DateOf(s.now, s.zone(zone)) }
func (s *site) today(l clinic.Location) clinic.Date    { return s.todayIn(l.Zone) }
func (s *site) leaveDay() clinic.Date                  { return workday(s.today(s.locations[0]), 12) }
func isWorkday(d clinic.Date) bool                     { return d.Weekday() != time.Saturday && d.Weekday() != time.Sunday }
func (p practitioner) locationOn(d clinic.Date) string { return p.at[d.Weekday()-1] }

// workday is the nth working day from the date on, which itself is number 0 if it is one.
func workday(d clinic.Date, n int) clinic.Date {
	for ; ; d = d.AddDays(1) {
		if isWorkday(d) {
			if n == 0 {
				return d
			}
			n--
		}
	}
}
