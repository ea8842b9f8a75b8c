//go:build unix

package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
)

// locationFile, in the data directory, names the folder outside that holds the cluster instead.
const locationFile = "postgres-location"

// outsideFolders are where root keeps a cluster whose data directory the server's account cannot enter.
var outsideFolders = []string{"/var/lib/countersign", "/var/tmp/countersign"}

func clusterDir(home string) string { return filepath.Join(home, "postgres") }

// prepareDataDir makes the data directory and returns its absolute path without symbolic links.
func prepareDataDir(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("no data directory given")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", fmt.Errorf("create data directory: %w", err)
	}
	mode := fs.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = 0o711 // the server's account passes through
	}
	if err := os.Mkdir(dir, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("create data directory: %w", err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", fmt.Errorf("data directory: %w", err)
	}
	return dir, nil
}

// locateHome is the folder that holds the cluster or will: the data directory, or the one its location file names.
func locateHome(dataDir string) (string, error) {
	pointer := filepath.Join(dataDir, locationFile)
	text, err := os.ReadFile(pointer)
	if errors.Is(err, fs.ErrNotExist) {
		return dataDir, nil
	}
	if err != nil {
		return "", fmt.Errorf("read location of the database: %w", err)
	}
	home := strings.TrimSpace(string(text))
	if info, err := os.Stat(home); err != nil || !info.IsDir() || !filepath.IsAbs(home) {
		return "", fmt.Errorf("%s names %q as the folder of this database, and it is not there: bring it back, or remove %s to begin with an empty database",
			pointer, home, pointer)
	}
	return home, nil
}

// reachableHome is home when the account can enter it. Otherwise, when no cluster exists yet and we are root, it makes
// a folder outside and leaves its name in the data directory, so that the next start finds it.
func reachableHome(dataDir, home string, exists bool, bin binaries, acct account, log *slog.Logger) (string, error) {
	if bin.canEnter(acct, home) {
		if home != dataDir {
			log.Info("the database is kept outside the data directory", "folder", home)
		}
		return home, nil
	}
	blocker := firstClosed(bin, acct, home)
	if exists || acct.credential == nil {
		return "", fmt.Errorf("the account %s, which runs PostgreSQL, cannot enter %s: allow it (chmod o+x %s) or move the data directory",
			acct.name, blocker, blocker)
	}
	for _, outside := range outsideFolders {
		if os.MkdirAll(outside, 0o755) != nil || !bin.canEnter(acct, outside) {
			continue
		}
		made, err := os.MkdirTemp(outside, "data-")
		if err != nil {
			continue
		}
		if err := os.Chmod(made, 0o711); err != nil {
			return "", err
		}
		if err := writePrivate(filepath.Join(dataDir, locationFile), made+"\n"); err != nil {
			return "", err
		}
		log.Warn("PostgreSQL cannot run as root, and the account that runs it cannot enter the data directory: the database is kept outside",
			"account", acct.name, "closed", blocker, "folder", made)
		return made, nil
	}
	return "", fmt.Errorf("the account %s, which runs PostgreSQL, cannot enter %s, and no folder outside (%s) can be made: choose another --data-dir",
		acct.name, blocker, strings.Join(outsideFolders, ", "))
}

// firstClosed is the outermost folder on the way to dir that the account cannot enter.
func firstClosed(bin binaries, acct account, dir string) string {
	if parent := filepath.Dir(dir); parent != dir && !bin.canEnter(acct, parent) {
		return firstClosed(bin, acct, parent)
	}
	return dir
}

// writePrivate writes a file of mode 0600 whole or not at all.
func writePrivate(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-") // CreateTemp gives 0600
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
