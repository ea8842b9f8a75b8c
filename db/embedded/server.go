//go:build unix

package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// busyPatience is how long a start is repeated while the kernel still holds traces of a killed server.
const busyPatience = 15 * time.Second

// maxLog is the size at which a start begins the server's log anew.
const maxLog = 4 << 20

// server is a postmaster: our child, or one taken over.
type server struct {
	process *os.Process
	// done is closed when the process has ended.
	done     chan struct{}
	stopping atomic.Bool
}

// startServer starts the server on home's cluster and returns when it takes sessions.
func startServer(ctx context.Context, home, socketDir string, bin binaries, acct account, opts Options, log *slog.Logger) (*server, error) {
	adopt, err := settleLeftover(ctx, clusterDir(home), socketDir, log)
	if err != nil {
		return nil, err
	}
	if adopt != 0 {
		return adoptServer(adopt)
	}
	// What a killed server left there bears its process id too, and would refuse the next one.
	for _, name := range []string{".s.PGSQL." + socketPort, ".s.PGSQL." + socketPort + ".lock"} {
		if err := os.Remove(filepath.Join(socketDir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("clear socket folder: %w", err)
		}
	}
	for start := time.Now(); ; {
		s, said, err := tryServer(ctx, home, socketDir, bin, acct, opts, log)
		if err == nil {
			return s, nil
		}
		// A killed predecessor that its parent has not reaped yet, or sessions of it that are ending.
		busy := strings.Contains(said, "already exists") || strings.Contains(said, "still in use")
		if !busy || time.Since(start) > busyPatience {
			return nil, err
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// tryServer is one try; said is what the server logged.
func tryServer(ctx context.Context, home, socketDir string, bin binaries, acct account, opts Options, log *slog.Logger) (_ *server, said string, _ error) {
	logFile, err := openLog(filepath.Join(home, "postgres.log"))
	if err != nil {
		return nil, "", err
	}
	defer logFile.Close()
	before, err := logFile.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, "", err
	}

	cmd := acct.command(home, bin.program("postgres"), serverArgs(clusterDir(home), socketDir, opts)...)
	cmd.Stdout, cmd.Stderr = logFile, logFile
	stopWithParent(cmd.SysProcAttr)
	s := &server{done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// Linux stops the child when the thread that started it ends: this one lives as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		s.process = cmd.Process
		started <- err
		if err != nil {
			return
		}
		err = cmd.Wait()
		close(s.done)
		if !s.stopping.Load() {
			log.Error("PostgreSQL ended by itself", "state", fmt.Sprint(err), "log", logFile.Name())
		}
	}()
	if err := <-started; err != nil {
		return nil, "", fmt.Errorf("start PostgreSQL: %w", err)
	}

	begin, told := time.Now(), false
	for !answers(ctx, socketURL(socketDir, Database)) {
		select {
		case <-s.done:
			said := readFrom(logFile.Name(), before)
			return nil, said, fmt.Errorf("PostgreSQL did not start: %s", lastLines(said))
		case <-ctx.Done():
			s.stop(context.WithoutCancel(ctx))
			return nil, "", fmt.Errorf("start PostgreSQL: %w", ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
		if !told && time.Since(begin) > 5*time.Second {
			told = true
			log.Info("waiting for PostgreSQL, which may be recovering", "log", logFile.Name())
		}
	}
	return s, "", nil
}

// serverArgs are the server's settings: local, durable, quiet. Statements and row contents stay out of its log, which
// may leave the machine with a bug report.
func serverArgs(cluster, socketDir string, opts Options) []string {
	settings := map[string]string{
		"listen_addresses":        "",
		"unix_socket_directories": socketDir,
		"unix_socket_permissions": "0700",
		"port":                    socketPort,
		"timezone":                "UTC",
		"log_timezone":            "UTC",
		"logging_collector":       "off",
		"log_min_messages":        "log",
		"log_min_error_statement": "panic",
		"log_error_verbosity":     "terse",
	}
	if opts.NoSync {
		for _, name := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
			settings[name] = "off"
		}
	}
	for name, value := range opts.Settings {
		settings[name] = value
	}
	args := []string{"-D", cluster}
	for name, value := range settings {
		args = append(args, "--"+strings.ReplaceAll(name, "_", "-")+"="+value)
	}
	slices.Sort(args[2:])
	return args
}

// adoptServer watches a server that is not our child.
func adoptServer(pid int) (*server, error) {
	process, err := os.FindProcess(pid)
	if err != nil {
		return nil, fmt.Errorf("take over PostgreSQL: %w", err)
	}
	s := &server{process: process, done: make(chan struct{})}
	go func() {
		for alive(pid) {
			time.Sleep(50 * time.Millisecond)
		}
		close(s.done)
	}()
	return s, nil
}

// stop ends sessions and shuts down cleanly (SIGINT); when ctx ends first, at once (SIGQUIT).
func (s *server) stop(ctx context.Context) error {
	s.stopping.Store(true)
	select {
	case <-s.done:
		return errors.New("PostgreSQL had ended before it was stopped")
	default:
	}
	if err := s.process.Signal(syscall.SIGINT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop PostgreSQL: %w", err)
	}
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
	}
	if err := s.process.Signal(syscall.SIGQUIT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop PostgreSQL at once: %w", err)
	}
	select {
	case <-s.done:
	case <-time.After(10 * time.Second): // it kills sessions that do not quit after 5
	}
	return fmt.Errorf("stop PostgreSQL cleanly: %w", ctx.Err())
}

// openLog opens the server's log to append to, or anew when it has grown large.
func openLog(path string) (*os.File, error) {
	flags := os.O_RDWR | os.O_CREATE | os.O_APPEND
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL's log: %w", err)
	}
	return f, nil
}

// readFrom is what path holds from offset on, "" when it cannot be read.
func readFrom(path string, offset int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.NewSectionReader(f, offset, maxLog))
	return string(text)
}
