//go:build unix

package embedded

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestServerStopsCleanlyWhenItsProgramIsKilled(t *testing.T) {
	t.Parallel()
	dir := newDataDir(t)
	parent, ready := startParent(t, dir, nil)
	url := ready()
	db, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE kept AS SELECT 'yes' AS v`); err != nil {
		t.Fatal(err)
	}
	old, err := readPIDFile(filepath.Join(dir, "postgres", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	kill(t, parent)

	c := mustStart(t, dir) // at once, while the old server is on its way down
	if runtime.GOOS == "linux" && c.server.process.Pid == old.pid {
		t.Error("the server outlived its program")
	}
	if got := read(t, c, `SELECT v FROM kept`); got != "yes" {
		t.Errorf("kept: %q", got)
	}
	if log := serverLog(t, dir); strings.Contains(log, "was interrupted") || strings.Contains(log, "not properly shut down") {
		t.Errorf("the server was not shut down cleanly:\n%s", log)
	}
}

func TestRecoversWhenProgramAndServerAreKilled(t *testing.T) {
	t.Parallel()
	dir := newDataDir(t)
	parent, ready := startParent(t, dir, nil)
	url := ready()
	db, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE kept AS SELECT 'yes' AS v`); err != nil {
		t.Fatal(err)
	}
	server, err := readPIDFile(filepath.Join(dir, "postgres", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	// Stopped, the program can neither see its server go nor reap it: a zombie, as after a kill of everything.
	if err := parent.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(server.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	kill(t, parent)
	if got := read(t, mustStart(t, dir), `SELECT v FROM kept`); got != "yes" {
		t.Errorf("kept: %q", got)
	}
}

func TestRecoversFromKillDuringInitialisation(t *testing.T) {
	t.Parallel()
	for _, after := range []string{"PG_VERSION", "global", "base/1"} { // one file of an early, a middle and a late step
		t.Run(strings.ReplaceAll(after, "/", "_"), func(t *testing.T) {
			dir := newDataDir(t)
			parent, _ := startParent(t, dir, nil)
			deadline := time.Now().Add(30 * time.Second)
			for {
				found, _ := filepath.Glob(filepath.Join(dir, "postgres.init-*", after))
				if len(found) > 0 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("initialisation never got there")
				}
				time.Sleep(time.Millisecond)
			}
			kill(t, parent)
			if _, err := os.Stat(filepath.Join(dir, "postgres")); err == nil {
				t.Fatal("killed too late to prove anything")
			}
			if got := read(t, mustStart(t, dir), `SELECT 1`); got != "1" {
				t.Error("no answer")
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "postgres.init-*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// runAs starts a program as the account that runs the server of dir.
func runAs(t *testing.T, dir, program string, args ...string) *exec.Cmd {
	t.Helper()
	acct, err := serverAccount(clusterDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	cmd := acct.command("/", program, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGINT)
		<-ended
	})
	return cmd
}

func TestStaleProcessIDOfAnotherProgram(t *testing.T) {
	t.Parallel()
	dir := newDataDir(t)
	c := mustStart(t, dir)
	mustExec(t, c, `CREATE TABLE kept AS SELECT 'yes' AS v`)
	pidPath := filepath.Join(dir, "postgres", "postmaster.pid")
	text, err := os.ReadFile(pidPath)
	if err != nil {
		t.Fatal(err)
	}
	mustStop(t, c)

	other := runAs(t, dir, "sleep", "60")
	_, rest, _ := strings.Cut(string(text), "\n")
	stale := fmt.Sprintf("%d\n%s", other.Process.Pid, rest)
	if err := os.WriteFile(pidPath, []byte(stale), 0o600); err != nil {
		t.Fatal(err)
	}
	acct, err := serverAccount(clusterDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := acct.own(pidPath); err != nil {
		t.Fatal(err)
	}
	// A killed server leaves the same id beside its socket.
	socketDir, err := makeSocketDir(clusterDir(dir), acct)
	if err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(socketDir, ".s.PGSQL.5432.lock")
	if err := errors.Join(os.WriteFile(lock, []byte(stale), 0o600), acct.own(lock)); err != nil {
		t.Fatal(err)
	}

	if got := read(t, mustStart(t, dir), `SELECT v FROM kept`); got != "yes" {
		t.Errorf("kept: %q", got)
	}
	if !alive(other.Process.Pid) {
		t.Error("the other program was ended")
	}
}

// serverByHand starts a server on dir's cluster that no program of ours owns.
func serverByHand(t *testing.T, dir, socketDir string) *exec.Cmd {
	t.Helper()
	acct, err := serverAccount(clusterDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	bin, err := findBinaries(t.Context(), acct, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	cmd := runAs(t, dir, bin.program("postgres"), serverArgs(clusterDir(dir), socketDir, Options{})...)
	for deadline := time.Now().Add(20 * time.Second); !answers(t.Context(), socketURL(socketDir, Database)); {
		if time.Now().After(deadline) {
			t.Fatal("no server by hand")
		}
		time.Sleep(20 * time.Millisecond)
	}
	return cmd
}

func TestOrphanedServerIsTakenOver(t *testing.T) {
	t.Parallel()
	dir := newDataDir(t)
	c := mustStart(t, dir)
	mustStop(t, c)
	acct, err := serverAccount(clusterDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	socketDir, err := makeSocketDir(clusterDir(dir), acct)
	if err != nil {
		t.Fatal(err)
	}
	orphan := serverByHand(t, dir, socketDir)

	c = mustStart(t, dir)
	if c.server.process.Pid != orphan.Process.Pid {
		t.Errorf("process %d, want the orphan %d", c.server.process.Pid, orphan.Process.Pid)
	}
	mustStop(t, c)
	if alive(orphan.Process.Pid) {
		t.Error("Stop left the server running")
	}
}

func TestForeignServerIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := newDataDir(t)
	mustStop(t, mustStart(t, dir))
	acct, err := serverAccount(clusterDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	socketDir, err := makeSocketDir("/elsewhere/"+dir, acct)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(socketDir) })
	foreign := serverByHand(t, dir, socketDir)
	if _, err := start(t, dir); !errors.Is(err, ErrForeignServer) {
		t.Errorf("start: %v", err)
	}
	if !alive(foreign.Process.Pid) {
		t.Error("a server we did not start was stopped")
	}
}
