package handlers

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// maxFound is the most patients one search shows.
const maxFound = 20

type patientJSON struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	BirthDate string `json:"birth_date"`
	MRN       string `json:"mrn"`
	Version   int64  `json:"version"`
}

func patientAnswer(p clinic.Patient) patientJSON {
	return patientJSON{p.ID, p.Name(), p.BirthDate, p.MRN, p.Version}
}

// apiSearchPatients is POST /patients/search: a POST, so that no name stands in a URL.
func (s *Server) apiSearchPatients(c echo.Context) error {
	b, err := bodyOf(c)
	if err != nil {
		return err
	}
	query := b.text("query", true)
	if err := b.refuse(); err != nil {
		return err
	}
	terms, err := searchTerms(query)
	if err != nil {
		return err
	}
	var found []clinic.Patient
	more := false
	err = s.DB.InClinic(c.Request().Context(), actor(c).Clinic, func(t *db.Tx) error {
		found, more, err = s.search(c.Request().Context(), t, actor(c), terms)
		return err
	})
	if err != nil {
		return err
	}
	items := make([]patientJSON, len(found))
	for i, p := range found {
		items[i] = patientAnswer(p)
	}
	return s.json(c, http.StatusOK, struct {
		list[patientJSON]
		More bool `json:"more"`
	}{listOf(items, ""), more})
}

// searchTerms reads a query as it was typed; no terms means that it asks for nothing.
func searchTerms(query string) ([]string, error) {
	query, err := clinic.CleanText(query, 200)
	if err != nil {
		return nil, refusal.Invalid(refusal.Field{Name: "query", Message: "At most 200 characters."})
	}
	return clinic.SearchTerms(query), nil
}

// search finds patients for the page, the API and agents, and audits that somebody looked.
func (s *Server) search(ctx context.Context, t *db.Tx, by clinic.Actor, terms []string) (found []clinic.Patient, more bool, err error) {
	if found, more, err = t.SearchPatients(ctx, terms, maxFound); err != nil {
		return nil, false, err
	}
	return found, more, t.Audit(ctx, s.readEvent(t, by, audit.SearchPatients, "", "", 0, ""))
}

// readEvent is the row that says who looked at what.
func (s *Server) readEvent(t *db.Tx, by clinic.Actor, action, kind, id string, version int64, patient string) audit.Event {
	return audit.Event{ID: s.Desk.IDs("aud"), At: t.Now(), Actor: by, Action: action, Outcome: audit.Success, ObjectKind: kind, Object: id,
		Version: version, Patient: patient}
}

// apiPatient is GET /patients/{id}.
func (s *Server) apiPatient(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	by, ctx := actor(c), c.Request().Context()
	var p clinic.Patient
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		if p, err = t.Patient(ctx, id); err != nil {
			return err
		}
		return t.Audit(ctx, s.readEvent(t, by, audit.ReadPatient, "patient", p.ID, p.Version, p.ID))
	})
	if err != nil {
		return err
	}
	return s.json(c, http.StatusOK, struct {
		patientJSON
		Phone    *string `json:"phone"`
		Email    *string `json:"email"`
		Contact  string  `json:"contact_preference"`
		Deceased bool    `json:"deceased"`
	}{patientAnswer(p), orNull(p.Phone), orNull(p.Email), p.Contact, p.Deceased})
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
