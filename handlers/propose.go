package handlers

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
	"countersign/views"
)

// newProposal is GET /proposals/new: the form of one change, filled in from the ids of its link, or as it was typed
// before the session ended.
func (s *Server) newProposal(c echo.Context) error {
	if err := proposal.MayPropose(actor(c), actionOf(c.QueryParam("action"))); err != nil {
		return err
	}
	values := c.QueryParams()
	switch actionOf(values.Get("action")) {
	case views.ActionPolicy:
		return redirect(c, views.PolicyURL)
	case views.ActionResolve:
		return redirect(c, views.OperationsURL)
	}
	typed, err := s.heldFields(c, "/proposals")
	if err != nil {
		return err
	}
	if typed != nil && actionOf(typed.Get("action")) == actionOf(values.Get("action")) && typed.Get("appointment") == values.Get("appointment") {
		values = typed
	}
	p, err := s.readPropose(c, values, nil)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if p.Refusal.Is() {
		status = p.Refusal.Status
	}
	return s.render(c, status, views.Propose(p))
}

// propose is POST /proposals. Nothing but the proposal exists afterwards: 303 to its card, or for HTMX the card.
func (s *Server) propose(c echo.Context) error {
	fields := form(c)
	p := proposal.Proposing{Action: actionOf(fields.Get("action")), Reason: orNilText(fields.Get("reason")),
		Parameters: parametersIn(fields, "action", "reason", "idempotency_key")}
	var err error
	if p.Key, err = keyOf(c, orNilText(fields.Get("idempotency_key"))); err != nil {
		return err
	}
	if p.Action == views.ActionBulk {
		if p.Parameters, err = s.bulkParameters(c); err != nil {
			return err
		}
	}
	out, err := s.Desk.Propose(c.Request().Context(), actor(c), p)
	if err != nil {
		return s.refusedOnForm(c, err)
	}
	return s.decided(c, out.Record.ID, http.StatusOK, out.Replayed)
}

// refusedOnForm shows the form again with what was typed and what is wrong with it. What no form can mend goes to fail.
func (s *Server) refusedOnForm(c echo.Context, err error) error {
	r := refusal.Of(err)
	if r == nil || !mendable(r) {
		return err
	}
	if aboutPatient(actionOf(form(c).Get("action"))) {
		return s.refusedOnPatientForm(c, err, r)
	}
	if id := form(c).Get("operation"); actionOf(form(c).Get("action")) == views.ActionResolve && clinic.ValidID(id) {
		return s.refusedOnOperation(c, id, err, r)
	}
	if like := form(c).Get("like"); actionOf(form(c).Get("action")) == views.ActionBulk && clinic.ValidID(like) {
		p, failed := s.bulkFormPage(c, like, form(c), r, false)
		if failed != nil {
			return failed
		}
		p.Like = like
		c.Set(codeKey, r.Code)
		return s.render(c, p.Refusal.Status, views.BulkForm(p))
	}
	p, failed := s.readPropose(c, form(c), r)
	if failed != nil {
		if x := refusal.Of(failed); x != nil && x.Code == refusal.NotFound {
			return err // the visit is unknown, so there is no form to show
		}
		return failed
	}
	c.Set(codeKey, r.Code)
	return s.render(c, p.Refusal.Status, views.Propose(p))
}

// mendable: another try from the same form can go through.
func mendable(r *refusal.Error) bool {
	switch r.Code {
	case refusal.ValidationFailed, refusal.TimeDoesNotExist, refusal.TimeIsAmbiguous, refusal.InThePast, refusal.OutsideSchedule,
		refusal.SlotTaken, refusal.PossibleDuplicate, refusal.IdempotencyKeyMissing, refusal.IdempotencyKeyReused:
		return true
	}
	return false
}

// readPropose reads the form of a new proposal with the given values. Errors: not_found for an unknown visit;
// unknown_action.
func (s *Server) readPropose(c echo.Context, v url.Values, refused *refusal.Error) (views.ProposePage, error) {
	p := proposeValues(actionOf(v.Get("action")), v)
	p.Notify = v.Get("notify") == "true" || !v.Has(notifyShown) && v.Get("notify") != "false"
	p.IdempotencyKey = s.Desk.IDs("key")
	switch p.Action {
	case views.ActionMove, views.ActionBook, views.ActionCancel:
	default:
		return p, refusal.New(refusal.UnknownAction)
	}
	typed := p
	err := s.DB.InClinic(c.Request().Context(), actor(c).Clinic, func(t *db.Tx) error {
		p = typed // it may be repeated
		return s.fillPropose(c, t, &p, v.Get("appointment"), v.Get("patient"), refused)
	})
	return p, err
}

// proposeValues are a form's values as typed.
func proposeValues(action string, v url.Values) views.ProposePage {
	return views.ProposePage{Action: action, StartsAt: v.Get("starts_at"), Practitioner: v.Get("practitioner"), Location: v.Get("location"),
		Type: v.Get("type"), From: v.Get("from"), Message: v.Get("message"), ReasonCode: v.Get("reason_code"), Reason: v.Get("reason")}
}

// proposeForm is the page of the form that was sent: ids and an instant only, whatever was typed.
func proposeForm(c echo.Context) string {
	v, q := form(c), url.Values{"action": {actionOf(form(c).Get("action"))}}
	for _, name := range []string{"appointment", "patient", "practitioner", "location", "type"} {
		if id := v.Get(name); clinic.ValidID(id) {
			q.Set(name, id)
		}
	}
	if aboutPatient(q.Get("action")) {
		return patientFormPath(q.Get("action"), q.Get("patient"))
	}
	if id := v.Get("operation"); q.Get("action") == views.ActionResolve && clinic.ValidID(id) {
		return views.OperationURL(id)
	}
	if like := v.Get("like"); q.Get("action") == views.ActionBulk && clinic.ValidID(like) {
		return views.BulkURL(like)
	}
	if !slices.Contains([]string{views.ActionMove, views.ActionBook, views.ActionCancel}, q.Get("action")) {
		return "/"
	}
	return "/proposals/new?" + q.Encode()
}
