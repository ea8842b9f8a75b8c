package handlers

import (
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/views"
)

// endedRows are what is over, newest first; with fast only what was decided sooner than anybody reads a card.
func (s *Server) endedRows(c echo.Context, t *db.Tx, asked queueAsked, p *views.QueuePage) error {
	f := db.EndedFilter{Owner: asked.asker, MessageFailed: asked.view == views.QueueFailed, Cursor: c.QueryParam("cursor"), Limit: queuePage}
	if asked.fast {
		f.Within = fastDecision
	}
	rows, next, err := t.Ended(c.Request().Context(), f)
	if err != nil {
		return err
	}
	for _, r := range rows {
		e := views.EndedItem{Record: r.Record, EndedAt: r.EndedAt, Failed: r.Failed, Took: -1}
		if r.Took != nil {
			e.Took = time.Duration(*r.Took * float64(time.Second))
		}
		p.Ended = append(p.Ended, e)
	}
	if next != "" {
		p.More = asked.url(queuePath, url.Values{"cursor": {next}})
	}
	return nil
}
