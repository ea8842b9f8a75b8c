package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"countersign/db"
	"countersign/db/embedded"
	"countersign/internal/ehr/intake"
)

// benchImport measures how fast a large file is taken, once into an empty clinic and once more, where it changes nothing.
func benchImport(ctx context.Context, cluster *embedded.Cluster, _ *slog.Logger, lines int) error {
	url, err := database(ctx, cluster, "bench_import")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "csimport")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	f, err := os.Create(filepath.Join(dir, "file.ndjson"))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := writeImport(f, lines); err != nil {
		return err
	}
	d, err := db.Open(ctx, url, db.Options{StatementTimeout: 10 * time.Minute})
	if err != nil {
		return err
	}
	defer d.Close()
	fmt.Printf("\nimport: a file of %d lines in one transaction\n", lines)
	for _, name := range []string{"first", "again"} {
		begin := time.Now()
		peak, done := watchHeap()
		changed, err := importOnce(ctx, d, f, name == "first")
		done()
		if err != nil {
			return err
		}
		took := time.Since(begin)
		fmt.Printf("%s: %6.1f s, %6.0f lines/s, %d rows new or changed, peak heap %d MB\n", name, took.Seconds(), float64(lines)/took.Seconds(), changed, *peak>>20)
	}
	return nil
}

func importOnce(ctx context.Context, d *db.DB, f *os.File, fresh bool) (changed int, err error) {
	file, err := intake.Open(f)
	if err != nil {
		return 0, err
	}
	err = d.InClinic(ctx, "bench", func(t *db.Tx) error {
		if fresh {
			if _, err := t.AddClinic(ctx, "Bench", false); err != nil {
				return err
			}
		}
		r, err := file.Into(ctx, t.Intake(db.IntakeOptions{By: "import", Via: "import"}))
		if err != nil {
			return err
		}
		if !r.Whole() {
			return errors.Join(errors.New("the file was not taken"), fmt.Errorf("%+v", r.Refused[0]))
		}
		changed = 0
		for _, n := range r.Changed {
			changed += n
		}
		return nil
	})
	return changed, err
}

// watchHeap keeps the most bytes of heap in use, looked at a hundred times a second, until done.
func watchHeap() (peak *uint64, done func()) {
	runtime.GC()
	peak = new(uint64)
	stop := make(chan struct{})
	var over sync.WaitGroup
	over.Go(func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			var mem runtime.MemStats
			runtime.ReadMemStats(&mem)
			*peak = max(*peak, mem.HeapInuse)
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	})
	return peak, func() { close(stop); over.Wait() }
}
