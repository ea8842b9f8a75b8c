package handlers

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/gorilla/sessions"
	"github.com/labstack/echo/v4"

	"countersign/internal/account"
)

const (
	plainCookie = "countersign"
	hostCookie  = "__Host-countersign"
	// beforeSignIn is how long a session of nobody lives: long enough to type a password again.
	beforeSignIn = 15 * time.Minute
)

// Keys of a session's Values. Those of type string are kept as its data, and their values are strings.
const (
	accountValue = accountName("account") // string: whose the session is to be, read when it starts
	heldValue    = "held"                 // string, JSON of held
)

type (
	accountName string
	foundKey    struct{} // *account.Session: what the store found
)

// sessionStore is a gorilla sessions.Store on account.SessionStore. A session starts, under a new id, when one with an
// empty ID is saved; the one of the request's cookie ends with it. MaxAge < 0 ends it.
type sessionStore struct {
	sessions account.SessionStore
	rules    account.Rules
	random   io.Reader
}

// Get gives the request's session; it is looked up once per request.
func (st *sessionStore) Get(r *http.Request, name string) (*sessions.Session, error) {
	return sessions.GetRegistry(r).Get(st, name)
}

// New looks the session of the request's cookie up. Without one that works it is new and empty.
func (st *sessionStore) New(r *http.Request, name string) (*sessions.Session, error) {
	session := sessions.NewSession(st, name)
	session.IsNew = true
	session.Options = &sessions.Options{Path: "/", HttpOnly: true, Secure: name == hostCookie, SameSite: http.SameSiteLaxMode}
	id := cookieValue(r, name)
	if id == "" {
		return session, nil
	}
	rules := st.rules
	rules.Unseen = r.URL.Path == dayPoll || r.URL.Path == eventsPath || strings.HasSuffix(r.URL.Path, talkPoll)
	found, err := st.sessions.FindSession(r.Context(), account.SecretHash(id), rules)
	if err != nil || found == nil {
		return session, err
	}
	var data map[string]string
	if err := json.Unmarshal(found.Data, &data); err != nil {
		return session, fmt.Errorf("reading a session: %w", err)
	}
	session.ID, session.IsNew = id, false
	for k, v := range data {
		session.Values[k] = v
	}
	session.Values[foundKey{}] = found
	return session, nil
}

// Save writes the session and, when its id is new or gone, the cookie.
func (st *sessionStore) Save(r *http.Request, w http.ResponseWriter, session *sessions.Session) error {
	ctx, old := r.Context(), cookieValue(r, session.Name())
	if session.Options.MaxAge < 0 {
		http.SetCookie(w, sessions.NewCookie(session.Name(), "", session.Options))
		if old == "" {
			return nil
		}
		return st.sessions.EndSession(ctx, account.SecretHash(old))
	}
	data := map[string]string{}
	for k, v := range session.Values {
		if name, ok := k.(string); ok {
			data[name], _ = v.(string)
		}
	}
	b, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if session.ID != "" {
		return st.sessions.SetSessionData(ctx, account.SecretHash(session.ID), b)
	}
	if session.ID, err = account.NewSecret(st.random); err != nil {
		return err
	}
	var replaces []byte
	if old != "" {
		replaces = account.SecretHash(old)
	}
	who, _ := session.Values[accountValue].(string)
	lifetime := st.rules.Absolute
	if who == "" {
		lifetime = beforeSignIn
	}
	if err := st.sessions.StartSession(ctx, account.SecretHash(session.ID), replaces, who, b, lifetime); err != nil {
		return err
	}
	http.SetCookie(w, sessions.NewCookie(session.Name(), session.ID, session.Options))
	return nil
}

// session is the request's session and what it was found to be; nil when it has none.
func (s *Server) session(c echo.Context) (*sessions.Session, *account.Session, error) {
	session, err := s.store.Get(c.Request(), cookieName(c))
	if err != nil {
		return nil, nil, err
	}
	found, _ := session.Values[foundKey{}].(*account.Session)
	return session, found, nil
}

// startSession gives the caller a session under a new id, of an account or of nobody, and ends the one they had.
func (s *Server) startSession(c echo.Context, session *sessions.Session, accountID string, kept string) error {
	session.ID = ""
	clear(session.Values)
	session.Values[accountValue] = accountID
	if kept != "" {
		session.Values[heldValue] = kept
	}
	return session.Save(c.Request(), c.Response())
}

// cookieName: a __Host- cookie needs https. Only a browser on this very machine may do without.
func cookieName(c echo.Context) string {
	if c.Scheme() != "https" && isLoopback(c.Request().Host) {
		return plainCookie
	}
	return hostCookie
}

func isLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// cookieValue is the cookie's session id, "" when there is none or when it comes twice.
func cookieValue(r *http.Request, name string) string {
	all := r.CookiesNamed(name)
	if len(all) != 1 || len(all[0].Value) > 100 {
		return ""
	}
	return all[0].Value
}
