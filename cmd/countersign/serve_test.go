package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// running is a serve of this process.
type running struct {
	t      *testing.T
	url    string
	stop   context.CancelFunc
	status chan int
	stdout *output
	stderr *output
}

type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

var readyLine = regexp.MustCompile(`^listening on (http://127\.0\.0\.1:[0-9]+)\n$`)

func start(t *testing.T, environ []string, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{t: t, stop: cancel, status: make(chan int, 1), stdout: &output{}, stderr: &output{}}
	t.Cleanup(cancel)
	go func() {
		r.status <- run(ctx, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...), environ, r.stdout, r.stderr)
	}()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if m := readyLine.FindStringSubmatch(r.stdout.String()); m != nil {
			r.url = m[1]
			return r
		}
		select {
		case status := <-r.status:
			t.Fatalf("serve ended with %d: %s", status, r.stderr)
		default:
		}
	}
	t.Fatalf("serve is not ready: %q %s", r.stdout, r.stderr)
	return nil
}

// end asks it to stop, as a signal does, and gives the exit status.
func (r *running) end() int {
	r.stop()
	select {
	case status := <-r.status:
		return status
	case <-time.After(time.Minute):
		r.t.Fatal("serve does not stop")
		return -1
	}
}

func (r *running) get(path, token string) (int, string) {
	r.t.Helper()
	req, err := http.NewRequest(http.MethodGet, r.url+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return r.answer(req)
}

func (r *running) signIn(email, password string) int {
	r.t.Helper()
	req, err := http.NewRequest(http.MethodPost, r.url+"/signin", strings.NewReader(url.Values{"email": {email}, "password": {password}}.Encode()))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	status, _ := r.answer(req)
	return status
}

func (r *running) answer(req *http.Request) (int, string) {
	r.t.Helper()
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// One data directory through a demo, commands beside it, a second start, and a later start without --demo.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	r := start(t, []string{"COUNTERSIGN_METRICS_ADDR=127.0.0.1:0"}, "--demo", "--data-dir", dir)
	for _, path := range []string{"/healthz", "/readyz"} {
		if status, _ := r.get(path, ""); status != http.StatusOK {
			t.Errorf("%s: %d", path, status)
		}
	}
	for _, token := range []string{"demo-staff", "demo-staff2", "demo-reviewer", "demo-reviewer2", "demo-admin", "demo-lakeview", "demo-agent"} {
		if status, _ := r.get("/api/v1/locations", token); status != http.StatusOK {
			t.Errorf("%s: %d", token, status)
		}
	}
	for _, email := range []string{"staff@demo.test", "staff2@demo.test", "reviewer@demo.test", "reviewer2@demo.test", "admin@demo.test", "staff@lakeview.test"} {
		if status := r.signIn(email, "countersign-demo"); status != http.StatusSeeOther {
			t.Errorf("%s: %d", email, status)
		}
	}

	status, stdout, stderr := said(t, nil, "serve", "--addr", "127.0.0.1:0", "--data-dir", dir)
	if status != 1 || stdout != "" || !strings.Contains(stderr, "in use") || !strings.Contains(stderr, dir) {
		t.Errorf("a second serve: %d %q", status, stderr)
	}
	if info, err := os.Stat(filepath.Join(dir, "database-url")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("database-url: %v %v", info, err)
	}

	beside := func(args ...string) string {
		t.Helper()
		status, stdout, stderr := said(t, nil, append(args, "--data-dir", dir)...)
		if status != 0 {
			t.Fatalf("%v: %d %s", args, status, stderr)
		}
		return strings.TrimSuffix(stdout, "\n")
	}
	password := beside("user", "add", "--clinic", "Havnegade", "--email", "New@clinic.test", "--name", "New Person", "--role", "staff")
	if len(password) < 15 || r.signIn("new@clinic.test", password) != http.StatusSeeOther {
		t.Errorf("the password of the new account does not work")
	}
	token := beside("token", "add", "--email", "new@clinic.test", "--kind", "user", "--decide")
	if status, _ := r.get("/api/v1/locations", token); status != http.StatusOK {
		t.Errorf("the new token: %d", status)
	}
	if status, _, stderr := said(t, nil, "token", "add", "--email", "new@clinic.test", "--kind", "agent", "--decide", "--data-dir", dir); status != 1 || !strings.Contains(stderr, "never decides") {
		t.Errorf("an agent that decides: %d %q", status, stderr)
	}
	if status, _, stderr := said(t, nil, "user", "add", "--clinic", "Nowhere", "--email", "x@y.test", "--name", "X", "--role", "staff", "--data-dir", dir); status != 1 || !strings.Contains(stderr, "no clinic") {
		t.Errorf("no such clinic: %d %q", status, stderr)
	}
	if status, _, stderr := said(t, nil, "user", "add", "--clinic", "hav", "--email", "staff@demo.test", "--name", "X", "--role", "chief", "--data-dir", dir); status != 1 || !strings.Contains(stderr, "role: ") {
		t.Errorf("no such role: %d %q", status, stderr)
	}
	if out := beside("migrate", "status"); !strings.Contains(out, "applied") || strings.Contains(out, "pending") {
		t.Errorf("migrate status: %q", out)
	}
	beside("migrate", "up")
	beside("seed", "--size", "small")

	if status := r.end(); status != 0 || !readyLine.MatchString(r.stdout.String()) {
		t.Errorf("stopped with %d, standard output %q", status, r.stdout)
	}
	if strings.Contains(r.stderr.String(), "countersign-demo") || strings.Contains(r.stderr.String(), password) {
		t.Error("a password is in the log")
	}

	later := start(t, nil, "--data-dir", dir)
	for _, secret := range []string{"demo-staff", "demo-agent"} {
		if status, _ := later.get("/api/v1/locations", secret); status != http.StatusUnauthorized {
			t.Errorf("%s without --demo: %d", secret, status)
		}
	}
	if status := later.signIn("staff@demo.test", "countersign-demo"); status != http.StatusUnprocessableEntity {
		t.Errorf("a demo account without --demo: %d", status)
	}
	if status, _ := later.get("/api/v1/locations", token); status != http.StatusOK {
		t.Errorf("a real token without --demo: %d", status)
	}
	beside("user", "disable", "--email", "new@clinic.test")
	if status, _ := later.get("/api/v1/locations", token); status != http.StatusUnauthorized {
		t.Errorf("a disabled person's token: %d", status)
	}
	if status := later.end(); status != 0 {
		t.Errorf("stopped with %d: %s", status, later.stderr)
	}
}
