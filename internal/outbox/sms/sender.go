package sms

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"countersign/internal/outbox"
)

const (
	dialWithin   = 5 * time.Second
	answerWithin = 15 * time.Second
	sendWithin   = 20 * time.Second
	mostAnswer   = 64 << 10 // bytes read of an answer
)

// Sender is an outbox.Sender for one gateway.
type Sender struct {
	url    string
	open   bool // plain text to another machine: nothing is sent
	secret Secret
	now    func() time.Time
	client *http.Client
}

// order is what the gateway is asked to send.
type order struct {
	ID     string `json:"id"` // the same for every try
	To     string `json:"to"`
	Text   string `json:"text"`
	Clinic string `json:"clinic"`
}

// New makes a sender. To a gateway on another machine nothing goes but by https. Errors hold nothing of the address.
func New(address string, secret Secret, now func() time.Time) (*Sender, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("not an address such as https://host/path")
	}
	ip, err := netip.ParseAddr(u.Hostname())
	open := u.Scheme == "http" && u.Hostname() != "localhost" && (err != nil || !ip.IsLoopback())
	if len(secret) < leastSecret {
		return nil, errors.New("a secret is needed to sign with")
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: dialWithin}).DialContext, TLSHandshakeTimeout: dialWithin,
		ResponseHeaderTimeout: answerWithin, MaxResponseHeaderBytes: 64 << 10,
		DisableKeepAlives: true, // on a connection that was kept, Go would send an idempotent request twice by itself
	}
	return &Sender{open: open, url: u.String(), secret: secret, now: now, client: &http.Client{Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

// errNotSent is what went wrong before anything of a message left.
var errNotSent = errors.New("sms: not sent: the gateway cannot be reached")

// Send implements outbox.Sender. Only a clear no of the gateway is one; what has left without an answer that says so may
// have been taken.
func (s *Sender) Send(ctx context.Context, m outbox.Message) (string, error) {
	if s.open {
		return "", &outbox.Refused{Code: "sms_no_tls", Temporary: true}
	}
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(order{m.ID, m.Recipient, m.Text, m.Clinic}); err != nil {
		return "", &outbox.Refused{Code: "sms_not_encoded"}
	}
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, &body)
	if err != nil {
		return "", errNotSent
	}
	at := s.now()
	r.GetBody = nil // nothing but the outbox sends it again
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", m.ID)
	r.Header.Set("Webhook-Id", m.ID)
	r.Header.Set("Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10))
	r.Header.Set("Webhook-Signature", s.secret.Sign(m.ID, at, body.Bytes()))
	answer, err := s.client.Do(r)
	switch {
	case err != nil && !connected.Load():
		return "", errNotSent
	case err != nil:
		return "", &outbox.Ambiguous{Code: "sms_no_answer"}
	}
	defer answer.Body.Close()
	return judge(answer, at)
}

// judge: only what says so was not taken. A redirect of a POST may come after the message was taken, as it does where a
// form is sent, so it says nothing.
func judge(answer *http.Response, at time.Time) (providerID string, err error) {
	code := fmt.Sprintf("sms_%d", answer.StatusCode)
	switch {
	case answer.StatusCode/100 == 2:
		return idOf(answer.Body), nil
	case answer.StatusCode == http.StatusTooEarly, answer.StatusCode == http.StatusTooManyRequests:
		return "", &outbox.Refused{Code: code, Temporary: true, RetryAfter: wish(answer.Header.Get("Retry-After"), at)}
	case answer.StatusCode/100 == 4 && answer.StatusCode != http.StatusRequestTimeout:
		return "", &outbox.Refused{Code: code}
	}
	return "", &outbox.Ambiguous{Code: code}
}

// wish reads a Retry-After, seconds or an HTTP date; 0 for none that can be read.
func wish(after string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(after, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if until, err := http.ParseTime(after); err == nil {
		return max(0, until.Sub(now))
	}
	return 0
}

// idOf is the gateway's name for the message, "" where its answer holds none. That it took the message is said by the
// status alone.
func idOf(body io.Reader) string {
	var named struct {
		ID string `json:"id"`
	}
	if json.NewDecoder(io.LimitReader(body, mostAnswer)).Decode(&named) != nil || len(named.ID) > 200 {
		return ""
	}
	return named.ID
}
