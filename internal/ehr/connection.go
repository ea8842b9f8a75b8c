package ehr

import (
	"errors"
	"net/url"
	"strings"
	"time"
)

// Connection is how one clinic's EHR is reached. The zero members have defaults.
type Connection struct {
	Clinic   string // id
	URL      string // FHIR R4 base; user and password in it are basic authentication
	Token    string // bearer token, or:
	TokenURL string // of OAuth client credentials
	ClientID string
	Secret   string
	Scopes   []string

	Timeout  time.Duration // until the head of an answer; 20 s. The whole call may take half as long again
	Parallel int           // calls at a time; 4
	Settings Settings      // what the EHR's own statement does not say, or says wrongly
}

const (
	defaultTimeout  = 20 * time.Second
	defaultParallel = 4
	dialWithin      = 3 * time.Second
	tlsWithin       = 5 * time.Second
	idleFor         = 20 * time.Second // shorter than servers keep a connection, so that few die under a write
	maxBody         = 2 << 20          // of an answer, unpacked
	maxHead         = 64 << 10
	sendWithin      = 10 * time.Second // from the commit of an attempt to its first byte
)

// checked gives the connection with its defaults, its base without user and without a slash at the end, and the user.
func (c Connection) checked() (Connection, *url.URL, *url.Userinfo, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return c, nil, nil, errors.New("ehr: not the http or https address of a FHIR server") // the address may hold a password
	}
	user := u.User
	u.User = nil
	u.Path = strings.TrimRight(u.Path, "/")
	ways := 0
	for _, used := range []bool{user != nil, c.Token != "", c.TokenURL != ""} {
		if used {
			ways++
		}
	}
	if ways > 1 {
		return c, nil, nil, errors.New("ehr: more than one way to sign in")
	}
	if c.TokenURL != "" {
		if t, err := url.Parse(c.TokenURL); err != nil || t.Scheme != "https" && t.Scheme != "http" || t.Host == "" || c.ClientID == "" || c.Secret == "" {
			return c, nil, nil, errors.New("ehr: client credentials need an address, an id and a secret")
		}
	}
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	if c.Parallel <= 0 {
		c.Parallel = defaultParallel
	}
	return c, u, user, nil
}
