package handlers

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"countersign/internal/account"
)

// apiSite is the application on desktest's world as a client of the API meets it: everything that is sent and answered
// is held against the description.
type apiSite struct {
	*deskSite
	doc      map[string]any
	schemas  *jsonschema.Compiler
	answered map[string]bool // "POST /proposals 201", seen
	tokens   map[string]string
}

func newAPISite(t *testing.T) *apiSite {
	t.Helper()
	doc := described(t)
	// For the test every object is closed: a member that is not described is a fault of the description.
	shut(doc["components"].(map[string]any)["schemas"])
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("openapi.json", any(doc)); err != nil {
		t.Fatal(err)
	}
	a := &apiSite{newDeskSite(t), doc, c, map[string]bool{}, map[string]string{}}
	for _, who := range []string{"ana", "emil", "ben", "ada", "lake_ana"} {
		a.tokens[who] = a.token(who, account.Token{Kind: "user", Decide: true})
	}
	a.tokens["bot"] = a.token("ana", account.Token{Kind: "agent"})
	a.tokens["reader"] = a.token("ana", account.Token{Kind: "user"})
	return a
}

func (a *apiSite) token(who string, token account.Token) string {
	a.t.Helper()
	secret, err := a.deps.Accounts.AddToken(a.t.Context(), who+"@example.test", token)
	if err != nil {
		a.t.Fatal(err)
	}
	return secret
}

// shut closes every described object.
func shut(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["properties"].(map[string]any); ok && v["type"] == "object" {
			if _, said := v["additionalProperties"]; !said {
				v["additionalProperties"] = false
			}
		}
		for _, x := range v {
			shut(x)
		}
	case []any:
		for _, x := range v {
			shut(x)
		}
	}
}

// said is an answer of the API, read.
type said struct {
	reply
	object map[string]any
}

// code is the error's, or "".
func (s said) code() string { c, _ := at(s.object, "error", "code").(string); return c }

// text is a member's text, by its path.
func (s said) text(names ...string) string { t, _ := at(s.object, names...).(string); return t }

// called sends one request as somebody ("" = nobody) and checks request and answer against the description. The path
// is below /api/v1; body is nil, text as it is, or what is made JSON.
func (a *apiSite) called(who, method, path string, body any, headers ...string) said {
	a.t.Helper()
	if who != "" {
		headers = append(headers, "Authorization", "Bearer "+a.tokens[who])
	}
	var sent string
	switch body := body.(type) {
	case nil:
	case string:
		sent = body
	default:
		b, err := json.Marshal(body)
		if err != nil {
			a.t.Fatal(err)
		}
		sent = string(b)
	}
	if body != nil && !slices.Contains(headers, "Content-Type") {
		headers = append(headers, "Content-Type", "application/json")
	}
	s := said{reply: a.browser().send(method, apiRoot+path, strings.NewReader(sent), headers...)}
	s.object = a.parse(s.body).(map[string]any)
	op, ok := a.find(method, path)
	if !ok {
		a.t.Fatalf("%s %s is not described", method, path)
	}
	a.check(op, s, sent)
	return s
}

// file asks for an answer that is no JSON document and compares its type with those described.
func (a *apiSite) file(who, path, kind string) {
	a.t.Helper()
	s := a.browser().send(http.MethodGet, apiRoot+path, nil, "Authorization", "Bearer "+a.tokens[who])
	op, _ := a.find(http.MethodGet, path)
	a.answered[op.method+" "+op.path+" "+strconv.Itoa(s.status)] = true
	got, _, _ := strings.Cut(s.header.Get("Content-Type"), ";")
	if s.status != http.StatusOK || got != kind || at(op.any, "responses", "200", "content", kind) == nil {
		a.t.Errorf("%s: %d %s", path, s.status, got)
	}
}

func (a *apiSite) parse(text string) any {
	a.t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		a.t.Fatalf("%v: %s", err, text)
	}
	return v
}

// find is the operation of a request; a path without parameters comes before one with.
func (a *apiSite) find(method, path string) (operation, bool) {
	path, _, _ = strings.Cut(path, "?")
	var found operation
	for _, op := range operations(a.doc) {
		if op.method == method && matches(op.path, path) && (found.any == nil || !strings.Contains(op.path, "{")) {
			found = op
		}
	}
	return found, found.any != nil
}

func matches(template, path string) bool {
	t, p := strings.Split(template, "/"), strings.Split(path, "/")
	return slices.EqualFunc(t, p, func(t, p string) bool { return t == p || strings.HasPrefix(t, "{") })
}

func (a *apiSite) check(op operation, s said, sent string) {
	a.t.Helper()
	name := op.method + " " + op.path
	status := strconv.Itoa(s.status)
	a.answered[name+" "+status] = true
	if strings.Contains(s.body, "%!") {
		a.t.Errorf("%s: a sentence with a hole: %s", name, s.body)
	}
	responses := at(op.any, "responses").(map[string]any)
	response, ok := responses[status]
	if !ok {
		a.t.Errorf("%s answers %s, which is not described (%s): %s", name, status, strings.Join(slices.Sorted(maps.Keys(responses)), ", "), s.body)
		return
	}
	where := "/paths/" + escaped(op.path) + "/" + strings.ToLower(op.method) + "/responses/" + status
	if ref, ok := at(response, "$ref").(string); ok {
		where = strings.TrimPrefix(ref, "#")
	}
	if err := a.valid(where+"/content/application~1json/schema", s.body); err != nil {
		a.t.Errorf("%s %s: %v\n%s", name, status, err, s.body)
	}
	for header, h := range asMap(at(follow(a.doc, response), "headers")) {
		if at(follow(a.doc, h), "required") == true && s.header.Get(header) == "" {
			a.t.Errorf("%s %s: no %s", name, status, header)
		}
	}
	if s.status < 300 && sent != "" {
		if err := a.valid("/paths/"+escaped(op.path)+"/"+strings.ToLower(op.method)+"/requestBody/content/application~1json/schema", sent); err != nil {
			a.t.Errorf("%s took a body that is not described: %v\n%s", name, err, sent)
		}
	}
}

func asMap(v any) map[string]any { m, _ := v.(map[string]any); return m }

func escaped(path string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(path)
}

func (a *apiSite) valid(pointer, text string) error {
	a.t.Helper()
	schema, err := a.schemas.Compile("openapi.json#" + pointer)
	if err != nil {
		a.t.Fatalf("%s: %v", pointer, err)
	}
	return schema.Validate(a.parse(text))
}

// want fails when the answer is another.
func (s said) want(t testing.TB, status int, code string) said {
	t.Helper()
	if s.status != status || s.code() != code {
		t.Errorf("got %d %s, want %d %s: %s", s.status, s.code(), status, code, s.body)
	}
	return s
}

// named is a decision on the proposal that s shows.
func named(s said, key string) map[string]any {
	m := map[string]any{"revision": s.object["revision"], "plan_hash": s.object["plan_hash"]}
	if key != "" {
		m["idempotency_key"] = key
	}
	return m
}

func (a *apiSite) confirm(who string, p said, key string) said {
	a.t.Helper()
	return a.called(who, http.MethodPost, "/proposals/"+p.text("id")+"/confirm", named(p, key))
}
