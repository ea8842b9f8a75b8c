package handlers

import (
	"maps"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
	"countersign/views"
)

// aboutPatient: the actions that have no visit, and a form of their own.
func aboutPatient(action string) bool {
	return action == views.ActionRegister || action == views.ActionContact || action == views.ActionMessage
}

// patientFormPath is the page of such an action's form: ids only. Without a patient it is the day sheet.
func patientFormPath(action, patient string) string {
	switch {
	case action == views.ActionRegister:
		return views.RegisterURL
	case clinic.ValidID(patient):
		return views.PatientFormURL(action, patient)
	}
	return "/"
}

// newPatient is GET /patients/new: the form of a registration.
func (s *Server) newPatient(c echo.Context) error {
	return s.newPatientForm(c, views.ActionRegister, "")
}

// newContact is GET /patients/{id}/contact.
func (s *Server) newContact(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	return s.newPatientForm(c, views.ActionContact, id)
}

// newMessage is GET /patients/{id}/message.
func (s *Server) newMessage(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	return s.newPatientForm(c, views.ActionMessage, id)
}

// newPatientForm shows an empty form, or what was typed into it before the session ended.
func (s *Server) newPatientForm(c echo.Context, action, patient string) error {
	if err := proposal.MayPropose(actor(c), action); err != nil {
		return err
	}
	typed, err := s.heldFields(c, "/proposals")
	if err != nil {
		return err
	}
	p := views.PatientFormPage{Action: action}
	if typed != nil && actionOf(typed.Get("action")) == action && typed.Get("patient") == patient {
		p = patientValues(action, parametersIn(typed), typed.Get("reason"))
	}
	return s.showPatientForm(c, p, patient, nil)
}

// refusedOnPatientForm shows the form again with what was typed. An unknown patient has no form: that is err.
func (s *Server) refusedOnPatientForm(c echo.Context, err error, r *refusal.Error) error {
	v := form(c)
	action, patient := actionOf(v.Get("action")), v.Get("patient")
	if action != views.ActionRegister && !clinic.ValidID(patient) {
		return err
	}
	failed := s.showPatientForm(c, patientValues(action, parametersIn(v), v.Get("reason")), patient, r)
	if x := refusal.Of(failed); x != nil && x.Code == refusal.NotFound {
		return err
	}
	return failed
}

// editPatientForm shows the form of revision n+1: the current parameters, with what was typed laid over them.
func (s *Server) editPatientForm(c echo.Context, r proposal.Record, v url.Values, refused *refusal.Error) error {
	params := maps.Clone(r.Plan.Parameters)
	maps.Copy(params, parametersIn(v, "revision", "plan_hash"))
	p := patientValues(r.Action, params, "")
	p.Proposal, p.Revision, p.PlanHash = r.ID, r.Revision, r.PlanHash
	if n := v.Get("revision"); digits.MatchString(n) && hashShape.MatchString(v.Get("plan_hash")) {
		p.Revision, p.PlanHash = whole(n), v.Get("plan_hash")
	}
	return s.showPatientForm(c, p, param(r.Plan.Parameters, "patient"), refused)
}

// patientValues are the form's values as given.
func patientValues(action string, params map[string]any, reason string) views.PatientFormPage {
	return views.PatientFormPage{Action: action, Family: param(params, "family"), Given: param(params, "given"), BirthDate: param(params, "birth_date"),
		MRN: param(params, "mrn"), Phone: param(params, "phone"), Email: param(params, "email"), Contact: param(params, "contact_preference"),
		Channel: param(params, "channel"), Message: param(params, "message"), NotDuplicate: params["confirm_not_duplicate"] == true, Reason: reason}
}

// showPatientForm reads whom the form is about, which stands on the trail, and draws it. Errors: not_found.
func (s *Server) showPatientForm(c echo.Context, typed views.PatientFormPage, patient string, refused *refusal.Error) error {
	typed.IdempotencyKey = s.Desk.IDs("key")
	status := http.StatusOK
	if refused != nil {
		typed.Refusal = pageRefusal(refused)
		status = typed.Refusal.Status
		c.Set(codeKey, refused.Code)
		found, _ := refused.Details["candidates"].([]proposal.Candidate)
		for _, x := range found {
			typed.Candidates = append(typed.Candidates, views.Person(x))
		}
	}
	by, ctx := actor(c), c.Request().Context()
	var p views.PatientFormPage
	err := s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) (err error) {
		p = typed // it may be repeated
		if p.Shell, err = s.shell(c, t, "", ""); err != nil || p.Action == views.ActionRegister {
			return err
		}
		who, err := t.Patient(ctx, patient)
		if err != nil {
			return err
		}
		p.Patient, p.PhoneNow, p.EmailNow, p.ContactNow = personOf(who), who.Phone, who.Email, who.Contact
		p.Channels = channelOptions(who)
		return t.Audit(ctx, s.readEvent(t, by, audit.ReadPatient, "patient", who.ID, who.Version, who.ID))
	})
	if err != nil {
		return err
	}
	return s.render(c, status, views.PatientForm(p))
}

// channelOptions are the ways in which a patient can be written to, with where it would go.
func channelOptions(p clinic.Patient) []views.Option {
	var out []views.Option
	if p.Deceased || p.Contact == clinic.ContactNone {
		return nil
	}
	if p.Email != "" {
		out = append(out, views.Option{Value: proposal.ChannelEmail, Label: "E-mail to " + p.Email})
	}
	if p.Phone != "" {
		out = append(out, views.Option{Value: proposal.ChannelSMS, Label: "SMS to " + p.Phone})
	}
	return out
}
