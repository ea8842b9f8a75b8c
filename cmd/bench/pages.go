package main

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"

	"countersign/db/embedded"
	"countersign/db/seed"
	"countersign/internal/account"
)

// benchPages measures what staff wait for, on each seeded size, over HTTP: the day sheet of the fullest day, patient
// search, and a week of free starts.
func benchPages(ctx context.Context, cluster *embedded.Cluster, log *slog.Logger, clients []int, sizes []string) error {
	before := map[string]series{}
	for _, size := range sizes {
		url, err := database(ctx, cluster, "bench_"+size)
		if err != nil {
			return err
		}
		if err := benchSize(ctx, url, log, clients, size, before); err != nil {
			return fmt.Errorf("%s: %w", size, err)
		}
	}
	return nil
}

func benchSize(ctx context.Context, dbURL string, log *slog.Logger, clients []int, size string, before map[string]series) error {
	s, err := newSite(ctx, dbURL, log)
	if err != nil {
		return err
	}
	defer s.close()
	start := time.Now()
	if _, err := seed.Run(ctx, s.db, seed.Options{Size: size, Seed: 1, Now: time.Now()}); err != nil {
		return err
	}
	fmt.Printf("\n%s: seeded in %.1f s\n", size, time.Since(start).Seconds())
	accounts, err := account.NewService(s.db, s.random, true, account.DefaultLimits)
	if err != nil {
		return err
	}
	if err := accounts.AddDemo(ctx, seed.Havnegade, seed.Lakeview); err != nil {
		return err
	}
	s.token = "demo-staff"
	root, err := raw(dbURL, "")
	if err != nil {
		return err
	}
	defer root.Close()
	for _, q := range []string{"CREATE EXTENSION IF NOT EXISTS pg_stat_statements", "VACUUM ANALYZE"} {
		if _, err := root.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	day, visits, err := fullestDay(ctx, root)
	if err != nil {
		return err
	}
	browser, err := s.signIn(ctx)
	if err != nil {
		return err
	}
	queries := []string{"maria jensen", "jensen", "nielsen anna", "100300", "soren", "o'brien nunez", "larsen", "1984-03-11", "ha", "petersen m"}
	get := func(path string) func(context.Context, int, int) error {
		return func(ctx context.Context, _, _ int) error { return s.call(ctx, "GET", path, "", 200) }
	}
	for _, page := range []struct {
		name string
		op   func(ctx context.Context, client, i int) error
	}{
		{fmt.Sprintf("day sheet (%d visits)", visits), func(ctx context.Context, _, _ int) error {
			req, err := http.NewRequestWithContext(ctx, "GET", s.server.URL+"/?location=loc_hav12&date="+day, nil)
			if err != nil {
				return err
			}
			return do(browser, req, 200)
		}},
		{"patient search", func(ctx context.Context, _, i int) error {
			return s.call(ctx, "POST", "/patients/search", fmt.Sprintf(`{"query":%q}`, queries[i%len(queries)]), 200)
		}},
		{"free slots, one week", get("/slots?type=type_standard&from=" + day + "&to=" + later(day, 6))},
		{"free slots, one practitioner", get("/slots?type=type_standard&practitioner=prac_holm&from=" + day + "&to=" + later(day, 13))},
	} {
		kind, _, _ := strings.Cut(page.name, " (")
		for _, n := range clients {
			if _, err := measure(ctx, n, 20, page.op); err != nil { // warm
				return fmt.Errorf("%s: %w", page.name, err)
			}
			calls, err := statementCalls(ctx, root)
			if err != nil {
				return err
			}
			const times = 400
			m, err := measure(ctx, n, times, page.op)
			if err != nil {
				return fmt.Errorf("%s: %w", page.name, err)
			}
			after, err := statementCalls(ctx, root)
			if err != nil {
				return err
			}
			fmt.Printf("%2d clients  %-30s%v  %4.1f statements", n, page.name, m, float64(after-calls)/times)
			key := fmt.Sprint(kind, n)
			if b, ok := before[key]; ok {
				fmt.Printf("  %.2f times the p50 of the size before", float64(m.p50)/float64(b.p50))
			}
			before[key] = m
			fmt.Println()
		}
	}
	return nil
}

func later(day string, days int) string {
	d, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err) // of our own query
	}
	return d.AddDate(0, 0, days).Format(time.DateOnly)
}

// fullestDay is the day with the most visits at the first location, and how many.
func fullestDay(ctx context.Context, root *sql.DB) (day string, visits int, err error) {
	err = root.QueryRowContext(ctx, `SELECT to_char(starts_at AT TIME ZONE 'Europe/Copenhagen', 'YYYY-MM-DD'), count(*) FROM appointments
		WHERE location = 'loc_hav12' AND starts_at > now() - interval '20 days' AND starts_at < now() + interval '20 days' GROUP BY 1 ORDER BY 2 DESC, 1 DESC LIMIT 1`).Scan(&day, &visits)
	return day, visits, err
}

func statementCalls(ctx context.Context, root *sql.DB) (n int64, err error) {
	err = root.QueryRowContext(ctx, `SELECT coalesce(sum(calls), 0) FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = current_database() AND s.toplevel
		AND s.userid = 'countersign_app'::regrole`).Scan(&n)
	return n, err
}

// signIn gives a browser that holds a session of staff.
func (s *site) signIn(ctx context.Context) (*http.Client, error) {
	return s.signInAs(ctx, "staff@demo.test")
}

func (s *site) signInAs(ctx context.Context, email string) (*http.Client, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	browser := &http.Client{Jar: jar, Transport: s.client.Transport}
	form := url.Values{"email": {email}, "password": {account.DemoPassword}}
	req, err := http.NewRequestWithContext(ctx, "POST", s.server.URL+"/signin", strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", s.server.URL)
	return browser, do(browser, req, 200)
}
