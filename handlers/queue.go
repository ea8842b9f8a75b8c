package handlers

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/views"
)

const (
	// mostWaiting is how many waiting proposals the queue reads: those with the first deadlines. Rivals are found among them.
	mostWaiting = 500
	// queuePage is how many of them stand on one page.
	queuePage = 50
)

// showQueue is GET /queue: what waits in the clinic, first deadline first. Filters: risk-low ... risk-critical, action;
// cursor is the id of the last one on the page before.
func (s *Server) showQueue(c echo.Context) error {
	by, ctx := actor(c), c.Request().Context()
	waiting, err := s.Desk.List(ctx, by, proposal.Filter{State: proposal.StateProposed, ByDeadline: true, Limit: mostWaiting})
	if err != nil {
		return err
	}
	p := views.QueuePage{Filters: queueFilters(c)}
	shown := slices.DeleteFunc(slices.Clone(waiting), func(r proposal.Record) bool {
		return !chosen(p.Filters.Risk, r.Risk) || !chosen(p.Filters.Action, r.Action)
	})
	if after := c.QueryParam("cursor"); after != "" {
		// one that was decided meanwhile is not found, and the list begins again
		shown = shown[1+slices.IndexFunc(shown, func(r proposal.Record) bool { return r.ID == after }):]
	}
	if len(shown) > queuePage {
		shown = shown[:queuePage]
		p.More = shown[queuePage-1].ID
	}
	for _, r := range shown {
		p.Items = append(p.Items, queueItem(r, by.Person, rivalCount(r, waiting)))
	}
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) (err error) {
		if p.Shell, err = s.shell(c, t, views.NavQueue, ""); err != nil {
			return err
		}
		return t.Audit(ctx, s.readEvent(t, by, audit.ListProposals, "", "", 0, ""))
	})
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, views.Queue(p))
}

func queueFilters(c echo.Context) views.QueueFilters {
	var f views.QueueFilters
	for _, risk := range []string{proposal.Low, proposal.Medium, proposal.High, proposal.Critical} {
		f.Risk = append(f.Risk, views.Option{Value: risk, Label: views.RiskWord(risk), Selected: c.QueryParam("risk-"+risk) != ""})
	}
	for _, action := range []string{views.ActionMove, views.ActionBook, views.ActionCancel, views.ActionRegister, views.ActionContact, views.ActionMessage} {
		f.Action = append(f.Action, views.Option{Value: action, Label: views.ActionWord(action), Selected: c.QueryParam("action") == action})
	}
	return f
}

// chosen reports whether a filter lets the value through; one with nothing chosen lets everything.
func chosen(options []views.Option, value string) bool {
	any := false
	for _, o := range options {
		if o.Selected && o.Value == value {
			return true
		}
		any = any || o.Selected
	}
	return !any
}

func queueItem(r proposal.Record, viewer string, rivals int) views.QueueItem {
	q := views.QueueItem{ID: r.ID, Action: r.Action, Risk: r.Risk, What: r.Summary.Title, AskedBy: r.OwnerName, Agent: r.CreatedBy.Kind == "agent",
		Rivals: rivals, ExpiresAt: r.ExpiresAt, Yours: r.Owner == viewer, Stale: r.Stale}
	if a := r.Plan.After; a != nil {
		q.Patient = views.Person{ID: a.Patient.ID, Name: a.Patient.Name, BirthDate: a.Patient.BirthDate, MRN: a.Patient.MRN}
		q.StartsAt, q.Zone = a.StartsAt, a.Zone
	}
	return q
}

// rivalCount counts the other proposals that want part of the same time of the same practitioner.
func rivalCount(r proposal.Record, all []proposal.Record) int {
	a, n := r.Plan.After, 0
	for _, o := range all {
		b := o.Plan.After
		if o.ID != r.ID && wantsTime(a) && wantsTime(b) && a.Practitioner.ID == b.Practitioner.ID && a.StartsAt.Before(b.EndsAt) && b.StartsAt.Before(a.EndsAt) {
			n++
		}
	}
	return n
}

// wantsTime: a cancellation wants none.
func wantsTime(f *proposal.Facts) bool { return f != nil && f.Status == clinic.StatusBooked }
