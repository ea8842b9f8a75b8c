package ehrtest

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Fault is one thing that goes wrong. Before: nothing of the request is done. Otherwise it is done first, and the fault
// is in what is stored, in the answer, or that there is none.
type Fault struct {
	Name   string
	Before bool

	// What is stored.
	Stored  func(appointment map[string]any) // is changed so
	Twice   bool                             // two of it
	Lag     time.Duration                    // searches see it only then
	ReadLag time.Duration                    // and reads

	// The answer.
	Answer      func(was reply) reply
	Raw         []byte // instead of its body
	ContentType string
	Cut         bool // it ends before its length
	Drip        bool // byte by byte
	Hang        bool // none, and the connection stays until the other side gives up
	Drop        bool // none, and the connection ends
	Refuse      bool // the connection is never made (RoundTripper only)
}

// Rule gives a fault to the calls it fits.
type Rule struct {
	Method     string // "" = any
	Path       string // that the path begins with, "" = any
	Identifier string // that stands in the body or the query, "" = any
	From, To   int    // of the calls that fit, from 1; 0, 0 = all
	Fault      Fault
	seen       int
}

// Script adds rules; the first that fits a call counts.
func (s *Server) Script(rules ...Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range rules {
		s.script = append(s.script, &r)
	}
}

// Heal ends all faults.
func (s *Server) Heal() { s.mu.Lock(); s.script = nil; s.mu.Unlock() }

// faultOf finds the first rule that fits. Every rule counts the calls that fit it.
func (s *Server) faultOf(c *Call) (f Fault) {
	found := false
	query, _ := url.QueryUnescape(c.Query)
	for _, r := range s.script {
		if r.Fault.Refuse || r.Method != "" && r.Method != c.Method || !strings.HasPrefix(c.Path, r.Path) ||
			r.Identifier != "" && !bytes.Contains(c.Body, []byte(r.Identifier)) && !strings.Contains(query, r.Identifier) {
			continue
		}
		r.seen++
		if !found && (r.From == 0 && r.To == 0 || r.seen >= r.From && (r.seen <= r.To || r.To == 0)) {
			found, f = true, r.Fault
		}
	}
	return f
}

// Status is a fault that answers with a status, an issue and perhaps headers ("Retry-After", "1"); code "" = no body.
func Status(name string, status int, code, own string, header ...string) Fault {
	return Fault{Name: name, Before: true, Answer: func(reply) reply {
		out := answer(status, nil)
		if code != "" {
			out.body = Outcome("error", code, own)
		}
		for i := 0; i+1 < len(header); i += 2 {
			out.header.Set(header[i], header[i+1])
		}
		return out
	}}
}

// Afterwards is the same, once everything has been done.
func (f Fault) Afterwards() Fault { f.Before = false; return f }

// Says is a fault of the answer alone: another status (0 = as it is) and another body.
func Says(name string, status int, body func(was map[string]any) map[string]any) Fault {
	return Fault{Name: name, Answer: func(was reply) reply {
		out := reply{was.status, was.header.Clone(), nil}
		if out.header == nil {
			out.header = http.Header{}
		}
		if status != 0 {
			out.status = status
		}
		out.body = body(copied(was.body))
		return out
	}}
}

// Page is an answer of something in between: HTML.
func Page(name string, status int) Fault {
	return Fault{Name: name, Answer: func(reply) reply { return answer(status, nil) }, ContentType: "text/html", Raw: []byte("<html><body>Please sign in</body></html>")}
}
