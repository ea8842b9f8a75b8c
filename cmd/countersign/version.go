package main

import (
	"fmt"
	"runtime/debug"
)

// version prints what was built, and from which commit.
func (p *program) version() error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		fmt.Fprintln(p.stdout, "countersign (unknown build)")
		return nil
	}
	revision, changed := "unknown commit", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = ", changed"
		}
	}
	fmt.Fprintf(p.stdout, "countersign %s (%s%s, %s)\n", info.Main.Version, revision, changed, info.GoVersion)
	return nil
}
