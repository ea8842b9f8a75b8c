// Package account knows people and their tokens: who may sign in, as whom, and how guessing is slowed down.
package account

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/netip"
	"runtime"
	"strings"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// Account is a person of one clinic. Email is lower case and unique in the installation.
type Account struct {
	ID, Clinic, Email, Name, Role string
	PasswordHash                  string // PHC string, see Hasher
	Demo                          bool   // works only while this process runs with --demo
	Disabled                      bool
}

// Token lets a program act as a person (KindUser) or propose for one (KindAgent). Only SecretHash is stored.
type Token struct {
	ID, Clinic, Account, Name, Kind string
	Decide                          bool // never with KindAgent
	SecretHash                      []byte
	Demo                            bool
}

// Store keeps accounts, tokens and failed sign-ins. It is asked before anybody knows the clinic, so it stands outside
// row-level security. Instants are the database clock's.
type Store interface {
	// FindAccount gives the account of a lower-case address, disabled ones included; nil when there is none.
	FindAccount(ctx context.Context, email string) (*Account, error)
	// AddAccount reports false, and writes nothing, when the address is taken.
	AddAccount(ctx context.Context, a Account) (added bool, err error)
	// DisableAccount ends the account with all its sessions and tokens, at once. False: no such address.
	DisableAccount(ctx context.Context, email string) (found bool, err error)
	// AddToken reports false, and writes nothing, when the secret is there already.
	AddToken(ctx context.Context, t Token) (added bool, err error)

	// NoteAttempt records a sign-in as failed, before its password is looked at: of many at once none slips through.
	NoteAttempt(ctx context.Context, person, address string) (id int64, err error)
	// AttemptWait is how long to wait until the person and the address have no more than their limit of noted attempts
	// within the window, the one just noted included. 0 = go on.
	AttemptWait(ctx context.Context, person, address string, l Limits) (time.Duration, error)
	// ForgetAttempt takes one back: it was refused unseen.
	ForgetAttempt(ctx context.Context, id int64) error
	// ForgetAttempts takes back all of a person: they have shown who they are.
	ForgetAttempts(ctx context.Context, person string) error
}

// Limits of failed sign-ins.
type Limits struct {
	Window     time.Duration
	PerAccount int
	PerAddress int // a whole clinic may share one network address
}

// DefaultLimits let a person mistype and a clinic share its router.
var DefaultLimits = Limits{Window: 15 * time.Minute, PerAccount: 10, PerAddress: 60}

// Service signs people in and adds them. Safe for concurrent use.
type Service struct {
	store  Store
	random io.Reader
	demo   bool
	limits Limits
	hasher Hasher
	decoy  string        // hash of nobody's password: an unknown address costs what a known one costs
	seats  chan struct{} // a hash takes 46 MiB; so many at once
}

// NewService makes the service. random must be cryptographic; demo says whether demo accounts work in this process.
func NewService(store Store, random io.Reader, demo bool, limits Limits) (*Service, error) {
	s := &Service{store: store, random: random, demo: demo, limits: limits, hasher: DefaultHasher,
		seats: make(chan struct{}, max(2, runtime.NumCPU()))}
	nobody, err := NewSecret(random)
	if err != nil {
		return nil, err
	}
	s.decoy, err = s.hasher.Hash(nobody, random)
	return s, err
}

// SignIn gives the account of the address when the password is right. address is the network address asked from.
// Refusals: rate_limited with RetryAfter; otherwise unauthenticated, the same and after the same work for a wrong
// password and for an address that is unknown, disabled or a demo's outside a demo.
func (s *Service) SignIn(ctx context.Context, email, password string, address netip.Addr) (*Account, error) {
	email = FoldEmail(email)
	person, network := attemptKey(email), attemptNetwork(address)
	id, err := s.store.NoteAttempt(ctx, person, network)
	if err != nil {
		return nil, err
	}
	wait, err := s.store.AttemptWait(ctx, person, network, s.limits)
	if err != nil {
		return nil, err
	}
	if wait > 0 {
		if err := s.store.ForgetAttempt(ctx, id); err != nil {
			return nil, err
		}
		return nil, &refusal.Error{Code: refusal.RateLimited, RetryAfter: wait}
	}
	a, err := s.store.FindAccount(ctx, email)
	if err != nil {
		return nil, err
	}
	able := a != nil && !a.Disabled && (!a.Demo || s.demo)
	hash := s.decoy
	if able {
		hash = a.PasswordHash
	}
	right, err := s.verify(ctx, hash, password)
	if err != nil {
		return nil, err
	}
	if !right || !able {
		return nil, refusal.New(refusal.Unauthenticated)
	}
	if err := s.store.ForgetAttempts(ctx, person); err != nil {
		return nil, err
	}
	return a, nil
}

func (s *Service) verify(ctx context.Context, hash, password string) (bool, error) {
	select {
	case s.seats <- struct{}{}:
		defer func() { <-s.seats }()
		return Verify(hash, password)
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// Add makes an account with a generated password, which it returns; only its hash is kept. Refusal: validation_failed.
func (s *Service) Add(ctx context.Context, a Account) (password string, err error) {
	if password, err = NewSecret(s.random); err != nil {
		return "", err
	}
	added, err := s.addWith(ctx, a, password)
	if err != nil {
		return "", err
	}
	if !added {
		return "", refusal.Invalid(refusal.Field{Name: "email", Message: "This address has an account already."})
	}
	return password, nil
}

func (s *Service) addWith(ctx context.Context, a Account, password string) (added bool, err error) {
	a.Email, a.Name = FoldEmail(a.Email), strings.TrimSpace(a.Name)
	var wrong []refusal.Field
	if at := strings.IndexByte(a.Email, '@'); at < 1 || at == len(a.Email)-1 || len(a.Email) > 254 || strings.ContainsAny(a.Email, " \t\r\n") {
		wrong = append(wrong, refusal.Field{Name: "email", Message: "An e-mail address is needed."})
	}
	if a.Name == "" {
		wrong = append(wrong, refusal.Field{Name: "name", Message: "A name is needed."})
	}
	if a.Role != clinic.RoleStaff && a.Role != clinic.RoleReviewer && a.Role != clinic.RoleAdmin {
		wrong = append(wrong, refusal.Field{Name: "role", Message: "The role is staff, reviewer or admin."})
	}
	if len([]rune(password)) < MinPassword {
		wrong = append(wrong, refusal.Field{Name: "password", Message: "A password has at least 15 characters."})
	}
	if len(wrong) > 0 {
		return false, refusal.Invalid(wrong...)
	}
	if a.ID == "" {
		if a.ID, err = newID(s.random, "acc"); err != nil {
			return false, err
		}
	}
	if a.PasswordHash, err = s.hasher.Hash(password, s.random); err != nil {
		return false, err
	}
	return s.store.AddAccount(ctx, a)
}

// Disable ends an account: its sessions and tokens stop at their next request. Refusal: not_found.
func (s *Service) Disable(ctx context.Context, email string) error {
	found, err := s.store.DisableAccount(ctx, FoldEmail(email))
	if err == nil && !found {
		return refusal.New(refusal.NotFound)
	}
	return err
}

// FoldEmail is the form in which addresses are kept and compared.
func FoldEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// attemptKey hides what was typed: it may be a password in the wrong field.
func attemptKey(email string) string {
	sum := sha256.Sum256([]byte(email))
	return hex.EncodeToString(sum[:])
}

// attemptNetwork is the address, or of IPv6 the /64 that one subscriber has.
func attemptNetwork(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}
