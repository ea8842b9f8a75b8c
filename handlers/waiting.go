package handlers

import (
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
	"countersign/views"
)

const waitingPath = "/waiting-list"

func waitingList(echo.Context) string { return waitingPath }

// waitingForm is the page of the form that was sent: ids only.
func waitingForm(c echo.Context) string {
	q := url.Values{}
	for _, name := range []string{"patient", "appointment"} {
		if id := form(c).Get(name); clinic.ValidID(id) {
			q.Set(name, id)
		}
	}
	return waitingPath + "/new?" + q.Encode()
}

// showWaiting is GET /waiting-list?freed=: who would come earlier, and what is free for them; with a proposal, only those
// whom time that it gave back would suit.
func (s *Server) showWaiting(c echo.Context) error {
	return s.answerWaiting(c, http.StatusOK, views.Flash{})
}

func (s *Server) answerWaiting(c echo.Context, status int, flash views.Flash) error {
	by, ctx := actor(c), c.Request().Context()
	var p views.WaitingPage
	err := s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) (err error) {
		p = views.WaitingPage{MayAct: by.WorksTheDesk(), FreedBy: c.QueryParam("freed")}
		if p.Shell, err = s.shell(c, t, views.NavWaiting, ""); err != nil {
			return err
		}
		p.Flash = flash
		var openings []clinic.Opening
		if p.FreedBy != "" {
			if !clinic.ValidID(p.FreedBy) {
				return refusal.New(refusal.NotFound)
			}
			r, err := t.Proposal(ctx, p.FreedBy)
			if err != nil {
				return err
			}
			openings = openingsOf(r)
		}
		list, err := suited(ctx, t, openings)
		if err != nil {
			return err
		}
		offers, err := t.Practitioners(ctx)
		if err != nil {
			return err
		}
		names := map[string]string{}
		for _, o := range offers {
			names[o.ID] = o.Name
		}
		locations, err := t.Locations(ctx)
		if err != nil {
			return err
		}
		for _, m := range list {
			if p.FreedBy == "" || !m.start.StartsAt.IsZero() {
				p.Rows = append(p.Rows, waitingLine(m, names, locations))
			}
		}
		return t.Audit(ctx, s.readEvent(t, by, audit.ListWaiting, "", "", 0, ""))
	})
	if err != nil {
		return err
	}
	return s.render(c, status, views.WaitingList(p))
}

func waitingLine(m match, names map[string]string, locations []clinic.Location) views.WaitingLine {
	w := m.WaitingPatient
	l := views.WaitingLine{ID: w.ID, Patient: views.Person{ID: w.Patient.ID, Name: w.Patient.Name(), BirthDate: w.Patient.BirthDate, MRN: w.Patient.MRN}, Type: w.Type.Name,
		Practitioner: w.Practitioner.Name, Location: w.Location.Name, Earliest: w.Earliest, Latest: w.Latest, Note: w.Note, By: w.By, At: w.At, Appointment: w.Appointment}
	if m.start.StartsAt.IsZero() {
		return l
	}
	l.Free = m.start.StartsAt
	for _, x := range locations {
		if x.ID == m.start.Location {
			l.FreeWith, l.Zone = names[m.start.Practitioner]+", "+x.Name, x.Zone
		}
	}
	b := views.Booking{Practitioner: m.start.Practitioner, Location: m.start.Location, Type: w.Type.ID, StartsAt: slotValue(m.start.StartsAt)}
	if w.BookedFor == nil {
		l.Propose = views.BookURL(w.Patient.ID, b)
	} else {
		l.Propose = views.MoveURL(w.Appointment, b)
	}
	return l
}

// newWaiting is GET /waiting-list/new?patient=&appointment=: the form.
func (s *Server) newWaiting(c echo.Context) error {
	typed, err := s.heldFields(c, waitingPath)
	if err != nil {
		return err
	}
	if typed == nil {
		typed = c.QueryParams()
	}
	return s.answerWaitingForm(c, typed, nil)
}

func (s *Server) answerWaitingForm(c echo.Context, v url.Values, refused *refusal.Error) error {
	by, ctx := actor(c), c.Request().Context()
	if !by.WorksTheDesk() {
		return refusal.New(refusal.PermissionDenied, "Your role does not keep the waiting list. Nothing was done.")
	}
	var p views.WaitingFormPage
	err := s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) (err error) {
		p = views.WaitingFormPage{Appointment: v.Get("appointment"), Type: v.Get("type"), Practitioner: v.Get("practitioner"), Location: v.Get("location"),
			Earliest: v.Get("earliest"), Latest: v.Get("latest"), Note: v.Get("note")}
		if p.Shell, err = s.shell(c, t, views.NavWaiting, ""); err != nil {
			return err
		}
		patient := v.Get("patient")
		if p.Appointment != "" {
			visit, err := t.Visit(ctx, p.Appointment)
			if err != nil {
				return err
			}
			patient = visit.Patient.ID
			p.Booked = &visit
			if p.Type == "" {
				p.Type = visit.Type.ID
			}
		}
		who, err := t.Patient(ctx, patient)
		if err != nil {
			return err
		}
		p.Patient = views.Person{ID: who.ID, Name: who.Name(), BirthDate: who.BirthDate, MRN: who.MRN}
		types, err := t.Types(ctx)
		if err != nil {
			return err
		}
		offers, err := t.Practitioners(ctx)
		if err != nil {
			return err
		}
		locations, err := t.Locations(ctx)
		if err != nil {
			return err
		}
		p.Types = choose(typeOptions(types), &p.Type)
		for _, o := range offers {
			if o.Active {
				p.Practitioners = append(p.Practitioners, views.Option{Value: o.ID, Label: o.Name})
			}
		}
		p.Locations = locationOptions(locations)
		if refused != nil {
			p.Refusal = pageRefusal(refused)
		}
		return t.Audit(ctx, s.readEvent(t, by, audit.ReadPatient, "patient", who.ID, who.Version, who.ID))
	})
	if err != nil {
		return err
	}
	status := http.StatusOK
	if p.Refusal.Is() {
		status = p.Refusal.Status
		c.Set(codeKey, p.Refusal.Code)
	}
	return s.render(c, status, views.WaitingForm(p))
}

// addWaiting is POST /waiting-list: the patient waits for an earlier time. No visit changes.
func (s *Server) addWaiting(c echo.Context) error {
	v, by, ctx := form(c), actor(c), c.Request().Context()
	w := db.WaitingPatient{ID: s.Desk.IDs("wai"), Appointment: v.Get("appointment"), Earliest: v.Get("earliest"), Latest: v.Get("latest")}
	w.Patient.ID, w.Type.ID, w.Practitioner.ID, w.Location.ID = v.Get("patient"), v.Get("type"), v.Get("practitioner"), v.Get("location")
	var wrong []refusal.Field
	bad := func(name, message string) { wrong = append(wrong, refusal.Field{Name: name, Message: message}) }
	if !clinic.ValidID(w.Type.ID) {
		bad("type", "Choose the type of visit.")
	}
	var err error
	if w.Note, err = clinic.CleanLines(v.Get("note"), 500); err != nil {
		bad("note", "At most 500 characters; nothing was cut.")
	}
	for _, name := range []string{"earliest", "latest"} {
		if _, err := clinic.ParseDate(v.Get(name)); v.Get(name) != "" && err != nil {
			bad(name, "Give a day that exists, or leave it empty.")
		}
	}
	if wrong == nil && w.Earliest != "" && w.Latest != "" && w.Latest < w.Earliest {
		bad("latest", "This is before the first day.")
	}
	if wrong != nil {
		return s.answerWaitingForm(c, v, refusal.Invalid(wrong...))
	}
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		if !by.WorksTheDesk() {
			return refusal.New(refusal.PermissionDenied, "Your role does not keep the waiting list. Nothing was done.")
		}
		if err := t.AddWaiting(ctx, w, by); err != nil {
			return err
		}
		return t.Audit(ctx, s.readEvent(t, by, audit.AddWaiting, "waiting", w.ID, 0, w.Patient.ID))
	})
	if err != nil {
		return s.denied(c, audit.AddWaiting, "", "", doneOrNot(err))
	}
	return redirect(c, waitingPath)
}

// endWaiting is POST /waiting-list/{id}/end: the patient waits no more.
func (s *Server) endWaiting(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	by, ctx := actor(c), c.Request().Context()
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		patient, err := t.EndWaiting(ctx, id, by)
		if err != nil {
			return err
		}
		if !by.WorksTheDesk() {
			return refusal.New(refusal.PermissionDenied, "Your role does not keep the waiting list. Nothing was done.")
		}
		return t.Audit(ctx, s.readEvent(t, by, audit.EndWaiting, "waiting", id, 0, patient))
	})
	if err != nil {
		return s.denied(c, audit.EndWaiting, "waiting", id, doneOrNot(err))
	}
	if !isHTMX(c) {
		return redirect(c, waitingPath)
	}
	return s.answerWaiting(c, http.StatusOK, views.Flash{Kind: views.FlashDone, Text: "Taken off the waiting list."})
}
