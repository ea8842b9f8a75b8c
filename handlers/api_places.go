package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/db"
)

type practitionerJSON struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Active    bool     `json:"active"`
	Types     []string `json:"types"`
	Locations []string `json:"locations"`
	Version   int64    `json:"version"`
}

// apiPractitioners is GET /practitioners.
func (s *Server) apiPractitioners(c echo.Context) error {
	var items []practitionerJSON
	err := s.read(c, func(t *db.Tx) error {
		found, err := t.Practitioners(c.Request().Context())
		items = make([]practitionerJSON, len(found))
		for i, p := range found {
			items[i] = practitionerJSON{p.ID, p.Name, p.Active, append([]string{}, p.Types...), append([]string{}, p.Locations...), p.Version}
		}
		return err
	})
	if err != nil {
		return err
	}
	page, err := cutPage(c, items, func(x practitionerJSON) string { return x.ID })
	if err != nil {
		return err
	}
	return s.json(c, http.StatusOK, page)
}

type locationJSON struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Address string `json:"address"`
	Phone   string `json:"phone"`
	Zone    string `json:"zone"`
	Version int64  `json:"version"`
}

// apiLocations is GET /locations.
func (s *Server) apiLocations(c echo.Context) error {
	var items []locationJSON
	err := s.read(c, func(t *db.Tx) error {
		found, err := t.Locations(c.Request().Context())
		items = make([]locationJSON, len(found))
		for i, l := range found {
			items[i] = locationJSON(l)
		}
		return err
	})
	if err != nil {
		return err
	}
	page, err := cutPage(c, items, func(x locationJSON) string { return x.ID })
	if err != nil {
		return err
	}
	return s.json(c, http.StatusOK, page)
}

type typeJSON struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Minutes int    `json:"minutes"`
	Version int64  `json:"version"`
}

// apiTypes is GET /appointment-types.
func (s *Server) apiTypes(c echo.Context) error {
	var items []typeJSON
	err := s.read(c, func(t *db.Tx) error {
		found, err := t.Types(c.Request().Context())
		items = make([]typeJSON, len(found))
		for i, y := range found {
			items[i] = typeJSON(y)
		}
		return err
	})
	if err != nil {
		return err
	}
	page, err := cutPage(c, items, func(x typeJSON) string { return x.ID })
	if err != nil {
		return err
	}
	return s.json(c, http.StatusOK, page)
}

// read runs fn in a read-only transaction of the actor's clinic.
func (s *Server) read(c echo.Context, fn func(*db.Tx) error) error {
	return s.DB.Read(c.Request().Context(), actor(c).Clinic, fn)
}
