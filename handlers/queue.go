package handlers

import (
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

const (
	queuePath = "/queue"
	// queuePoll is the path that an open queue asks by itself.
	queuePoll = "/queue/changed"
	// queuePage is how many rows stand on one page.
	queuePage = 50
	// fastDecision is below what a card can be read in.
	fastDecision = 3 * time.Second
)

// showQueue is GET /queue: what waits, first deadline first, or what is over. Everything that narrows it stands in the URL
// (queueAsked); cursor is the last row of the page before, since the moment at which the first page was read.
func (s *Server) showQueue(c echo.Context) error {
	by, ctx := actor(c), c.Request().Context()
	var p views.QueuePage
	err := s.DB.InSnapshot(ctx, by.Clinic, func(t *db.Tx) error {
		asked, err := s.queueAsked(c, t)
		if err != nil {
			return err
		}
		p = views.QueuePage{View: asked.view, Viewer: by.Person, Filters: asked.options, Here: asked.url(queuePath, nil), Narrowed: asked.narrowed}
		if p.Shell, err = s.shell(c, t, views.NavQueue, ""); err != nil {
			return err
		}
		if asked.view == views.QueueDecided || asked.view == views.QueueFailed {
			err = s.endedRows(c, t, asked, &p)
		} else {
			err = s.waitingRows(c, t, asked, &p)
		}
		if err != nil {
			return err
		}
		return t.Audit(ctx, s.readEvent(t, by, audit.ListProposals, "", "", 0, ""))
	})
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, views.Queue(p))
}

func (s *Server) waitingRows(c echo.Context, t *db.Tx, asked queueAsked, p *views.QueuePage) error {
	q, err := t.Queue(c.Request().Context(), asked.filter, c.QueryParam("cursor"), queuePage)
	if err != nil {
		return err
	}
	p.Count, p.Escalated, p.Failed = q.Count, q.Escalated, q.Failed
	since := asked.since
	if since == "" {
		since = q.Since
	}
	var ids []string
	for _, r := range q.Rows {
		p.Items = append(p.Items, queueItem(r, actor(c), asked.second))
		ids = append(ids, r.ID)
	}
	if q.Next != "" {
		p.More = asked.url(queuePath, url.Values{"cursor": {q.Next}, "since": {since}})
	}
	p.Live = asked.live(since, ids, stateTag(p.Items, 0))
	return nil
}

// queueItem is a row as it is drawn. Whether the viewer may decide it is asked of the one policy, at the risk of now.
func queueItem(r db.QueueRow, by clinic.Actor, second bool) views.QueueItem {
	return views.QueueItem{Record: r.Record, Rivals: r.Rivals, Comments: r.Comments, Escalated: r.Escalated, ClaimedBy: r.ClaimedBy, ClaimedUntil: r.Until,
		Confirm: permission(proposal.MayConfirm(by, r.Record, r.Risk, second))}
}

// queueChanged is GET /queue/changed: 204 while the rows of an open list are as they were drawn and nothing is new;
// otherwise how many are new, and what became of the rows. It leaves no row in the trail: it says nothing new of anybody.
func (s *Server) queueChanged(c echo.Context) error {
	by, ctx := actor(c), c.Request().Context()
	p := views.QueueChanged{Viewer: by.Person}
	same := false
	err := s.read(c, func(t *db.Tx) error {
		asked, err := s.queueAsked(c, t)
		if err != nil {
			return err
		}
		ids := strings.FieldsFunc(c.QueryParam("ids"), func(r rune) bool { return r == ',' })
		if len(ids) > queuePage || asked.since == "" {
			return refusal.Invalid(refusal.Field{Name: "ids", Message: "Load the queue again."})
		}
		if p.New, err = t.NewSince(ctx, asked.filter, asked.since); err != nil {
			return err
		}
		if len(ids) > 0 {
			waiting, over, err := t.QueueNow(ctx, ids)
			if err != nil {
				return err
			}
			ended := map[string]proposal.Record{}
			for _, r := range over {
				ended[r.ID] = r
			}
			for _, id := range ids {
				if r, ok := waiting[id]; ok {
					p.Items = append(p.Items, queueItem(r, by, asked.second))
				} else if r, ok := ended[id]; ok {
					p.Items = append(p.Items, views.QueueItem{Record: r})
				}
			}
		}
		tag := stateTag(p.Items, p.New)
		same = tag == c.QueryParam("tag")
		p.Here, p.Live = asked.url(queuePath, nil), asked.live(asked.since, ids, tag)
		p.Shell, err = s.shell(c, t, views.NavQueue, "")
		return err
	})
	if err != nil {
		return err
	}
	if same {
		return c.NoContent(http.StatusNoContent)
	}
	return s.render(c, http.StatusOK, views.QueueLive(p))
}
