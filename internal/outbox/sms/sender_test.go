package sms

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/internal/outbox"
)

var (
	now    = time.Unix(1_800_000_000, 0)
	secret = Secret("a secret of the test's own")
)

// gateway is a real HTTP server that keeps what it is given.
type gateway struct {
	*httptest.Server
	mu   sync.Mutex
	asks []ask
}

type ask struct {
	header http.Header
	body   []byte
}

func (g *gateway) got() []ask {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]ask(nil), g.asks...)
}

func start(t *testing.T, answer http.HandlerFunc) (*gateway, *Sender) {
	t.Helper()
	g := &gateway{}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		g.mu.Lock()
		g.asks = append(g.asks, ask{r.Header, b})
		g.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(g.Close)
	s, err := New(g.URL+"/send?key=hidden", secret, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	return g, s
}

func text() outbox.Message {
	return outbox.Message{Clinic: "hav", ID: "msg_1", Channel: outbox.SMS, Recipient: "+45 00 20 03 00", Text: "Kære Søren, husk din tid <onsdag> & \"kom\" til tiden"}
}

// The gateway gets the text of the plan, signed as Standard Webhooks say; the signature is computed here by hand.
func TestWhatTheGatewayGets(t *testing.T) {
	g, s := start(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"id":"SM42"}`) })
	for range 2 {
		if id, err := s.Send(context.Background(), text()); id != "SM42" || err != nil {
			t.Fatal(id, err)
		}
	}
	got := g.got()
	var body map[string]string
	if err := json.Unmarshal(got[0].body, &body); err != nil || len(body) != 4 || body["id"] != "msg_1" || body["to"] != "+45 00 20 03 00" || body["clinic"] != "hav" {
		t.Fatal(err, body)
	}
	if sha256.Sum256([]byte(body["text"])) != sha256.Sum256([]byte(text().Text)) {
		t.Errorf("the text: %q", body["text"])
	}
	h := hmac.New(sha256.New, secret)
	io.WriteString(h, "msg_1.1800000000."+string(got[0].body))
	for name, want := range map[string]string{"webhook-id": "msg_1", "webhook-timestamp": "1800000000", "webhook-signature": "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil)),
		"Idempotency-Key": "msg_1", "Content-Type": "application/json"} {
		if have := got[0].header.Get(name); have != want {
			t.Errorf("%s: %q, want %q", name, have, want)
		}
	}
	if string(got[0].body) != string(got[1].body) || got[1].header.Get("webhook-id") != "msg_1" {
		t.Error("a second try is another message")
	}
}

func TestAnswers(t *testing.T) {
	for status, want := range map[int]string{200: "sent", 202: "sent", 204: "sent", 300: "perhaps", 301: "perhaps", 302: "perhaps", 303: "perhaps", 304: "perhaps", 307: "perhaps", 308: "perhaps", 400: "no", 401: "no", 404: "no", 422: "no",
		408: "perhaps", 425: "later", 429: "later", 500: "perhaps", 502: "perhaps", 503: "perhaps", 504: "perhaps"} {
		g, s := start(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(status)
			if status != 204 && status != 304 {
				io.WriteString(w, `no such number +45 00 20 03 00`)
			}
		})
		id, err := s.Send(context.Background(), text())
		if got := kind(err); got != want || id != "" || len(g.got()) != 1 {
			t.Errorf("%d: %s (%v), %d requests, want %s", status, got, err, len(g.got()), want)
		}
		discreet(t, err)
	}
}

// A gateway that says when to come again is heard where its no is one for now.
func TestRetryAfter(t *testing.T) {
	for after, want := range map[string]time.Duration{"": 0, "0": 0, "90": 90 * time.Second, "-5": 0, "soon": 0, "99999999999999999999": 0,
		now.Add(3 * time.Minute).UTC().Format(http.TimeFormat): 3 * time.Minute, now.Add(-time.Minute).UTC().Format(http.TimeFormat): 0} {
		_, s := start(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", after)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		var no *outbox.Refused
		if _, err := s.Send(context.Background(), text()); !errors.As(err, &no) || !no.Temporary || no.RetryAfter != want {
			t.Errorf("%q: %v, %+v", after, err, no)
		}
	}
}

func kind(err error) string {
	var no *outbox.Refused
	var perhaps *outbox.Ambiguous
	switch {
	case err == nil:
		return "sent"
	case errors.As(err, &no) && no.Temporary:
		return "later"
	case errors.As(err, &no):
		return "no"
	case errors.As(err, &perhaps):
		return "perhaps"
	}
	return "not sent"
}

func discreet(t *testing.T, err error) {
	t.Helper()
	for _, word := range []string{"+45", "Søren", "hidden", "secret"} {
		if err != nil && strings.Contains(err.Error(), word) {
			t.Errorf("the error says %q: %v", word, err)
		}
	}
}

// Lost answers may hide a message that was taken; a connection that never was cannot.
func TestNoAnswer(t *testing.T) {
	hang := make(chan struct{})
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"the connection breaks": {func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, "perhaps"},
		"nothing comes":         {func(http.ResponseWriter, *http.Request) { <-hang }, "perhaps"},
		"no HTTP": {func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			io.WriteString(conn, "hello\r\n\r\n")
			conn.Close()
		}, "perhaps"},
		"an endless answer": {func(w http.ResponseWriter, _ *http.Request) {
			for range 64 {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		}, "sent"},
	} {
		g, s := start(t, c.answer)
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		_, err := s.Send(ctx, text())
		cancel()
		if kind(err) != c.want || len(g.got()) != 1 {
			t.Errorf("%s: %v, %d requests", name, err, len(g.got()))
		}
		discreet(t, err)
	}
	close(hang)
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for name, address := range map[string]string{"nobody listens": "http://" + gone.Addr().String(), "no TLS there": strings.Replace(plain.URL, "http", "https", 1)} {
		s, err := New(address, secret, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Send(context.Background(), text()); kind(err) != "not sent" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A connection that dies before an answer is not tried again by the transport, as Go does with an Idempotency-Key.
func TestTheTransportSendsOnce(t *testing.T) {
	first := true
	g, s := start(t, func(w http.ResponseWriter, _ *http.Request) {
		if !first {
			panic(http.ErrAbortHandler)
		}
		first = false
	})
	if _, err := s.Send(context.Background(), text()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Send(context.Background(), text()); kind(err) != "perhaps" || len(g.got()) != 2 {
		t.Errorf("%v, %d requests", err, len(g.got()))
	}
}

func TestAddressesOfGateways(t *testing.T) {
	for _, bad := range []string{"", "host", "ftp://host", "http://", "https:///x"} {
		if _, err := New(bad, secret, time.Now); err == nil {
			t.Errorf("%q", bad)
		}
	}
	if _, err := New("https://h", Secret("short"), time.Now); err == nil {
		t.Error("a short secret")
	}
	s, err := New("http://192.0.2.1/", secret, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Send(context.Background(), text()); kind(err) != "later" || !strings.Contains(err.Error(), "sms_no_tls") {
		t.Errorf("plain text to another machine: %v", err)
	}
}
