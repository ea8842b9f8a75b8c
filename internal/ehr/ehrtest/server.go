// Package ehrtest is an EHR for tests that can go wrong in every way we know of, and that knows the truth: what is really
// booked in it. It is deterministic: faults come from a script, time from a clock that a test sets.
package ehrtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Mode is how a product behaves when nothing goes wrong.
type Mode struct {
	Stale         int  // status of a wrong If-Match; 412 when zero
	NeedIfMatch   bool // a change without If-Match is 412
	IgnoreIfMatch bool // and of those that ignore it, the lost update
	Taken         int  // status of a time that somebody has; 409 when zero
	Argonaut      bool // a taken time is 200 with a cancelled appointment that holds an outcome
	Async         bool // a booking is 202 and pending until Resolve
	NoIdentifiers bool // identifiers of ours are thrown away
	NoSearch      bool // the identifier parameter is ignored: everything matches
	NeedDate      bool // a search without a date is 400
	NoUpdate      bool // PUT may change the status alone
	Conditional   bool // If-None-Exist is understood
	NoMetadata    bool // there is no CapabilityStatement
	Informs       bool // an informational outcome stands in every searchset
	Minimal       bool // answers to writes have no body
	PageSize      int  // of a search; 20 when zero
	Token         string
	OpenConflicts bool // two visits may lie over each other
}

// Server is the EHR. Make it with New.
type Server struct {
	Mode  Mode
	Clock *Clock

	mu     sync.Mutex
	visits []*visit
	slots  map[string]map[string]any
	people map[string]map[string]any
	script []*Rule
	log    []Call
	serial int
	closed chan struct{}
}

// visit is one appointment in all its versions; the last is the truth.
type visit struct {
	id       string
	versions []map[string]any
	seenFrom time.Time // by searches
	readFrom time.Time // by reads
}

func (v *visit) now() map[string]any { return v.versions[len(v.versions)-1] }

// Clock is a time that only a test moves.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// NewClock starts at a time.
func NewClock(at time.Time) *Clock { return &Clock{at: at} }

// Now is the time.
func (c *Clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.at }

// Move lets time pass.
func (c *Clock) Move(d time.Duration) { c.mu.Lock(); c.at = c.at.Add(d); c.mu.Unlock() }

// Call is one request as it came, byte for byte, and the status it was answered with (0 = none).
type Call struct {
	Method, Path, Query string
	Header              http.Header
	Body                []byte
	Status              int
	Fault               string
}

// New makes an empty EHR.
func New(mode Mode, clock *Clock) *Server {
	return &Server{Mode: mode, Clock: clock, slots: map[string]map[string]any{}, people: map[string]map[string]any{}, closed: make(chan struct{})}
}

// Close lets go of all who hang.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.closed:
	default:
		close(s.closed)
	}
}

// Calls is the log so far.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.log...)
}

// Count is how many calls there were with a method, to a path that begins so.
func (s *Server) Count(method, path string) (n int) {
	for _, c := range s.Calls() {
		if c.Method == method && strings.HasPrefix(c.Path, path) {
			n++
		}
	}
	return n
}

// reply is an answer on its way out.
type reply struct {
	status int
	header http.Header
	body   map[string]any // nil = none
}

func answer(status int, body map[string]any) reply { return reply{status, http.Header{}, body} }

// outcome is an answer that says why, in FHIR's code and the server's own.
func outcome(status int, severity, code, own string) reply {
	return answer(status, Outcome(severity, code, own))
}

// Outcome is an OperationOutcome of one issue; own "" = FHIR's code alone.
func Outcome(severity, code, own string) map[string]any {
	issue := map[string]any{"severity": severity, "code": code, "diagnostics": "for people"}
	if own != "" {
		issue["details"] = map[string]any{"coding": []any{map[string]any{"system": "https://ehr.test/codes", "code": own}}}
	}
	return map[string]any{"resourceType": "OperationOutcome", "issue": []any{issue}}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return // nobody is there any more; an incomplete request is none
	}
	out, fault := s.handle(r, body)
	write(w, r, out, fault, s.closed)
}

// handle logs the call, finds its fault and does what is to be done, all under the lock: the ledger is never half true.
func (s *Server) handle(r *http.Request, body []byte) (reply, Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := strings.Trim(r.URL.Path[strings.LastIndex(r.URL.Path, "/fhir")+len("/fhir"):], "/")
	s.log = append(s.log, Call{Method: r.Method, Path: path, Query: r.URL.RawQuery, Header: r.Header.Clone(), Body: bytes.Clone(body)})
	call := &s.log[len(s.log)-1]
	fault := s.faultOf(call)
	call.Fault = fault.Name
	out := answer(0, nil)
	if !fault.Before {
		out = s.route(r, path, body, fault)
	}
	if fault.Answer != nil {
		out = fault.Answer(out)
	}
	call.Status = out.status
	if fault.Hang || fault.Drop {
		call.Status = 0
	}
	return out, fault
}

func (s *Server) route(r *http.Request, path string, body []byte, f Fault) reply {
	parts := strings.Split(path, "/")
	switch {
	case s.Mode.Token != "" && r.Header.Get("Authorization") != "Bearer "+s.Mode.Token && path != "metadata":
		return outcome(401, "error", "login", "")
	case r.Header.Get("X-Request-Id") == "":
		return outcome(400, "error", "required", "no-request-id")
	case path == "metadata" && r.Method == http.MethodGet:
		return s.metadata()
	case parts[0] == "Appointment" && len(parts) == 1 && r.Method == http.MethodPost:
		return s.create(r, body, f)
	case parts[0] == "Appointment" && len(parts) == 1 && r.Method == http.MethodGet:
		return s.search(r)
	case parts[0] == "Appointment" && len(parts) == 2 && r.Method == http.MethodPut:
		return s.update(r, parts[1], body, f)
	case parts[0] == "Appointment" && len(parts) == 2 && r.Method == http.MethodGet:
		for _, v := range s.visits {
			if v.id == parts[1] && !s.Clock.Now().Before(v.readFrom) {
				return s.shown(200, v)
			}
		}
		return outcome(404, "error", "not-found", "")
	case len(parts) == 2 && r.Method == http.MethodGet && (parts[0] == "Slot" || parts[0] == "Patient"):
		from := map[string]map[string]map[string]any{"Slot": s.slots, "Patient": s.people}[parts[0]]
		if one := from[parts[1]]; one != nil {
			return answer(200, one)
		}
		return outcome(404, "error", "not-found", "")
	}
	return outcome(404, "error", "not-supported", "")
}

// shown is a visit as a read gives it, with its version in the header too.
func (s *Server) shown(status int, v *visit) reply {
	out := answer(status, v.now())
	out.header.Set("ETag", fmt.Sprintf(`W/"%d"`, len(v.versions)))
	return out
}

func (s *Server) metadata() reply {
	if s.Mode.NoMetadata {
		return outcome(404, "error", "not-found", "")
	}
	interactions := []any{map[string]any{"code": "read"}, map[string]any{"code": "search-type"}, map[string]any{"code": "create"}}
	if !s.Mode.NoUpdate {
		interactions = append(interactions, map[string]any{"code": "update"})
	}
	search := []any{map[string]any{"name": "patient", "type": "reference"}, map[string]any{"name": "date", "type": "date"}}
	if !s.Mode.NoSearch && !s.Mode.NoIdentifiers {
		search = append(search, map[string]any{"name": "identifier", "type": "token"})
	}
	return answer(200, map[string]any{"resourceType": "CapabilityStatement", "status": "active", "fhirVersion": "4.0.1", "rest": []any{map[string]any{"mode": "server",
		"resource": []any{map[string]any{"type": "Appointment", "interaction": interactions, "searchParam": search, "versioning": "versioned-update",
			"conditionalCreate": s.Mode.Conditional}}}}})
}

// write puts the answer on the wire, or does what the fault does instead.
func write(w http.ResponseWriter, r *http.Request, out reply, f Fault, closed <-chan struct{}) {
	if f.Hang {
		select {
		case <-r.Context().Done():
		case <-closed:
		}
	}
	if f.Hang || f.Drop {
		panic(http.ErrAbortHandler) // the connection ends without an answer
	}
	for name, values := range out.header {
		w.Header()[name] = values
	}
	data := out.bytes(f)
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/fhir+json; charset=utf-8")
	}
	if f.ContentType != "" {
		w.Header().Set("Content-Type", f.ContentType)
	}
	if f.Cut {
		w.Header().Set("Content-Length", fmt.Sprint(len(data)+10))
	}
	w.WriteHeader(out.status)
	if !f.Drip {
		_, _ = w.Write(data)
		return
	}
	for i := range data {
		_, _ = w.Write(data[i : i+1])
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-closed:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (o reply) bytes(f Fault) []byte {
	if f.Raw != nil {
		return f.Raw
	}
	if o.body == nil {
		return nil
	}
	data, err := json.Marshal(o.body)
	if err != nil {
		panic(err)
	}
	return data
}
