package main

import (
	"context"
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
	for _, n := range clients {
		rates := map[string]series{}
		for _, mode := range []string{"over HTTP", "statement by statement", "one call"} {
			records, proposeTime, err := proposeMoves(ctx, s, &next, ops)
			if err != nil {
				return err
			}
			if mode == "over HTTP" {
				fmt.Printf("%2d clients  %-24s%v\n", n, "propose in process (8)", proposeTime)
			}
			switch mode {
			case "over HTTP":
				rates[mode], err = measure(ctx, n, ops, func(ctx context.Context, _, i int) error {
					r := records[i]
					return s.call(ctx, "POST", "/proposals/"+r.ID+"/confirm",
						fmt.Sprintf(`{"revision":%d,"plan_hash":%q,"idempotency_key":"k-%s"}`, r.Revision, r.PlanHash, r.ID), 200)
				})
			default:
				rates[mode], err = benchBare(ctx, url, mode == "one call", n, records)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", mode, err)
			}
			fmt.Printf("%2d clients  %-24s%v\n", n, mode, rates[mode])
		}
		http := rates["over HTTP"].rate
		fmt.Printf("%2d clients  ratios: %.2f of statement by statement, %.2f of one call\n", n,
			http/rates["statement by statement"].rate, http/rates["one call"].rate)
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
