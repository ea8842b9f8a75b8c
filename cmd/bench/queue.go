package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"countersign/db/embedded"
	"countersign/internal/account"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// waiting is how many proposals the queue is measured with.
const waiting = 100_000

var laterPage = regexp.MustCompile(`href="(/queue\?[^"]*cursor=[^"]*)"`)

// benchQueue measures the queue's page with 100,000 waiting: at several depths, under filters, and what an open page asks
// again and again. The rows are copies of real proposals, spread over practitioners, people, risks and deadlines.
func benchQueue(ctx context.Context, cluster *embedded.Cluster, log *slog.Logger, clients []int) error {
	dbURL, err := database(ctx, cluster, "bench_queue")
	if err != nil {
		return err
	}
	s, err := newSite(ctx, dbURL, log)
	if err != nil {
		return err
	}
	defer s.close()
	root, err := raw(dbURL, "")
	if err != nil {
		return err
	}
	defer root.Close()
	if err := fillConfirmWorld(ctx, root); err != nil {
		return err
	}
	accounts, err := account.NewService(s.db, s.random, true, account.DefaultLimits)
	if err != nil {
		return err
	}
	if err := accounts.AddDemo(ctx, "bench", "bench"); err != nil {
		return err
	}
	ana := clinic.Actor{Clinic: "bench", Person: "ana", PersonName: "Ana", Role: clinic.RoleStaff, Kind: clinic.KindUser, MayDecide: true, Via: "page"}
	var at time.Time
	if err := root.QueryRowContext(ctx, `SELECT starts_at + interval '30 min' FROM appointments WHERE id = 'a1'`).Scan(&at); err != nil {
		return err
	}
	first, err := s.desk.Propose(ctx, ana, proposal.Proposing{Action: "reschedule_appointment@1", Parameters: map[string]any{"appointment": "a1", "starts_at": at.UTC().Format(time.RFC3339)}})
	if err != nil {
		return err
	}
	for _, q := range []string{
		`INSERT INTO proposals (clinic, id, action, expires_at, risk, created_by, created_kind, created_name, owner, owner_name, created_via, created_at, patient, appointment, practitioner, location, starts_at, ends_at)
			SELECT p.clinic, 'w' || i, p.action, p.expires_at + i * interval '100 milliseconds', (ARRAY['low','medium','low','high'])[1 + i % 4], p.created_by, p.created_kind, p.created_name, p.owner, p.owner_name, 'seed',
				p.created_at - (i % 60) * interval '1 minute', 'pat' || (1 + i % 15000), 'a' || (1 + i % 15000), 'p' || (1 + i % 64), 'main', p.starts_at + (i % 240) * interval '2 hours', p.ends_at + (i % 240) * interval '2 hours'
			FROM proposals p, generate_series(1, ` + fmt.Sprint(waiting) + `) i WHERE p.id = '` + first.Record.ID + `'`,
		`INSERT INTO revisions (clinic, proposal, revision, plan_hash, plan_bytes, expires_at, created_by, created_name)
			SELECT r.clinic, p.id, 1, r.plan_hash, r.plan_bytes, p.expires_at, r.created_by, r.created_name FROM revisions r JOIN proposals p ON p.clinic = r.clinic AND p.id <> r.proposal WHERE r.proposal = '` + first.Record.ID + `'`,
		`UPDATE proposals SET escalated_revision = 1 WHERE id IN ('w10', 'w5000', 'w90000')`,
		`VACUUM ANALYZE`,
	} {
		if _, err := root.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	browser, err := s.signInAs(ctx, "reviewer@demo.test")
	if err != nil {
		return err
	}
	page := func(path string) (string, error) {
		req, err := http.NewRequestWithContext(ctx, "GET", s.server.URL+path, nil)
		if err != nil {
			return "", err
		}
		b, err := answerOf(browser, req, 200, 204)
		return string(b), err
	}
	body, err := page("/queue")
	if err != nil {
		return err
	}
	second := laterPage.FindStringSubmatch(body)
	live := regexp.MustCompile(`hx-get="(/queue/changed[^"]*)"`).FindStringSubmatch(body)
	if second == nil || live == nil {
		return fmt.Errorf("the queue has no second page")
	}
	deep := func(n int) (string, error) {
		var cursor string
		err := root.QueryRowContext(ctx, `SELECT replace(rtrim(translate(encode(convert_to(to_char(expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || ' ' || id, 'UTF8'), 'base64'), '+/', '-_'), '='), E'\n', '')
			FROM proposals WHERE state = 'proposed' AND clinic = 'bench' ORDER BY expires_at, id OFFSET $1 LIMIT 1`, n).Scan(&cursor)
		return "/queue?cursor=" + url.QueryEscape(cursor), err
	}
	middle, err := deep(waiting / 2)
	if err != nil {
		return err
	}
	end, err := deep(waiting - 60)
	if err != nil {
		return err
	}
	fmt.Printf("\nqueue, %d waiting\n", waiting)
	for _, p := range []struct{ name, path string }{
		{"first page, mine", "/queue"}, {"all that waits", "/queue?view=all"}, {"at 50,000", middle}, {"at 99,940", end}, {"high risk", "/queue?risk-high=on"},
		{"one practitioner", "/queue?practitioner=p7"}, {"nobody took it, 15 min", "/queue?claimed=none&age=15"}, {"escalated", "/queue?view=all&escalated=on"},
		{"an open page asks", html(live[1])},
	} {
		for _, n := range clients {
			op := func(ctx context.Context, _, _ int) error {
				_, err := page(p.path)
				return err
			}
			if _, err := measure(ctx, n, 10, op); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			m, err := measure(ctx, n, 60, op)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			fmt.Printf("%2d clients  %-30s%v\n", n, p.name, m)
		}
	}
	return nil
}

// html reads an attribute's text.
func html(s string) string { return regexp.MustCompile(`&amp;`).ReplaceAllString(s, "&") }
