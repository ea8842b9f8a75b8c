package handlers

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/internal/account"
)

// agentSite is desktest's world as agents meet it, over streamable HTTP with the SDK's own client.
type agentSite struct {
	*deskSite
	tokens map[string]string // bot and bot2 are ana's agents, ben_bot and ada_bot are others', lake_bot is of the other clinic; ana is a person's token
}

func newAgentSite(t *testing.T) *agentSite {
	t.Helper()
	s := &agentSite{newDeskSite(t), map[string]string{}}
	for name, token := range map[string]account.Token{"bot": {Kind: "agent"}, "bot2": {Kind: "agent"}, "lake_bot": {Kind: "agent"},
		"ben_bot": {Kind: "agent"}, "ada_bot": {Kind: "agent"}, "ana": {Kind: "user", Decide: true}} {
		owner := map[string]string{"bot": "ana", "bot2": "ana", "ben_bot": "ben", "ada_bot": "ada", "lake_bot": "lake_ana"}[name]
		if owner == "" {
			owner = name
		}
		secret, err := s.deps.Accounts.AddToken(t.Context(), owner+"@example.test", token)
		if err != nil {
			t.Fatal(err)
		}
		s.tokens[name] = secret
	}
	return s
}

// bearing adds a token to each request.
type bearing string

func (token bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}

// agent is a session of the SDK's client.
type agent struct {
	t *testing.T
	*mcp.ClientSession
}

func connect(t *testing.T, transport mcp.Transport) (*agent, error) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, transport, nil)
	return &agent{t, session}, err
}

func (s *agentSite) agent(who string) *agent {
	s.t.Helper()
	a, err := connect(s.t, &mcp.StreamableClientTransport{Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: bearing(s.tokens[who])}})
	if err != nil {
		s.t.Fatalf("%s cannot connect: %v", who, err)
	}
	s.t.Cleanup(func() { a.Close() })
	return a
}

// toolSaid is a tool's result, read.
type toolSaid struct {
	refused bool
	words   string
	object  map[string]any
}

func (s toolSaid) code() string { c, _ := at(s.object, "error", "code").(string); return c }

func (s toolSaid) text(names ...string) string { v, _ := at(s.object, names...).(string); return v }

func (s toolSaid) items(name string) []any { v, _ := at(s.object, name).([]any); return v }

// call calls a tool; a refusal too must be a result.
func (a *agent) call(name string, arguments map[string]any) toolSaid {
	a.t.Helper()
	r, err := a.CallTool(a.t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		a.t.Fatalf("%s %v: an error of the protocol: %v", name, arguments, err)
	}
	return a.read(r)
}

func (a *agent) read(r *mcp.CallToolResult) toolSaid {
	a.t.Helper()
	if len(r.Content) != 2 {
		a.t.Fatalf("%d pieces of content", len(r.Content))
	}
	s := toolSaid{refused: r.IsError, words: r.Content[0].(*mcp.TextContent).Text}
	structured, err := json.Marshal(r.StructuredContent)
	if err != nil {
		a.t.Fatal(err)
	}
	var again map[string]any
	if json.Unmarshal(structured, &s.object) != nil || json.Unmarshal([]byte(r.Content[1].(*mcp.TextContent).Text), &again) != nil {
		a.t.Fatalf("not an object: %s", structured)
	}
	if b, _ := json.Marshal(again); string(b) != string(structured) {
		a.t.Errorf("the text is not the structured answer:\n%s\n%s", b, structured)
	}
	if s.text("notice") != dataNotice {
		a.t.Errorf("free text is not labelled: %s", structured)
	}
	if s.refused != (s.code() != "") || s.refused && (s.text("error", "retry") == "" || s.text("error", "message") == "" || !strings.HasPrefix(s.words, s.code()+": ")) {
		a.t.Errorf("a refusal lacks code, retry or message: %v %q %s", s.refused, s.words, structured)
	}
	return s
}

// done calls a tool that must succeed.
func (a *agent) done(name string, arguments map[string]any) toolSaid {
	a.t.Helper()
	s := a.call(name, arguments)
	if s.refused {
		a.t.Fatalf("%s %v: %s", name, arguments, s.words)
	}
	return s
}

// refused calls a tool that must be refused with a code.
func (a *agent) refused(code, name string, arguments map[string]any) toolSaid {
	a.t.Helper()
	s := a.call(name, arguments)
	if s.code() != code {
		a.t.Errorf("%s %v: %q, want %s", name, arguments, s.words, code)
	}
	return s
}

// world is all that only a decision may change.
func (s *agentSite) world() string {
	return s.Text(`SELECT (SELECT string_agg(a::text, '|' ORDER BY id) FROM appointments a) || (SELECT count(*) FROM outbox) || (SELECT string_agg(p::text, '|' ORDER BY id) FROM patients p)
		|| (SELECT count(*) FROM proposals WHERE state NOT IN ('proposed', 'withdrawn'))`)
}

type args = map[string]any
