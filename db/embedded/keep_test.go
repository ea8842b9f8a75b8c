//go:build unix

package embedded

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// The server is killed or told to quit while its program lives: it comes back at the same URL with what was committed,
// each time, and is still stopped cleanly.
func TestAServerThatEndsByItselfIsStartedAgain(t *testing.T) {
	t.Parallel()
	dir := newDataDir(t)
	c := mustStart(t, dir)
	url := c.URL()
	mustExec(t, c, `CREATE TABLE kept AS SELECT 'yes' AS v`)
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGQUIT, syscall.SIGKILL} {
		old, err := readPIDFile(filepath.Join(dir, "postgres", "postmaster.pid"))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(old.pid, signal); err != nil {
			t.Fatal(err)
		}
		for began := time.Now(); alive(old.pid) || !answers(t.Context(), url); time.Sleep(20 * time.Millisecond) {
			if time.Since(began) > time.Minute {
				t.Fatalf("%v: it did not come back", signal)
			}
		}
		if got := read(t, c, `SELECT v FROM kept`); got != "yes" {
			t.Errorf("%v: kept %q", signal, got)
		}
	}
	mustStop(t, c)
	if answers(t.Context(), url) {
		t.Error("it serves after the stop")
	}
}

// A stop while the server is down, or on its way up, leaves nothing running.
func TestStopWhileTheServerIsDown(t *testing.T) {
	t.Parallel()
	dir := newDataDir(t)
	c := mustStart(t, dir)
	old, err := readPIDFile(filepath.Join(dir, "postgres", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(old.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for alive(old.pid) {
		time.Sleep(10 * time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = c.Stop(ctx) // says that the server had ended, unless it was up again
	if answers(t.Context(), c.URL()) {
		t.Fatal("a server runs after Stop")
	}
	mustStart(t, dir)
}
