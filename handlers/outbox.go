package handlers

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/outbox"
	"countersign/internal/refusal"
	"countersign/views"
)

// showOutbox is GET /outbox?state=&cursor=: the messages that patients get or got, newest first.
func (s *Server) showOutbox(c echo.Context) error {
	return s.answerOutbox(c, http.StatusOK, views.Flash{})
}

// outboxForm is the page whose buttons send again.
func outboxForm(echo.Context) string { return "/outbox" }

func (s *Server) answerOutbox(c echo.Context, status int, flash views.Flash) error {
	f := db.MessageFilter{State: c.QueryParam("state"), Cursor: c.QueryParam("cursor"), Limit: 50}
	if f.State != "" && !views.OutboxFilter(f.State) {
		return refusal.Invalid(refusal.Field{Name: "state", Message: "There is no such state."})
	}
	by, ctx := actor(c), c.Request().Context()
	var p views.OutboxPage
	err := s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) (err error) {
		p = views.OutboxPage{State: f.State, Demo: s.Demo != nil, Failing: s.Demo != nil && s.Demo.Failing()}
		if p.Shell, err = s.shell(c, t, views.NavOutbox, ""); err != nil {
			return err
		}
		p.Flash = flash
		if p.NotTold, err = t.NotTold(ctx); err != nil {
			return err
		}
		rows, older, err := t.Messages(ctx, f)
		if err != nil {
			return err
		}
		for _, r := range rows {
			p.Messages = append(p.Messages, messageOf(r, by.WorksTheDesk()))
		}
		p.Older = older
		return t.Audit(ctx, s.readEvent(t, by, audit.ListMessages, "", "", 0, ""))
	})
	if err != nil {
		return err
	}
	return s.render(c, status, views.Outbox(p))
}

func messageOf(r db.OutboxRow, worksTheDesk bool) views.OutboxMessage {
	return views.OutboxMessage{ID: r.ID, Kind: r.Kind, Channel: r.Channel, Recipient: r.Recipient, Subject: orZero(r.Subject), Text: r.Body, State: r.State,
		Attempts: r.Attempts, Unanswered: r.Unanswered, Code: orZero(r.LastCode), CreatedAt: r.CreatedAt, SendAt: orZero(r.SendAt), NextAt: r.NextAt, SentAt: orZero(r.SentAt), ReceiptAt: orZero(r.ReceiptAt),
		Proposal: r.Proposal, Revision: r.Revision, PlanHash: r.PlanHash, Appointment: r.Appointment,
		MayRetry: worksTheDesk && outbox.MayRetry(r.State, orZero(r.LastCode), r.Attempts)}
}

func orZero[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}

// retryMessage is POST /outbox/{id}/retry: have a message sent again that failed. It touches no visit.
func (s *Server) retryMessage(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	by, ctx := actor(c), c.Request().Context()
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		err := t.RetryMessage(ctx, id)
		if err != nil {
			return err
		}
		if !by.WorksTheDesk() { // known only now, so that an unknown message is not found for everybody
			return refusal.New(refusal.PermissionDenied, "Your role does not send messages. Nothing was done.")
		}
		return t.Audit(ctx, s.readEvent(t, by, audit.RetryMessage, "message", id, 0, ""))
	})
	if err != nil {
		return s.refuseRetry(c, id, doneOrNot(err))
	}
	if s.Queued != nil {
		s.Queued(by.Clinic)
	}
	if !isHTMX(c) {
		return redirect(c, "/outbox")
	}
	return s.answerOutbox(c, http.StatusOK, views.Flash{Kind: views.FlashDone, Text: "The message is sent again now."})
}

// refuseRetry writes the refusal down, now that nothing else was written, and shows the messages as they are.
func (s *Server) refuseRetry(c echo.Context, id string, err error) error {
	r := refusal.Of(err)
	if r == nil || r.Code == refusal.Busy || r.Code == refusal.Internal {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), 5*time.Second)
	defer cancel()
	by := actor(c)
	failed := s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		e := s.readEvent(t, by, audit.RetryMessage, "message", id, 0, "")
		if r.Code == refusal.NotFound {
			e.ObjectKind, e.Object = "", ""
		}
		e.Outcome, e.Code = audit.Denied, r.Code
		return t.Audit(ctx, e)
	})
	if failed != nil {
		return failed
	}
	if r.Code == refusal.NotFound {
		return err
	}
	return s.refuseOnOutbox(c, r)
}

func (s *Server) refuseOnOutbox(c echo.Context, r *refusal.Error) error {
	why := pageRefusal(r)
	c.Set(codeKey, r.Code)
	return s.answerOutbox(c, why.Status, views.Flash{Kind: views.FlashAlert, Text: why.Words})
}

// setDemoSender is POST /outbox/demo: field fail, on or off. It is there only where the demo's sender is, and it is the
// whole process's, not one clinic's.
func (s *Server) setDemoSender(c echo.Context) error {
	if s.Demo == nil {
		return refusal.New(refusal.NotFound)
	}
	switch form(c).Get("fail") {
	case "on":
		s.Demo.Fail(true)
	case "off":
		s.Demo.Fail(false)
	default:
		return s.refuseOnOutbox(c, refusal.New(refusal.ValidationFailed, "Say whether sending shall fail: on or off. Nothing was done."))
	}
	if !isHTMX(c) {
		return redirect(c, "/outbox")
	}
	return s.answerOutbox(c, http.StatusOK, views.Flash{})
}
