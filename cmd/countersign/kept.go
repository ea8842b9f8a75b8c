package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// kept reads a secret of this installation from a file of the data directory, and makes it when there is none. Two
// processes that make it at once get the same one.
func kept(dataDir, name string, fresh func() (string, error)) (string, error) {
	path := filepath.Join(dataDir, name)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := keep(dataDir, name, fresh); err != nil {
			return "", err
		}
		b, err = os.ReadFile(path)
	}
	return strings.TrimSpace(string(b)), err
}

func keep(dataDir, name string, fresh func() (string, error)) error {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return err
	}
	secret, err := fresh()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dataDir, name+"-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(secret + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), filepath.Join(dataDir, name)); err != nil && !errors.Is(err, fs.ErrExist) { // the first one stays
		return err
	}
	return nil
}
