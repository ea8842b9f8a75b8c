package handlers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/gorilla/sessions"
	"github.com/labstack/echo/v4"

	"countersign/internal/account"
)

// held is a form that met a session which had ended. It is kept in the database, in the session that waits for the
// password, never in the browser or a URL; for a few minutes; and only when the browser showed an id that had been a
// session, so that a stranger cannot fill the table. Only the same account gets it back. Nothing is sent by itself: the
// page of the form is shown again with what was typed.
type held struct {
	Account string
	Sent    string // path the form was sent to
	Page    string // path of the page that shows the form
	Fields  url.Values
	Until   time.Time
}

// keepAndAsk keeps the fields of a POST and leads to /signin.
func (s *Server) keepAndAsk(c echo.Context, r route, session *sessions.Session, found *account.Session) error {
	req := c.Request()
	if req.Method == http.MethodGet {
		return s.askSignIn(c, pageOf(c, req.URL.RequestURI()))
	}
	back := "/"
	if r.form != nil {
		back = r.form(c)
	}
	back = localPath(pageOf(c, back))
	if found != nil && found.Expired && found.Account != "" && len(form(c)) > 0 {
		b, err := json.Marshal(held{Account: found.Account, Sent: req.URL.Path, Page: back, Fields: form(c), Until: s.Now().Add(beforeSignIn)})
		if err != nil {
			return err
		}
		if err := s.startSession(c, session, "", string(b)); err != nil {
			return err
		}
	}
	return s.askSignIn(c, back)
}

// pageOf is the path of the page in the browser: HTMX names it, otherwise it is the one given.
func pageOf(c echo.Context, otherwise string) string {
	if u, err := url.Parse(c.Request().Header.Get("HX-Current-URL")); err == nil && isHTMX(c) && u.Host == c.Request().Host {
		return u.RequestURI()
	}
	return otherwise
}

// keptFor is what the session keeps for the account, and the page to show it on; "" and "" when nothing.
func (s *Server) keptFor(session *sessions.Session, accountID string) (kept, page string) {
	h, raw := heldIn(session)
	if h == nil || h.Account != accountID || !s.Now().Before(h.Until) {
		return "", ""
	}
	return raw, h.Page
}

func heldIn(session *sessions.Session) (*held, string) {
	raw, ok := session.Values[heldValue].(string)
	if !ok {
		return nil, ""
	}
	var h held
	if json.Unmarshal([]byte(raw), &h) != nil {
		return nil, ""
	}
	return &h, raw
}

// heldFields is what the person typed into a form that was sent to the path (as in "/proposals") when their session had
// ended, for the page of that form to show again; nil when there is nothing. It is there for some minutes, until
// dropHeld.
func (s *Server) heldFields(c echo.Context, sent string) (url.Values, error) {
	session, found, err := s.session(c)
	if err != nil || !found.SignedIn() {
		return nil, err
	}
	h, _ := heldIn(session)
	if h == nil || h.Sent != sent || h.Account != found.Account || !s.Now().Before(h.Until) {
		return nil, nil
	}
	return h.Fields, nil
}

// dropHeld forgets what was kept of a form, once that form has been sent.
func (s *Server) dropHeld(c echo.Context, session *sessions.Session) error {
	if h, _ := heldIn(session); h == nil || h.Sent != c.Request().URL.Path {
		return nil
	}
	delete(session.Values, heldValue)
	return session.Save(c.Request(), c.Response())
}
