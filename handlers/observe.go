package handlers

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/internal/refusal"
)

// Keys of the echo context. They last for one request.
const (
	requestKey = "countersign.request" // string, the request id
	actorKey   = "countersign.actor"   // signedIn
	codeKey    = "countersign.code"    // string, of the refusal answered
)

// observe gives the request its id, answers its error, and writes one line about it: the route's template, never what
// stood in the path, the query or the body.
func (s *Server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		began := time.Now()
		id := make([]byte, 16)
		if _, err := io.ReadFull(s.Random, id); err != nil {
			return err
		}
		c.Set(requestKey, hex.EncodeToString(id))
		c.Response().Header().Set(echo.HeaderXRequestID, requestID(c))
		s.serve(c, next)

		route, took, status := templateOf(c), time.Since(began), c.Response().Status
		method := methodOf(c)
		s.measure(route, method, status, took)
		attrs := []slog.Attr{slog.String("method", method), slog.String("route", route), slog.Int("status", status),
			slog.Float64("ms", float64(took.Microseconds())/1000), slog.String("request", requestID(c))}
		if a, ok := c.Get(actorKey).(signedIn); ok {
			attrs = append(attrs, slog.String("actor", a.ID()), slog.String("clinic", a.Clinic))
		}
		if code, ok := c.Get(codeKey).(string); ok {
			attrs = append(attrs, slog.String("code", code))
		}
		s.Log.LogAttrs(context.Background(), slog.LevelInfo, "request", attrs...)
		return nil
	}
}

// serve runs the handler and answers its error. A panic while answering leaves a bare 500.
func (s *Server) serve(c echo.Context, next echo.HandlerFunc) {
	defer func() {
		if p := recover(); p != nil {
			err := panicError(p)
			s.Log.LogAttrs(context.Background(), slog.LevelError, "panic while answering an error", errorAttrs(c, err)...)
			if !c.Response().Committed {
				_ = c.NoContent(http.StatusInternalServerError) // nothing better is left
			}
		}
	}()
	if err := next(c); err != nil {
		s.fail(err, c)
	}
}

// recoverPanic turns a handler's panic into an error.
func (s *Server) recoverPanic(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = panicError(p)
			}
		}()
		return next(c)
	}
}

// panicked is a panic as an error: where it happened, and of its value only the type or the runtime's own words, since
// the value may hold what somebody typed.
type panicked struct {
	what  string
	stack []byte
}

func (p *panicked) Error() string { return "panic: " + p.what }

func panicError(value any) error {
	p := &panicked{what: fmt.Sprintf("%T", value), stack: debug.Stack()}
	if re, ok := value.(runtime.Error); ok {
		p.what = re.Error()
	}
	return p
}

// quoted text in an error is what the standard library calls a value it could not read: it may be what somebody typed.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"?`)

func errorAttrs(c echo.Context, err error) []slog.Attr {
	return attrsOf(requestID(c), templateOf(c), err)
}

func attrsOf(request, place string, err error) []slog.Attr {
	attrs := []slog.Attr{slog.String("request", request), slog.String("route", place), slog.String("error", quoted.ReplaceAllString(err.Error(), `"..."`))}
	var p *panicked
	if errors.As(err, &p) {
		attrs = append(attrs, slog.String("stack", string(p.stack)))
	}
	return attrs
}

// levelOf: what the other side broke off, or what passes by itself, is no error of ours.
func levelOf(err error) slog.Level {
	if errors.Is(err, context.Canceled) {
		return slog.LevelInfo
	}
	if r := refusal.Of(err); r != nil && r.Code != refusal.Internal {
		return slog.LevelWarn
	}
	return slog.LevelError
}

func requestID(c echo.Context) string {
	id, _ := c.Get(requestKey).(string)
	return id
}

// methodOf is the method, or "other" for what anybody may make up.
func methodOf(c echo.Context) string {
	switch m := c.Request().Method; m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return m
	default:
		return "other"
	}
}

// templateOf is the path as registered ("/proposals/:id").
func templateOf(c echo.Context) string {
	if p := c.Path(); p != "" {
		return p
	}
	return "unmatched"
}
