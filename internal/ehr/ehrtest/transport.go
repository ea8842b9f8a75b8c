package ehrtest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
)

// RoundTrip implements http.RoundTripper without a network: the same server, for tests of ten thousand calls. What would
// take time on a wire ends at once as it would end there.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	query := r.URL.RawQuery
	probe := &Call{Method: r.Method, Path: r.URL.Path[len("/fhir/"):], Query: query}
	refused := s.refuses(probe)
	s.mu.Unlock()
	if refused {
		return nil, errors.New("connection refused")
	}
	if t := httptrace.ContextClientTrace(r.Context()); t != nil && t.GotConn != nil {
		t.GotConn(httptrace.GotConnInfo{})
	}
	var body []byte
	if r.Body != nil {
		var err error
		body, err = io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	out, f := s.handle(r, body)
	if f.Hang || f.Drop || f.Drip || f.Cut {
		return nil, errors.New("the connection ended")
	}
	if out.header == nil {
		out.header = http.Header{}
	}
	if out.header.Get("Content-Type") == "" {
		out.header.Set("Content-Type", "application/fhir+json")
	}
	if f.ContentType != "" {
		out.header.Set("Content-Type", f.ContentType)
	}
	return &http.Response{StatusCode: out.status, Header: out.header, Body: io.NopCloser(bytes.NewReader(out.bytes(f))), Request: r, ProtoMajor: 1, ProtoMinor: 1}, nil
}

// refuses counts a call against the rules that refuse connections, and only those.
func (s *Server) refuses(c *Call) bool {
	for _, r := range s.script {
		if !r.Fault.Refuse || r.Method != "" && r.Method != c.Method {
			continue
		}
		r.seen++
		if r.From == 0 && r.To == 0 || r.seen >= r.From && (r.seen <= r.To || r.To == 0) {
			return true
		}
	}
	return false
}
