package handlers

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
	"countersign/views"
)

// setStatus is POST /appointments/{id}/status: fields status and version, the version that the person was looking at.
func (s *Server) setStatus(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	status, version, err := statusAsked(c)
	if err == nil {
		err = s.changeStatus(c, id, status, version)
	}
	if err != nil {
		return s.refuseStatus(c, id, err)
	}
	if !isHTMX(c) {
		return redirect(c, appointmentURL(id))
	}
	p, err := s.readAppointment(c, id)
	if err != nil {
		return err
	}
	p.Flash = views.Flash{Kind: views.FlashDone, Text: p.Visit.Patient.Name() + ": " + views.StatusWord(p.Visit.Status) + "."}
	return s.render(c, http.StatusOK, views.Appointment(p))
}

func statusAsked(c echo.Context) (status string, version int64, err error) {
	var wrong []refusal.Field
	status = form(c).Get("status")
	if !slices.Contains(clinic.ArrivalStatuses(), status) {
		wrong = append(wrong, refusal.Field{Name: "status", Message: "Choose booked, arrived, noshow or fulfilled."})
	}
	version, bad := strconv.ParseInt(form(c).Get("version"), 10, 64)
	if bad != nil || version < 1 {
		wrong = append(wrong, refusal.Field{Name: "version", Message: "Load the page again: it says which version it shows."})
	}
	if len(wrong) > 0 {
		return "", 0, refusal.Invalid(wrong...)
	}
	return status, version, nil
}

func (s *Server) changeStatus(c echo.Context, id, status string, version int64) error {
	by, ctx := actor(c), c.Request().Context()
	err := s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		v, err := t.Visit(ctx, id)
		if err != nil {
			return err
		}
		if !by.WorksTheDesk() {
			return refusal.New(refusal.PermissionDenied, "Your role does not change visits. Nothing was done.")
		}
		now, err := t.SetStatus(ctx, by.ID(), id, status, version)
		if err != nil {
			return err
		}
		return t.Audit(ctx, s.statusEvent(t, by, audit.Success, "", id, now, v.Patient.ID))
	})
	if errors.Is(err, proposal.ErrOverlap) { // somebody took the time while we looked
		return refusal.Invalid(refusal.Field{Name: "status", Message: "Its time has been given to another visit."})
	}
	return doneOrNot(err)
}

// doneOrNot: after a connection lost at COMMIT nobody may be told that nothing happened.
func doneOrNot(err error) error {
	if errors.Is(err, proposal.ErrCommitUnknown) {
		return &refusal.Error{Code: refusal.Internal, Cause: err}
	}
	return err
}

func (s *Server) statusEvent(t *db.Tx, by clinic.Actor, outcome, code, id string, version int64, patient string) audit.Event {
	e := s.readEvent(t, by, audit.SetStatus, "appointment", id, version, patient)
	e.Outcome, e.Code = outcome, code
	return e
}

// refuseStatus writes the refusal down, now that nothing else was written, and shows the visit as it stands.
func (s *Server) refuseStatus(c echo.Context, id string, err error) error {
	r := refusal.Of(err)
	if r == nil || r.Code == refusal.Busy || r.Code == refusal.Internal {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), 5*time.Second)
	defer cancel()
	by := actor(c)
	var p views.AppointmentPage
	failed := s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) (err error) {
		if r.Code == refusal.NotFound {
			return t.Audit(ctx, s.statusEvent(t, by, audit.Denied, r.Code, "", 0, ""))
		}
		if p, err = s.appointmentPage(ctx, c, t, id); err != nil {
			return err
		}
		return t.Audit(ctx, s.statusEvent(t, by, audit.Denied, r.Code, id, p.Visit.Version, p.Visit.Patient.ID))
	})
	if failed != nil {
		return failed
	}
	if r.Code == refusal.NotFound {
		return err
	}
	p.Refusal = pageRefusal(r)
	c.Set(codeKey, r.Code)
	return s.render(c, p.Refusal.Status, views.Appointment(p))
}

// appointmentForm is the page whose buttons set a status.
func appointmentForm(c echo.Context) string { return appointmentURL(c.Param("id")) }

func appointmentURL(id string) string { return "/appointments/" + id }
