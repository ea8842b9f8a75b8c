package main

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"

	"countersign/db/embedded"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// benchConfirm compares one confirm over HTTP with the bare SQL of the same transaction, statement by statement
// (prepared) and as one plpgsql call, on the same cluster, one after the other in one run.
func benchConfirm(ctx context.Context, cluster *embedded.Cluster, log *slog.Logger, clients []int, ops int) error {
	url, err := database(ctx, cluster, "bench_confirm")
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
	fmt.Println("\nconfirm (a move with one message): over HTTP, and the bare SQL beside it")
	next := 0 // visits are moved away, then back, and so on
	if err := warm(ctx, s, root, &next); err != nil {
		return err
	}
	for _, n := range clients {
		rates := map[string]series{}
		for range rounds { // in turns, so that whatever else the machine does falls on all alike
			for _, mode := range modes {
				records, _, err := proposeMoves(ctx, s, &next, ops/rounds)
				if err != nil {
					return err
				}
				var m series
				if mode == silentMode {
					if _, err := root.ExecContext(ctx, "ALTER TABLE proposals DISABLE TRIGGER event_of_change"); err != nil {
						return err
					}
				}
				if mode == overHTTP || mode == silentMode {
					m, err = measure(ctx, n, len(records), func(ctx context.Context, _, i int) error { return s.confirm(ctx, records[i]) })
				} else {
					m, err = benchBare(ctx, url, mode == oneCallMode, n, records)
				}
				if err != nil {
					return fmt.Errorf("%s: %w", mode, err)
				}
				if _, err := root.ExecContext(ctx, "ALTER TABLE proposals ENABLE TRIGGER event_of_change"); err != nil {
					return err
				}
				rates[mode] = rates[mode].and(m)
			}
		}
		for _, mode := range modes {
			fmt.Printf("%2d clients  %-24s%v\n", n, mode, rates[mode])
		}
		fmt.Printf("%2d clients  ratios: %.2f of statement by statement, %.2f of one call, %.2f of itself without event rows\n", n,
			rates[overHTTP].rate/rates[statementMode].rate, rates[overHTTP].rate/rates[oneCallMode].rate, rates[overHTTP].rate/rates[silentMode].rate)
	}
	return nil
}

const (
	overHTTP      = "over HTTP"
	statementMode = "statement by statement"
	oneCallMode   = "one call"
	silentMode    = "HTTP, no event rows"
	rounds        = 8
)

var modes = []string{overHTTP, statementMode, oneCallMode, silentMode}

// confirm is the request that is measured.
func (s *site) confirm(ctx context.Context, r proposal.Record) error {
	return s.call(ctx, "POST", "/proposals/"+r.ID+"/confirm",
		fmt.Sprintf(`{"revision":%d,"plan_hash":%q,"idempotency_key":"k-%s"}`, r.Revision, r.PlanHash, r.ID), 200)
}

// warm makes the tables what they are in a desk that is in use: filled and analysed, as autovacuum keeps them. Plans made
// for empty tables would be measured otherwise.
func warm(ctx context.Context, s *site, root *sql.DB, next *int) error {
	const some = 400
	records, _, err := proposeMoves(ctx, s, next, some)
	if err != nil {
		return err
	}
	for range 2 { // again with the plans of the filled tables
		half := records[:some/2]
		records = records[some/2:]
		if _, err := measure(ctx, 16, len(half), func(ctx context.Context, _, i int) error { return s.confirm(ctx, half[i]) }); err != nil {
			return err
		}
		if _, err := root.ExecContext(ctx, "ANALYZE"); err != nil {
			return err
		}
	}
	return nil
}

// proposeMoves proposes that many moves by half an hour, there or back, eight at a time.
func proposeMoves(ctx context.Context, s *site, next *int, n int) ([]proposal.Record, series, error) {
	const visits = practitioners * days * 8
	by := clinic.Actor{Clinic: "bench", Person: "ana", PersonName: "Ana", Role: clinic.RoleStaff, Kind: clinic.KindUser, MayDecide: true, Via: "api"}
	from := *next
	*next += n
	first := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 3)
	records := make([]proposal.Record, n)
	took, err := measure(ctx, 8, n, func(ctx context.Context, _, i int) error {
		turn, visit := (from+i)/visits, (from+i)%visits
		at := first.AddDate(0, 0, visit/8%days).Add(time.Duration(8+visit%8) * time.Hour)
		if turn%2 == 0 {
			at = at.Add(30 * time.Minute)
		}
		a, err := s.desk.Propose(ctx, by, proposal.Proposing{Action: "reschedule_appointment@1",
			Parameters: map[string]any{"appointment": fmt.Sprintf("a%d", visit+1), "starts_at": at.Format(time.RFC3339)}})
		records[i] = a.Record
		return err
	})
	return records, took, err
}
