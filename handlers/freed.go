package handlers

import (
	"context"
	"time"

	"countersign/db"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/views"
)

// lookAhead is how far ahead free times are looked for on behalf of who waits.
const lookAhead = 28 * 24 * time.Hour

// match is who waits and the first free time that would suit; zero Start: none is free.
type match struct {
	db.WaitingPatient
	start clinic.Start
}

// suited gives everybody on the waiting list with the first free time that suits them; with openings only time of those
// counts. Two statements for each type of visit that is waited for. Nothing is booked.
func suited(ctx context.Context, t *db.Tx, openings []clinic.Opening) ([]match, error) {
	list, err := t.WaitingList(ctx)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	zones := map[string]*time.Location{}
	locations, err := t.Locations(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range locations {
		if zones[l.ID], err = clinic.LoadZone(l.Zone); err != nil {
			return nil, err
		}
	}
	from, to := t.Now(), t.Now().Add(lookAhead)
	for i, o := range openings {
		if first := o.From.Add(-12 * time.Hour); i == 0 || first.Before(from) { // a long visit may begin before it
			from = first
		}
		if i == 0 || o.To.After(to) {
			to = o.To
		}
	}
	starts := map[string][]clinic.Start{}
	out := make([]match, len(list))
	for i, w := range list {
		if _, known := starts[w.Type.ID]; !known {
			if starts[w.Type.ID], err = t.FreeStarts(ctx, db.StartFilter{Type: w.Type.ID, From: from, To: to}); err != nil {
				return nil, err
			}
		}
		wish, err := w.Wish()
		if err != nil {
			return nil, err
		}
		out[i].WaitingPatient = w
		for _, s := range starts[w.Type.ID] {
			if wish.Wants(s, zones[s.Location]) && (openings == nil || s.In(openings)) {
				out[i].start = s
				break
			}
		}
	}
	return out, nil
}

// openingsOf is the time that a proposal gave back: of every visit that it moved or cancelled.
func openingsOf(r proposal.Record) []clinic.Opening {
	out := []clinic.Opening{}
	if r.Tampered() || r.Plan.Before == nil {
		return out
	}
	add := func(f *proposal.Facts) {
		out = append(out, clinic.Opening{Practitioner: f.Practitioner.ID, Location: f.Location.ID, From: f.StartsAt, To: f.EndsAt})
	}
	switch {
	case r.Plan.IsBulk():
		for i, it := range r.ItemResults() {
			if it.State == proposal.ItemCompleted {
				add(&r.Plan.Before.Items[i])
			}
		}
	case r.Plan.Before.OfVisit() && r.State == proposal.StateCompleted:
		add(r.Plan.Before)
	}
	return out
}

func counted(list []match) (n int) {
	for _, m := range list {
		if !m.start.StartsAt.IsZero() {
			n++
		}
	}
	return n
}

// freedBy counts who would like the time that a proposal gave back.
func freedBy(ctx context.Context, t *db.Tx, r proposal.Record) (views.Freed, error) {
	openings := openingsOf(r)
	if len(openings) == 0 {
		return views.Freed{}, nil
	}
	list, err := suited(ctx, t, openings)
	return views.Freed{Count: counted(list), Href: waitingPath + "?freed=" + r.ID}, err
}

// freedByLeave counts who would like time that was leave until now.
func freedByLeave(ctx context.Context, t *db.Tx, l clinic.Leave) (views.Freed, error) {
	offers, err := t.Practitioners(ctx)
	if err != nil {
		return views.Freed{}, err
	}
	openings := []clinic.Opening{}
	from, _ := clinic.DayBounds(l.From, time.UTC)
	_, to := clinic.DayBounds(l.To, time.UTC)
	for _, o := range offers {
		for _, at := range o.Locations {
			if o.ID == l.Practitioner {
				openings = append(openings, clinic.Opening{Practitioner: o.ID, Location: at, From: from.Add(-14 * time.Hour), To: to.Add(14 * time.Hour)})
			}
		}
	}
	if len(openings) == 0 {
		return views.Freed{}, nil
	}
	list, err := suited(ctx, t, openings)
	return views.Freed{Count: counted(list), Href: waitingPath}, err
}
