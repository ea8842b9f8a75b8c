//go:build unix

// Package fhirserver gives tests a FHIR R4 server that we did not write: Medplum's router and in-memory repository, run
// by Node from their npm packages behind the few lines of testdata/server.mjs. Node and npm are required: a test that
// lacks them fails and says so.
//
// What the server does not do: it has no CapabilityStatement, its transaction bundles are not atomic, a deleted resource
// is 404, every PUT makes a version, and it forgets all when it ends.
package fhirserver

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds fetching the packages and, apart, the start: some 5 s and 2 s on a quiet machine.
const patience = 2 * time.Minute

//go:embed testdata/server.mjs
var program string

// Server is a running process. It ends with Close, and with the process that started it.
type Server struct {
	Base string // http://127.0.0.1:PORT
	cmd  *exec.Cmd
	in   io.Closer
	errs *tail
}

// Start brings a server up on a free port and waits until it answers.
func Start(ctx context.Context) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, errors.New("the FHIR server of the tests needs Node 20 or later and npm, and node is not on PATH: sh scripts/need.sh node")
	}
	packages, err := install(ctx)
	if err != nil {
		return nil, err
	}
	s := &Server{cmd: exec.Command(node, "--input-type=module", "--eval", program), errs: &tail{}}
	s.cmd.Dir = packages
	s.cmd.Stderr = s.errs
	// The server ends when this pipe does: nothing outlives a test process that is killed.
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the FHIR server: %w", err)
	}
	ready := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n')
		ready <- strings.TrimSpace(line)
	}()
	select {
	case s.Base = <-ready:
	case <-ctx.Done():
	}
	if s.Base == "" {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		return nil, fmt.Errorf("the FHIR server did not start: %s", s.errs)
	}
	return s, nil
}

// Close ends the server and waits until it is gone.
func (s *Server) Close() error {
	s.in.Close()
	return s.cmd.Wait()
}

// shared is the server that the tests of one process share: each has a repository of its own in it.
var shared struct {
	once   sync.Once
	server *Server
	err    error
	mu     sync.Mutex
	made   int
}

// URL is the base (no slash at its end) of an empty FHIR R4 server for this test, as in URL(t) + "/Patient". Parallel
// tests may call it.
func URL(t testing.TB) string {
	t.Helper()
	shared.once.Do(func() { shared.server, shared.err = Start(context.Background()) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.made++
	return fmt.Sprintf("%s/t%d", shared.server.Base, shared.made)
}

// tail keeps the last of what a process said.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailLength = 4 << 10

func (w *tail) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, b...)
	if over := len(w.text) - tailLength; over > 0 {
		w.text = w.text[over:]
	}
	return len(b), nil
}

func (w *tail) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.text)
}
