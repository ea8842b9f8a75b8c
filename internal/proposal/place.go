package proposal

import (
	"context"
	"slices"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// place is where and when a visit shall be.
type place struct {
	practitioner clinic.Practitioner
	location     clinic.Location
	typ          clinic.Type
	zone         *time.Location
	starts, ends time.Time
	slots        []clinic.Slot // covered, by start
}

// settle judges a start in the contract's order: does the wall time exist, once; is it past; is it inside the
// schedule; is it free. Slots held by mine count as free: a visit may move onto part of its own time.
func (d *drafting) settle(ctx context.Context, p *place, startsAt, mine string) error {
	zone, err := clinic.LoadZone(p.location.Zone)
	if err != nil {
		return err
	}
	p.zone = zone
	w, err := parseWhen(startsAt)
	if err != nil {
		return d.invalid("starts_at", "Give a date and time.")
	}
	if p.starts, err = w.resolve(zone); err != nil {
		return err
	}
	p.ends = p.starts.Add(time.Duration(p.typ.Minutes) * time.Minute)
	if !p.starts.After(d.now) {
		return refusal.New(refusal.InThePast)
	}
	rows, err := d.tx.SlotsOf(ctx, p.practitioner.ID, p.location.ID, p.starts, p.ends)
	if err != nil {
		return err
	}
	for i := range rows {
		if d.freed[rows[i].ID] {
			rows[i].Appointment = ""
		}
	}
	byID := make(map[string]clinic.Slot, len(rows))
	for _, r := range rows {
		byID[r.ID] = r
	}
	ids, ok := clinic.Cover(freeSlots(rows, mine), p.starts, p.typ.Minutes)
	for _, id := range ids {
		ok = ok && byID[id].State == "open" && slices.Contains(byID[id].Types, p.typ.ID)
	}
	if !ok || !p.practitioner.Active {
		return refusal.New(refusal.OutsideSchedule)
	}
	for _, id := range ids {
		p.slots = append(p.slots, byID[id])
	}
	for _, s := range p.slots {
		if s.Appointment != "" && s.Appointment != mine {
			others, err := alternatives(ctx, d.tx, p, mine, d.now, false)
			if err != nil {
				return err
			}
			return refusal.New(refusal.SlotTaken).With("alternatives", others)
		}
	}
	return nil
}

const (
	alternativeDays = 7
	maxAlternatives = 5
)

// Alternative is a free start near the one that was taken, never chosen for anybody.
type Alternative struct {
	StartsAt     time.Time  `json:"starts_at"`
	EndsAt       time.Time  `json:"ends_at"`
	Practitioner clinic.Ref `json:"practitioner"`
	Location     clinic.Ref `json:"location"`
	Label        string     `json:"label"`
}

// alternatives gives up to five free starts of the same practitioner, location and type, the nearest of the week before
// and after, by start. With collided none lies over the time itself, though its slots look free.
func alternatives(ctx context.Context, tx Tx, p *place, mine string, now time.Time, collided bool) ([]Alternative, error) {
	rows, err := tx.SlotsOf(ctx, p.practitioner.ID, p.location.ID, p.starts.AddDate(0, 0, -alternativeDays), p.ends.AddDate(0, 0, alternativeDays))
	if err != nil {
		return nil, err
	}
	free := slices.DeleteFunc(clinic.FreeStarts(freeSlots(rows, mine), p.typ.Minutes, p.typ.ID), func(s clinic.Start) bool {
		return !s.StartsAt.After(now) || collided && s.StartsAt.Before(p.ends) && p.starts.Before(s.EndsAt)
	})
	slices.SortStableFunc(free, func(a, b clinic.Start) int {
		return int(a.StartsAt.Sub(p.starts).Abs() - b.StartsAt.Sub(p.starts).Abs())
	})
	free = free[:min(len(free), maxAlternatives)]
	slices.SortFunc(free, func(a, b clinic.Start) int { return a.StartsAt.Compare(b.StartsAt) })
	out := make([]Alternative, 0, len(free))
	for _, s := range free {
		out = append(out, Alternative{s.StartsAt, s.EndsAt, clinic.Ref{ID: p.practitioner.ID, Name: p.practitioner.Name},
			clinic.Ref{ID: p.location.ID, Name: p.location.Name},
			s.StartsAt.In(p.zone).Format("Monday 2 January 2006, 15:04") + " (" + OffsetLabel(offsetMinutes(s.StartsAt, p.zone)) + ")"})
	}
	return out, nil
}

// freeSlots marks the slots that mine could take.
func freeSlots(rows []clinic.Slot, mine string) []clinic.FreeSlot {
	out := make([]clinic.FreeSlot, 0, len(rows))
	for _, r := range rows {
		out = append(out, clinic.FreeSlot{ID: r.ID, Practitioner: r.Practitioner, Location: r.Location, StartsAt: r.StartsAt, EndsAt: r.EndsAt,
			Types: r.Types, Free: r.State == "open" && (r.Appointment == "" || r.Appointment == mine), Version: r.Version})
	}
	return out
}

func slotIDs(rows []clinic.Slot) []string {
	out := make([]string, 0, len(rows))
	for _, r := range rows {
		out = append(out, r.ID)
	}
	return out
}

// without gives those of a that are not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(id string) bool { return slices.Contains(b, id) })
}

// factsOf is what is shown of a visit as it stands.
func factsOf(v clinic.Visit) (*Facts, error) {
	zone, err := clinic.LoadZone(v.Location.Zone)
	if err != nil {
		return nil, err
	}
	return &Facts{Appointment: v.ID, Status: v.Status, Patient: patientFacts(v.Patient), Type: TypeFacts{v.Type.ID, v.Type.Name, v.Type.Minutes},
		Practitioner: clinic.Ref{ID: v.Practitioner.ID, Name: v.Practitioner.Name}, Location: placeFacts(v.Location),
		StartsAt: v.StartsAt.UTC(), EndsAt: v.EndsAt.UTC(), Zone: v.Location.Zone, OffsetMinutes: offsetMinutes(v.StartsAt, zone),
		Slots: slotFacts(v.Slots)}, nil
}

// facts is what is shown of a visit as it will be.
func (p *place) facts(appointment, status string, patient clinic.Patient) *Facts {
	return &Facts{Appointment: appointment, Status: status, Patient: patientFacts(patient), Type: TypeFacts{p.typ.ID, p.typ.Name, p.typ.Minutes},
		Practitioner: clinic.Ref{ID: p.practitioner.ID, Name: p.practitioner.Name}, Location: placeFacts(p.location),
		StartsAt: p.starts, EndsAt: p.ends, Zone: p.location.Zone, OffsetMinutes: offsetMinutes(p.starts, p.zone), Slots: slotFacts(p.slots)}
}

func placeFacts(l clinic.Location) PlaceFacts { return PlaceFacts{l.ID, l.Name, l.Address, l.Phone} }

func patientFacts(p clinic.Patient) PatientFacts {
	f := PatientFacts{ID: p.ID, Name: p.Name(), BirthDate: p.BirthDate, MRN: p.MRN, Contact: p.Contact, WrittenIn: languageOf(p.Language).code}
	if why := Unreachable(p); why != "" {
		f.Unreachable = &why
	}
	return f
}

func slotFacts(rows []clinic.Slot) []SlotFacts {
	out := make([]SlotFacts, 0, len(rows))
	for _, r := range rows {
		out = append(out, SlotFacts{r.ID, r.StartsAt.UTC()})
	}
	return out
}
