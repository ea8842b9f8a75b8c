package handlers

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/views"
)

// showAppointment is GET /appointments/{id}: the visit, its history and what waits for it.
func (s *Server) showAppointment(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	p, err := s.readAppointment(c, id)
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, views.Appointment(p))
}

func (s *Server) readAppointment(c echo.Context, id string) (p views.AppointmentPage, err error) {
	ctx := c.Request().Context()
	err = s.DB.InClinic(ctx, actor(c).Clinic, func(t *db.Tx) (err error) {
		p, err = s.appointmentPage(ctx, c, t, id)
		return err
	})
	return p, err
}

// appointmentPage reads the page and audits that somebody looked.
func (s *Server) appointmentPage(ctx context.Context, c echo.Context, t *db.Tx, id string) (p views.AppointmentPage, err error) {
	by := actor(c)
	if p.Visit, err = t.Visit(ctx, id); err != nil {
		return p, err
	}
	if p.Shell, err = s.shell(c, t, "", ""); err != nil {
		return p, err
	}
	p.Shell.Zone = p.Visit.Location.Zone
	zone, err := clinic.LoadZone(p.Visit.Location.Zone)
	if err != nil {
		return p, err
	}
	history, err := t.History(ctx, id)
	if err != nil {
		return p, err
	}
	waiting, err := t.WaitingFor(ctx, id)
	if err != nil {
		return p, err
	}
	for _, w := range waiting {
		p.Waiting = append(p.Waiting, askOf(w))
	}
	if p.History, err = entries(history); err != nil {
		return p, err
	}
	if by.WorksTheDesk() && p.Visit.Waits == "" {
		p.Statuses = statusActs(p.Visit.Status)
	}
	today := clinic.DateOf(t.Now(), zone)
	p.MayMove = p.Visit.Status == clinic.StatusBooked && p.Visit.Waits == "" && !clinic.DateOf(p.Visit.StartsAt, zone).Before(today) && proposal.MayPropose(by, views.ActionMove) == nil
	return p, t.Audit(ctx, s.readEvent(t, by, audit.ReadAppointment, "appointment", p.Visit.ID, p.Visit.Version, p.Visit.Patient.ID))
}

// statusActs are the buttons of a status: what comes next first, going back last.
func statusActs(now string) []views.StatusAct {
	undo := map[string]string{clinic.StatusArrived: "Undo arrival", clinic.StatusCheckedIn: "Undo arrival", clinic.StatusNoShow: "Undo no-show",
		clinic.StatusFulfilled: "Undo, back to booked"}
	words := map[string]string{clinic.StatusArrived: "Arrived", clinic.StatusNoShow: "No-show", clinic.StatusFulfilled: "Fulfilled"}
	var acts []views.StatusAct
	for _, next := range clinic.ArrivalStatuses() {
		if next != clinic.StatusBooked && clinic.MayBecome(now, next) {
			acts = append(acts, views.StatusAct{Status: next, Label: words[next]})
		}
	}
	if clinic.MayBecome(now, clinic.StatusBooked) {
		acts = append(acts, views.StatusAct{Status: clinic.StatusBooked, Label: undo[now]})
	}
	return acts
}

// entries tells the history, newest first, as db.History gives it.
func entries(rows []db.HistoryRow) ([]views.Entry, error) {
	list := make([]views.Entry, len(rows))
	for i, r := range rows {
		zone, err := clinic.LoadZone(r.Zone)
		if err != nil {
			return nil, err
		}
		at := r.StartsAt.In(zone)
		e := views.Entry{At: r.At, By: r.By.Name, Proposal: r.Proposal,
			Text: views.ShortDate(at) + ", " + views.Span(at, r.EndsAt) + ", " + r.Practitioner.Name + ", " + r.Location.Name}
		if r.By.ID == r.By.Name { // a system name, not somebody's
			e.By = views.ViaWord(r.Via)
		}
		before := db.HistoryRow{}
		if i+1 < len(rows) {
			before = rows[i+1]
		}
		e.Title, e.Mark = changeWord(before, r)
		e.Title += lateWord(before, r)
		if r.Status == clinic.StatusCancelled && r.ReasonCode != "" {
			e.Text = views.ReasonWord(r.ReasonCode)
		}
		list[i] = e
	}
	return list, nil
}

// lateWord flags a change or cancellation that came under 24 h before the start there was; it is no no-show.
func lateWord(before, after db.HistoryRow) string {
	switch {
	case before.Version == 0 || before.Status != clinic.StatusBooked || !clinic.Late(after.At, before.StartsAt):
		return ""
	case after.Status == clinic.StatusCancelled:
		return ", " + strings.ToLower(views.LateCancellationText)
	case after.Status == clinic.StatusBooked && (!before.StartsAt.Equal(after.StartsAt) || before.Practitioner.ID != after.Practitioner.ID || before.Location.ID != after.Location.ID):
		return ", " + strings.ToLower(views.LateChangeText)
	}
	return ""
}

// changeWord names what a version changed; before is zero for the first one.
func changeWord(before, after db.HistoryRow) (title, mark string) {
	moved := !before.StartsAt.Equal(after.StartsAt) || before.Practitioner.ID != after.Practitioner.ID || before.Location.ID != after.Location.ID
	switch {
	case before.Version == 0:
		return views.StatusWord(after.Status), views.MarkDone
	case before.Status != after.Status && after.Status == clinic.StatusCancelled:
		return views.StatusWord(after.Status), views.MarkStop
	case before.Status != after.Status && after.Status == clinic.StatusBooked && !moved:
		return "Back to booked", views.MarkPlain
	case before.Status != after.Status && !moved:
		return views.StatusWord(after.Status), views.MarkPlain
	case moved:
		return "Moved", views.MarkDone
	}
	return "Changed", views.MarkPlain
}
