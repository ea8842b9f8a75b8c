//go:build unix

package embedded

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/lib/pq"
)

const socketPort = "5432"

// socketRoot is short on every system, while TMPDIR may be long: a socket's path has to fit in some hundred bytes.
const socketRoot = "/tmp"

// makeSocketDir makes the 0700 folder of the cluster's socket. Its name follows from the cluster's place, so the URL
// is the same at each start; when somebody else sits on that name, it takes another.
func makeSocketDir(cluster string, acct account) (string, error) {
	uid := os.Geteuid()
	if acct.credential != nil {
		uid = int(acct.credential.Uid)
	}
	dir := filepath.Join(socketRoot, fmt.Sprintf("countersign-%x", sha256.Sum256([]byte(cluster)))[:12+12])
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		if info, err := os.Lstat(dir); err == nil && info.Mode() == fs.ModeDir|0o700 && int(info.Sys().(*syscall.Stat_t).Uid) == uid {
			return dir, nil
		}
		dir, err = os.MkdirTemp(socketRoot, "countersign-")
	}
	if err != nil {
		return "", fmt.Errorf("make socket folder: %w", err)
	}
	return dir, acct.own(dir)
}

// errNoDatabase: the server answers, the database is not there.
const errNoDatabase = "3D000"

// answers tells whether the server takes sessions: also one for a database that it does not have.
func answers(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	err := ping(ctx, url)
	var pqErr *pq.Error
	return err == nil || errors.As(err, &pqErr) && pqErr.Code == errNoDatabase
}

func ping(ctx context.Context, url string) error {
	db, err := sql.Open("postgres", url)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.PingContext(ctx)
}

// ensureDatabase creates Database when url says that it is missing.
func ensureDatabase(ctx context.Context, url, adminURL string) error {
	err := ping(ctx, url)
	if err == nil {
		return nil
	}
	var pqErr *pq.Error
	if !errors.As(err, &pqErr) || pqErr.Code != errNoDatabase {
		return fmt.Errorf("open database: %w", err)
	}
	db, err := sql.Open("postgres", adminURL)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "CREATE DATABASE "+pq.QuoteIdentifier(Database)); err != nil {
		return fmt.Errorf("create database: %w", err)
	}
	return nil
}
