package handlers

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/refusal"
	"countersign/views"
)

// shell is the frame of a page for who is signed in, by the clock of the page's own transaction. A page of one
// location replaces Zone by that location's.
func (s *Server) shell(c echo.Context, t *db.Tx, nav, title string) (views.Shell, error) {
	a := actor(c)
	f, err := t.Frame(c.Request().Context(), a.Person)
	out := views.Shell{Title: title, Clinic: a.ClinicName, Person: a.PersonName, Role: a.Role, Nav: nav, Waiting: f.Waiting, Manual: f.Manual, EHR: s.hasEHR(a.Clinic), Now: t.Now(),
		Zone: f.Zone, HTMX: isHTMX(c), KeysOff: f.KeysOff, Back: "/"}
	if c.Request().Method == http.MethodGet {
		out.Back = c.Request().URL.RequestURI()
	}
	for _, d := range f.Told {
		out.Told = append(out.Told, views.Told{Proposal: d.ID, Action: d.Action, State: d.State, Patient: d.Patient, By: d.By, At: d.At})
	}
	return out, err
}

// hasEHR: the clinic's visits are kept in an EHR too.
func (s *Server) hasEHR(clinicID string) bool { return s.Desk.EHR != nil && s.Desk.EHR(clinicID) }

// setKeys is POST /preferences/keys: single keys on or off, for the person and not for the browser.
func (s *Server) setKeys(c echo.Context) error {
	b := formBody(c)
	off, back := b.text("off", false), b.text("back", false)
	if off != "" && off != "true" {
		b.bad("off", "Give true or nothing.")
	}
	if err := b.refuse(); err != nil {
		return err
	}
	by, ctx := actor(c), c.Request().Context()
	if err := s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error { return t.SetKeysOff(ctx, by.Person, off == "true") }); err != nil {
		return err
	}
	return redirect(c, localPath(back))
}

// setTold is POST /preferences/told: what was decided up to then is known.
func (s *Server) setTold(c echo.Context) error {
	b := formBody(c)
	text, back := b.text("until", true), b.text("back", false)
	until, err := time.Parse(time.RFC3339Nano, text)
	if text != "" && err != nil {
		b.bad("until", "Load the page again and press there.")
	}
	if err := b.refuse(); err != nil {
		return err
	}
	by, ctx := actor(c), c.Request().Context()
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		if until.After(t.Now()) {
			return refusal.Invalid(refusal.Field{Name: "until", Message: "This is still to come."})
		}
		return t.SetTold(ctx, by.Person, until)
	})
	if err != nil {
		return err
	}
	return redirect(c, localPath(back))
}
