package handlers

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/account"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
	"countersign/views"
)

// signedIn is the actor as the context of a guarded route holds it.
type signedIn struct {
	clinic.Actor
	again func(context.Context) (*account.Session, error) // looks up anew what the request brought
}

// stillIn reports whether the request's token or session would still let the same person in. Errors: the database's.
func stillIn(ctx context.Context, c echo.Context) (bool, error) {
	in := c.Get(actorKey).(signedIn)
	found, err := in.again(ctx)
	return err == nil && found.SignedIn() && found.Actor.ID() == in.ID() && found.Actor.Clinic == in.Clinic, err
}

// actor is who asks, on a route of access page or api.
func actor(c echo.Context) clinic.Actor { return c.Get(actorKey).(signedIn).Actor }

// requireSession lets in who is signed in and leads everybody else to /signin.
func (s *Server) requireSession(r route) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			session, found, err := s.session(c)
			if err != nil {
				return err
			}
			if !found.SignedIn() {
				c.Set(codeKey, refusal.Unauthenticated)
				return s.keepAndAsk(c, r, session, found)
			}
			s.enter(c, found, "page", func(ctx context.Context) (*account.Session, error) {
				rules := s.Rules
				rules.Unseen = true
				return s.Sessions.FindSession(ctx, account.SecretHash(session.ID), rules)
			})
			if c.Request().Method != http.MethodGet {
				if err := s.dropHeld(c, session); err != nil {
					return err
				}
			}
			return next(c)
		}
	}
}

// noToken is said to programs, which cannot sign in.
const noToken = "The token is missing, unknown or revoked. Send one that works as Authorization: Bearer."

// requireToken lets in who brings a token. A cookie counts for nothing here.
func (s *Server) requireToken(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		scheme, secret, _ := strings.Cut(c.Request().Header.Get("Authorization"), " ")
		secret = strings.TrimSpace(secret)
		if !strings.EqualFold(scheme, "Bearer") || secret == "" || len(secret) > 200 {
			return refusal.New(refusal.Unauthenticated, noToken)
		}
		find := func(ctx context.Context) (*account.Session, error) {
			return s.Sessions.FindToken(ctx, account.SecretHash(secret), s.Rules)
		}
		found, err := find(c.Request().Context())
		if err != nil {
			return err
		}
		if !found.SignedIn() {
			return refusal.New(refusal.Unauthenticated, noToken)
		}
		s.enter(c, found, "api", find)
		return next(c)
	}
}

func (s *Server) enter(c echo.Context, found *account.Session, via string, again func(context.Context) (*account.Session, error)) {
	a := found.Actor
	a.Via, a.Request = via, requestID(c)
	c.Set(actorKey, signedIn{a, again})
}

// askSignIn leads to /signin and, after it, to the path of this site that was wanted.
func (s *Server) askSignIn(c echo.Context, wanted string) error {
	to := "/signin"
	if wanted = localPath(wanted); wanted != "/" {
		to += "?next=" + url.QueryEscape(wanted)
	}
	if isHTMX(c) {
		c.Response().Header().Set("HX-Redirect", to)
		return c.NoContent(http.StatusUnauthorized)
	}
	return c.Redirect(http.StatusSeeOther, to)
}

// showSignIn answers GET /signin.
func (s *Server) showSignIn(c echo.Context) error {
	next := localPath(c.QueryParam("next"))
	session, found, err := s.session(c)
	if err != nil {
		return err
	}
	if found.SignedIn() {
		return c.Redirect(http.StatusSeeOther, next)
	}
	p := s.signInPage(c, next)
	_, kept := session.Values[heldValue]
	p.Expired = kept || found != nil && found.Expired
	return s.render(c, http.StatusOK, views.SignIn(p))
}

// signIn answers POST /signin. A right password starts a session under a new id; what was kept of a form goes along
// when it is the same person's.
func (s *Server) signIn(c echo.Context) error {
	fields := form(c)
	next := localPath(fields.Get("next"))
	address, err := netip.ParseAddr(c.RealIP())
	if err != nil {
		address = netip.IPv6Unspecified() // a socket without an address: all of them count together
	}
	who, err := s.Accounts.SignIn(c.Request().Context(), fields.Get("email"), fields.Get("password"), address)
	if r := refusal.Of(err); r != nil && (r.Code == refusal.Unauthenticated || r.Code == refusal.RateLimited) {
		return s.refuseSignIn(c, next, r)
	}
	if err != nil {
		return err
	}
	session, _, err := s.session(c)
	if err != nil {
		return err
	}
	kept, page := s.keptFor(session, who.ID)
	if page != "" {
		next = page
	}
	by := clinic.Actor{Clinic: who.Clinic, Person: who.ID, PersonName: who.Name, Role: who.Role, Kind: clinic.KindUser, Via: "page", Request: requestID(c)}
	if err := s.noteSession(c, by, audit.SignIn); err != nil {
		return err
	}
	if err := s.startSession(c, session, who.ID, kept); err != nil {
		return err
	}
	return redirect(c, next)
}

// noteSession audits that somebody signed in or out.
func (s *Server) noteSession(c echo.Context, by clinic.Actor, action string) error {
	ctx := c.Request().Context()
	return s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		return t.Audit(ctx, s.readEvent(t, by, action, "account", by.Person, 0, ""))
	})
}

// refuseSignIn shows the form again: the same words whether the address is unknown or the password wrong.
func (s *Server) refuseSignIn(c echo.Context, next string, r *refusal.Error) error {
	p := s.signInPage(c, next)
	p.Email = form(c).Get("email")
	if r.Code == refusal.RateLimited {
		c.Response().Header().Set("Retry-After", strconv.Itoa(retryAfter(r)))
		p.Refusal = pageRefusal(r)
	} else {
		p.Refusal = views.Refusal{Status: http.StatusUnprocessableEntity, Code: refusal.ValidationFailed, Title: "You are not signed in",
			Words: "This e-mail address and password do not belong together.", Next: "Check both and try again."}
	}
	c.Set(codeKey, r.Code)
	return s.render(c, p.Refusal.Status, views.SignIn(p))
}

func (s *Server) signInPage(c echo.Context, next string) views.SignInPage {
	p := views.SignInPage{Shell: views.Shell{HTMX: isHTMX(c)}, Next: next}
	if s.Rules.Demo {
		for _, a := range account.DemoAccounts("", "") {
			p.Demo = append(p.Demo, views.DemoAccount{Email: a.Email, Role: a.Role})
		}
	}
	return p
}

// signOut answers POST /signout: the session is gone, and the browser is told to forget what it holds.
func (s *Server) signOut(c echo.Context) error {
	session, found, err := s.session(c)
	if err != nil {
		return err
	}
	if found.SignedIn() {
		by := found.Actor
		by.Via, by.Request = "page", requestID(c)
		if err := s.noteSession(c, by, audit.SignOut); err != nil {
			return err
		}
	}
	session.Options.MaxAge = -1
	if err := session.Save(c.Request(), c.Response()); err != nil {
		return err
	}
	c.Response().Header().Set("Clear-Site-Data", `"cache", "cookies", "storage"`)
	return redirect(c, "/signin")
}

// localPath is p when it is a path of this site, else "/". Browsers read "//host" and "/\host" as another site and drop
// control characters before they read, so none of these passes; neither does signing in itself.
func localPath(p string) string {
	if len(p) > 2000 || !strings.HasPrefix(p, "/") {
		return "/"
	}
	for _, r := range p {
		if r <= ' ' || r == '\\' || r == 0x7f || r > 0x7e {
			return "/"
		}
	}
	u, err := url.Parse(p)
	if err != nil || u.Host != "" || u.Scheme != "" || u.User != nil || strings.Contains(u.Path, "//") || strings.Contains(u.Path, `\`) {
		return "/"
	}
	switch path.Clean(u.Path) {
	case "/signin", "/signout":
		return "/"
	}
	u.Fragment, u.RawFragment = "", ""
	return u.String()
}
