package journeys

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// program is somebody's program at the JSON API.
type program struct {
	w     *world
	token string
}

// said is an answer of the API.
type said struct {
	status int
	header http.Header
	raw    string
	body   map[string]any
}

func (w *world) program(token string) program { return program{w, token} }

func (p program) get(path string) said { p.w.t.Helper(); return p.send("GET", path, nil) }

// post sends an object; further arguments are headers, name and value.
func (p program) post(path string, body map[string]any, headers ...string) said {
	p.w.t.Helper()
	return p.send("POST", path, body, headers...)
}

func (p program) send(method, path string, body map[string]any, headers ...string) said {
	p.w.t.Helper()
	a, err := p.try(method, path, body, headers...)
	p.w.must(err)
	return a
}

// try may fail to get an answer.
func (p program) try(method, path string, body map[string]any, headers ...string) (said, error) {
	p.w.t.Helper()
	b, err := json.Marshal(body)
	p.w.must(err)
	var in io.Reader
	if body != nil {
		in = bytes.NewReader(b)
	}
	req, err := http.NewRequest(method, p.w.url+"/api/v1"+path, in)
	p.w.must(err)
	req.Header.Set("Authorization", "Bearer "+p.token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return said{}, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return said{}, err
	}
	a := said{status: res.StatusCode, header: res.Header, raw: string(raw), body: map[string]any{}}
	p.w.must(json.Unmarshal(raw, &a.body))
	return a, nil
}

// is fails the test unless the answer has the status.
func (p program) is(a said, status int) said {
	p.w.t.Helper()
	if a.status != status {
		p.w.t.Fatalf("answered %d, want %d: %s", a.status, status, a.raw)
	}
	return a
}

// at reads a member by its path, as in "error.code" or "items.0.id"; nil when there is none.
func (a said) at(path string) any {
	var v any = a.body
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			i := int(name[0] - '0')
			if i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

func (a said) text(path string) string {
	s, _ := a.at(path).(string)
	return s
}

// move proposes that a visit is moved, and is the answer.
func (p program) move(visit, at string) said {
	p.w.t.Helper()
	return p.is(p.post("/proposals", map[string]any{"action": "reschedule_appointment@1", "parameters": map[string]any{"appointment": visit, "starts_at": at}}), http.StatusCreated)
}

// decision is the body that confirms what an answer shows.
func (a said) decision(key string) map[string]any {
	d := map[string]any{"revision": a.at("revision"), "plan_hash": a.text("plan_hash")}
	if key != "" {
		d["idempotency_key"] = key
	}
	return d
}

// confirm confirms what a proposing answer shows.
func (p program) confirm(proposal said, key string) said {
	p.w.t.Helper()
	return p.post("/proposals/"+proposal.text("id")+"/confirm", proposal.decision(key))
}
