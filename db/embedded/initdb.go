//go:build unix

package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrNotACluster means that the cluster folder holds something PostgreSQL did not make, which is left as it is.
var ErrNotACluster = errors.New("not a PostgreSQL data directory")

// clusterMajor is the major version that made the cluster, 0 when there is none yet.
func clusterMajor(cluster string) (int, error) {
	text, err := os.ReadFile(filepath.Join(cluster, "PG_VERSION"))
	switch {
	case err == nil:
		major, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil || major == 0 {
			return 0, fmt.Errorf("%s: %w: PG_VERSION says %q", cluster, ErrNotACluster, strings.TrimSpace(string(text)))
		}
		return major, nil
	case !errors.Is(err, fs.ErrNotExist):
		return 0, fmt.Errorf("read version of the cluster: %w", err)
	}
	if _, err := os.Lstat(cluster); errors.Is(err, fs.ErrNotExist) || isEmptyDir(cluster) {
		return 0, nil
	}
	return 0, fmt.Errorf("%s: %w: it is not empty and has no PG_VERSION; move it away", cluster, ErrNotACluster)
}

// initialise makes the cluster of home unless it exists. The work is done in a folder beside it that gets the final
// name only when complete, so a start that was killed leaves nothing that looks like a cluster.
func initialise(ctx context.Context, home string, exists bool, bin binaries, acct account, noSync bool, log *slog.Logger) error {
	const unfinished = "postgres.init-"
	leftovers, err := filepath.Glob(filepath.Join(home, unfinished+"*"))
	if err != nil {
		return err
	}
	for _, dir := range leftovers {
		log.Info("removing an unfinished initialisation", "folder", dir)
		if err := removeUnfinished(ctx, dir); err != nil {
			return fmt.Errorf("remove unfinished initialisation: %w", err)
		}
	}
	if exists {
		return nil
	}
	work, err := os.MkdirTemp(home, unfinished)
	if err != nil {
		return fmt.Errorf("initialise PostgreSQL: %w", err)
	}
	defer os.RemoveAll(work) // after the rename there is nothing of that name
	if err := acct.own(work); err != nil {
		return fmt.Errorf("initialise PostgreSQL: %w", err)
	}

	log.Info("initialising PostgreSQL", "version", bin.major, "folder", clusterDir(home))
	args := append([]string{"-D", work, "-U", superuser, "-A", "trust", "-E", "UTF8", "--data-checksums", "--no-instructions"}, localeArgs()...)
	if noSync {
		args = append(args, "--no-sync")
	}
	cmd := acct.command(home, bin.program("initdb"), args...)
	if out, err := runUntil(ctx, cmd); err != nil {
		return fmt.Errorf("initialise PostgreSQL: %w: %s", err, lastLines(string(out)))
	}
	// Only an empty folder can be in the way, and Rename does not replace folders.
	if err := os.Remove(clusterDir(home)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("initialise PostgreSQL: %w", err)
	}
	if err := os.Rename(work, clusterDir(home)); err != nil {
		return fmt.Errorf("initialise PostgreSQL: %w", err)
	}
	return syncDir(home)
}

// removeUnfinished repeats the removal for some seconds: the interrupted initdb may still be writing, and tidying too.
func removeUnfinished(ctx context.Context, dir string) error {
	for start := time.Now(); ; {
		err := os.RemoveAll(dir)
		if err == nil || time.Since(start) > 5*time.Second {
			return err
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// localeArgs choose sorting by code point, and letters and digits by Unicode (pg_trgm and lower() need that), whatever
// the machine's own locale is.
func localeArgs() []string {
	if runtime.GOOS == "darwin" { // no C.UTF-8 there
		return []string{"--locale=C", "--lc-ctype=UTF-8"}
	}
	return []string{"--locale=C.UTF-8", "--lc-messages=C"}
}

// runUntil runs cmd to its end, or interrupts it when ctx ends or this process does.
func runUntil(ctx context.Context, cmd *exec.Cmd) ([]byte, error) {
	runtime.LockOSThread() // Linux stops the child when the thread that started it ends
	defer runtime.UnlockOSThread()
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	stopWithParent(cmd.SysProcAttr)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(syscall.SIGINT) })
	defer stop()
	err := cmd.Wait()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return []byte(out.String()), err
}

// syncDir makes a rename in dir last.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// lastLines is the end of a program's output: the part that says what went wrong.
func lastLines(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) > 8 {
		lines = lines[len(lines)-8:]
	}
	return strings.Join(lines, "\n")
}
