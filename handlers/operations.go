package handlers

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
	"countersign/views"
)

// operationFilter reads state and cursor. Errors: validation_failed.
func operationFilter(c echo.Context, limit int) (db.OperationFilter, error) {
	f := db.OperationFilter{State: c.QueryParam("state"), Cursor: c.QueryParam("cursor"), Limit: limit}
	if f.State != "" && !slices.Contains(db.OperationStates, f.State) {
		return f, refusal.Invalid(refusal.Field{Name: "state", Message: "There is no such state."})
	}
	return f, nil
}

// openOperations reads a page of the reconciliation desk and writes down that somebody looked.
func (s *Server) openOperations(ctx context.Context, t *db.Tx, by clinic.Actor, f db.OperationFilter) ([]db.DeskOperation, string, error) {
	rows, next, err := t.DeskOperations(ctx, f)
	if err != nil {
		return nil, "", err
	}
	return rows, next, t.Audit(ctx, s.readEvent(t, by, audit.ListOperations, "", "", 0, ""))
}

// showOperations is GET /operations?state=&cursor=: the reconciliation desk.
func (s *Server) showOperations(c echo.Context) error {
	by, ctx := actor(c), c.Request().Context()
	if err := proposal.MayListOperations(by); err != nil {
		return err
	}
	f, err := operationFilter(c, 50)
	if err != nil {
		return err
	}
	var p views.OperationsPage
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) (err error) {
		p = views.OperationsPage{State: f.State, MayOpen: proposal.MayReadOperation(by) == nil, NoEHR: !s.hasEHR(by.Clinic)}
		if p.Shell, err = s.shell(c, t, views.NavOperations, ""); err != nil {
			return err
		}
		rows, next, err := s.openOperations(ctx, t, by, f)
		if err != nil {
			return err
		}
		p.Older, p.NoEHR = next, p.NoEHR && len(rows) == 0
		lane, err := t.EHRLane(ctx)
		if err != nil {
			return err
		}
		for _, o := range rows {
			if o.NextAt.Before(lane.Until) {
				o.NextAt = lane.Until // nothing happens earlier
			}
			p.Rows = append(p.Rows, operationLine(o))
		}
		p.Lane = views.EHRLane{Until: lane.Until, Since: lane.Since, Code: lane.Code}
		if p.Late, err = t.LateOperations(ctx); err != nil {
			return err
		}
		drifts, err := t.Drifts(ctx)
		for _, d := range drifts {
			p.Drift = append(p.Drift, views.DriftLine{Kind: d.Kind, Code: d.Code, Count: d.Count, IDs: d.IDs})
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, views.Operations(p))
}

func operationLine(o db.DeskOperation) views.OperationLine {
	l := views.OperationLine{ID: o.ID, Proposal: o.Proposal, Item: o.Item, Kind: o.Kind, State: o.State, Phase: o.Phase, Code: o.Code, At: o.At, By: o.By.Name,
		NextAt: o.NextAt, Attempts: o.Attempts, Looks: o.Looks, Late: o.Late(), Held: o.Held, LookOnly: o.LookOnly, AskedBy: o.AskedBy.Name, Resolution: o.Resolution}
	if o.Plan != nil {
		l.Was, l.Wanted = o.Plan.Before, o.Plan.After
	}
	return l
}

// showOperation is GET /operations/{id}: what was approved, sent and seen, and what may be done about it.
func (s *Server) showOperation(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	return s.answerOperation(c, http.StatusOK, id, nil, views.Flash{})
}

func (s *Server) answerOperation(c echo.Context, status int, id string, refused *refusal.Error, flash views.Flash) error {
	var p views.OperationPage
	by, ctx := actor(c), c.Request().Context()
	err := s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) (err error) {
		o, attempts, looks, err := s.operationRead(ctx, t, by, id)
		if err != nil {
			return err
		}
		p = operationPage(o, attempts, looks)
		if p.Shell, err = s.shell(c, t, views.NavOperations, ""); err != nil {
			return err
		}
		p.Flash = flash
		return nil
	})
	if err != nil {
		return err
	}
	open := resolvable(p.State) && p.Resolution == "" && p.Wanted != nil
	p.MayResolve = open && proposal.MayPropose(by, views.ActionResolve) == nil
	p.BookedKey, p.ReleaseKey = s.Desk.IDs("key"), s.Desk.IDs("key")
	if refused != nil {
		p.Refusal = pageRefusal(refused)
		p.TypedRemote, p.TypedNote = form(c).Get("remote_id"), form(c).Get("note")
		c.Set(codeKey, refused.Code)
		status = p.Refusal.Status
	}
	return s.render(c, status, views.Operation(p))
}

// resolvable: a person may say what became of it.
func resolvable(state string) bool { return state == "unknown" || state == "manual" }

// operationRead reads the evidence for who may see it, and writes down that they did. Errors: not_found before
// permission_denied, so that another clinic's is unknown to everybody.
func (s *Server) operationRead(ctx context.Context, t *db.Tx, by clinic.Actor, id string) (o db.DeskOperation, attempts []db.AttemptRow, looks []db.LookRow, err error) {
	if o, attempts, looks, err = t.OperationEvidence(ctx, id); err != nil {
		return o, nil, nil, err
	}
	if err = proposal.MayReadOperation(by); err != nil {
		return o, nil, nil, err
	}
	e := s.readEvent(t, by, audit.ReadOperation, proposal.PinOperation, id, o.Version, "")
	e.Proposal, e.Revision, e.PlanHash = o.Proposal, o.Revision, o.PlanHash
	if o.Plan != nil {
		e.Patient = o.Plan.After.Patient.ID
	}
	return o, attempts, looks, t.Audit(ctx, e)
}

func operationPage(o db.DeskOperation, attempts []db.AttemptRow, looks []db.LookRow) views.OperationPage {
	p := views.OperationPage{OperationLine: operationLine(o), Appointment: o.Appointment, Revision: o.Revision, PlanHash: o.PlanHash, RemoteID: o.RemoteID,
		OldRemoteID: o.OldRemoteID, RefusalCode: o.Refusal, SendUntil: o.SendUntil, Deadline: o.Deadline, EndedAt: o.EndedAt}
	if o.Plan != nil {
		p.Plan = *o.Plan
	}
	for _, a := range attempts {
		p.Sent = append(p.Sent, views.SentAttempt{N: a.N, Phase: a.Phase, Method: a.Method, Body: string(a.Request), Hash: a.Hash, RequestID: a.RequestID,
			StartedAt: a.StartedAt, FinishedAt: a.FinishedAt, HTTPStatus: orZero(a.HTTPStatus), Outcome: a.Outcome, Code: a.Code})
	}
	for _, l := range looks {
		p.Seen = append(p.Seen, views.SeenLook{N: l.N, At: l.At, How: l.How, Verdict: l.Verdict, Code: l.Code, Matches: l.Matches, RemoteID: l.RemoteID,
			RemoteVersion: l.RemoteVersion, AskedBy: l.AskedBy.Name})
	}
	return p
}

// operationForm is the page whose button looks again.
func operationForm(c echo.Context) string {
	if id := c.Param("id"); clinic.ValidID(id) {
		return views.OperationURL(id)
	}
	return views.OperationsURL
}

// lookAgain is POST /operations/{id}/look: have it looked for in the EHR at once. Nothing is ever sent by it.
func (s *Server) lookAgain(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	if err := formBody(c).refuse(); err != nil {
		return err
	}
	err = s.Desk.LookAgain(c.Request().Context(), actor(c), id)
	if r := refusal.Of(err); r != nil && r.Code == refusal.ValidationFailed {
		return s.answerOperation(c, http.StatusOK, id, r, views.Flash{})
	}
	if err != nil {
		return doneOrNot(err)
	}
	if !isHTMX(c) {
		return redirect(c, views.OperationURL(id))
	}
	return s.answerOperation(c, http.StatusOK, id, nil, views.Flash{Kind: views.FlashDone, Text: "It is looked for as soon as the EHR can be reached. Nothing is sent."})
}

// refusedOnOperation shows the operation again with what was typed and what is wrong with it.
func (s *Server) refusedOnOperation(c echo.Context, id string, err error, r *refusal.Error) error {
	failed := s.answerOperation(c, http.StatusOK, id, r, views.Flash{})
	if x := refusal.Of(failed); x != nil && (x.Code == refusal.NotFound || x.Code == refusal.PermissionDenied) {
		return err // there is no page to show
	}
	return failed
}
