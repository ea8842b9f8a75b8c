package ehr

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"countersign/internal/ehr/fhir"
)

// Client speaks to one EHR. It repeats nothing, follows nothing, and says of every call whether it can have arrived.
type Client struct {
	conn  Connection
	base  *url.URL
	user  *url.Userinfo
	http  *http.Client
	token *tokens // nil without client credentials
	now   func() time.Time
}

// SetClock gives the client another clock than the machine's: a test's.
func (c *Client) SetClock(now func() time.Time) { c.now = now }

// NewClient makes the client of a connection. transport is nil but in tests.
func NewClient(c Connection, transport http.RoundTripper) (*Client, error) {
	conn, base, user, err := c.checked()
	if err != nil {
		return nil, err
	}
	if transport == nil {
		transport = newTransport(conn)
	}
	whole := conn.Timeout + conn.Timeout/2
	client := &Client{conn: conn, base: base, user: user, now: time.Now, http: &http.Client{Transport: transport, Timeout: whole,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if conn.TokenURL != "" {
		client.token = newTokens(conn, client.http)
	}
	return client, nil
}

// newTransport: no proxy of the environment, HTTP/1.1 alone (whose rules for sending again we know), no compression that
// is unpacked behind our limits.
func newTransport(c Connection) *http.Transport {
	dialer := &net.Dialer{Timeout: dialWithin, KeepAlive: 15 * time.Second}
	return &http.Transport{
		DialContext: dialer.DialContext, TLSHandshakeTimeout: tlsWithin, ResponseHeaderTimeout: c.Timeout,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
		DisableCompression: true, MaxResponseHeaderBytes: maxHead,
		MaxIdleConnsPerHost: c.Parallel, MaxConnsPerHost: 2 * c.Parallel, IdleConnTimeout: idleFor,
	}
}

// Request is one call. Path is below the base ("Appointment/7"); a page of a search has its whole address instead.
type Request struct {
	Method, Path string
	Query        url.Values
	Page         string
	IfMatch      string // version id, "" = none
	IfNoneExist  string
	Body         []byte
	ID           string    // X-Request-Id
	Until        time.Time // a body of which nothing was written until then is not sent at all; zero = no limit
}

// Raw is what came back. Err is nil exactly when there is a whole answer.
type Raw struct {
	Status      int // 0 = no head of an answer
	Header      http.Header
	Body        []byte
	Err         error
	Sent        bool // something may have left this machine
	Certificate bool // the other side is not who it should be
	Token       bool // there was no token to send it with
}

var (
	errTooLate   = errors.New("ehr: too late to send")
	errTooLong   = errors.New("ehr: the answer is too long")
	errNoToken   = errors.New("ehr: no token")
	ErrElsewhere = errors.New("ehr: a page of another server")
)

// Do makes one call. ctx may end it early.
func (c *Client) Do(ctx context.Context, r Request) Raw {
	target, err := c.target(r)
	if err != nil {
		return Raw{Err: err}
	}
	authorization, err := c.authorization(ctx)
	if err != nil {
		return Raw{Err: errNoToken, Token: true, Certificate: badCertificate(err)}
	}
	var got atomic.Bool
	body := &timedBody{Reader: bytes.NewReader(r.Body), until: r.Until, now: c.now}
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { got.Store(true) }})
	q, err := http.NewRequestWithContext(traced, r.Method, target, nil)
	if err != nil {
		return Raw{Err: err}
	}
	if r.Body != nil {
		// No GetBody: what has been begun is never sent a second time, whatever happened to the connection.
		q.Body, q.ContentLength = io.NopCloser(body), int64(len(r.Body))
		q.Header.Set("Content-Type", fhir.MediaType)
		q.Header.Set("Prefer", "return=representation")
	} else {
		q.Header.Set("Cache-Control", "no-cache")
	}
	q.Header.Set("Accept", fhir.MediaType)
	q.Header.Set("Accept-Encoding", "gzip")
	q.Header.Set("User-Agent", "countersign")
	q.Header.Set("X-Request-Id", r.ID)
	if authorization != "" {
		q.Header.Set("Authorization", authorization)
	}
	if r.IfMatch != "" {
		q.Header.Set("If-Match", `W/"`+r.IfMatch+`"`)
	}
	if r.IfNoneExist != "" {
		q.Header.Set("If-None-Exist", r.IfNoneExist)
	}
	response, err := c.http.Do(q)
	if err != nil {
		return Raw{Err: err, Sent: got.Load() && !body.late.Load(), Certificate: badCertificate(err)}
	}
	defer response.Body.Close()
	raw := Raw{Status: response.StatusCode, Header: response.Header, Sent: true}
	raw.Body, raw.Err = read(response)
	if response.StatusCode == http.StatusUnauthorized && c.token != nil {
		c.token.forget(authorization)
	}
	return raw
}

// target is the address of the call. A page must be of the same server as the base: a token is never carried elsewhere.
func (c *Client) target(r Request) (string, error) {
	if r.Page != "" {
		page, err := c.base.Parse(r.Page)
		if err != nil || page.Scheme != c.base.Scheme || page.Host != c.base.Host || page.User != nil {
			return "", ErrElsewhere
		}
		return page.String(), nil
	}
	u := *c.base
	u.Path, u.RawPath = c.base.Path+"/"+r.Path, ""
	u.RawQuery = r.Query.Encode()
	return u.String(), nil
}

func (c *Client) authorization(ctx context.Context) (string, error) {
	switch {
	case c.token != nil:
		return c.token.header(ctx)
	case c.conn.Token != "":
		return "Bearer " + c.conn.Token, nil
	case c.user != nil:
		q := http.Request{Header: http.Header{}}
		password, _ := c.user.Password()
		q.SetBasicAuth(c.user.Username(), password)
		return q.Header.Get("Authorization"), nil
	}
	return "", nil
}

// read takes at most maxBody bytes, before and after unpacking.
func read(response *http.Response) ([]byte, error) {
	var from io.Reader = io.LimitReader(response.Body, maxBody+1)
	switch strings.ToLower(response.Header.Get("Content-Encoding")) {
	case "", "identity":
	case "gzip":
		unpacked, err := gzip.NewReader(from)
		if err != nil {
			return nil, err
		}
		from = io.LimitReader(unpacked, maxBody+1)
	default:
		return nil, errors.New("ehr: an encoding that was not asked for")
	}
	data, err := io.ReadAll(from)
	if err == nil && len(data) > maxBody {
		return nil, errTooLong
	}
	return data, err
}

// FHIR reports whether the answer says that it is FHIR in JSON, in UTF-8.
func (r Raw) FHIR() bool {
	kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if set := parameters["charset"]; err != nil || set != "" && !strings.EqualFold(set, "utf-8") {
		return false
	}
	return kind == fhir.MediaType || kind == "application/json" || kind == "application/json+fhir"
}

// timedBody refuses to be begun too late: a process that stood still after it committed its attempt must not write when
// another has long since looked, found nothing and sent again.
type timedBody struct {
	*bytes.Reader
	until time.Time
	now   func() time.Time
	late  atomic.Bool
}

func (b *timedBody) Read(p []byte) (int, error) {
	if int64(b.Len()) == b.Size() && !b.until.IsZero() && !b.now().Round(0).Before(b.until) {
		b.late.Store(true)
		return 0, errTooLate
	}
	return b.Reader.Read(p)
}

func badCertificate(err error) bool {
	var bad *tls.CertificateVerificationError
	return errors.As(err, &bad)
}

func isTooLate(err error) bool { return errors.Is(err, errTooLate) }
