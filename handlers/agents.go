package handlers

import (
	"cmp"
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
	"countersign/views"
)

// showAgents is GET /agents: the clinic's agents and what lets one propose beyond its limit. For administrators.
func (s *Server) showAgents(c echo.Context) error {
	p := views.AgentsPage{Minutes: "15", Most: "50"}
	typed, err := s.heldFields(c, views.GrantBypassURL)
	if err != nil {
		return err
	}
	if typed != nil {
		p = views.AgentsPage{Agent: typed.Get("agent"), Reason: typed.Get("reason"), Minutes: typed.Get("minutes"), Most: typed.Get("most")}
	}
	return s.answerAgents(c, http.StatusOK, p)
}

// agentsForm is the page whose forms grant and end.
func agentsForm(echo.Context) string { return views.AgentsURL }

// grantBypass is POST /agents/bypasses: fields agent, reason, minutes, most.
func (s *Server) grantBypass(c echo.Context) error {
	v := form(c)
	b, err := s.Desk.GrantBypass(c.Request().Context(), actor(c), proposal.Granting{Agent: v.Get("agent"), Reason: v.Get("reason"),
		Minutes: number(v.Get("minutes")), Most: number(v.Get("most"))})
	if r := refusal.Of(err); r != nil && r.Code == refusal.ValidationFailed {
		c.Set(codeKey, r.Code)
		p := views.AgentsPage{Refusal: pageRefusal(r), Agent: v.Get("agent"), Reason: v.Get("reason"), Minutes: v.Get("minutes"), Most: v.Get("most")}
		return s.answerAgents(c, p.Refusal.Status, p)
	}
	if err != nil {
		return doneOrNot(err)
	}
	return s.toldAgents(c, b.AgentName+" may propose more for now.")
}

// number is the number that a field holds, 0 when it holds none.
func number(text string) int {
	if !digits.MatchString(text) {
		return 0
	}
	return whole(text)
}

// endBypass is POST /agents/bypasses/{id}/end.
func (s *Server) endBypass(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	if err := s.Desk.EndBypass(c.Request().Context(), actor(c), id); err != nil {
		return doneOrNot(err)
	}
	return s.toldAgents(c, "That has ended: the agent's ordinary limit counts again.")
}

func (s *Server) toldAgents(c echo.Context, done string) error {
	if !isHTMX(c) {
		return redirect(c, views.AgentsURL)
	}
	return s.answerAgents(c, http.StatusOK, views.AgentsPage{Minutes: "15", Most: "50", Shell: views.Shell{Flash: views.Flash{Kind: views.FlashDone, Text: done}}})
}

// answerAgents draws the page around what was typed.
func (s *Server) answerAgents(c echo.Context, status int, typed views.AgentsPage) error {
	by, ctx := actor(c), c.Request().Context()
	if err := proposal.MayBypass(by); err != nil {
		return err
	}
	var p views.AgentsPage
	err := s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) (err error) {
		p = typed // it may be repeated
		if p.Shell, err = s.shell(c, t, views.NavAgents, ""); err != nil {
			return err
		}
		p.Flash = typed.Flash
		limits := s.Desk.Limits
		p.Limit, p.Window = limits.Agent, cmp.Or(limits.Window, proposal.DefaultLimits.Window)
		p.MostMinutes, p.MostMost = proposal.MostBypassMinutes, proposal.MostBypassProposals
		bypasses, err := t.Bypasses(ctx)
		if err != nil {
			return err
		}
		running := map[string]*views.BypassItem{}
		for _, b := range bypasses {
			item := views.BypassItem{ID: b.ID, Agent: b.AgentName, By: b.ByName, Reason: b.Reason, EndedBy: orZero(b.EndedBy), Most: b.Most, Used: b.Used,
				GrantedAt: b.GrantedAt, EndsAt: b.EndsAt, EndedAt: orZero(b.EndedAt), Running: b.Running(t.Now())}
			p.Bypasses = append(p.Bypasses, item)
			if item.Running {
				running[b.Agent] = &item
			}
		}
		agents, err := t.Agents(ctx, t.Now().Add(-p.Window), s.Rules.Demo)
		if err != nil {
			return err
		}
		for _, a := range agents {
			p.Agents = append(p.Agents, views.AgentItem{ID: a.ID, Name: a.Name, Owner: a.Owner, Made: a.Made, Waiting: a.Waiting, Bypass: running[a.ID]})
		}
		return t.Audit(ctx, s.readEvent(t, by, audit.ListAgents, "", "", 0, ""))
	})
	if err != nil {
		return err
	}
	return s.render(c, status, views.Agents(p))
}
