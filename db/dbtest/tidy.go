//go:build unix

package dbtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// root and prefix name the folders of test clusters. root is short and reachable for the account that runs PostgreSQL
// when we are root, which TMPDIR need not be.
const (
	root   = "/tmp"
	prefix = "countersign-test-"
)

// makeDir makes the folder of this process's cluster, and sets a shell on watch that stops the server and removes the
// folder when this process ends, in whatever way: a test process has no last word after a panic, a timeout or a kill.
//
// The caller keeps alive open: the shell waits for its end.
func makeDir(root string) (dir string, alive *os.File, _ error) {
	dir, err := os.MkdirTemp(root, prefix)
	if err != nil {
		return "", nil, err
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		return "", nil, err
	}
	// The read end sees its end of file when the kernel closes our write end, which no child inherits.
	watch, alive, err := os.Pipe()
	if err != nil {
		return "", nil, err
	}
	defer watch.Close()
	cmd := exec.Command("/bin/sh", "-c", `
		cat >/dev/null
		pid=$(sed -n 1p "$1/postgres/postmaster.pid" 2>/dev/null)
		socket=$(sed -n 's/.*[?]host=\([^&]*\)&.*/\1/p' "$1/database-url" 2>/dev/null)
		[ -z "$pid" ] || kill -QUIT "$pid" 2>/dev/null
		n=0
		while [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null && [ $n -lt 100 ]; do sleep 0.1; n=$((n+1)); done
		rm -rf "$1"
		[ -z "$socket" ] || rmdir "$socket"`, "sh", dir)
	cmd.Stdin = watch
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C is not for it
	if err := cmd.Start(); err != nil {
		alive.Close()
		return "", nil, fmt.Errorf("watch over the test cluster: %w", err)
	}
	return dir, alive, nil
}

// removeAbandoned removes the folders of processes whose watch was killed too: those whose lock is free.
func removeAbandoned(root string) {
	dirs, err := filepath.Glob(filepath.Join(root, prefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err != nil || time.Since(info.ModTime()) < time.Minute {
			continue // perhaps on its way to being locked
		}
		lock, err := os.Open(filepath.Join(dir, "lock"))
		if err != nil {
			continue
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.RemoveAll(dir)
		}
		lock.Close()
	}
}
