//go:build unix && !linux

package embedded

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// stopWithParent: only Linux can tie a child's life to ours. Elsewhere the next Start takes the server over.
func stopWithParent(*syscall.SysProcAttr) {}

// servesCluster tells whether the live process pid is a PostgreSQL server started for the cluster folder. ok is false
// when the process cannot be looked at.
func servesCluster(pid int, cluster string) (serves, ok bool) {
	out, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return false, false
	}
	program, _, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	return isPostgres(program) && strings.Contains(string(out), cluster), true
}
