package embedded

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// stopWithParent asks the kernel to interrupt the child (a server shuts down cleanly then) when the thread that starts
// it ends, as it does with us, however we die. The caller holds that thread.
func stopWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }

// servesCluster tells whether the live process pid is a PostgreSQL server working in the cluster folder. ok is false
// when the process cannot be looked at.
func servesCluster(pid int, cluster string) (serves, ok bool) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	program, err := os.Readlink(filepath.Join(proc, "exe"))
	if err != nil {
		// A zombie has no program any more, and soon no process id.
		return false, errors.Is(err, fs.ErrNotExist)
	}
	if !isPostgres(program) {
		return false, true
	}
	dir, err := os.Readlink(filepath.Join(proc, "cwd"))
	if err != nil {
		return false, false
	}
	return dir == cluster, true
}
