package handlers

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// maxBody is the most a request may carry.
const maxBody = 64 << 10

// readForm reads a page's query and form fields and refuses what could be read in two ways.
func (s *Server) readForm(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		query, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil || !plainFields(query) {
			return refusal.New(refusal.MalformedRequest)
		}
		if r.Method == http.MethodPost {
			if hasBody(r) && !mediaType(r, "application/x-www-form-urlencoded") {
				return refusal.New(refusal.UnsupportedMediaType)
			}
			body, err := readBody(c)
			if err != nil {
				return err
			}
			if r.PostForm, err = url.ParseQuery(string(body)); err != nil || !plainFields(r.PostForm) {
				return refusal.New(refusal.MalformedRequest)
			}
		}
		return next(c)
	}
}

// form is what a page's form sent: each name once, valid UTF-8.
func form(c echo.Context) url.Values { return c.Request().PostForm }

// plainFields reports whether each name comes once and all is UTF-8 without NUL, which PostgreSQL cannot keep.
func plainFields(fields url.Values) bool {
	for name, values := range fields {
		if len(values) != 1 || !plainText(name) || !plainText(values[0]) {
			return false
		}
	}
	return true
}

func plainText(s string) bool {
	for _, r := range s {
		if r == 0 {
			return false
		}
	}
	return utf8.ValidString(s)
}

// requireJSON lets bodies of the API through only as JSON.
func (s *Server) requireJSON(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if query, err := url.ParseQuery(c.Request().URL.RawQuery); err != nil || !plainFields(query) {
			return refusal.New(refusal.MalformedRequest)
		}
		if hasBody(c.Request()) && !mediaType(c.Request(), "application/json") {
			return refusal.New(refusal.UnsupportedMediaType)
		}
		return next(c)
	}
}

// jsonBody is the one object the API was sent, read by proposal.DecodeStrict. No body at all is an empty object.
func jsonBody(c echo.Context) (map[string]any, error) {
	b, err := readBody(c)
	if err != nil {
		return nil, err
	}
	if len(b) == 0 {
		return map[string]any{}, nil
	}
	object, err := proposal.DecodeStrict(b)
	if err != nil {
		return nil, refusal.New(refusal.MalformedRequest, "The body is not JSON as it is read here ("+err.Error()+"). Nothing was done.")
	}
	return object, nil
}

func readBody(c echo.Context) ([]byte, error) {
	b, err := io.ReadAll(http.MaxBytesReader(c.Response().Writer, c.Request().Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		return b, nil
	case errors.As(err, &tooLarge):
		return nil, refusal.New(refusal.BodyTooLarge)
	default:
		return nil, refusal.New(refusal.MalformedRequest) // the sender broke off
	}
}

func hasBody(r *http.Request) bool { return r.ContentLength != 0 }

func mediaType(r *http.Request, want string) bool {
	got, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset, named := params["charset"]
	return err == nil && got == want && (!named || strings.EqualFold(charset, "utf-8"))
}
