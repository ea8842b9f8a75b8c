package ehr

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func connected(t *testing.T, c Connection) *Client {
	t.Helper()
	if c.Timeout == 0 {
		c.Timeout = 300 * time.Millisecond
	}
	client, err := NewClient(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func serving(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func write(id string) Request {
	return Request{Method: "POST", Path: "Appointment", Body: []byte(`{"resourceType":"Appointment"}`), ID: id}
}

// Row 4: a kept connection is reset under a write, before a byte of it is answered. The transport sends it once, whether
// or not it was carried out, and says that it may have arrived.
func TestAResetConnectionIsNoReasonToSendAgain(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var posts atomic.Int64
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for in := bufio.NewReader(conn); ; {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					if r.Method == "POST" {
						posts.Add(1)
						_ = conn.(*net.TCPConn).SetLinger(0)
						return
					}
					fmt.Fprint(conn, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
				}
			}()
		}
	}()
	c := connected(t, Connection{URL: "http://" + listener.Addr().String()})
	for n := int64(1); n <= 5; n++ {
		if raw := c.Do(context.Background(), Request{Method: "GET", Path: "metadata", ID: "r"}); raw.Status != 404 {
			t.Fatalf("%+v", raw)
		}
		raw := c.Do(context.Background(), write("r"))
		if raw.Err == nil || !raw.Sent || posts.Load() != n {
			t.Fatalf("%d posts after %d; %+v", posts.Load(), n, raw)
		}
	}
}

func TestWhatWasNotSentIsKnown(t *testing.T) {
	gone := serving(t, nil)
	gone.Close()
	impostor := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("reached") }))
	impostor.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	impostor.StartTLS()
	defer impostor.Close()
	for name, url := range map[string]string{"refused": gone.URL, "no such name": "http://ehr.invalid", "certificate": impostor.URL} {
		raw := connected(t, Connection{URL: url, Timeout: 5 * time.Second}).Do(context.Background(), write("r"))
		if raw.Err == nil || raw.Sent || raw.Certificate != (name == "certificate") {
			t.Errorf("%s: %+v", name, raw)
		}
	}
	reached := false
	s := serving(t, func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		reached = err == nil
	})
	late := write("r")
	late.Until = time.Now().Add(-time.Second)
	if raw := connected(t, Connection{URL: s.URL}).Do(context.Background(), late); raw.Sent || !isTooLate(raw.Err) || reached {
		t.Errorf("too late: %+v, reached %v", raw, reached)
	}
}

func TestNothingIsFollowed(t *testing.T) {
	var elsewhere atomic.Int64
	target := serving(t, func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) })
	t.Setenv("HTTP_PROXY", target.URL)
	t.Setenv("http_proxy", target.URL)
	s := serving(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", target.URL+"/Appointment")
		w.WriteHeader(307)
	})
	for _, method := range []string{"GET", "POST"} {
		r := write("r")
		r.Method = method
		if raw := connected(t, Connection{URL: s.URL, Token: "t"}).Do(context.Background(), r); raw.Status != 307 {
			t.Errorf("%s: %+v", method, raw)
		}
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("%d requests elsewhere", n)
	}
	for _, page := range []string{target.URL + "/Appointment?page=2", "//evil.test/x", "ftp://x/y", strings.Replace(s.URL, "http://", "http://user@", 1)} {
		if raw := connected(t, Connection{URL: s.URL, Token: "t"}).Do(context.Background(), Request{Method: "GET", Page: page, ID: "r"}); !errors.Is(raw.Err, ErrElsewhere) || raw.Sent {
			t.Errorf("page %s: %+v", page, raw)
		}
	}
}

func TestAnAnswerHasALimit(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for range 3 << 10 {
		_, _ = z.Write(make([]byte, 1<<10))
	}
	_ = z.Close()
	s := serving(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/fhir+json")
		switch r.URL.Path {
		case "/Appointment/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		case "/Appointment/long":
			_, _ = w.Write(make([]byte, 3<<20))
		case "/Appointment/odd":
			w.Header().Set("Content-Encoding", "br")
			_, _ = w.Write([]byte("{}"))
		case "/Appointment/ok":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, `{"resourceType":"Appointment","id":"ok","status":"booked"}`)
			_ = z.Close()
		}
	})
	c := connected(t, Connection{URL: s.URL, Timeout: 5 * time.Second})
	for _, id := range []string{"bomb", "long", "odd"} {
		if _, err := c.read(context.Background(), id, "r"); err == nil {
			t.Errorf("%s was read", id)
		}
	}
	if m, err := c.read(context.Background(), "ok", "r"); err != nil || m.ID != "ok" {
		t.Errorf("%+v %v", m, err)
	}
}

func TestWhatEveryCallCarries(t *testing.T) {
	var got http.Header
	s := serving(t, func(w http.ResponseWriter, r *http.Request) { got = r.Header.Clone(); w.WriteHeader(204) })
	c := connected(t, Connection{URL: strings.Replace(s.URL, "http://", "http://me:pass@", 1)})
	r := write("req_1")
	r.Method, r.IfMatch = "PUT", "3"
	c.Do(context.Background(), r)
	for name, want := range map[string]string{"X-Request-Id": "req_1", "If-Match": `W/"3"`, "Content-Type": "application/fhir+json", "Accept": "application/fhir+json",
		"Authorization": "Basic bWU6cGFzcw==", "Idempotency-Key": "", "X-Idempotency-Key": ""} {
		if got.Get(name) != want {
			t.Errorf("%s: %q", name, got.Get(name))
		}
	}
	for _, wrong := range []Connection{{URL: "ehr.test"}, {URL: "ftp://ehr.test"}, {URL: "https://ehr.test/?x=1"}, {URL: "https://a:b@ehr.test", Token: "t"}, {URL: "https://ehr.test", TokenURL: "https://t.test"}} {
		if _, err := NewClient(wrong, nil); err == nil || strings.Contains(err.Error(), "ehr.test") {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}

// However many calls need a token, one asks for it; it is renewed before it ends.
func TestOneAsksForTheToken(t *testing.T) {
	var asked atomic.Int64
	tokens := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":"t%d","token_type":"bearer","expires_in":300}`, asked.Add(1))
	})
	s := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer t") {
			t.Errorf("%q", r.Header.Get("Authorization"))
		}
	})
	c := connected(t, Connection{URL: s.URL, TokenURL: tokens.URL, ClientID: "i", Secret: "s", Timeout: 5 * time.Second})
	all := func() {
		var wait sync.WaitGroup
		for range 20 {
			wait.Go(func() { c.Do(context.Background(), Request{Method: "GET", Path: "x", ID: "r"}) })
		}
		wait.Wait()
	}
	all()
	if n := asked.Load(); n != 1 {
		t.Errorf("%d asked", n)
	}
	c.token.now = func() time.Time { return time.Now().Add(235 * time.Second) }
	all()
	if n := asked.Load(); n != 1 {
		t.Errorf("%d asked before the last minute", n)
	}
	c.token.now = func() time.Time { return time.Now().Add(245 * time.Second) }
	all()
	if n := asked.Load(); n != 2 {
		t.Errorf("%d asked in the last minute", n)
	}
}

// A search is believed only whole: all pages, and only what has exactly our identifier.
func TestASearchIsReadWhole(t *testing.T) {
	entry := func(id, system, value string) string {
		return fmt.Sprintf(`{"resource":{"resourceType":"Appointment","id":%q,"status":"booked","identifier":[{"system":%q,"value":%q}]}}`, id, system, value)
	}
	var base string
	pages := map[string]string{
		"":  `{"resourceType":"Bundle","type":"searchset","link":[{"relation":"next","url":"BASE/Appointment?p=2"}],"entry":[` + entry("1", IdentifierSystem, "op_2") + `,` + entry("2", "https://other.test", "op_1") + `]}`,
		"2": `{"resourceType":"Bundle","type":"searchset","entry":[{"resource":{"resourceType":"OperationOutcome","issue":[{"severity":"information","code":"informational"}]},"search":{"mode":"outcome"}},` + entry("3", IdentifierSystem, "op_1") + `]}`,
	}
	s := serving(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/fhir+json")
		fmt.Fprint(w, strings.ReplaceAll(pages[r.URL.Query().Get("p")], "BASE", base))
	})
	base = s.URL
	c := connected(t, Connection{URL: s.URL, Timeout: 5 * time.Second})
	find := func() (int, error) {
		_, found, err := c.find(context.Background(), "op_1", wanted, plain, "r")
		return len(found), err
	}
	if n, err := find(); n != 1 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	for name, second := range map[string]string{
		"an error in it":    `{"resourceType":"Bundle","type":"searchset","entry":[{"resource":{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"exception"}]}}]}`,
		"an outcome alone":  `{"resourceType":"OperationOutcome","issue":[{"severity":"information","code":"informational"}]}`,
		"no body":           ``,
		"cut off":           `{"resourceType":"Bundle","type":"searchset","entry":[`,
		"another type":      `{"resourceType":"Bundle","type":"history"}`,
		"an unreadable one": `{"resourceType":"Bundle","type":"searchset","entry":[{"resource":{"resourceType":"Appointment","status":7}}]}`,
		"pages for ever":    `{"resourceType":"Bundle","type":"searchset","link":[{"relation":"next","url":"BASE/Appointment?p=2"}]}`,
		"another server's":  `{"resourceType":"Bundle","type":"searchset","link":[{"relation":"next","url":"https://evil.test/?p=3"}]}`,
	} {
		pages["2"] = second
		var f *failure
		if n, err := find(); !errors.As(err, &f) {
			t.Errorf("%s: %d %v", name, n, err)
		}
	}
}
