package handlers

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// apiAppointments is GET /appointments?date=&practitioner=&patient=: the latest start first.
func (s *Server) apiAppointments(c echo.Context) error {
	if err := onlyQuery(c, "date", "practitioner", "patient", "cursor", "limit"); err != nil {
		return err
	}
	f := db.VisitFilter{Practitioner: c.QueryParam("practitioner"), Patient: c.QueryParam("patient"), Cursor: c.QueryParam("cursor")}
	var err error
	if f.Limit, err = pageSize(c); err != nil {
		return err
	}
	if date := c.QueryParam("date"); date != "" {
		if f.Day, err = clinic.ParseDate(date); err != nil {
			return refusal.Invalid(refusal.Field{Name: "date", Message: "Give a date such as 2027-03-28."})
		}
	}
	by, ctx := actor(c), c.Request().Context()
	var items []proposal.AppointmentAnswer
	next := ""
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		visits, cursor, err := t.Appointments(ctx, f)
		if err != nil {
			return err
		}
		items, next = make([]proposal.AppointmentAnswer, len(visits)), cursor
		for i, v := range visits {
			items[i] = visitAnswer(v)
		}
		patient := f.Patient
		if !clinic.ValidID(patient) {
			patient = "" // no patient's, so the list is empty, and the trail keeps ids only
		}
		return t.Audit(ctx, s.readEvent(t, by, audit.ListAppointments, "", "", 0, patient))
	})
	if err != nil {
		return err
	}
	return s.json(c, http.StatusOK, listOf(items, next))
}

// apiAppointment is GET /appointments/{id}.
func (s *Server) apiAppointment(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	v, err := s.readVisit(c.Request().Context(), actor(c), id)
	if err != nil {
		return err
	}
	return s.json(c, http.StatusOK, visitAnswer(v))
}

// readVisit reads one appointment and audits that somebody looked.
func (s *Server) readVisit(ctx context.Context, by clinic.Actor, id string) (v clinic.Visit, err error) {
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		if v, err = t.Visit(ctx, id); err != nil {
			return err
		}
		return t.Audit(ctx, s.readEvent(t, by, audit.ReadAppointment, "appointment", v.ID, v.Version, v.Patient.ID))
	})
	return v, err
}

func visitAnswer(v clinic.Visit) proposal.AppointmentAnswer {
	a := proposal.AppointmentAnswer{ID: v.ID, Version: v.Version, Status: v.Status, Type: clinic.Ref{ID: v.Type.ID, Name: v.Type.Name},
		StartsAt: v.StartsAt, EndsAt: v.EndsAt, Zone: v.Location.Zone, Practitioner: clinic.Ref{ID: v.Practitioner.ID, Name: v.Practitioner.Name},
		Location: clinic.Ref{ID: v.Location.ID, Name: v.Location.Name}, Patient: clinic.Ref{ID: v.Patient.ID, Name: v.Patient.Name()},
		Slots: []proposal.SlotFacts{}}
	for _, x := range v.Slots {
		if x.Appointment == v.ID {
			a.Slots = append(a.Slots, proposal.SlotFacts{ID: x.ID, StartsAt: x.StartsAt})
		}
	}
	return a
}
