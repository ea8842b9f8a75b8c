package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcp lets an agent on this machine speak to a running server on standard input and output. It keeps nothing and
// decides nothing: the tools are the server's, and each call is passed on with the agent's token.
func (p *program) mcp(ctx context.Context, args []string) error {
	var c config
	f := flag.NewFlagSet("mcp", flag.ContinueOnError)
	c.mcpFlags(f)
	if err := p.parse(f, args); err != nil {
		return err
	}
	at, err := url.Parse(c.url)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		return p.wrong("--url is the address of the running server, such as https://desk.example.org")
	}
	if c.token == "" {
		return p.wrong("an agent's token is needed: COUNTERSIGN_TOKEN, or --token (see countersign token add)")
	}
	door := &serverDoor{url: strings.TrimRight(c.url, "/"), token: c.token}
	defer door.close()
	session, err := door.open(ctx)
	if err != nil {
		return door.cannotOpen(err)
	}
	about := session.InitializeResult()
	local := mcp.NewServer(about.ServerInfo, &mcp.ServerOptions{Instructions: about.Instructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return door.cannotOpen(err)
		}
		local.AddTool(t, door.pass)
	}
	err = local.Run(ctx, &mcp.StdioTransport{})
	if ctx.Err() != nil {
		return nil // asked to stop
	}
	return err
}

// serverDoor is the way to the running server: one session, opened anew after it broke.
type serverDoor struct {
	url, token string

	mu      sync.Mutex
	session *mcp.ClientSession
}

func (d *serverDoor) open(ctx context.Context) (*mcp.ClientSession, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.session != nil {
		return d.session, nil
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "countersign-mcp", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: d.url + "/mcp", MaxRetries: -1, DisableStandaloneSSE: true,
		HTTPClient: &http.Client{Timeout: time.Minute, Transport: d, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // the token goes to no other address
		}}}, nil)
	if err == nil {
		d.session = session
	}
	return session, err
}

func (d *serverDoor) drop(broken *mcp.ClientSession) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.session == broken {
		d.session = nil
	}
	_ = broken.Close() // it is broken already
}

func (d *serverDoor) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.session != nil {
		_ = d.session.Close() // the server keeps no sessions
	}
}

// pass hands a call on, once: what was not answered may have been done, so it is told and never repeated.
func (d *serverDoor) pass(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	session, err := d.open(ctx)
	if err != nil {
		return d.told(err), nil
	}
	call := &mcp.CallToolParams{Name: r.Params.Name}
	if len(r.Params.Arguments) > 0 {
		call.Arguments = r.Params.Arguments
	}
	result, err := session.CallTool(ctx, call)
	if err == nil {
		return result, nil
	}
	d.drop(session)
	return d.told(err), nil
}

// told is a call that the server refused as a whole, or did not answer, as a result the agent can read.
func (d *serverDoor) told(err error) *mcp.CallToolResult {
	var no *refusedAtDoor
	if !errors.As(err, &no) {
		no = &refusedAtDoor{Code: "internal", Message: "The Countersign server did not answer. What was asked for may have been proposed; nothing was decided. Look with list_my_proposals before you ask again."}
		no.body, _ = json.Marshal(map[string]any{"status": "error", "error": map[string]any{"code": no.Code, "message": no.Message, "retry": "never"}})
	}
	return &mcp.CallToolResult{IsError: true, StructuredContent: no.body,
		Content: []mcp.Content{&mcp.TextContent{Text: no.Code + ": " + no.Message}, &mcp.TextContent{Text: string(no.body)}}}
}

func (d *serverDoor) cannotOpen(err error) error {
	var no *refusedAtDoor
	if errors.As(err, &no) {
		return fmt.Errorf("the server at %s refuses: %s: %s", d.url, no.Code, no.Message)
	}
	return fmt.Errorf("no Countersign server answers at %s; is it running there? (%w)", d.url, err)
}

// refusedAtDoor is an answer of the server that is no answer to a message: a token that does not work, say.
type refusedAtDoor struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	body    json.RawMessage
}

func (r *refusedAtDoor) Error() string { return r.Code }

// RoundTrip adds the token, and turns refusals of the whole request into errors.
func (d *serverDoor) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+d.token)
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || answer.StatusCode < 400 {
		return answer, err
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	answer.Body.Close()
	if err != nil {
		return nil, err
	}
	var said struct{ Error refusedAtDoor }
	if json.Unmarshal(text, &said) == nil && said.Error.Code != "" && json.Valid(text) {
		said.Error.body = bytes.TrimSpace(text)
		return nil, &said.Error
	}
	answer.Body = io.NopCloser(bytes.NewReader(text))
	return answer, nil
}
