package handlers

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/assistant"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
	"countersign/views"
)

const (
	// talkPoll ends the path that an open conversation, or the card of a bulk that runs, asks by itself.
	talkPoll = "/changed"
	// newThread stands for a conversation that begins with what is said.
	newThread = "new"
	// threadsListed and linesShown are how much of the past a page shows.
	threadsListed = 20
	linesShown    = 60
)

func threadPath(id string) string { return "/assistant/" + url.PathEscape(id) }

// assistantForm is the page that shows the form.
func assistantForm(c echo.Context) string {
	if id := c.Param("thread"); clinic.ValidID(id) && id != newThread {
		return threadPath(id)
	}
	return "/assistant"
}

// showAssistant is GET /assistant and GET /assistant/{thread}.
func (s *Server) showAssistant(c echo.Context) error {
	id := c.Param("thread")
	to := id
	if to == "" {
		to = newThread
	}
	typed, err := s.heldFields(c, threadPath(to)+"/messages")
	if err != nil {
		return err
	}
	by, ctx := actor(c), c.Request().Context()
	var p views.AssistantPage
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		if p, err = s.assistantPage(c, t, id, ""); err != nil || p.Card == nil {
			return err
		}
		return s.cardShown(ctx, t, by, *p.Card)
	})
	if err != nil {
		return err
	}
	p.Text = typed.Get("text")
	return s.render(c, http.StatusOK, views.Assistant(p))
}

// assistantChanged is what an open conversation asks by itself: nothing while it stands as it was seen.
func (s *Server) assistantChanged(c echo.Context) error {
	var p views.AssistantPage
	err := s.DB.InClinic(c.Request().Context(), actor(c).Clinic, func(t *db.Tx) (err error) {
		p, err = s.assistantPage(c, t, c.Param("thread"), c.QueryParam("seen"))
		if err != nil || p.Card == nil || p.Thread.Seen == c.QueryParam("seen") {
			return err
		}
		return s.cardShown(c.Request().Context(), t, actor(c), *p.Card)
	})
	if err != nil {
		return err
	}
	if p.Thread.Seen == c.QueryParam("seen") {
		return c.NoContent(http.StatusNoContent)
	}
	p.Part = true
	return s.render(c, http.StatusOK, views.Assistant(p))
}

// sayToAssistant is POST /assistant/{thread}/messages: text, or a choice.
func (s *Server) sayToAssistant(c echo.Context) error {
	by, ctx := actor(c), c.Request().Context()
	id, fields := c.Param("thread"), form(c)
	in := assistant.Saying{Text: fields.Get("text"), Choice: fields.Get("choice")}
	var err error
	if id == newThread {
		id = ""
		if err = assistant.Sayable(in); err == nil {
			var t assistant.Thread
			if t, err = s.Talk.Start(ctx, by); err != nil {
				return err
			}
			id = t.ID
		}
	}
	if err == nil {
		_, err = s.Talk.Say(ctx, by, id, in)
	}
	status := http.StatusOK
	r := refusal.Of(err)
	switch {
	case err == nil && (!isHTMX(c) || c.Param("thread") == newThread):
		return redirect(c, threadPath(id))
	case err == nil:
	case r == nil || r.Cause != nil:
		return err
	case r.Code == refusal.ValidationFailed, r.Code == refusal.AwaitingConfirmation, r.Code == refusal.RunInProgress:
		status = answers[r.Code].status
		if answers[r.Code].later {
			c.Response().Header().Set("Retry-After", strconv.Itoa(retryAfter(r)))
		}
		c.Set(codeKey, r.Code)
	default:
		return err
	}
	var p views.AssistantPage
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) (err error) {
		if p, err = s.assistantPage(c, t, id, ""); err != nil {
			return err
		}
		if status == http.StatusConflict {
			p.Card = nil // no 409 holds a live confirm form
		}
		if p.Card == nil {
			return nil
		}
		return s.cardShown(ctx, t, by, *p.Card)
	})
	if err != nil {
		return err
	}
	if r != nil {
		p.Text, p.Refusal = in.Text, pageRefusal(r)
	}
	return s.render(c, status, views.Assistant(p))
}
