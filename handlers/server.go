// Package handlers is the web: pages for people and the JSON API for programs, one file per user action. A handler
// binds what was sent, calls one service method and fills one page struct; refusals it returns as errors, and fail
// answers them in the caller's own form.
package handlers

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"countersign/db"
	"countersign/internal/account"
	"countersign/internal/assistant"
	"countersign/internal/audit"
	"countersign/internal/outbox"
	"countersign/internal/outbox/sms"
	"countersign/internal/proposal"
)

// Deps is all that the handlers stand on.
type Deps struct {
	DB     *db.DB
	Desk   *proposal.Service
	Talk   *assistant.Service
	Demo   *outbox.DemoSender  // nil when messages are not only shown
	Queued func(clinic string) // told of a message that a person had sent again; nil = it is found
	// SMSSecret proves that a receipt comes from the SMS gateway; nil = none are taken.
	SMSSecret sms.Secret
	Accounts  *account.Service
	Sessions  account.SessionStore
	Rules     account.Rules
	AuditKey  func() (*audit.Key, error)  // signs checkpoints and exports; made at first need
	Ready     func(context.Context) error // nil when the database answers and is migrated
	Log       *slog.Logger
	Random    io.Reader // cryptographic
	Now       func() time.Time
	// Metrics takes the request metrics; nil = none are kept.
	Metrics prometheus.Registerer
	// TrustedProxies may say whose request it is (X-Forwarded-For) and over what (X-Forwarded-Proto). None = nobody may.
	TrustedProxies []netip.Prefix
	// Closing ends when the program stops: a stream watches it and ends too. A stream also lifts the write deadline
	// (http.ResponseController).
	Closing context.Context
}

// Server holds what handlers share. It keeps no state of its own between requests.
type Server struct {
	Deps
	store   *sessionStore
	origin  *http.CrossOriginProtection
	tools   []tool // what agents can call
	feeds   *feeds
	measure func(route, method string, status int, took time.Duration)
}

// New is the whole web application.
func New(d Deps) *echo.Echo {
	s := newServer(d)
	return s.echo(s.routes())
}

func (s *Server) echo(routes []route) *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.IPExtractor, e.SchemeExtractor = echo.ExtractIPDirect(), echo.ExtractSchemeDirect()
	if len(s.TrustedProxies) > 0 {
		trust := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
		for _, p := range s.TrustedProxies {
			p = p.Masked()
			trust = append(trust, echo.TrustIPRange(&net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}))
		}
		e.IPExtractor, e.SchemeExtractor = echo.ExtractIPFromXFFHeader(trust...), echo.ExtractSchemeFromHeaders(trust...)
	}
	e.HTTPErrorHandler = s.fail
	e.Use(s.observe, s.recoverPanic, s.secure)
	for _, r := range routes {
		e.Add(r.method, r.path, r.handle, s.guards(r)...)
	}
	return e
}

func newServer(d Deps) *Server {
	return &Server{Deps: d, store: &sessionStore{sessions: d.Sessions, rules: d.Rules, random: d.Random},
		origin: http.NewCrossOriginProtection(), tools: tools(), feeds: &feeds{db: d.DB, log: d.Log}, measure: requestMetrics(d.Metrics)}
}
