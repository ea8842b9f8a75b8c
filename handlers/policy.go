package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
	"countersign/views"
)

// showPolicy is GET /policy: what the clinic asks of each action. Administrators change it there; reviewers read.
func (s *Server) showPolicy(c echo.Context) error {
	typed, err := s.heldFields(c, views.PolicyURL)
	if err != nil {
		return err
	}
	return s.answerPolicy(c, http.StatusOK, views.PolicyPage{}, typed)
}

// policyForm is the page whose forms save.
func policyForm(echo.Context) string { return views.PolicyURL }

// setPolicy is POST /policy: what only tightens counts at once; what loosens becomes a proposal, 303 to its card.
func (s *Server) setPolicy(c echo.Context) error {
	v := form(c)
	w := proposal.PolicyWish{Parameters: parametersIn(v, "version", "idempotency_key", "reason"), Version: int64(number(v.Get("version"))),
		Reason: orNilText(v.Get("reason")), Key: v.Get("idempotency_key")}
	saved, out, err := s.Desk.SetPolicy(c.Request().Context(), actor(c), w)
	if r := refusal.Of(err); r != nil && (r.Code == refusal.ValidationFailed || r.Code == refusal.ResourceChanged) {
		c.Set(codeKey, r.Code)
		p := views.PolicyPage{Refusal: pageRefusal(r)}
		return s.answerPolicy(c, p.Refusal.Status, p, v)
	}
	switch {
	case err != nil:
		return doneOrNot(err)
	case !saved:
		return s.decided(c, out.Record.ID, http.StatusOK, out.Replayed)
	case !isHTMX(c):
		return redirect(c, views.PolicyURL)
	}
	return s.answerPolicy(c, http.StatusOK, views.PolicyPage{Shell: views.Shell{Flash: views.Flash{Kind: views.FlashDone, Text: "Saved: it asks for more from now on, of what waits already too."}}}, nil)
}

// answerPolicy draws the page, with what was typed into the form of one action.
func (s *Server) answerPolicy(c echo.Context, status int, answer views.PolicyPage, typed url.Values) error {
	by, ctx := actor(c), c.Request().Context()
	if err := proposal.MayReadPolicy(by); err != nil {
		return err
	}
	var p views.PolicyPage
	err := s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) (err error) {
		p = answer // it may be repeated
		if p.Shell, err = s.shell(c, t, views.NavPolicy, ""); err != nil {
			return err
		}
		p.Flash, p.MaySet = answer.Flash, proposal.MayPropose(by, views.ActionPolicy) == nil
		rows, err := t.Policies(ctx)
		if err != nil {
			return err
		}
		now := map[string]proposal.Policy{}
		for _, r := range slices.Backward(rows) { // the oldest first: each begins where the one before ended
			p.History = append(p.History, views.PolicyChange{Action: r.Action, Was: now[r.Action], Is: r.Policy, By: r.By.Name, At: r.At, Proposal: r.Proposal})
			now[r.Action] = r.Policy
		}
		slices.Reverse(p.History)
		for _, action := range proposal.Actions() {
			o := now[action]
			rule := views.PolicyRule{Action: action, Version: o.Version, Now: o, Key: s.Desk.IDs("key")}
			rule.Risk, rule.People = orZero(o.LeastRisk), peopleText(o)
			if typed.Get("action") == action {
				rule.Risk, rule.People, rule.Reason = typed.Get("least_risk"), typed.Get("people"), typed.Get("reason")
			}
			p.Rules = append(p.Rules, rule)
		}
		return t.Audit(ctx, s.readEvent(t, by, audit.ReadPolicy, "", "", 0, ""))
	})
	if err != nil {
		return err
	}
	return s.render(c, status, views.Policy(p))
}

func peopleText(o proposal.Policy) string {
	if o.People == nil || *o.People < 2 {
		return ""
	}
	return strconv.Itoa(*o.People)
}
