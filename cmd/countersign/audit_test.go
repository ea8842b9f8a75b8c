package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The auditor's way through the README: a checkpoint kept, an export and a receipt taken, all verified, and what was
// changed afterwards found; beside a running server.
func TestAnAuditorsWay(t *testing.T) {
	dir, kept := t.TempDir(), t.TempDir()
	r := start(t, nil, "--demo", "--data-dir", dir)
	defer r.end()
	command := func(want int, args ...string) string {
		t.Helper()
		status, stdout, stderr := said(t, nil, args...)
		if status != want {
			t.Fatalf("%v: %d, want %d: %s%s", args, status, want, stdout, stderr)
		}
		return stdout
	}
	file := func(name, text string) string {
		t.Helper()
		path := filepath.Join(kept, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if status, _ := r.get("/api/v1/practitioners", "demo-admin"); status != http.StatusOK {
		t.Fatal(status)
	}
	for range 3 {
		if status, _ := r.get("/api/v1/audit", "demo-admin"); status != http.StatusOK {
			t.Fatal(status)
		}
	}
	time.Sleep(1200 * time.Millisecond) // sealed within a second, by the server itself
	key := file("key", command(0, "audit", "key", "--data-dir", dir))
	if info, err := os.Stat(filepath.Join(dir, keyFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Error("the secret:", info, err)
	}
	point := filepath.Join(kept, "checkpoint")
	command(0, "audit", "checkpoint", "--clinic", "Havnegade", "--data-dir", dir, "--out", point)
	if out := command(0, "audit", "verify", "--data-dir", dir, "--checkpoint", point); !strings.Contains(out, "clinic hav: whole, ") || !strings.Contains(out, "clinic lake: whole, 0 entries") {
		t.Error(out)
	}
	for _, format := range []string{"csv", "ndjson", "fhir"} {
		status, body := r.get("/api/v1/audit/export?format="+format, "demo-admin")
		path := file(format, body)
		if out := command(0, "audit", "verify", "--data-dir", kept, "--key", key, "--checkpoint", point, path); status != http.StatusOK || !strings.Contains(out, "whole") {
			t.Errorf("%s: %d %s", format, status, out)
		}
		if out := command(0, "audit", "verify", "--data-dir", kept, path); !strings.Contains(out, "compare it") {
			t.Error(out)
		}
		cut := file(format+"-cut", body[:len(body)*2/3])
		if out := command(1, "audit", "verify", "--data-dir", kept, "--key", key, cut); !strings.Contains(out, "broken off") {
			t.Error(out)
		}
		for _, token := range []string{"demo-staff", "demo-reviewer", "demo-agent"} {
			if status, _ := r.get("/api/v1/audit/export?format="+format, token); status != http.StatusForbidden {
				t.Errorf("%s exports: %d", token, status)
			}
		}
	}
	command(1, "receipt", "verify", "--key", key, point)
	command(0, "audit", "retain", "--clinic", "Havnegade", "--years", "1", "--data-dir", dir)
	command(0, "audit", "cut", "--clinic", "Havnegade", "--data-dir", dir) // nothing is old enough
	command(1, "audit", "checkpoint", "--data-dir", dir)                   // which of two clinics?
	b, err := os.ReadFile(point)
	if err != nil {
		t.Fatal(err)
	}
	forged := file("forged", strings.Replace(string(b), "\n", "\n9", 1))
	if out := command(1, "audit", "verify", "--data-dir", dir, "--checkpoint", forged); !strings.Contains(out, "signature is not good") {
		t.Error(out)
	}
}
