//go:build unix

package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

// account is the system account that initdb and the server run as. PostgreSQL refuses to run as root.
type account struct {
	name string
	// credential is nil when it is the account we already are.
	credential *syscall.Credential
}

// serverAccount is our own account, or for root the owner of the cluster that is there, else postgres or nobody.
func serverAccount(cluster string) (account, error) {
	uid := os.Geteuid()
	info, err := os.Stat(cluster)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return account{}, fmt.Errorf("read cluster: %w", err)
	}
	var owner *syscall.Stat_t
	if err == nil {
		owner, _ = info.Sys().(*syscall.Stat_t)
	}
	switch {
	case uid != 0 && owner != nil && int(owner.Uid) != uid:
		return account{}, fmt.Errorf("%s belongs to user id %d: run as that user or as root", cluster, owner.Uid)
	case uid != 0:
		return account{name: "user id " + strconv.Itoa(uid)}, nil
	case owner != nil && owner.Uid != 0:
		return account{
			name:       "user id " + strconv.Itoa(int(owner.Uid)),
			credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid},
		}, nil
	case owner != nil && !isEmptyDir(cluster):
		return account{}, fmt.Errorf("%s belongs to root, as whom PostgreSQL cannot run: give it to the account that made it (chown -R)", cluster)
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.ParseUint(u.Uid, 10, 32)
		gid, errGID := strconv.ParseUint(u.Gid, 10, 32)
		if errUID == nil && errGID == nil && uid != 0 {
			return account{name: name, credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
		}
	}
	return account{}, errors.New("PostgreSQL cannot run as root, and there is no account postgres or nobody to run it as: create one or run as another user")
}

// command prepares a program to run as the account, in a process group of its own, so that a Ctrl-C at the terminal
// reaches only us.
func (a account) command(dir, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = cleanEnv()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: a.credential, Setpgid: true}
	return cmd
}

// own makes dir the account's.
func (a account) own(dir string) error {
	if a.credential == nil {
		return nil
	}
	return os.Chown(dir, int(a.credential.Uid), int(a.credential.Gid))
}

// cleanEnv is our environment without what would steer the server (PGDATA, PGPORT, ...) or translate its messages.
func cleanEnv() []string {
	env := []string{"LC_ALL=C"}
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "PG") || strings.HasPrefix(v, "LC_") {
			continue
		}
		env = append(env, v)
	}
	return env
}

func isEmptyDir(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) == 0
}
