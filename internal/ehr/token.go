package ehr

import (
	"context"
	"net/http"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

const refreshEarly = time.Minute

// tokens keeps the one token of a connection. However many calls need a new one, one asks for it.
type tokens struct {
	config clientcredentials.Config
	client *http.Client
	now    func() time.Time
	turn   chan struct{} // holds the one who may look at and change what follows

	current string    // the header, "" = none
	until   time.Time // zero = for ever
}

func newTokens(c Connection, client *http.Client) *tokens {
	return &tokens{client: client, now: time.Now, turn: make(chan struct{}, 1),
		config: clientcredentials.Config{ClientID: c.ClientID, ClientSecret: c.Secret, TokenURL: c.TokenURL, Scopes: c.Scopes}}
}

// header gives the Authorization header, asking for a token when there is none that lives for another minute. How long
// one lives is counted by our clock from when it came, never by the EHR's.
func (t *tokens) header(ctx context.Context) (string, error) {
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if t.current != "" && (t.until.IsZero() || t.now().Before(t.until)) {
		return t.current, nil
	}
	fresh, err := t.config.Token(context.WithValue(ctx, oauth2.HTTPClient, t.client))
	if err != nil {
		return "", err
	}
	t.current, t.until = "Bearer "+fresh.AccessToken, time.Time{}
	if !fresh.Expiry.IsZero() {
		lives := time.Until(fresh.Expiry)
		t.until = t.now().Add(max(lives-refreshEarly, lives/2))
	}
	return t.current, nil
}

// forget drops a token that the EHR did not take, unless another has come since.
func (t *tokens) forget(header string) {
	t.turn <- struct{}{}
	defer func() { <-t.turn }()
	if t.current == header {
		t.current = ""
	}
}
