//go:build unix

package embedded

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// ErrInUse means that another process holds the data directory.
var ErrInUse = errors.New("data directory is in use")

// lock takes the lock of dir for the life of the cluster. The kernel gives it back however the process ends, and the
// server does not inherit it.
func (c *Cluster) lock(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("lock data directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("lock %s: %w", dir, err)
		}
		holder := "another process"
		if pid, _ := io.ReadAll(io.LimitReader(f, 20)); len(pid) > 0 {
			holder = "process " + strings.TrimSpace(string(pid))
		}
		return fmt.Errorf("%w: %s holds %s; stop it or choose another data directory", ErrInUse, holder, dir)
	}
	c.locks = append(c.locks, f)
	if err := f.Truncate(0); err != nil {
		return fmt.Errorf("lock %s: %w", dir, err)
	}
	_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// unlock gives the locks back. The files stay: removing them would let two processes hold "the" lock.
func (c *Cluster) unlock() {
	for _, f := range c.locks {
		f.Close()
	}
	c.locks = nil
}
