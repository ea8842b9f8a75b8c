package main

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"countersign/db"
	"countersign/db/embedded"
	"countersign/internal/clinic"
	"countersign/internal/outbox"
	"countersign/internal/proposal"
)

// benchOutbox measures how fast messages leave with one worker and with four, in turns in one run, and how long one takes
// from its commit to its sender. The receiver answers at once, or after as long as a mail server takes.
func benchOutbox(ctx context.Context, cluster *embedded.Cluster, log *slog.Logger, messages int) error {
	url, err := database(ctx, cluster, "bench_outbox")
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
	next := 0
	records, _, err := proposeMoves(ctx, s, &next, messages)
	if err != nil {
		return err
	}
	if _, err := measure(ctx, 8, len(records), func(ctx context.Context, _, i int) error { return confirmHere(ctx, s.desk, records[i]) }); err != nil {
		return err
	}
	if _, err := root.ExecContext(ctx, `VACUUM ANALYZE`); err != nil {
		return err
	}
	fmt.Printf("\noutbox: %d messages of as many visits, each judged again, sent and settled\n", messages)
	for _, answers := range []time.Duration{0, 50 * time.Millisecond} {
		took := map[int]time.Duration{}
		for range 3 {
			for _, workers := range []int{1, 4} {
				if _, err := root.ExecContext(ctx, `UPDATE outbox SET state = 'queued', attempts = 0, sent_at = NULL, next_at = now() WHERE kind = 'change'`); err != nil {
					return err
				}
				begin := time.Now()
				if err := drain(ctx, url, log, workers, answers); err != nil {
					return err
				}
				took[workers] += time.Since(begin)
				if err := allSent(ctx, root, messages); err != nil {
					return err
				}
			}
		}
		rate := func(workers int) float64 { return float64(3*messages) / took[workers].Seconds() }
		fmt.Printf("a receiver that answers in %2d ms: 1 worker %5.0f/s, 4 workers %5.0f/s, ratio %.2f\n", answers.Milliseconds(), rate(1), rate(4), rate(4)/rate(1))
	}
	return benchDelay(ctx, s, log, &next)
}

// benchSender answers after a while.
type benchSender func()

func (b benchSender) Send(context.Context, outbox.Message) (string, error) {
	b()
	return "", nil
}

// drain sends all that is due by so many workers, each with connections of its own as a process has.
func drain(ctx context.Context, url string, log *slog.Logger, workers int, answers time.Duration) error {
	failed := make(chan error, workers)
	var all sync.WaitGroup
	for range workers {
		pool, err := db.Open(ctx, url, db.Options{})
		if err != nil {
			return err
		}
		defer pool.Close()
		all.Go(func() {
			r := outbox.Relay{Store: db.Outbox{DB: pool}, Senders: outbox.OnEveryChannel(benchSender(func() { time.Sleep(answers) })), Log: log}
			failed <- r.Once(ctx)
		})
	}
	all.Wait()
	close(failed)
	for err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

func allSent(ctx context.Context, root *sql.DB, messages int) error {
	var n int
	err := root.QueryRowContext(ctx, `SELECT count(*) FROM outbox WHERE kind = 'change' AND state = 'sent' AND attempts = 1`).Scan(&n)
	if err == nil && n != messages {
		err = fmt.Errorf("%d of %d messages were sent once", n, messages)
	}
	return err
}

func confirmHere(ctx context.Context, desk *proposal.Service, r proposal.Record) error {
	by := clinic.Actor{Clinic: "bench", Person: "ana", PersonName: "Ana", Role: clinic.RoleStaff, Kind: clinic.KindUser, MayDecide: true, Via: "api"}
	_, err := desk.Confirm(ctx, by, proposal.Decision{Proposal: r.ID, Revision: r.Revision, PlanHash: r.PlanHash, Key: "k-" + r.ID})
	return err
}

// benchDelay confirms one by one, with pauses, and takes the time from each commit to its message's sender.
func benchDelay(ctx context.Context, s *site, log *slog.Logger, next *int) error {
	for _, c := range []struct {
		name  string
		woken bool
		n     int
		pause time.Duration
	}{{"woken by the commit", true, 200, 100 * time.Millisecond}, {"found at the next look", false, 40, time.Second}} {
		records, _, err := proposeMoves(ctx, s, next, c.n)
		if err != nil {
			return err
		}
		wake, sent := make(chan string, 8), make(chan time.Time, 8)
		var committed time.Time
		desk := *s.desk
		desk.Store = db.Proposals{DB: s.db, Queued: func(clinicID string) {
			committed = time.Now()
			if c.woken {
				wake <- clinicID
			}
		}}
		r := outbox.Relay{Store: db.Outbox{DB: s.db}, Senders: outbox.OnEveryChannel(benchSender(func() { sent <- time.Now() })), Log: log, Wake: wake}
		working, stop := context.WithCancel(ctx)
		over := make(chan error)
		go func() { over <- r.Run(working) }()
		took := make([]time.Duration, 0, len(records))
		begin := time.Now()
		for i, record := range records {
			if err := confirmHere(ctx, &desk, record); err != nil {
				stop()
				return err
			}
			took = append(took, max(0, (<-sent).Sub(committed)))
			time.Sleep(c.pause * time.Duration(i*37%100) / 100) // not in step with the looks
		}
		m := seriesOf(took, time.Since(begin))
		stop()
		if err := <-over; err != nil {
			return err
		}
		fmt.Printf("from commit to sender, %s: p50 %.1f ms, p95 %.1f ms, p99 %.1f ms\n", c.name, ms(m.p50), ms(m.p95), ms(m.p99))
	}
	return nil
}
