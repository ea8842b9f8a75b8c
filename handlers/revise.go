package handlers

import (
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
	"countersign/views"
)

// editProposal is GET /proposals/{id}/edit: the form that makes revision n+1 from n. What can be edited no more is shown
// as it is.
func (s *Server) editProposal(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	values := c.QueryParams()
	typed, err := s.heldFields(c, cardPath(id)+"/revisions")
	if err != nil {
		return err
	}
	if typed != nil {
		values = typed
	}
	p, r, err := s.readEdit(c, id, values, nil)
	if err != nil {
		return err
	}
	if r.Plan.IsBulk() && r.State == proposal.StateProposed && proposal.MayRevise(actor(c), r) == nil {
		p, err := s.bulkFormPage(c, id, values, nil, true)
		if err != nil {
			return err
		}
		return s.render(c, http.StatusOK, views.BulkForm(p))
	}
	if aboutPatient(r.Action) && !r.Tampered() && r.State == proposal.StateProposed && proposal.MayRevise(actor(c), r) == nil {
		return s.editPatientForm(c, r, values, nil)
	}
	if denied := proposal.MayRevise(actor(c), r); denied != nil {
		return s.refusedOnCard(c, id, denied, pressed{})
	}
	if r.State != proposal.StateProposed || r.Tampered() || r.Action == views.ActionPolicy {
		return redirect(c, cardPath(id))
	}
	status := http.StatusOK
	if p.Refusal.Is() {
		status = p.Refusal.Status
	}
	return s.render(c, status, views.Propose(p))
}

// reviseProposal is POST /proposals/{id}/revisions: what changed, laid over the revision the form was made from. With
// nothing changed it is a fresh preview.
func (s *Server) reviseProposal(c echo.Context) error {
	id, fields := c.Param("id"), form(c)
	b := formBody(c)
	r := proposal.Revising{Proposal: id, Revision: b.number("revision"), PlanHash: b.text("plan_hash", true),
		Parameters: parametersIn(fields, "revision", "plan_hash")}
	bulk := false
	for name := range fields {
		bulk = bulk || strings.HasPrefix(name, "choice-")
	}
	if bulk {
		var err error
		if r.Parameters, err = s.bulkParameters(c); err != nil {
			return err
		}
	}
	try := pressed{revision: r.Revision}
	if len(b.wrong) > 0 {
		return s.refusedOnCard(c, id, refusal.Invalid(b.wrong...), try)
	}
	out, err := s.Desk.Revise(c.Request().Context(), actor(c), r)
	if err == nil {
		return s.decided(c, out.Record.ID, http.StatusOK, false)
	}
	x := refusal.Of(err)
	if x == nil || !mendable(x) {
		return s.refusedOnCard(c, id, err, try)
	}
	if p, failed := s.bulkFormPage(c, id, fields, x, true); failed == nil {
		c.Set(codeKey, x.Code)
		return s.render(c, p.Refusal.Status, views.BulkForm(p))
	} else if y := refusal.Of(failed); y == nil || y.Code != refusal.NotFound {
		return failed
	}
	p, now, failed := s.readEdit(c, id, fields, x)
	if failed != nil {
		return failed
	}
	if now.Action == views.ActionPolicy {
		return s.refusedOnCard(c, id, err, try)
	}
	if aboutPatient(now.Action) {
		return s.editPatientForm(c, now, fields, x)
	}
	c.Set(codeKey, x.Code)
	return s.render(c, p.Refusal.Status, views.Propose(p))
}

// readEdit reads the form of an edit: the current parameters, with the given values laid over them. Values that were
// typed keep the revision they were typed for. Errors: not_found.
func (s *Server) readEdit(c echo.Context, id string, v url.Values, refused *refusal.Error) (views.ProposePage, proposal.Record, error) {
	var p views.ProposePage
	var r proposal.Record
	err := s.DB.InClinic(c.Request().Context(), actor(c).Clinic, func(t *db.Tx) (err error) {
		if r, err = t.Proposal(c.Request().Context(), id); err != nil {
			return err
		}
		if r.Tampered() || r.Action == views.ActionPolicy {
			return nil // there is nothing to edit; another policy is another proposal
		}
		if aboutPatient(r.Action) || r.Plan.IsBulk() {
			return nil // another form: editPatientForm, bulkFormPage
		}
		p = editValues(r, v)
		return s.fillPropose(c, t, &p, param(r.Plan.Parameters, "appointment"), param(r.Plan.Parameters, "patient"), refused)
	})
	return p, r, err
}

func editValues(r proposal.Record, v url.Values) views.ProposePage {
	params := maps.Clone(r.Plan.Parameters)
	maps.Copy(params, parametersIn(v))
	p := views.ProposePage{Action: r.Action, Proposal: r.ID, Revision: r.Revision, PlanHash: r.PlanHash,
		StartsAt: param(params, "starts_at"), Practitioner: param(params, "practitioner"), Location: param(params, "location"), Type: param(params, "type"),
		From: v.Get("from"), Message: param(params, "message"), ReasonCode: param(params, "reason_code"), Notify: params["notify"] != false}
	if n := v.Get("revision"); digits.MatchString(n) && hashShape.MatchString(v.Get("plan_hash")) {
		p.Revision, p.PlanHash = whole(n), v.Get("plan_hash")
	}
	return p
}

// param is a parameter that is text, or "".
func param(params map[string]any, name string) string {
	s, _ := params[name].(string)
	return s
}

// reviseForm is the page of the form that was sent: the edit form, or the card for a fresh preview.
func reviseForm(c echo.Context) string {
	if fields := form(c); len(parametersIn(fields, "revision", "plan_hash")) == 0 {
		return cardOf(c)
	}
	return cardOf(c) + "/edit"
}

// cardOf is the card of the path's proposal, the page of its own forms.
func cardOf(c echo.Context) string { return cardPath(url.PathEscape(c.Param("id"))) }
