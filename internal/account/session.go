package account

import (
	"context"
	"time"

	"countersign/internal/clinic"
)

// Session is what a cookie or a token was found to stand for.
type Session struct {
	Actor   clinic.Actor // without Via and Request; zero when nobody is signed in
	Expired bool         // past its idle or absolute limit: nobody is signed in, Account says who was
	Account string       // "" before sign-in
	Data    []byte
}

// SignedIn reports whether Actor is somebody.
func (s *Session) SignedIn() bool { return s != nil && s.Actor.Person != "" }

// Rules say when sessions and tokens work. The absolute limit is set when a session starts.
type Rules struct {
	Idle     time.Duration
	Absolute time.Duration
	Demo     bool // demo accounts and tokens work in this process
	Unseen   bool // the page asks by itself, nobody does: the session's idle time goes on
}

// DefaultRules are the product's: an hour idle, a working day in all.
var DefaultRules = Rules{Idle: time.Hour, Absolute: 12 * time.Hour}

// SessionStore keeps sessions and resolves sessions and tokens, each in one statement and anew at every request: what
// was revoked or disabled is gone at the next one. hash is SecretHash of what the client holds.
type SessionStore interface {
	// FindSession gives the session, nil when there is none, and notes at most once a minute that it was seen (unless
	// rules say Unseen). A session
	// of a disabled account, or of a demo's outside a demo, is none.
	FindSession(ctx context.Context, hash []byte, rules Rules) (*Session, error)
	// FindToken gives the session of a token, nil when there is none that works.
	FindToken(ctx context.Context, hash []byte, rules Rules) (*Session, error)
	// StartSession makes a session that lives for at most lifetime, and ends the one it replaces, if any, in the same
	// statement. account "" = before sign-in.
	StartSession(ctx context.Context, hash, replaces []byte, account string, data []byte, lifetime time.Duration) error
	SetSessionData(ctx context.Context, hash, data []byte) error
	EndSession(ctx context.Context, hash []byte) error
}
