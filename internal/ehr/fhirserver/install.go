//go:build unix

package fhirserver

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// The packages, pinned by their hashes. The lock names no address to fetch them from: that is for the npm of the machine.
var (
	//go:embed testdata/package.json
	packageJSON []byte
	//go:embed testdata/package-lock.json
	packageLock []byte
)

// install is the folder that holds node_modules as the lock says, made once per lock and user: the test processes that
// run beside each other wait for the first, and what is half done has another name and is thrown away.
func install(ctx context.Context) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	cache := filepath.Join(base, "countersign", "fhirserver")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	sum := sha256.Sum256(packageLock)
	final := filepath.Join(cache, hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	lock, err := os.OpenFile(filepath.Join(cache, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", errors.New("the FHIR server of the tests needs Node 20 or later and npm, and npm is not on PATH: sh scripts/need.sh node")
	}
	work := final + ".part"
	if err := os.RemoveAll(work); err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if err := os.Mkdir(work, 0o755); err != nil {
		return "", err
	}
	for name, text := range map[string][]byte{"package.json": packageJSON, "package-lock.json": packageLock} {
		if err := os.WriteFile(filepath.Join(work, name), text, 0o644); err != nil {
			return "", err
		}
	}
	cmd := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	cmd.Dir = work
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci of the FHIR server's packages: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return final, os.Rename(work, final)
}
