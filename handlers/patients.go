package handlers

import (
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
	"countersign/views"
)

// searchPatients is POST /patients/search: fields query and, when a patient is looked for to book a visit, the fields
// of that booking. A POST, so that no name stands in a URL.
func (s *Server) searchPatients(c echo.Context) error {
	fields := form(c)
	p := views.PatientsPage{Search: views.PatientSearch{Query: fields.Get("query")}}
	var err error
	if p.Search.Booking, err = bookingOf(fields); err != nil {
		return err
	}
	terms, err := searchTerms(p.Search.Query)
	switch r := refusal.Of(err); {
	case r != nil:
		p.Search.Error = r.Fields[0].Message
	case err == nil && len(terms) == 0:
		p.Search.Error = "Type a name, a birth date or an MRN."
	}
	err = s.DB.InClinic(c.Request().Context(), actor(c).Clinic, func(t *db.Tx) (err error) {
		if p.Shell, err = s.shell(c, t, "", ""); err != nil || p.Search.Error != "" {
			return err
		}
		found, more, err := s.search(c.Request().Context(), t, actor(c), terms)
		p.Found, p.More = nil, more
		for _, x := range found {
			p.Found = append(p.Found, personOf(x))
		}
		return err
	})
	if err != nil {
		return err
	}
	status := http.StatusOK
	if p.Search.Error != "" {
		status = http.StatusUnprocessableEntity
	}
	return s.render(c, status, views.Patients(p))
}

// bookingOf reads what is known of a visit before its patient is chosen. It goes into links, so only ids and a time do.
func bookingOf(fields url.Values) (views.Booking, error) {
	if fields.Get("action") != views.ActionBook {
		return views.Booking{Trail: fields.Get("action") == "audit"}, nil
	}
	b := views.Booking{Wanted: true, Practitioner: fields.Get("practitioner"), Location: fields.Get("location"), Type: fields.Get("type"),
		StartsAt: fields.Get("starts_at")}
	var wrong []refusal.Field
	for _, f := range []struct{ name, value string }{{"practitioner", b.Practitioner}, {"location", b.Location}, {"type", b.Type}} {
		if f.value != "" && !clinic.ValidID(f.value) {
			wrong = append(wrong, refusal.Field{Name: f.name, Message: "There is none by that id."})
		}
	}
	_, instant := time.Parse(time.RFC3339, b.StartsAt)
	_, wall := time.Parse("2006-01-02T15:04", b.StartsAt)
	if b.StartsAt != "" && instant != nil && wall != nil {
		wrong = append(wrong, refusal.Field{Name: "starts_at", Message: "Give a time such as 2027-03-28T10:00."})
	}
	if len(wrong) > 0 {
		return b, refusal.Invalid(wrong...)
	}
	return b, nil
}

func personOf(p clinic.Patient) views.Person {
	return views.Person{ID: p.ID, Name: p.Name(), BirthDate: p.BirthDate, MRN: p.MRN}
}

// mostPast is how many past visits the patient page shows.
const mostPast = 50

// showPatient is GET /patients/{id}: the patient and each visit once.
func (s *Server) showPatient(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	var p views.PatientPage
	by, ctx := actor(c), c.Request().Context()
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		p = views.PatientPage{}
		if p.Shell, err = s.shell(c, t, "", ""); err != nil {
			return err
		}
		who, err := t.Patient(ctx, id)
		if err != nil {
			return err
		}
		upcoming, past, more, err := t.PatientVisits(ctx, id, mostPast)
		if err != nil {
			return err
		}
		var ids []string
		for _, v := range upcoming {
			ids = append(ids, v.ID)
		}
		waiting, err := t.WaitingFor(ctx, ids...) // only what is still to come can be changed
		if err != nil {
			return err
		}
		asks := asksByVisit(waiting)
		p.Patient, p.Phone, p.Email, p.Contact, p.Deceased = personOf(who), who.Phone, who.Email, who.Contact, who.Deceased
		p.Unreachable = proposal.Unreachable(who)
		p.Writable = len(channelOptions(who)) > 0
		p.Upcoming, p.Past, p.MorePast = visitRows(upcoming, asks), visitRows(past, asks), more
		return t.Audit(ctx, s.readEvent(t, by, audit.ReadPatient, "patient", who.ID, who.Version, who.ID))
	})
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, views.Patient(p))
}

func visitRows(visits []clinic.Visit, asks map[string][]views.DayAsk) []views.VisitRow {
	rows := make([]views.VisitRow, len(visits))
	for i, v := range visits {
		rows[i] = views.VisitRow{ID: v.ID, StartsAt: v.StartsAt, EndsAt: v.EndsAt, Zone: v.Location.Zone, Practitioner: v.Practitioner.Name,
			Location: v.Location.Name, Type: v.Type.Name, Status: v.Status, Waiting: asks[v.ID]}
	}
	return rows
}
