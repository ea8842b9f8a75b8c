package handlers

import (
	"bytes"
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"countersign/internal/refusal"
	"countersign/views"
)

// render draws the component completely before it sends the first byte, so that a failure can still be answered.
func (s *Server) render(c echo.Context, status int, component templ.Component) error {
	var b bytes.Buffer
	if err := component.Render(c.Request().Context(), &b); err != nil {
		return err
	}
	return c.HTMLBlob(status, b.Bytes())
}

// redirect leads to a path of this site after a POST: 303, or for HTMX a real page load.
func redirect(c echo.Context, path string) error {
	if isHTMX(c) {
		c.Response().Header().Set("HX-Redirect", path)
		return c.NoContent(http.StatusNoContent)
	}
	return c.Redirect(http.StatusSeeOther, path)
}

// fail answers an error in the caller's own form: JSON under /api/, a fragment for HTMX, else a page. It is the only
// place where errors become answers. Errors that are no refusal become internal and are logged.
func (s *Server) fail(err error, c echo.Context) {
	if c.Response().Committed {
		s.Log.LogAttrs(context.Background(), levelOf(err), "failed after the answer had begun", errorAttrs(c, err)...)
		return
	}
	r := s.refusalOf(c, err)
	a := answers[r.Code]
	if a.later {
		c.Response().Header().Set("Retry-After", strconv.Itoa(retryAfter(r)))
	}
	c.Set(codeKey, r.Code)
	var failed error
	switch {
	case isAPI(c):
		if a.status == http.StatusUnauthorized {
			c.Response().Header().Set("WWW-Authenticate", "Bearer")
		}
		failed = s.json(c, a.status, errorBody(r, a))
	case r.Code == refusal.Unauthenticated:
		failed = s.askSignIn(c, "/")
	default:
		if isHTMX(c) && c.Request().Method != http.MethodGet { // never in place of the work, whatever the form's target is
			c.Response().Header().Set("HX-Retarget", "#alert")
			c.Response().Header().Set("HX-Reswap", "innerHTML")
		}
		failed = s.render(c, a.status, views.Error(s.errorPage(c, r)))
	}
	if failed != nil {
		s.Log.LogAttrs(context.Background(), levelOf(failed), "could not answer", errorAttrs(c, failed)...)
		if !c.Response().Committed {
			_ = c.NoContent(http.StatusInternalServerError) // nothing better is left
		}
	}
}

// refusalOf finds the refusal in err; what is none is logged and becomes internal.
func (s *Server) refusalOf(c echo.Context, err error) *refusal.Error {
	var he *echo.HTTPError
	switch {
	case errors.As(err, &he) && he.Code == http.StatusNotFound:
		return refusal.New(refusal.NotFound)
	case errors.As(err, &he) && he.Code == http.StatusMethodNotAllowed:
		if allow, ok := c.Get(echo.ContextKeyHeaderAllow).(string); ok {
			c.Response().Header().Set(echo.HeaderAllow, allow)
		}
		return refusal.New(refusal.MethodNotAllowed)
	}
	return s.refusalAt(requestID(c), templateOf(c), err)
}

// refusalAt is refusalOf for a request and a place that the log shall name.
func (s *Server) refusalAt(request, place string, err error) *refusal.Error {
	attrs := attrsOf(request, place, err)
	r := refusal.Of(err)
	switch {
	case r != nil && r.Cause == nil:
	case r != nil:
		s.Log.LogAttrs(context.Background(), levelOf(err), "refused for a cause", attrs...)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		r = refusal.New(refusal.Busy)
	default:
		s.Log.LogAttrs(context.Background(), levelOf(err), "unexpected error", attrs...)
		r = refusal.New(refusal.Internal)
	}
	if _, known := answers[r.Code]; !known {
		s.Log.LogAttrs(context.Background(), levelOf(err), "a code that is not in the table", attrs...)
		r = refusal.New(refusal.Internal)
	}
	return r
}

// pageRefusal is the refusal as pages show it.
func pageRefusal(r *refusal.Error) views.Refusal {
	a := answers[r.Code]
	words := a.words
	if r.Message != "" && !a.fixed {
		words = r.Message
	}
	return views.Refusal{Status: a.status, Code: r.Code, Title: a.title, Words: words, Next: a.next, Fields: r.Fields}
}

func (s *Server) errorPage(c echo.Context, r *refusal.Error) views.ErrorPage {
	p := views.ErrorPage{Shell: views.Shell{HTMX: isHTMX(c)}, Refusal: pageRefusal(r)}
	if a, ok := c.Get(actorKey).(signedIn); ok {
		p.Clinic, p.Person, p.Role = a.ClinicName, a.PersonName, a.Role
	}
	if answers[r.Code].later {
		p.RetryAfter = retryAfter(r)
	}
	return p
}

// errorBody is the JSON error of contract section 6.
func errorBody(r *refusal.Error, a answer) map[string]any {
	words := pageRefusal(r)
	members := map[string]any{}
	for name, value := range r.Details {
		members[name] = value
	}
	if len(r.Fields) > 0 || r.Code == refusal.ValidationFailed {
		members["fields"] = append([]refusal.Field{}, r.Fields...)
	}
	if r.Record != nil && (a.status == http.StatusConflict || a.status == http.StatusGone) {
		members["proposal"] = r.Record
	}
	message := words.Words + " " + words.Next
	if r.Code == refusal.Unauthenticated {
		message = words.Words // a program cannot sign in
	}
	members["code"], members["message"], members["retry"] = r.Code, message, a.retry
	return map[string]any{"status": "error", "error": members}
}

// retryAfter is the header's value: whole seconds, at least one.
func retryAfter(r *refusal.Error) int { return max(1, int(math.Ceil(r.RetryAfter.Seconds()))) }

func isAPI(c echo.Context) bool {
	path := c.Request().URL.Path
	return strings.HasPrefix(path, "/api/") || path == mcpPath || path == receiptsPath
}

func isHTMX(c echo.Context) bool { return c.Request().Header.Get("HX-Request") == "true" }
