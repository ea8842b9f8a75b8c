package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"countersign/internal/audit"
)

// keyFile holds the secret with which this installation signs checkpoints, in the data directory. Servers that share a
// database share a copy of it.
const keyFile = "audit-key"

// auditKey reads the installation's key, and makes it when there is none.
func auditKey(dataDir string) (*audit.Key, error) {
	written, err := kept(dataDir, keyFile, func() (string, error) { return audit.NewKey(rand.Reader) })
	if err != nil {
		return nil, fmt.Errorf("the key that signs checkpoints: %w", err)
	}
	key, err := audit.ParseKey(written)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dataDir, keyFile), err)
	}
	return key, nil
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
