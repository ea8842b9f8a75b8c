// Command bench measures what the README claims, on a private PostgreSQL with durability on: rates as ratios taken side
// by side in one run, and pages on seeded data. It never runs as a test.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"time"

	"countersign/db"
	"countersign/db/embedded"
)

func main() {
	if answers, err := time.ParseDuration(os.Getenv(ehrChild)); err == nil {
		if err := serveEHRs(answers); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	var load ehrLoad
	flag.IntVar(&load.ops, "ehr-ops", 10_000, "operations given to the EHRs")
	flag.IntVar(&load.clinics, "ehr-clinics", 8, "clinics with an EHR each; the first one's hangs")
	flag.IntVar(&load.parallel, "ehr-parallel", 16, "calls at a time to one EHR")
	flag.DurationVar(&load.answers, "ehr-answers", time.Second, "time after which an EHR answers")
	clients := flag.String("clients", "1,8,32", "numbers of clients")
	ops := flag.Int("ops", 1500, "confirms a series")
	sizes := flag.String("sizes", "medium,large", "seed sizes the pages are measured on")
	entries := flag.Int("entries", 1_000_000, "length of the measured trail")
	lines := flag.Int("import-lines", 100_000, "lines of the imported file")
	only := flag.String("only", "", "confirm, pages, queue, talk, outbox, ehr, import or audit; all when empty")
	dir := flag.String("data-dir", "", "keep the PostgreSQL here; a temporary one when empty")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *dir, *only, numbers(*clients), *ops, *entries, strings.Split(*sizes, ","), load, *lines); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func numbers(list string) []int {
	var out []int
	for _, s := range strings.Split(list, ",") {
		if n, err := strconv.Atoi(strings.TrimSpace(s)); err == nil && n > 0 {
			out = append(out, n)
		}
	}
	return out
}

func run(ctx context.Context, dir, only string, clients []int, ops, entries int, sizes []string, load ehrLoad, lines int) error {
	if dir == "" {
		made, err := os.MkdirTemp("/tmp", "csbench")
		if err != nil {
			return err
		}
		defer os.RemoveAll(made)
		if err := os.Chmod(made, 0o755); err != nil {
			return err
		}
		dir = made
	}
	quiet := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	cluster, err := embedded.Start(ctx, embedded.Options{DataDir: dir, Log: quiet,
		Settings: map[string]string{"shared_buffers": "256MB", "max_wal_size": "4GB", "shared_preload_libraries": "pg_stat_statements"}})
	if err != nil {
		return err
	}
	defer cluster.Stop(context.WithoutCancel(ctx))
	fmt.Printf("%d cores, %s, fsync and synchronous_commit on; client, server and database share the machine\n", runtime.NumCPU(), runtime.Version())
	if only == "" || only == "confirm" {
		if err := benchConfirm(ctx, cluster, quiet, clients, ops); err != nil {
			return err
		}
	}
	if only == "" || only == "pages" {
		if err := benchPages(ctx, cluster, quiet, clients, sizes); err != nil {
			return err
		}
	}
	if only == "" || only == "queue" {
		if err := benchQueue(ctx, cluster, quiet, clients); err != nil {
			return err
		}
	}
	if only == "" || only == "talk" {
		if err := benchTalk(ctx, cluster, quiet, clients); err != nil {
			return err
		}
	}
	if only == "" || only == "outbox" {
		if err := benchOutbox(ctx, cluster, quiet, ops); err != nil {
			return err
		}
	}
	if only == "" || only == "ehr" {
		if err := benchEHR(ctx, cluster, quiet, load); err != nil {
			return err
		}
	}
	if only == "" || only == "import" {
		if err := benchImport(ctx, cluster, quiet, lines); err != nil {
			return err
		}
	}
	if only == "" || only == "audit" {
		if err := benchAudit(ctx, cluster, quiet, clients, ops, entries); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// database makes an empty, migrated database of the cluster and gives its URL.
func database(ctx context.Context, cluster *embedded.Cluster, name string) (string, error) {
	root, err := raw(cluster.URL(), "")
	if err != nil {
		return "", err
	}
	defer root.Close()
	if _, err := root.ExecContext(ctx, "DROP DATABASE IF EXISTS "+name); err != nil {
		return "", err
	}
	if _, err := root.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	url := cluster.URLFor(name)
	return url, db.Migrate(ctx, url)
}
