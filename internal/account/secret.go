package account

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"io"
	"strings"

	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// SecretHash is what is stored of a token's secret or a session's id. The secrets are random 256-bit values, so a plain
// sha256 is enough.
func SecretHash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// NewSecret is a random 256-bit value, URL-safe: a password, a token or a session id.
func NewSecret(random io.Reader) (string, error) {
	b := make([]byte, 32)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}

// newID is an id with a prefix that tells what it names.
func newID(random io.Reader, prefix string) (string, error) {
	b := make([]byte, 15)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", err
	}
	return prefix + "_" + strings.ToLower(base32.StdEncoding.EncodeToString(b)), nil
}

// tokenPrefix lets secret scanners know a leaked token.
const tokenPrefix = "csgn_"

// AddToken makes a token for the account of the address and returns its secret; only the hash is kept. t gives Name,
// Kind and Decide. Refusals: not_found (no such account, or disabled), validation_failed.
func (s *Service) AddToken(ctx context.Context, email string, t Token) (secret string, err error) {
	a, err := s.store.FindAccount(ctx, FoldEmail(email))
	if err != nil {
		return "", err
	}
	if a == nil || a.Disabled {
		return "", refusal.New(refusal.NotFound)
	}
	if secret, err = NewSecret(s.random); err != nil {
		return "", err
	}
	secret = tokenPrefix + secret
	_, err = s.addToken(ctx, a, t, secret)
	return secret, err
}

func (s *Service) addToken(ctx context.Context, a *Account, t Token, secret string) (added bool, err error) {
	if t.Kind != clinic.KindUser && t.Kind != clinic.KindAgent {
		return false, refusal.Invalid(refusal.Field{Name: "kind", Message: "The kind is user or agent."})
	}
	if t.Decide && t.Kind == clinic.KindAgent {
		return false, refusal.Invalid(refusal.Field{Name: "decide", Message: "An agent never decides."})
	}
	if t.ID, err = newID(s.random, "tok"); err != nil {
		return false, err
	}
	if t.Name == "" {
		t.Name = a.Name + " (" + t.Kind + " token)"
	}
	t.Clinic, t.Account, t.SecretHash = a.Clinic, a.ID, SecretHash(secret)
	return s.store.AddToken(ctx, t)
}
