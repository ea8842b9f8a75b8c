package handlers

import (
	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/views"
)

// shell is the frame of a page for who is signed in, by the clock of the page's own transaction. A page of one
// location replaces Zone by that location's.
func (s *Server) shell(c echo.Context, t *db.Tx, nav, title string) (views.Shell, error) {
	a := actor(c)
	f, err := t.Frame(c.Request().Context())
	return views.Shell{Title: title, Clinic: a.ClinicName, Person: a.PersonName, Role: a.Role, Nav: nav, Waiting: f.Waiting, Now: t.Now(),
		Zone: f.Zone, HTMX: isHTMX(c)}, err
}
