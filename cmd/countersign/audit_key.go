package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"countersign/internal/audit"
)

// keyFile holds the secret with which this installation signs checkpoints, in the data directory. Servers that share a
// database share a copy of it.
const keyFile = "audit-key"

// auditKey reads the installation's key, and makes it when there is none. Two processes that make it at once get the
// same one.
func auditKey(dataDir string) (*audit.Key, error) {
	path := filepath.Join(dataDir, keyFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeAuditKey(dataDir, path); err != nil {
			return nil, fmt.Errorf("making the key that signs checkpoints: %w", err)
		}
		b, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("the key that signs checkpoints: %w", err)
	}
	key, err := audit.ParseKey(string(b))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

func makeAuditKey(dataDir, path string) error {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return err
	}
	secret, err := audit.NewKey(rand.Reader)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dataDir, keyFile+"-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(secret + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) { // the first one stays
		return err
	}
	return nil
}

// knownKey is the installation's public key when there is one; it makes none.
func knownKey(dataDir string) []string {
	if _, err := os.Stat(filepath.Join(dataDir, keyFile)); err != nil {
		return nil
	}
	key, err := auditKey(dataDir)
	if err != nil {
		return nil
	}
	return []string{key.Public}
}

// keyAtNeed gives the key, read or made when it is first asked for.
func keyAtNeed(dataDir string) func() (*audit.Key, error) {
	var mu sync.Mutex
	var key *audit.Key
	return func() (_ *audit.Key, err error) {
		mu.Lock()
		defer mu.Unlock()
		if key == nil {
			key, err = auditKey(dataDir)
		}
		return key, err
	}
}
