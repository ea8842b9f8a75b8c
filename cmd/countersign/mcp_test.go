package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// built is the real program.
func built(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "countersign")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// stdio is a session with `countersign mcp` as a child.
func stdio(t *testing.T, program string, environ []string, args ...string) (*mcp.ClientSession, *output, error) {
	t.Helper()
	said := &output{}
	child := exec.Command(program, append([]string{"mcp"}, args...)...)
	child.Env, child.Stderr = append([]string{"HOME=" + os.Getenv("HOME")}, environ...), said
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: child}, nil)
	if err == nil {
		t.Cleanup(func() { session.Close() })
	}
	return session, said, err
}

// asked calls a tool and gives whether it refused, its words and its structured answer.
func asked(t *testing.T, s *mcp.ClientSession, tool string, arguments map[string]any) (bool, string, string) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	b, err := json.Marshal(r.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	return r.IsError, r.Content[0].(*mcp.TextContent).Text, string(b)
}

// An agent on standard input and output, through the server's stop and a new start, to the end of its token.
func TestAgentsOnStdio(t *testing.T) {
	program, dir := built(t), t.TempDir()
	server := start(t, nil, "--demo", "--data-dir", dir)
	session, _, err := stdio(t, program, []string{"COUNTERSIGN_TOKEN=demo-agent", "COUNTERSIGN_URL=" + server.url})
	if err != nil {
		t.Fatal(err)
	}
	if in := session.InitializeResult().Instructions; !strings.Contains(in, "nothing has happened yet") {
		t.Errorf("instructions: %q", in)
	}
	var names []string
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
		if schema := tool.InputSchema.(map[string]any); schema["additionalProperties"] != false {
			t.Errorf("%s takes anything", tool.Name)
		}
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "find_patient find_slots get_appointment get_proposal list_my_proposals propose_booking propose_cancellation "+
		"propose_message propose_registration propose_reschedule withdraw_proposal" {
		t.Errorf("tools: %s", got)
	}
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "confirm_proposal"}); err == nil {
		t.Error("there is a tool that confirms")
	}

	refused, words, _ := asked(t, session, "find_patient", map[string]any{"query": "jensen maria"})
	if refused || !strings.Contains(words, "2 patients fit") {
		t.Errorf("find: %q", words)
	}
	refused, words, card := asked(t, session, "propose_cancellation", map[string]any{"appointment": "appt_maria84", "reason_code": "other"})
	var made struct {
		DecideAt string `json:"decide_at"`
		Proposal struct{ ID, State string }
	}
	if json.Unmarshal([]byte(card), &made) != nil || refused || !strings.HasPrefix(words, "Nothing has happened yet") ||
		made.DecideAt != server.url+"/proposals/"+made.Proposal.ID || made.Proposal.State != "proposed" {
		t.Fatalf("propose: %q %s", words, card)
	}
	for arguments, code := range map[string]string{`{"query":1}`: "validation_failed", `{"query":"x","and":"y"}`: "validation_failed", `{}`: "validation_failed"} {
		var with map[string]any
		_ = json.Unmarshal([]byte(arguments), &with)
		if refused, words, body := asked(t, session, "find_patient", with); !refused || !strings.HasPrefix(words, code+": ") || !strings.Contains(body, `"retry":"never"`) {
			t.Errorf("%s: %q %s", arguments, words, body)
		}
	}

	var wait sync.WaitGroup // several sessions at once
	for range 2 {
		wait.Go(func() {
			other, _, err := stdio(t, program, nil, "--token", "demo-agent", "--url", server.url+"/")
			if err != nil {
				t.Error(err)
				return
			}
			for range 5 {
				if r, err := other.CallTool(t.Context(), &mcp.CallToolParams{Name: "find_patient", Arguments: map[string]any{"query": "jensen maria"}}); err != nil || !strings.HasPrefix(r.Content[0].(*mcp.TextContent).Text, "2 patients") {
					t.Errorf("%v %v", r, err)
				}
			}
		})
	}
	wait.Wait()
	if _, said, err := stdio(t, program, nil, "--token", "demo-reviewer", "--url", server.url); err == nil || !strings.Contains(said.String(), "permission_denied: This is a person's token") {
		t.Errorf("it starts with a person's token: %v %s", err, said)
	}

	began := time.Now()
	if status := server.end(); status != 0 || time.Since(began) > drainWithin/2 {
		t.Errorf("with agents connected it stopped with %d after %s", status, time.Since(began))
	}
	if refused, words, _ := asked(t, session, "get_proposal", map[string]any{"proposal": made.Proposal.ID}); !refused || !strings.HasPrefix(words, "internal: The Countersign server did not answer") {
		t.Errorf("without a server: %q", words)
	}
	again := start(t, nil, "--demo", "--data-dir", dir, "--addr", strings.TrimPrefix(server.url, "http://"))
	if refused, words, _ := asked(t, session, "get_proposal", map[string]any{"proposal": made.Proposal.ID}); refused || !strings.HasPrefix(words, "Nothing has happened yet") {
		t.Errorf("after a new start: %q", words)
	}
	again.end()
	plain := start(t, nil, "--data-dir", dir, "--addr", strings.TrimPrefix(server.url, "http://")) // the demo's tokens end
	if refused, words, body := asked(t, session, "find_patient", map[string]any{"query": "maria"}); !refused || !strings.HasPrefix(words, "unauthenticated: ") || !strings.Contains(body, `"retry":"same-key"`) {
		t.Errorf("a token that has ended: %q %s", words, body)
	}
	if _, said, err := stdio(t, program, nil, "--token", "demo-agent", "--url", plain.url); err == nil || !strings.Contains(said.String(), "unauthenticated") {
		t.Errorf("it starts with a token that has ended: %v %s", err, said)
	}
	plain.end()
}

func TestTheDoorOfAgents(t *testing.T) {
	for _, c := range []struct {
		environ, args []string
		status        int
		says          string
	}{
		{nil, nil, 2, "COUNTERSIGN_TOKEN"},
		{[]string{"COUNTERSIGN_TOKEN=secret"}, []string{"--url", "desk.example.org"}, 2, "--url"},
		{[]string{"COUNTERSIGN_TOKEN=secret"}, []string{"--url", "ftp://desk.example.org"}, 2, "--url"},
		{[]string{"COUNTERSIGN_TOKEN=secret"}, []string{"--url", "http://127.0.0.1:1"}, 1, "no Countersign server answers"},
	} {
		if status, stdout, stderr := said(t, c.environ, append([]string{"mcp"}, c.args...)...); status != c.status || stdout != "" || !strings.Contains(stderr, c.says) || strings.Contains(stderr, "secret") {
			t.Errorf("%v: %d %q %q", c.args, status, stdout, stderr)
		}
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the token went along a redirect: %q", r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	wrong := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer wrong.Close()
	if status, _, stderr := said(t, nil, "mcp", "--token", "secret", "--url", wrong.URL); status != 1 || !strings.Contains(stderr, "no Countersign server answers") {
		t.Errorf("a redirect: %d %q", status, stderr)
	}
}
