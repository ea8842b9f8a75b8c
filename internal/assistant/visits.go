package assistant

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

func (d *dialog) reschedule() (reply, error) {
	if r, err := d.visit(); r != nil || err != nil {
		return deref(r), err
	}
	v := d.w.Visit
	s := search{typ: v.Type, moving: v.ID, action: Action{Name: "reschedule_appointment@1", Input: d.with(map[string]any{"appointment": v.ID})}}
	if !d.w.AnyDoctor {
		s.practitioner = &v.Practitioner
	}
	if d.w.Practitioner != nil {
		s.practitioner = d.w.Practitioner
	}
	s.location = &v.Location
	if d.w.Location != nil {
		s.location = d.w.Location
	}
	if d.w.When == nil && d.w.Start == "" && d.w.Practitioner != nil && d.w.Practitioner.ID != v.Practitioner.ID {
		return d.place(s, "When should "+v.Practitioner.Name+"’s visit go to "+d.w.Practitioner.Name+"?")
	}
	return d.place(s, "The visit is on "+startWords(v.StartsAt, v.Zone)+" with "+v.Practitioner.Name+". When should it be?")
}

func (d *dialog) book() (reply, error) {
	if err := d.readPlaces(); err != nil {
		return reply{}, err
	}
	w := d.w
	if w.Type == nil {
		r := reply{text: "What type of visit for " + w.Patient.Name + "?", asks: AskType}
		for _, y := range d.types {
			r.choices = append(r.choices, Choice{Label: fmt.Sprintf("%s, %d min", y.Name, y.Minutes), Set: &Work{Type: &clinic.Ref{ID: y.ID, Name: y.Name}}})
		}
		return r, nil
	}
	s := search{typ: *w.Type, practitioner: w.Practitioner, location: w.Location,
		action: Action{Name: "book_appointment@1", Input: d.with(map[string]any{"patient": w.Patient.ID, "type": w.Type.ID})}}
	return d.place(s, "When should the "+w.Type.Name+" visit of "+w.Patient.Name+" be?")
}

func (d *dialog) cancel() (reply, error) {
	if r, err := d.visit(); r != nil || err != nil {
		return deref(r), err
	}
	v := d.w.Visit
	act := func(code string) *Action {
		return &Action{Name: "cancel_appointment@1", Input: d.with(map[string]any{"appointment": v.ID, "reason_code": code})}
	}
	if d.w.ReasonCode != "" {
		return reply{propose: act(d.w.ReasonCode)}, nil
	}
	r := reply{text: "Why is the visit on " + startWords(v.StartsAt, v.Zone) + " cancelled?", asks: AskReasonCode}
	for _, code := range proposal.ReasonCodes {
		r.choices = append(r.choices, Choice{Label: reasonWords[code], Action: act(code), Set: &Work{ReasonCode: code}})
	}
	return r, nil
}

// with adds what the patient is told.
func (d *dialog) with(input map[string]any) map[string]any {
	input["notify"] = !d.w.Silent
	if d.w.Text != "" {
		input["message"] = d.w.Text
	}
	return input
}

// search is where a start is looked for.
type search struct {
	typ                    clinic.Ref
	practitioner, location *clinic.Ref // nil = any
	moving                 string
	action                 Action // without the start
}

// at is the action with a start.
func (s search) at(start string, practitioner, location string) *Action {
	input := maps.Clone(s.action.Input)
	input["starts_at"], input["practitioner"], input["location"] = start, practitioner, location
	return &Action{Name: s.action.Name, Input: input}
}

// mostStarts are shown to pick from.
const mostStarts = 6

// place comes to a start: words that name exactly one are previewed as they are; everything else is a choice of real
// free starts, and none is taken for anybody.
func (d *dialog) place(s search, question string) (reply, error) {
	w := d.w.When
	if d.w.Start != "" && s.practitioner != nil && s.location != nil {
		return reply{propose: s.at(d.w.Start, s.practitioner.ID, s.location.ID)}, nil
	}
	if w == nil || len(w.Days) == 0 {
		r, err := d.offerNext(s, w, question, AskDay)
		return r, err
	}
	if len(w.Days) > 1 && w.DaysEnd.IsZero() {
		r := reply{text: "Which day is meant?", asks: AskDay}
		for _, day := range w.Days {
			r.choices = append(r.choices, Choice{Label: dateWords(day), Set: &Work{When: &When{Days: []clinic.Date{day}}}})
		}
		return r, nil
	}
	if w.exact() {
		if r, err := d.exactly(s, w); r != nil || err != nil {
			return deref(r), err
		}
	}
	offers, err := d.free(s, w, w.Days[0], w.end())
	if err != nil {
		return reply{}, err
	}
	if len(offers) == 0 {
		return d.offerNext(s, &When{From: w.From, Until: w.Until, Days: w.Days, DaysEnd: w.DaysEnd}, "Nothing is free "+whenWords(w)+d.withWhom(s)+".", AskTime)
	}
	if w.exact() && len(offers) == 1 && s.practitioner != nil {
		o := offers[0]
		return reply{propose: s.at(o.start.StartsAt.Format(time.RFC3339), o.start.Practitioner, o.start.Location)}, nil
	}
	r := reply{text: fmt.Sprintf("%s free %s%s. Which one?", countStarts(len(offers)), whenWords(w), d.withWhom(s)), asks: AskTime, choices: d.choicesOf(s, offers)}
	if len(offers) > mostStarts {
		r.text = fmt.Sprintf("%s free %s%s; these are the first. Which one? Or say a time.", countStarts(len(offers)), whenWords(w), d.withWhom(s))
	}
	return r, nil
}

// exactly is one wall time at one place: a card, or a question where the clocks make it none or two. nil where more
// than one place could be meant.
func (d *dialog) exactly(s search, w *When) (*reply, error) {
	if err := d.readPlaces(); err != nil {
		return nil, err
	}
	zone, known, err := d.zoneOf(s)
	if err != nil || !known {
		return nil, err
	}
	wall := w.Days[0].At(*w.Clock)
	instants := clinic.Instants(wall, zone)
	if len(instants) == 1 {
		if s.practitioner == nil || s.location == nil {
			return nil, nil
		}
		return &reply{propose: s.at(instants[0].UTC().Format(time.RFC3339), s.practitioner.ID, s.location.ID)}, nil
	}
	r := &reply{text: fmt.Sprintf("%s on %s comes twice: the clocks go back then. Which of the two?", clockText(*w.Clock), dateWords(w.Days[0])), asks: AskTime}
	if len(instants) == 0 {
		r.text = fmt.Sprintf("%s on %s does not exist: the clocks go forward then. Which time is meant?", clockText(*w.Clock), dateWords(w.Days[0]))
		instants = clinic.Offers(wall, zone)
	}
	for _, at := range instants {
		local := clinic.WallOf(at, zone)
		c := Choice{Label: startWords(at, zone.String()), Set: &Work{When: &When{Days: []clinic.Date{local.Date}, Clock: &local.Minute}}}
		if s.practitioner != nil && s.location != nil {
			c.Action, c.Set.Start = s.at(at.UTC().Format(time.RFC3339), s.practitioner.ID, s.location.ID), at.UTC().Format(time.RFC3339)
		}
		r.choices = append(r.choices, c)
	}
	return r, nil
}

// zoneOf is the one zone of the places that are searched; known is false when they differ.
func (d *dialog) zoneOf(s search) (zone *time.Location, known bool, err error) {
	name := ""
	for _, l := range d.locations {
		if s.location != nil && s.location.ID != l.ID {
			continue
		}
		if name != "" && name != l.Zone {
			return nil, false, nil
		}
		name = l.Zone
	}
	zone, err = clinic.LoadZone(name)
	return zone, err == nil, err
}

// offer is a free start in the zone of its place.
type offer struct {
	start clinic.Start
	place clinic.Location
}

// free lists the starts that fit, on the days in each place's own zone, by start.
func (d *dialog) free(s search, w *When, from, to clinic.Date) ([]offer, error) {
	if err := d.readPlaces(); err != nil {
		return nil, err
	}
	var out []offer
	for _, l := range d.locations {
		if s.location != nil && s.location.ID != l.ID {
			continue
		}
		zone, err := clinic.LoadZone(l.Zone)
		if err != nil {
			return nil, err
		}
		f := StartFilter{Location: l.ID, Type: s.typ.ID, Moving: s.moving}
		if s.practitioner != nil {
			f.Practitioner = s.practitioner.ID
		}
		f.From, _ = clinic.DayBounds(from, zone)
		_, f.To = clinic.DayBounds(to, zone)
		starts, err := d.tx.FreeStarts(d.ctx, f)
		if err != nil {
			return nil, err
		}
		for _, at := range starts {
			stays := d.w.Visit != nil && s.moving != "" && at.StartsAt.Equal(d.w.Visit.StartsAt) && at.Practitioner == d.w.Visit.Practitioner.ID && at.Location == d.w.Visit.Location.ID
			if !stays && at.StartsAt.After(d.tx.Now()) && (w == nil || w.fitsClock(clinic.WallOf(at.StartsAt, zone).Minute)) {
				out = append(out, offer{at, l})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b offer) int { return a.start.StartsAt.Compare(b.start.StartsAt) })
	return out, nil
}

// daysAhead is how far a next free start is looked for.
const daysAhead = 21

// offerNext asks for a day, or a time, and shows the next free starts; from the days that were said when they are ahead.
func (d *dialog) offerNext(s search, w *When, question, asks string) (reply, error) {
	from := clinic.DateOf(d.tx.Now(), time.UTC)
	if w != nil && len(w.Days) > 0 && w.Days[0].After(from) {
		from = w.Days[0]
	}
	offers, err := d.free(s, w, from, from.AddDays(daysAhead))
	if err != nil {
		return reply{}, err
	}
	if len(offers) == 0 && w != nil && (w.Clock != nil || w.From != nil || w.Until != nil) {
		if offers, err = d.free(s, nil, from, from.AddDays(daysAhead)); err != nil {
			return reply{}, err
		}
	}
	r := reply{text: question, asks: asks, choices: d.choicesOf(s, offers)}
	if len(offers) > 0 {
		r.text += " These are the next free times; or say a day and a time."
	} else {
		r.text += " Nothing is free in the three weeks after that. Say another day, practitioner or place."
	}
	return r, nil
}

func (d *dialog) choicesOf(s search, offers []offer) (out []Choice) {
	for _, o := range offers[:min(len(offers), mostStarts)] {
		doctor := clinic.Ref{ID: o.start.Practitioner}
		for _, p := range d.doctors {
			if p.ID == doctor.ID {
				doctor.Name = p.Name
			}
		}
		at := o.start.StartsAt.UTC().Format(time.RFC3339)
		out = append(out, Choice{Label: startWords(o.start.StartsAt, o.place.Zone) + " with " + doctor.Name + ", " + o.place.Name,
			Action: s.at(at, doctor.ID, o.place.ID),
			Set:    &Work{Start: at, Practitioner: &doctor, Location: &clinic.Ref{ID: o.place.ID, Name: o.place.Name}}})
	}
	return out
}

func (d *dialog) withWhom(s search) string {
	if s.practitioner == nil {
		return ""
	}
	return " with " + s.practitioner.Name
}

func countStarts(n int) string {
	words := []string{"No start is", "One start is", "Two starts are", "Three starts are", "Four starts are", "Five starts are", "Six starts are"}
	if n < len(words) {
		return words[n]
	}
	return fmt.Sprintf("%d starts are", n)
}
