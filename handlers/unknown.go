package handlers

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/refusal"
)

// noteUnknown writes down that somebody asked for what is not there, or is another clinic's (case A02), once the reading
// itself is rolled back. The id stays out of the trail: it may be anything somebody typed. The answer stands even when
// that cannot be written down; then it is logged.
func (s *Server) noteUnknown(action string) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			err := next(c)
			r := refusal.Of(err)
			if r == nil || r.Code != refusal.NotFound {
				return err
			}
			ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), 5*time.Second)
			defer cancel()
			by := actor(c)
			note := s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
				e := s.readEvent(t, by, action, "", "", 0, "")
				e.Outcome, e.Code = audit.Denied, r.Code
				return t.Audit(ctx, e)
			})
			if note != nil {
				s.Log.ErrorContext(ctx, "a refusal could not be audited", "request", by.Request, "code", r.Code)
			}
			return err
		}
	}
}
