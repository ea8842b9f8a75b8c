package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
	"countersign/views"
)

const rebookingPath = "/rebooking"

func rebookingList(echo.Context) string { return rebookingPath }

// showRebooking is GET /rebooking?cursor=: cancelled visits without a new date, the last cancelled first.
func (s *Server) showRebooking(c echo.Context) error {
	return s.answerRebooking(c, http.StatusOK, views.Flash{})
}

func (s *Server) answerRebooking(c echo.Context, status int, flash views.Flash) error {
	by, ctx := actor(c), c.Request().Context()
	var p views.RebookingPage
	err := s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) (err error) {
		p = views.RebookingPage{MayAct: by.WorksTheDesk()}
		if p.Shell, err = s.shell(c, t, views.NavRebooking, ""); err != nil {
			return err
		}
		p.Flash = flash
		if p.ToCancel, err = t.ToCancel(ctx); err != nil {
			return err
		}
		rows, older, err := t.Rebooking(ctx, c.QueryParam("cursor"), 50)
		if err != nil {
			return err
		}
		for _, r := range rows {
			p.Rows = append(p.Rows, views.RebookingLine{Visit: r.Visit, At: r.At, By: r.By, Late: clinic.Late(r.At, r.StartsAt)})
		}
		p.Older = older
		return t.Audit(ctx, s.readEvent(t, by, audit.ListRebooking, "", "", 0, ""))
	})
	if err != nil {
		return err
	}
	return s.render(c, status, views.Rebooking(p))
}

// closeRebooking is POST /rebooking/{id}/close, field reason: this visit needs no new date.
func (s *Server) closeRebooking(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	by, ctx := actor(c), c.Request().Context()
	reason, err := clinic.CleanLines(form(c).Get("reason"), 500)
	if err != nil || reason == "" {
		r := refusal.Invalid(refusal.Field{Name: "reason", Message: "Say why no new date is needed, in at most 500 characters."})
		c.Set(codeKey, r.Code)
		return s.answerRebooking(c, answers[r.Code].status, views.Flash{Kind: views.FlashAlert, Text: r.Fields[0].Message + " Nothing was done."})
	}
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		v, err := t.Visit(ctx, id)
		if err != nil {
			return err
		}
		if !by.WorksTheDesk() {
			return refusal.New(refusal.PermissionDenied, "Your role does not keep this list. Nothing was done.")
		}
		if err := t.CloseRebooking(ctx, id, reason, by); err != nil {
			return err
		}
		return t.Audit(ctx, s.readEvent(t, by, audit.CloseRebooking, "appointment", id, v.Version, v.Patient.ID))
	})
	if err != nil {
		return s.denied(c, audit.CloseRebooking, "appointment", id, doneOrNot(err))
	}
	if !isHTMX(c) {
		return redirect(c, rebookingPath)
	}
	return s.answerRebooking(c, http.StatusOK, views.Flash{Kind: views.FlashDone, Text: "Closed. It is on the trail with your name."})
}
