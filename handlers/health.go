package handlers

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/internal/refusal"
)

// healthz answers GET /healthz: the process runs.
func (s *Server) healthz(c echo.Context) error { return c.String(http.StatusOK, "ok\n") }

// readyz answers GET /readyz: the database answers and is migrated, so requests may come.
func (s *Server) readyz(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), 2*time.Second)
	defer cancel()
	if err := within(ctx, s.Ready); err != nil {
		s.Log.LogAttrs(context.Background(), levelOf(err), "not ready", errorAttrs(c, err)...)
		c.Set(codeKey, refusal.Busy)
		return c.String(http.StatusServiceUnavailable, "not ready\n")
	}
	return c.String(http.StatusOK, "ready\n")
}

// within gives f's error, or ctx's when that ends first: a driver may wait on a frozen database whatever its context says.
func within(ctx context.Context, f func(context.Context) error) error {
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
