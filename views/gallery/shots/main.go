// Command shots draws every gallery item in a headless browser, 1280x800 and 390x844, into .cache/gallery (ignored by
// git): pictures to look at, not to compare. Arguments choose items by the start of their names.
//
//	go run ./views/gallery/shots [-media dark] [card- day]
package main

import (
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"countersign/views/gallery"
	"countersign/views/gallery/browse"
)

func main() {
	media := flag.String("media", "", "dark, forced or print")
	dir := flag.String("dir", ".cache/gallery", "where the pictures go")
	flag.Parse()
	if err := run(*dir, *media, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir, media string, only []string) error {
	server := httptest.NewServer(gallery.Handler())
	defer server.Close()
	b, err := browse.Start()
	if err != nil {
		return err
	}
	defer b.Stop()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, item := range gallery.Items() {
		if !wanted(item.Name, only) {
			continue
		}
		for _, size := range []browse.Size{{Width: 1280, Height: 800}, {Width: 390, Height: 844}} {
			png, err := b.Shot(server.URL+"/"+item.Name, size, media)
			if err != nil {
				return fmt.Errorf("%s: %w", item.Name, err)
			}
			name := fmt.Sprintf("%s-%d%s.png", item.Name, size.Width, media)
			if err := os.WriteFile(filepath.Join(dir, name), png, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func wanted(name string, only []string) bool {
	for _, o := range only {
		if strings.HasPrefix(name, o) {
			return true
		}
	}
	return len(only) == 0
}
