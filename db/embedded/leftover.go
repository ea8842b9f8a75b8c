//go:build unix

package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A server whose program was killed is on its way down; one that still takes sessions after adoptAfter stays up, and
// one that neither goes nor answers within leftoverPatience is not ours to judge.
const (
	adoptAfter       = 2 * time.Second
	leftoverPatience = 60 * time.Second
)

// ErrForeignServer means that a server which this package did not start works on the cluster.
var ErrForeignServer = errors.New("another PostgreSQL server runs on the data directory")

// pidFile is what postmaster.pid says.
type pidFile struct {
	pid       int
	socketDir string
}

func readPIDFile(path string) (pidFile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return pidFile{}, err
	}
	lines := strings.Split(string(text), "\n") // pid, folder, start, port, socket folder, ...
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil || pid <= 0 {
		return pidFile{}, fmt.Errorf("%s: no process id in it", path)
	}
	p := pidFile{pid: pid}
	if len(lines) > 4 {
		p.socketDir = strings.TrimSpace(lines[4])
	}
	return p, nil
}

// settleLeftover deals with the postmaster.pid of a server that nobody stopped. It returns the process id of a server
// of ours to take over, or 0 when the way is free.
//
// The caller holds the data directory's lock, so no live program of ours owns what is found.
func settleLeftover(ctx context.Context, cluster, socketDir string, log *slog.Logger) (adopt int, err error) {
	path := filepath.Join(cluster, "postmaster.pid")
	start := time.Now()
	var answeringSince time.Time
	for {
		left, err := readPIDFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return 0, nil
		}
		if err != nil {
			return 0, fmt.Errorf("read process id of the last server: %w", err)
		}
		if !alive(left.pid) {
			return 0, nil // PostgreSQL sees that itself
		}
		serves, known := servesCluster(left.pid, cluster)
		if known && !serves {
			return 0, disown(path, left.pid, log)
		}
		if serves && left.socketDir == socketDir && answers(ctx, socketURL(socketDir, Database)) {
			if answeringSince.IsZero() {
				answeringSince = time.Now()
			}
			if time.Since(answeringSince) >= adoptAfter {
				log.Info("taking over the PostgreSQL server that an earlier run left", "pid", left.pid)
				return left.pid, nil
			}
		} else {
			answeringSince = time.Time{}
		}
		if serves && left.socketDir != socketDir && left.socketDir != "" {
			return 0, fmt.Errorf("%w: process %d, not started by this program. Stop it (pg_ctl -D %s stop) and start again", ErrForeignServer, left.pid, cluster)
		}
		if !known || time.Since(start) > leftoverPatience {
			return 0, fmt.Errorf("%s names process %d, which is alive: if that is no PostgreSQL server, remove the file; if it is one, stop it (pg_ctl -D %s stop)",
				path, left.pid, cluster)
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return 0, err
		}
	}
}

// disown makes PostgreSQL see that the process id in its lock file was given to a program that has nothing to do with
// it. Our own id in its place says so: a server never takes its parent for its predecessor, and unlike with the file
// removed, it still checks that no shared memory is in use.
func disown(path string, pid int, log *slog.Logger) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	log.Info("the last PostgreSQL server died, and its process id was given to another program", "pid", pid)
	_, rest, _ := strings.Cut(string(text), "\n")
	return os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"+rest), 0o600)
}

// alive tells whether there is such a process, whoever's it is.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

func isPostgres(program string) bool {
	name := strings.TrimSuffix(filepath.Base(program), " (deleted)") // the package was upgraded under it
	return slices.Contains([]string{"postgres", "postmaster"}, strings.TrimSuffix(name, ":"))
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
