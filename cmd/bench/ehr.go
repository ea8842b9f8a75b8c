package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"countersign/db"
	"countersign/db/embedded"
	"countersign/internal/clinic"
	"countersign/internal/ehr"
	"countersign/internal/ehr/ehrtest"
	"countersign/internal/proposal"
)

// ehrLoad is what the lanes are measured with.
type ehrLoad struct {
	ops, clinics, parallel int
	answers                time.Duration // after which each EHR answers; the first clinic's never does
}

const ehrChild = "BENCH_EHR"

// benchEHR gives many confirmed changes of several clinics to slow EHRs, of which the first clinic's hangs. It shows what
// each lane did, the longest transaction meanwhile, and the memory with all of them waiting and at the end. The EHRs are
// another process: their ledgers are not our memory.
func benchEHR(ctx context.Context, cluster *embedded.Cluster, log *slog.Logger, load ehrLoad) error {
	url, err := database(ctx, cluster, "bench_ehr")
	if err != nil {
		return err
	}
	root, err := raw(url, "")
	if err != nil {
		return err
	}
	defer root.Close()
	base, stop, err := startEHRs(ctx, load.answers)
	if err != nil {
		return err
	}
	defer stop()
	pool, err := db.Open(ctx, url, db.Options{})
	if err != nil {
		return err
	}
	defer pool.Close()
	desk := &proposal.Service{Store: db.Proposals{DB: pool}, IDs: newID, Log: log, EHR: func(string) bool { return true }}
	each := load.ops / load.clinics
	begin := time.Now()
	for c := range load.clinics {
		if err := fillEHRClinic(ctx, root, desk, clinicID(c), each); err != nil {
			return err
		}
	}
	if _, err := root.ExecContext(ctx, `VACUUM ANALYZE`); err != nil {
		return err
	}
	fmt.Printf("\nehr: %d operations of %d clinics, %d calls at a time each, an EHR that answers in %v (two calls an operation); the first clinic's hangs. Confirmed in %v\n",
		each*load.clinics, load.clinics, load.parallel, load.answers, time.Since(begin).Round(time.Second))
	longest, heap := watch(ctx, root)
	lanes, cancel := context.WithCancel(ctx)
	defer cancel()
	var running, healthy sync.WaitGroup
	took := make([]time.Duration, load.clinics)
	begin = time.Now()
	for c := range load.clinics {
		client, err := ehr.NewClient(ehr.Connection{Clinic: clinicID(c), URL: base + "/" + clinicID(c) + "/fhir", Parallel: load.parallel, Timeout: 5 * load.answers}, nil)
		if err != nil {
			return err
		}
		lane := &ehr.Lane{Clinic: clinicID(c), Client: client, Store: db.Operations{DB: pool}, Desk: ehr.ProposalDesk{Service: desk}, IDs: newID, Log: slog.New(slog.DiscardHandler)}
		running.Go(func() { _ = lane.Run(lanes) })
		if c > 0 {
			healthy.Go(func() { took[c] = applied(lanes, root, clinicID(c), each, begin) })
		}
	}
	healthy.Wait()
	cancel()
	running.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	ideal := time.Duration(2*each/load.parallel) * load.answers
	for c := 1; c < load.clinics; c++ {
		fmt.Printf("lane %d: %d applied in %v (%.0f%% of the time that the answers alone take)\n", c, each, took[c].Round(100*time.Millisecond), 100*took[c].Seconds()/ideal.Seconds())
	}
	var down string
	if err := root.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE state = 'applied') || ' applied, ' || count(*) FILTER (WHERE ended_at IS NULL) || ' waiting, ' || coalesce(sum(attempts), 0) || ' attempts, '
		|| (SELECT failures FROM ehr_lanes WHERE clinic = $1) || ' failures in a row' FROM ehr_operations WHERE clinic = $1`, clinicID(0)).Scan(&down); err != nil {
		return err
	}
	fmt.Printf("lane 0, down: %s\n", down)
	worst, written, doing, samples := longest()
	first, most := heap()
	fmt.Printf("longest transaction %v (%s), with the wait for the disk at its commit %v, in %d samples of pg_stat_activity; live heap %.1f MB at the start, at most %.1f MB\n", worst, doing, written, samples, first, most)
	return nil
}

func clinicID(c int) string { return fmt.Sprint("ehr", c) }

// applied waits until all of a clinic's operations are in the EHR and here.
func applied(ctx context.Context, root *sql.DB, clinicID string, want int, begin time.Time) time.Duration {
	for ctx.Err() == nil {
		var n int
		if err := root.QueryRowContext(ctx, `SELECT count(*) FROM ehr_operations WHERE clinic = $1 AND state = 'applied'`, clinicID).Scan(&n); err == nil && n == want {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	return time.Since(begin)
}

// watch samples the longest open transaction and the live heap until its results are asked for.
func watch(ctx context.Context, root *sql.DB) (longest func() (worst, written time.Duration, doing string, samples int), heap func() (first, most float64)) {
	ctx, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	var worst, written float64
	samples, doing := 0, ""
	all.Go(func() {
		for ctx.Err() == nil {
			var seconds float64
			var what string
			err := root.QueryRowContext(ctx, `SELECT extract(epoch FROM clock_timestamp() - xact_start), state || ', ' || coalesce(wait_event, 'running') || ', ' || left(regexp_replace(query, '\s+', ' ', 'g'), 60) FROM pg_stat_activity
				WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND datname = current_database() AND xact_start IS NOT NULL AND query NOT LIKE '%count(*) FROM ehr_operations%'
				ORDER BY xact_start LIMIT 1`).Scan(&seconds, &what)
			if err == nil || errors.Is(err, sql.ErrNoRows) {
				samples++
			}
			if atCommit := strings.Contains(what, ", WAL"); atCommit { // its work is done, and the disk is not
				written = max(written, seconds)
			} else if seconds > worst {
				worst, doing = seconds, what
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	var first, most float64
	all.Go(func() {
		for ctx.Err() == nil {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			mb := float64(m.HeapAlloc) / (1 << 20)
			if first == 0 {
				first = mb
			}
			most = max(most, mb)
			select {
			case <-ctx.Done():
			case <-time.After(2 * time.Second):
			}
		}
	})
	end := sync.OnceFunc(func() { stop(); all.Wait() })
	span := func(seconds float64) time.Duration {
		return time.Duration(seconds * float64(time.Second)).Round(time.Millisecond)
	}
	return func() (time.Duration, time.Duration, string, int) {
		end()
		return span(worst), span(max(worst, written)), doing, samples
	}, func() (float64, float64) { end(); return first, most }
}

// fillEHRClinic makes a clinic with so many visits, and confirms a move of each.
func fillEHRClinic(ctx context.Context, root *sql.DB, desk *proposal.Service, id string, visits int) error {
	first := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 3)
	doctors := (visits + 239) / 240
	for _, q := range []string{
		`INSERT INTO clinics (id, name) VALUES ('CLINIC', 'CLINIC')`,
		`INSERT INTO accounts (id, clinic, email, name, role, password_hash) VALUES ('CLINIC_ana', 'CLINIC', 'CLINIC@example.test', 'Ana', 'staff', 'x')`,
		`INSERT INTO locations (clinic, id, name, address, phone, zone) VALUES ('CLINIC', 'CLINIC_main', 'Main', 'Main Street 1', '+45 00 00 00 00', 'Atlantic/Reykjavik')`,
		`INSERT INTO appointment_types (clinic, id, name, minutes) VALUES ('CLINIC', 'CLINIC_std', 'Standard', 30)`,
		`INSERT INTO practitioners (clinic, id, name) SELECT 'CLINIC', 'CLINIC_p' || n, 'Dr Number ' || n FROM generate_series(1, DOCTORS) n`,
		`INSERT INTO schedules (clinic, id, practitioner, location, valid_from, types) SELECT 'CLINIC', 'CLINIC_s' || n, 'CLINIC_p' || n, 'CLINIC_main', '2020-01-01', '{CLINIC_std}' FROM generate_series(1, DOCTORS) n`,
		`INSERT INTO patients (clinic, id, family, given, birth_date, mrn, email, contact, search_text)
			SELECT 'CLINIC', 'CLINIC_pat' || n, 'Family' || n, 'Given', '1980-01-01', n::text, 'p' || n || '@example.test', 'email', 'x' FROM generate_series(1, DOCTORS * 240) n`,
		`INSERT INTO slots (clinic, id, practitioner, location, schedule, day, starts_at, ends_at, types)
			SELECT 'CLINIC', 'CLINIC_' || n || '_' || to_char(t AT TIME ZONE 'UTC', 'MMDD_HH24MI'), 'CLINIC_p' || n, 'CLINIC_main', 'CLINIC_s' || n, (t AT TIME ZONE 'UTC')::date, t, t + interval '15 min', '{CLINIC_std}'
			FROM generate_series(1, DOCTORS) n, generate_series(timestamptz 'FIRST', timestamptz 'FIRST' + interval '29 days 23 hours 45 minutes', interval '15 min') t
			WHERE extract(hour FROM t AT TIME ZONE 'UTC') BETWEEN 8 AND 15`,
	} {
		q = strings.NewReplacer("CLINIC", id, "DOCTORS", fmt.Sprint(doctors), "FIRST", first.Format(time.RFC3339)).Replace(q)
		if _, err := root.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	ana := clinic.Actor{Clinic: id, Person: id + "_ana", PersonName: "Ana", Role: clinic.RoleStaff, Kind: clinic.KindUser, MayDecide: true, Via: "api"}
	_, err := measure(ctx, 4, visits, func(ctx context.Context, _, i int) error {
		at := first.AddDate(0, 0, i%240/8).Add(time.Duration(8+i%8) * time.Hour)
		a, err := desk.Propose(ctx, ana, proposal.Proposing{Action: "book_appointment@1", Parameters: map[string]any{"patient": fmt.Sprint(id, "_pat", i+1), "type": id + "_std",
			"practitioner": fmt.Sprint(id, "_p", 1+i/240), "location": id + "_main", "starts_at": at.Format(time.RFC3339)}})
		if err != nil {
			return err
		}
		_, err = desk.Confirm(ctx, ana, proposal.Decision{Proposal: a.Record.ID, Revision: a.Record.Revision, PlanHash: a.Record.PlanHash, Key: a.Record.ID})
		return err
	})
	return err
}

// startEHRs runs this program again as the EHRs of all clinics, and gives where they are.
func startEHRs(ctx context.Context, answers time.Duration) (base string, stop func(), err error) {
	child := exec.CommandContext(ctx, os.Args[0])
	child.Env = append(os.Environ(), ehrChild+"="+answers.String())
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := child.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := child.Start(); err != nil {
		return "", nil, err
	}
	stop = func() { _ = in.Close(); _ = child.Wait() }
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, err
	}
	return strings.TrimSpace(line), stop, nil
}

// serveEHRs is that other process. It ends when its standard input does.
func serveEHRs(answers time.Duration) error {
	var mu sync.Mutex
	servers := map[string]*ehrtest.Server{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() {
		_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
			mu.Lock()
			s := servers[name]
			if s == nil {
				s = ehrtest.New(ehrtest.Mode{}, ehrtest.NewClock(time.Now()))
				servers[name] = s
			}
			mu.Unlock()
			if name == clinicID(0) {
				<-r.Context().Done() // it hangs
				return
			}
			time.Sleep(answers)
			s.ServeHTTP(w, r)
		}))
	}()
	fmt.Printf("http://%s\n", listener.Addr())
	var b [1]byte
	_, _ = os.Stdin.Read(b[:])
	return nil
}
