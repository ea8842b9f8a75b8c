package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"countersign/db"
	"countersign/db/embedded"
	"countersign/internal/audit"
)

// benchAudit measures the trail of so many entries: how fast it is sealed, verified and exported, and in how much
// memory; and a confirm with and without a sealer beside it, in turns.
func benchAudit(ctx context.Context, cluster *embedded.Cluster, log *slog.Logger, clients []int, ops, trailRows int) error {
	if err := benchSealer(ctx, cluster, log, clients, ops); err != nil {
		return err
	}
	url, err := database(ctx, cluster, "bench_audit")
	if err != nil {
		return err
	}
	root, err := raw(url, "")
	if err != nil {
		return err
	}
	defer root.Close()
	if err := fillConfirmWorld(ctx, root); err != nil {
		return err
	}
	d, err := db.Open(ctx, url, db.Options{StatementTimeout: 10 * time.Minute})
	if err != nil {
		return err
	}
	defer d.Close()
	key, err := audit.KeyOfProcess(rand.Reader)()
	if err != nil {
		return err
	}
	fmt.Printf("\ntrail of %d entries\n", trailRows)
	const clinicID = "bench"
	if err := timed("written", trailRows, func() error { return fillTrail(ctx, d, clinicID, trailRows) }); err != nil {
		return err
	}
	if err := timed("sealed", trailRows, func() error { _, err := d.Seal(ctx, clinicID); return err }); err != nil {
		return err
	}
	if _, err := root.ExecContext(ctx, "VACUUM ANALYZE"); err != nil {
		return err
	}
	if err := timed("checkpoint", 1, func() error { _, _, _, err := d.ExportStart(ctx, clinicID, key); return err }); err != nil {
		return err
	}
	err = timed("verified", trailRows, func() error {
		return d.Snapshot(ctx, clinicID, func(t *db.Tx) error {
			_, err := t.VerifyTrail(ctx, []string{key.Public}, nil, func(f audit.Finding) { fmt.Println("   finding:", f.Words) })
			return err
		})
	})
	if err != nil {
		return err
	}
	if err := benchTrail(ctx, d, clinicID, trailRows); err != nil {
		return err
	}
	return benchFiles(ctx, d, clinicID, key, trailRows)
}

func benchFiles(ctx context.Context, d *db.DB, clinicID string, key *audit.Key, trailRows int) error {
	dir, err := os.MkdirTemp("", "csbench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, format := range []string{audit.FormatCSV, audit.FormatNDJSON, audit.FormatFHIR} {
		path := filepath.Join(dir, format)
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		err = timed("exported as "+format, trailRows, func() error {
			note, upTo, cut, err := d.ExportStart(ctx, clinicID, key)
			if err != nil {
				return err
			}
			e, err := audit.NewExporter(f, audit.Manifest{Format: format, Clinic: clinicID, Whole: true}, cut)
			if err != nil {
				return err
			}
			if err := d.EachSealed(ctx, clinicID, db.AuditFilter{}, cut.Size, upTo, e.Row); err != nil {
				return err
			}
			return e.End(key, note)
		})
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err != nil {
			return err
		}
		err = timed(fmt.Sprintf("file verified (%d MB)", info.Size()>>20), trailRows, func() error {
			_, err := audit.VerifyFile(f, []string{key.Public}, nil, func(f audit.Finding) { fmt.Println("   finding:", f.Words) })
			return err
		})
		f.Close()
		if err != nil {
			return err
		}
		os.Remove(path)
	}
	return nil
}

// timed says how long something took, and the most heap there was meanwhile.
func timed(what string, n int, do func() error) error {
	runtime.GC()
	stop, most := make(chan struct{}), make(chan uint64)
	go func() {
		var m runtime.MemStats
		peak := uint64(0)
		for {
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapInuse)
			select {
			case <-stop:
				most <- peak
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	start := time.Now()
	err := do()
	took := time.Since(start)
	close(stop)
	fmt.Printf("%-28s %8.2f s %9.0f/s   heap at most %d MB\n", what, took.Seconds(), float64(n)/took.Seconds(), <-most>>20)
	return err
}

// fillTrail writes entries of the kind that are most: people who looked at something.
func fillTrail(ctx context.Context, d *db.DB, clinicID string, trailRows int) error {
	const batch = 5000
	for n := 0; n < trailRows; n += batch {
		events := make([]audit.Event, batch)
		for i := range events {
			events[i] = trailEvent(clinicID, n+i)
		}
		if err := d.InClinic(ctx, clinicID, func(t *db.Tx) error {
			for i := range events {
				events[i].At = t.Now()
			}
			return t.Audit(ctx, events...)
		}); err != nil {
			return err
		}
	}
	return nil
}

// benchSealer confirms with a sealer beside it that works as serve's does, and without, in turns.
func benchSealer(ctx context.Context, cluster *embedded.Cluster, log *slog.Logger, clients []int, ops int) error {
	url, err := database(ctx, cluster, "bench_sealer")
	if err != nil {
		return err
	}
	root, err := raw(url, "")
	if err != nil {
		return err
	}
	defer root.Close()
	if err := fillConfirmWorld(ctx, root); err != nil {
		return err
	}
	s, err := newSite(ctx, url, log)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.addToken(ctx, root, "bench", "ana"); err != nil {
		return err
	}
	d, err := db.Open(ctx, url, db.Options{MaxConns: 2})
	if err != nil {
		return err
	}
	defer d.Close()
	next := 0
	if err := warm(ctx, s, root, &next); err != nil {
		return err
	}
	fmt.Println("\nconfirm with and without a sealer beside it")
	for _, n := range clients {
		rates := map[string]series{}
		for range rounds {
			for _, mode := range []string{"sealer", "no sealer", "no queue"} {
				m, err := confirmBeside(ctx, s, root, d, mode, n, ops/rounds, &next)
				if err != nil {
					return err
				}
				rates[mode] = rates[mode].and(m)
			}
		}
		for _, mode := range []string{"sealer", "no sealer", "no queue"} {
			fmt.Printf("%2d clients  %-12s%v\n", n, mode, rates[mode])
		}
		fmt.Printf("%2d clients  ratios: %.2f of itself without a sealer, %.2f of itself without the queue\n", n,
			rates["sealer"].rate/rates["no sealer"].rate, rates["sealer"].rate/rates["no queue"].rate)
	}
	return nil
}

func confirmBeside(ctx context.Context, s *site, root *sql.DB, d *db.DB, mode string, clients, n int, next *int) (series, error) {
	records, _, err := proposeMoves(ctx, s, next, n)
	if err != nil {
		return series{}, err
	}
	if _, err := d.Seal(ctx, "bench"); err != nil {
		return series{}, err
	}
	beside, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for mode == "sealer" && beside.Err() == nil {
			_, _ = d.Seal(beside, "bench")
			select {
			case <-beside.Done():
			case <-time.After(400 * time.Millisecond):
			}
		}
	}()
	if mode == "no queue" {
		if _, err := root.ExecContext(ctx, "ALTER TABLE audit DISABLE TRIGGER queue_for_sealing"); err != nil {
			stop()
			return series{}, err
		}
	}
	m, err := measure(ctx, clients, len(records), func(ctx context.Context, _, i int) error { return s.confirm(ctx, records[i]) })
	stop()
	<-done
	if _, alterErr := root.ExecContext(ctx, "ALTER TABLE audit ENABLE TRIGGER queue_for_sealing"); err == nil {
		err = alterErr
	}
	return m, err
}
