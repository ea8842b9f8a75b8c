//go:build unix

package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Root's home is closed to the account that runs PostgreSQL; an ordinary user's is its own.
func TestDataDirectoryUnderAClosedFolder(t *testing.T) {
	t.Parallel()
	closed := t.TempDir()
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(closed, "project", ".data")
	c := mustStart(t, dir)
	pointer, err := os.ReadFile(filepath.Join(dir, "postgres-location"))
	if os.Geteuid() != 0 {
		if err == nil {
			t.Errorf("kept at %s, and the data directory would have done", pointer)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	home := strings.TrimSpace(string(pointer))
	t.Cleanup(func() { os.RemoveAll(home) })
	mustExec(t, c, `CREATE TABLE kept AS SELECT 'yes' AS v`)
	if _, err := os.Stat(filepath.Join(dir, "database-url")); err != nil {
		t.Error("no database-url in the data directory")
	}
	if _, err := start(t, dir); !errors.Is(err, ErrInUse) {
		t.Errorf("second holder: %v", err)
	}
	mustStop(t, c)
	if got := read(t, mustStart(t, dir), `SELECT v FROM kept`); got != "yes" {
		t.Errorf("kept: %q", got)
	}
	if again, _ := os.ReadFile(filepath.Join(dir, "postgres-location")); string(again) != string(pointer) {
		t.Errorf("moved to %s", again)
	}
}

func TestLostFolderOutsideIsNotReplaced(t *testing.T) {
	t.Parallel()
	dir := newDataDir(t)
	if err := os.Mkdir(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "postgres-location"), []byte("/nowhere/at/all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := start(t, dir); err == nil || !strings.Contains(err.Error(), "/nowhere/at/all") {
		t.Errorf("start: %v", err)
	}
}

// The tests run as root in CI: this one is the ordinary user there.
func TestAsOrdinaryUser(t *testing.T) {
	t.Parallel()
	dir := newDataDir(t)
	program := filepath.Join(filepath.Dir(dir), "program") // the test binary lies where only we get to
	if err := copyProgram(program); err != nil {
		t.Fatal(err)
	}
	_, ready := startParent(t, dir, func(cmd *exec.Cmd) {
		cmd.Path = program
		if os.Geteuid() != 0 {
			return
		}
		nobody, err := user.Lookup("nobody")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(nobody.Uid)
		gid, _ := strconv.Atoi(nobody.Gid)
		if err := os.Chown(filepath.Dir(dir), uid, gid); err != nil {
			t.Fatal(err)
		}
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	})
	_, socketDir, ok := strings.Cut(ready(), "host=")
	if !ok {
		t.Fatal("no socket folder in the URL")
	}
	socketDir, _, _ = strings.Cut(socketDir, "&")
	t.Cleanup(func() { os.RemoveAll(socketDir) }) // runs before the parent is killed, which then cannot
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("data directory: %v, %v", info.Mode(), err)
	}
}

func copyProgram(to string) error {
	from, err := os.Open(os.Args[0])
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}

func TestAnotherMajorVersionIsRefusedAndKept(t *testing.T) {
	t.Parallel()
	dir := newDataDir(t)
	mustStop(t, mustStart(t, dir))
	version := filepath.Join(dir, "postgres", "PG_VERSION")
	if err := os.WriteFile(version, []byte("9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := start(t, dir)
	if !errors.Is(err, ErrNoBinaries) || !strings.Contains(err.Error(), "version 9") {
		t.Errorf("start: %v", err)
	}
	if text, err := os.ReadFile(version); err != nil || string(text) != "9\n" {
		t.Errorf("PG_VERSION is %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "postgres", "base")); err != nil {
		t.Error("the data are gone")
	}
}

func TestFolderThatIsNoClusterIsRefusedAndKept(t *testing.T) {
	t.Parallel()
	dir := newDataDir(t)
	file := filepath.Join(dir, "postgres", "letter.txt")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if _, err := start(t, dir); !errors.Is(err, ErrNotACluster) {
		t.Errorf("start: %v", err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error("somebody's file is gone")
	}
}

func TestBinariesThatDoNotServe(t *testing.T) {
	fake := func(version string, files ...string) string {
		dir := newDataDir(t)
		for _, f := range append(files, "bin/initdb", "bin/postgres") {
			path := filepath.Join(dir, f)
			text := fmt.Sprintf("#!/bin/sh\necho 'fake (PostgreSQL) %s'\n", version)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
				t.Fatal(err)
			}
		}
		return filepath.Join(dir, "bin")
	}
	for name, c := range map[string]struct{ bin, says string }{
		"empty":      {t.TempDir(), "cannot run initdb"},
		"old":        {fake("9.6.1"), "older than"},
		"no contrib": {fake("16.1", "share/extension/plpgsql.control", "share/extension/pg_trgm.control"), "btree_gist are not installed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PG_BIN", c.bin)
			_, err := start(t, newDataDir(t))
			if !errors.Is(err, ErrNoBinaries) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "nstall") {
				t.Errorf("start: %v; want it to say %q and what to install", err, c.says)
			}
		})
	}
}

func TestLinksOfTheNpmPackage(t *testing.T) {
	t.Parallel()
	pkg := t.TempDir()
	list := func(source, target string) {
		text, err := json.Marshal([]map[string]string{{"source": source, "target": target}})
		if err == nil {
			err = os.WriteFile(filepath.Join(pkg, "native", "pg-symlinks.json"), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	library := filepath.Join(pkg, "native", "lib", "libx.so.1.2")
	if err := errors.Join(os.MkdirAll(filepath.Dir(library), 0o755), os.WriteFile(library, []byte("x"), 0o644)); err != nil {
		t.Fatal(err)
	}
	list("native/lib/libx.so.1.2", "native/lib/libx.so")
	if err := linkLibraries(pkg); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(pkg, "native", "lib", "libx.so")); err != nil || string(text) != "x" {
		t.Errorf("through the link: %q, %v", text, err)
	}
	list("native/lib/libx.so.1.2", "../outside")
	if err := linkLibraries(pkg); err == nil {
		t.Error("a link outside the package was made")
	}
}
