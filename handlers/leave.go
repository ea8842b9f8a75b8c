package handlers

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
	"countersign/views"
)

const leaveFormPath = "/leave/new"

// leaveList is the page whose buttons withdraw leave.
func leaveList(echo.Context) string { return "/leave" }

// leaveForm is the page of the form that was sent: ids, days and codes only.
func leaveForm(c echo.Context) string { return leaveFormPath + "?" + leaveQuery(form(c)).Encode() }

func leaveQuery(v url.Values) url.Values {
	q := url.Values{}
	for _, name := range []string{"practitioner", "from", "to", "opens", "closes", "reason_code"} {
		q.Set(name, v.Get(name))
	}
	return q
}

// showLeave is GET /leave?practitioner=: who is away today and later.
func (s *Server) showLeave(c echo.Context) error {
	return s.answerLeave(c, http.StatusOK, views.Flash{}, views.Freed{})
}

func (s *Server) answerLeave(c echo.Context, status int, flash views.Flash, freed views.Freed) error {
	by, ctx := actor(c), c.Request().Context()
	var p views.LeavePage
	err := s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) (err error) {
		p = views.LeavePage{MayEnter: by.WorksTheDesk(), Freed: freed}
		if p.Shell, err = s.shell(c, t, views.NavLeave, ""); err != nil {
			return err
		}
		p.Flash = flash
		offers, err := t.Practitioners(ctx)
		if err != nil {
			return err
		}
		only := c.QueryParam("practitioner")
		for _, o := range offers {
			p.Practitioners = append(p.Practitioners, views.Option{Value: o.ID, Label: o.Name, Selected: o.ID == only})
		}
		rows, err := t.LeaveList(ctx, only, clinic.DateOf(t.Now(), time.UTC).AddDays(-1))
		for _, r := range rows {
			p.Rows = append(p.Rows, leaveLine(r))
		}
		if err != nil {
			return err
		}
		return t.Audit(ctx, s.readEvent(t, by, audit.ListLeave, "", "", 0, ""))
	})
	if err != nil {
		return err
	}
	return s.render(c, status, views.Leave(p))
}

func leaveLine(r db.LeaveRow) views.LeaveLine {
	l := views.LeaveLine{ID: r.ID, Name: r.Name, Reason: r.ReasonCode, By: r.By, Days: views.FieldDate(r.From.String())}
	if r.To != r.From {
		l.Days += " to " + views.FieldDate(r.To.String())
	}
	if r.Opens > 0 || r.Closes >= 0 && r.Closes < 24*60 {
		l.Hours = clockOf(r.Opens) + "–" + clockOf(r.Closes)
	}
	return l
}

// clockOf is minutes after midnight as the clock shows them.
func clockOf(minutes int) string {
	return time.Time{}.Add(time.Duration(minutes) * time.Minute).Format("15:04")
}

// newLeave is GET /leave/new: who and when, and then the visits that it would hit. Nothing is saved.
func (s *Server) newLeave(c echo.Context) error {
	if !actor(c).WorksTheDesk() {
		return refusal.New(refusal.PermissionDenied, "Your role does not enter leave. Nothing was done.")
	}
	typed, err := s.heldFields(c, leaveFormPath)
	if err != nil {
		return err
	}
	if typed == nil {
		typed = c.QueryParams()
	}
	p, err := s.leaveFormPage(c, typed, nil)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if p.Refusal.Is() {
		status = p.Refusal.Status
	}
	return s.render(c, status, views.LeaveForm(p))
}

// leaveFormPage reads the form with the given values; refused is what became of sending it.
func (s *Server) leaveFormPage(c echo.Context, v url.Values, refused *refusal.Error) (views.LeaveFormPage, error) {
	by, ctx := actor(c), c.Request().Context()
	var p views.LeaveFormPage
	err := s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) (err error) {
		p = views.LeaveFormPage{Practitioner: v.Get("practitioner"), From: v.Get("from"), To: v.Get("to"), Opens: v.Get("opens"), Closes: v.Get("closes"),
			Reason: v.Get("reason_code"), Message: v.Get("message"), Why: v.Get("reason"), Notify: v.Get("notify") == "true" || !v.Has(notifyShown), IdempotencyKey: s.Desk.IDs("key")}
		if p.Shell, err = s.shell(c, t, views.NavLeave, ""); err != nil {
			return err
		}
		offers, err := t.Practitioners(ctx)
		if err != nil {
			return err
		}
		for _, o := range offers {
			if o.Active {
				p.Practitioners = append(p.Practitioners, views.Option{Value: o.ID, Label: o.Name})
			}
			if o.ID == p.Practitioner {
				p.Name = o.Name
			}
		}
		p.Practitioners = choose(p.Practitioners, &p.Practitioner)
		for _, code := range proposal.LeaveReasons {
			p.Reasons = append(p.Reasons, views.Option{Value: code, Label: views.LeaveReasonWord(code)})
		}
		p.Reasons = choose(p.Reasons, &p.Reason)
		if refused != nil {
			p.Refusal = pageRefusal(refused)
		}
		if v.Get("practitioner")+v.Get("from")+v.Get("to") == "" { // nothing was asked yet
			p.From, p.To = "", ""
			return nil
		}
		l, wrong := leaveOf(v)
		if p.Reason == "" {
			wrong = append(wrong, refusal.Field{Name: "reason_code", Message: "Choose why."})
		}
		if wrong != nil {
			if !p.Refusal.Is() {
				p.Refusal = pageRefusal(refusal.Invalid(wrong...))
			}
			return nil
		}
		p.From, p.To, p.Asked = l.From.String(), l.To.String(), true
		hits, err := t.HitBy(ctx, l)
		if err != nil {
			return err
		}
		if p.Choices, err = s.bulkChoices(ctx, t, hits, v, &l); err != nil {
			return err
		}
		nameWrong(p.Choices, refused, itemsOf(v, hits, "practitioner_unavailable"))
		for _, h := range hits { // they are shown, each with their patient
			if err := t.Audit(ctx, s.readEvent(t, by, audit.ReadAppointment, "appointment", h.ID, h.Version, h.Patient.ID)); err != nil {
				return err
			}
		}
		return nil
	})
	return p, err
}

// leaveOf reads who and when. The days may be typed in any way that the day sheet reads.
func leaveOf(v url.Values) (clinic.Leave, []refusal.Field) {
	var wrong []refusal.Field
	bad := func(name, message string) { wrong = append(wrong, refusal.Field{Name: name, Message: message}) }
	l := clinic.Leave{Practitioner: v.Get("practitioner"), Opens: -1, Closes: -1}
	if !clinic.ValidID(l.Practitioner) {
		bad("practitioner", "Choose who is away.")
	}
	day := func(name string) clinic.Date {
		d, err := clinic.ParseDate(v.Get(name))
		if err != nil {
			bad(name, "Give a day that exists.")
		}
		return d
	}
	l.From = day("from")
	if l.To = l.From; strings.TrimSpace(v.Get("to")) != "" {
		l.To = day("to")
	}
	if wrong == nil && l.To.Before(l.From) {
		bad("to", "Leave ends on its first day at the earliest.")
	}
	if wrong == nil && l.From.AddDays(366).Before(l.To) {
		bad("to", "A year at the most; enter the rest as another leave.")
	}
	opens, closes := v.Get("opens"), v.Get("closes")
	if opens+closes != "" {
		from, err := time.Parse("15:04", opens)
		if err != nil {
			bad("opens", "Give a time such as 09:00, or leave both empty.")
		}
		to, err := time.Parse("15:04", closes)
		if err != nil || !to.After(from) {
			bad("closes", "Give a later time such as 12:00, or leave both empty.")
		}
		l.Opens, l.Closes = from.Hour()*60+from.Minute(), to.Hour()*60+to.Minute()
	}
	return l, wrong
}

// saveLeave is POST /leave/new: the leave and one proposal for all visits it hits, or neither. 303 to the card, or to the
// leave when no visit shall change.
func (s *Server) saveLeave(c echo.Context) error {
	v, by, ctx := form(c), actor(c), c.Request().Context()
	l, wrong := leaveOf(v)
	if wrong != nil {
		return s.refusedLeave(c, refusal.Invalid(wrong...))
	}
	l.ID = s.Desk.IDs("lve")
	var seen []string
	for name := range v {
		if id, ok := strings.CutPrefix(name, "choice-"); ok {
			seen = append(seen, id)
		}
	}
	var hits []clinic.Visit
	if err := s.read(c, func(t *db.Tx) (err error) { hits, err = t.HitBy(ctx, l); return err }); err != nil {
		return err
	}
	key, err := keyOf(c, orNilText(v.Get("idempotency_key")))
	if err != nil {
		return err
	}
	id, err := s.Desk.TakeLeave(ctx, by, proposal.TakingLeave{Leave: l, Reason: v.Get("reason_code"), Seen: seen, Items: itemsOf(v, hits, "practitioner_unavailable"),
		Notify: v.Get("notify") == "true", Message: orNilText(v.Get("message")), Why: orNilText(v.Get("reason")), Key: key})
	if err != nil {
		return s.refusedLeave(c, doneOrNot(err))
	}
	if id == "" {
		return redirect(c, "/leave")
	}
	return redirect(c, cardPath(id))
}

// refusedLeave shows the form again with what was typed and what is wrong with it.
func (s *Server) refusedLeave(c echo.Context, err error) error {
	r := refusal.Of(err)
	if r == nil || !mendable(r) && r.Code != refusal.ResourceChanged {
		return err
	}
	p, failed := s.leaveFormPage(c, form(c), r)
	if failed != nil {
		return failed
	}
	c.Set(codeKey, r.Code)
	return s.render(c, p.Refusal.Status, views.LeaveForm(p))
}

// endLeave is POST /leave/{id}/end: the leave is withdrawn, and its time can be booked again.
func (s *Server) endLeave(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	by, ctx := actor(c), c.Request().Context()
	var freed views.Freed
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		l, err := t.LeaveOf(ctx, id)
		if err != nil {
			return err
		}
		if !by.WorksTheDesk() {
			return refusal.New(refusal.PermissionDenied, "Your role does not enter leave. Nothing was done.")
		}
		if err := t.RemoveLeave(ctx, id); err != nil {
			return err
		}
		if freed, err = freedByLeave(ctx, t, l); err != nil {
			return err
		}
		return t.Audit(ctx, s.readEvent(t, by, audit.EndLeave, "leave", id, 0, ""))
	})
	if err != nil {
		return s.denied(c, audit.EndLeave, "leave", id, doneOrNot(err))
	}
	if !isHTMX(c) {
		return redirect(c, "/leave")
	}
	return s.answerLeave(c, http.StatusOK, views.Flash{Kind: views.FlashDone, Text: "The leave is withdrawn. Its time can be booked again."}, freed)
}

// denied writes down that something of the desk was refused, now that nothing else was written, and gives the error on.
func (s *Server) denied(c echo.Context, action, kind, id string, err error) error {
	r := refusal.Of(err)
	if r == nil || r.Code == refusal.Busy || r.Code == refusal.Internal {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), 5*time.Second)
	defer cancel()
	by := actor(c)
	failed := s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		e := s.readEvent(t, by, action, kind, id, 0, "")
		if r.Code == refusal.NotFound {
			e.ObjectKind, e.Object = "", ""
		}
		e.Outcome, e.Code = audit.Denied, r.Code
		return t.Audit(ctx, e)
	})
	if failed != nil {
		return failed
	}
	return err
}
