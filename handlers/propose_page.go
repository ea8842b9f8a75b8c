package handlers

import (
	"github.com/labstack/echo/v4"
	"slices"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
	"countersign/views"
)

// fillPropose reads what a propose form shows around its values: the visit or the patient, the choices, free times, and
// what was refused; whom it shows stands on the trail. A fixed number of statements. Errors: not_found for an unknown visit.
func (s *Server) fillPropose(c echo.Context, t *db.Tx, p *views.ProposePage, appointment, patient string, refused *refusal.Error) error {
	var err error
	if p.Shell, err = s.shell(c, t, "", ""); err != nil {
		return err
	}
	by, ctx := actor(c), c.Request().Context()
	var shown audit.Event
	if p.Action == views.ActionBook {
		who, err := t.Patient(ctx, patient)
		if err != nil && !db.Missing(err) {
			return err
		}
		if err == nil {
			p.Patient = views.Person{ID: who.ID, Name: who.Name(), BirthDate: who.BirthDate, MRN: who.MRN}
			shown = s.readEvent(t, by, audit.ReadPatient, "patient", who.ID, who.Version, who.ID)
		}
		p.Search.Booking = views.Booking{Wanted: true, Practitioner: p.Practitioner, Location: p.Location, Type: p.Type, StartsAt: instantText(p.StartsAt)}
	} else {
		v, err := t.Visit(ctx, appointment)
		if err != nil {
			return err
		}
		p.Visit, p.Type = &v, v.Type.ID
		shown = s.readEvent(t, by, audit.ReadAppointment, "appointment", v.ID, v.Version, v.Patient.ID)
		if p.Practitioner == "" {
			p.Practitioner = v.Practitioner.ID
		}
		if p.Location == "" {
			p.Location = v.Location.ID
		}
	}
	if refused != nil {
		p.Refusal = pageRefusal(refused)
		alternatives, _ := refused.Details["alternatives"].([]proposal.Alternative)
		choices, _ := refused.Details["choices"].([]proposal.Choice)
		p.Alternatives, p.Choices = alternativeSlots(alternatives, ""), choiceSlots(choices)
	}
	if shown.Action != "" {
		if err := t.Audit(ctx, shown); err != nil {
			return err
		}
	}
	if p.Action == views.ActionCancel || p.Action == views.ActionBook && p.Patient.ID == "" {
		return nil
	}
	return s.fillTimes(c, t, p)
}

// instantText is a start that may stand in a link: an instant, or "".
func instantText(typed string) string {
	if at, ok := instantOfText(typed); ok {
		return slotValue(at)
	}
	return ""
}

func alternativeSlots(list []proposal.Alternative, zone string) []views.Slot {
	var out []views.Slot
	for _, a := range list {
		out = append(out, views.Slot{Value: slotValue(a.StartsAt), StartsAt: a.StartsAt, EndsAt: a.EndsAt, Zone: zone, Practitioner: a.Practitioner.Name})
	}
	return out
}

func choiceSlots(list []proposal.Choice) []views.Slot {
	var out []views.Slot
	for _, x := range list {
		out = append(out, views.Slot{Value: slotValue(x.StartsAt), StartsAt: x.StartsAt})
	}
	return out
}

// offers are the practitioners to choose from: those who work here and, where the type is fixed, see such visits; and
// the one chosen.
func offers(list []db.Offer, p *views.ProposePage) []views.Option {
	var out []views.Option
	for _, o := range list {
		if o.ID == p.Practitioner || o.Active && (p.Action == views.ActionBook || slices.Contains(o.Types, p.Type)) {
			out = append(out, views.Option{Value: o.ID, Label: o.Name})
		}
	}
	return out
}

func locationOptions(list []clinic.Location) []views.Option {
	var out []views.Option
	for _, l := range list {
		out = append(out, views.Option{Value: l.ID, Label: l.Name})
	}
	return out
}

func typeOptions(list []clinic.Type) []views.Option {
	var out []views.Option
	for _, y := range list {
		out = append(out, views.Option{Value: y.ID, Label: y.Name})
	}
	return out
}

// choose clears a value that is no option and then asks for one: nothing is chosen for anybody.
func choose(list []views.Option, value *string) []views.Option {
	for _, o := range list {
		if o.Value == *value && o.Value != "" {
			return list
		}
	}
	*value = ""
	return append([]views.Option{{Label: "Choose"}}, list...)
}
