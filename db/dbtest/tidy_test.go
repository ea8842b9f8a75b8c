package dbtest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const victim = "DBTEST_VICTIM"

// A test process that dies badly leaves neither server nor folder.
func TestNothingIsLeftBehind(t *testing.T) {
	if how := os.Getenv(victim); how != "" {
		URL(t, func(context.Context, string) error { return nil })
		lines, err := os.ReadFile(filepath.Join(shared.dir, "postgres", "postmaster.pid"))
		if err != nil {
			t.Fatal(err)
		}
		fields := strings.Split(string(lines), "\n")
		fmt.Printf("left %s %s %s\n", shared.dir, fields[0], fields[4])
		if how == "panic" {
			go panic("as a test might")
		}
		select {}
	}
	for _, how := range []string{"panic", "kill"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.run=^TestNothingIsLeftBehind$")
			cmd.Env = append(os.Environ(), victim+"="+how)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var dir, socketDir string
			var pid int
			for lines := bufio.NewScanner(out); lines.Scan(); {
				if n, _ := fmt.Sscanf(lines.Text(), "left %s %d %s", &dir, &pid, &socketDir); n == 3 {
					break
				}
			}
			if how == "kill" {
				cmd.Process.Kill()
			}
			cmd.Wait()
			if pid == 0 {
				t.Fatal("the victim never had a database")
			}
			deadline := time.Now().Add(20 * time.Second)
			for exists(dir) || exists(socketDir) || syscall.Kill(pid, 0) == nil {
				if time.Now().After(deadline) {
					t.Fatalf("still there: folder %v, socket %v, server %v", exists(dir), exists(socketDir), syscall.Kill(pid, 0) == nil)
				}
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// When the watching shell was killed too, the next test process removes the folder; it leaves those in use alone.
func TestAbandonedFoldersAreRemoved(t *testing.T) {
	root := t.TempDir()
	folder := func(name string, age time.Duration) (dir string, lock *os.File) {
		dir = filepath.Join(root, prefix+name)
		if err := os.Mkdir(dir, 0o711); err != nil {
			t.Fatal(err)
		}
		lock, err := os.Create(filepath.Join(dir, "lock"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { lock.Close() })
		if err := os.Chtimes(dir, time.Now().Add(-age), time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
		return dir, lock
	}
	abandoned, _ := folder("abandoned", time.Hour)
	starting, _ := folder("starting", 0)
	used, lock := folder("used", time.Hour)
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	removeAbandoned(root)
	if exists(abandoned) || !exists(starting) || !exists(used) {
		t.Errorf("there: abandoned %v, starting %v, used %v; want only the last two", exists(abandoned), exists(starting), exists(used))
	}
}
