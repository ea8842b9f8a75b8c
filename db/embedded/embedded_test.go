//go:build unix

package embedded

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// parentData makes this test binary a program that starts the cluster of the named data directory, says so, and waits
// to be killed.
const parentData = "EMBEDDED_TEST_PARENT_DATA"

func TestMain(m *testing.M) {
	if dir := os.Getenv(parentData); dir != "" {
		c, err := Start(context.Background(), Options{DataDir: dir, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
		if err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		fmt.Println("ready", c.URL())
		select {}
	}
	os.Exit(m.Run())
}

// newDataDir is a data directory that does not exist yet, where the server's account gets to (unlike t.TempDir).
func newDataDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "embedded-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "data")
}

func start(t *testing.T, dir string) (*Cluster, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := Start(ctx, Options{DataDir: dir, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err == nil {
		t.Cleanup(func() { c.Stop(context.Background()) })
	}
	return c, err
}

func mustStart(t *testing.T, dir string) *Cluster {
	t.Helper()
	begin := time.Now()
	c, err := start(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("started in %v", time.Since(begin).Round(time.Millisecond))
	return c
}

func mustStop(t *testing.T, c *Cluster) {
	t.Helper()
	if err := c.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func mustExec(t *testing.T, c *Cluster, query string) {
	t.Helper()
	db, err := sql.Open("postgres", c.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, c *Cluster, query string) string {
	t.Helper()
	db, err := sql.Open("postgres", c.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var text string
	if err := db.QueryRow(query).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

// startParent runs a program that holds the cluster of dir. It is ready when the URL is not "".
func startParent(t *testing.T, dir string, prepare func(*exec.Cmd)) (parent *exec.Cmd, ready func() string) {
	t.Helper()
	parent = exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentData+"="+dir)
	parent.Stderr = t.Output()
	if prepare != nil {
		prepare(parent)
	}
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		parent.Process.Kill()
		parent.Wait()
	})
	return parent, func() string {
		t.Helper()
		line, err := bufio.NewReader(out).ReadString('\n')
		url, ok := strings.CutPrefix(strings.TrimSpace(line), "ready ")
		if err != nil || !ok {
			t.Fatalf("parent says %q (%v)", line, err)
		}
		return url
	}
}

func kill(t *testing.T, parent *exec.Cmd) {
	t.Helper()
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	parent.Wait()
}

func serverLog(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "postgres.log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestSecondStartFindsTheData(t *testing.T) {
	dir := newDataDir(t)
	c := mustStart(t, dir)
	mustExec(t, c, `CREATE EXTENSION btree_gist; CREATE EXTENSION pg_trgm; CREATE TABLE kept AS SELECT 'yes' AS v`)
	first := c.URL()
	mustStop(t, c)
	mustStop(t, c) // a second Stop is harmless
	if _, err := os.Stat(c.socketDir); err == nil {
		t.Error("socket folder left behind")
	}

	begin := time.Now()
	c = mustStart(t, dir)
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("second start took %v", took)
	}
	if got := read(t, c, `SELECT v FROM kept`); got != "yes" {
		t.Errorf("kept: %q", got)
	}
	if c.URL() != first {
		t.Errorf("URL changed from %s to %s", first, c.URL())
	}
}

func TestServerIsPrivateAndDurable(t *testing.T) {
	t.Setenv("PGPORT", "1") // must not leak into server or URL
	dir := newDataDir(t)
	c := mustStart(t, dir)
	for query, want := range map[string]string{
		`SHOW listen_addresses`:        "",
		`SHOW fsync`:                   "on",
		`SHOW data_checksums`:          "on",
		`SHOW server_encoding`:         "UTF8",
		`SHOW log_min_error_statement`: "panic",
		`SELECT lower('ÆØÅ')`:          "æøå",
		`SELECT string_agg(v, '' ORDER BY v) FROM (VALUES ('b'), ('a'), ('B')) AS x(v)`: "Bab",
		`SELECT current_database()`: Database,
	} {
		if got := read(t, c, query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	modes := map[string]os.FileMode{
		filepath.Join(dir, "database-url"): 0o600,
		c.socketDir:                        os.ModeDir | 0o700,
		filepath.Join(dir, "postgres"):     os.ModeDir | 0o700,
	}
	for path, want := range modes {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
	}
	url, err := os.ReadFile(filepath.Join(dir, "database-url"))
	if err != nil || strings.TrimSpace(string(url)) != c.URL() {
		t.Errorf("database-url holds %q (%v), want %s", url, err, c.URL())
	}
}

func TestSecondHolderIsRefused(t *testing.T) {
	t.Parallel()
	dir := newDataDir(t)
	c := mustStart(t, dir)
	_, err := start(t, dir)
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("error: %v; want one that names the holder", err)
	}
	if got := read(t, c, `SELECT 1`); got != "1" {
		t.Error("the first holder lost its server")
	}
	mustStop(t, c)
	mustStart(t, dir)
}

func TestStopAtOnceWhenContextEnds(t *testing.T) {
	t.Parallel()
	dir := newDataDir(t)
	c := mustStart(t, dir)
	mustExec(t, c, `CREATE TABLE kept AS SELECT 'yes' AS v`)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Stop(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("stop: %v", err)
	}
	if got := read(t, mustStart(t, dir), `SELECT v FROM kept`); got != "yes" {
		t.Errorf("kept: %q", got)
	}
}

func TestStartGivesUpWhenContextEnds(t *testing.T) {
	t.Parallel()
	dir := newDataDir(t)
	ctx, cancel := context.WithTimeout(context.Background(), 150*time.Millisecond) // in the middle of initdb
	defer cancel()
	if _, err := Start(ctx, Options{DataDir: dir}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("start: %v", err)
	}
	mustStart(t, dir)
}
