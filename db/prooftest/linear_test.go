//go:build unix

package prooftest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// Every history of one proposal must be explained by some order of single steps, each between its call and its answer.

// asked is one call; got is its answer.
type asked struct {
	proposal, kind string // confirm, reject, revise, expire, get
	revision       int
	key            string
	fragile        bool // the connection may break: the service may have to look its own answer up
}

type got struct {
	code     string // of the refusal, "" = done
	state    string // confirm, reject, get
	revision int    // revise, get
	replayed bool
	unknown  bool // the answer was lost: done or not, now or later
}

// stands is a proposal as the contract sees it. keys are the consumed ones, as " key=kind/revision=state".
type stands struct {
	revision int
	state    string
	keys     string
}

// next is the contract, one call at a time.
func next(s stands, a asked) (stands, got) {
	print := fmt.Sprintf(" %s=%s/%d=", a.key, a.kind, a.revision)
	switch {
	case a.kind == "get":
		return s, got{state: s.state, revision: s.revision}
	case a.kind == "expire":
		if s.state == proposal.StateProposed {
			s.state = proposal.StateExpired
		}
		return s, got{}
	case a.key != "" && strings.Contains(s.keys, print):
		_, rest, _ := strings.Cut(s.keys, print)
		state, _, _ := strings.Cut(rest, ";")
		return s, got{state: state, replayed: true}
	case a.key != "" && strings.Contains(s.keys, " "+a.key+"="):
		return s, got{code: refusal.IdempotencyKeyReused}
	case s.state == proposal.StateExpired && a.kind == "reject" && a.revision == s.revision: // a late "no" is still a no
		s.keys += print + s.state + ";"
		return s, got{state: s.state}
	case s.state == proposal.StateExpired:
		return s, got{code: refusal.ProposalExpired}
	case s.state != proposal.StateProposed:
		return s, got{code: refusal.AlreadyDecided}
	case a.revision != s.revision:
		return s, got{code: refusal.ResourceChanged}
	case a.kind == "revise":
		s.revision++
		return s, got{revision: s.revision}
	}
	s.state = map[string]string{"confirm": proposal.StateCompleted, "reject": proposal.StateRejected}[a.kind]
	s.keys += print + s.state + ";"
	return s, got{state: s.state}
}

var contract = porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := map[string][]porcupine.Operation{}
		for _, o := range history {
			id := o.Input.(asked).proposal
			parts[id] = append(parts[id], o)
		}
		var out [][]porcupine.Operation
		for _, p := range parts {
			out = append(out, p)
		}
		return out
	},
	Init: func() []any { return []any{stands{1, proposal.StateProposed, ""}} },
	Step: func(state, input, output any) []any {
		s, o := state.(stands), output.(got)
		after, says := next(s, input.(asked))
		switch {
		case o.unknown:
			return []any{s, after}
		case o.code == refusal.Busy: // says "not executed"
			return []any{s}
		case o == says:
			return []any{after}
		case input.(asked).fragile && o.replayed && o.code == "" && says == got{state: o.state}:
			return []any{after}
		}
		return nil
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) },
}

// door is the service, or one with a planted fault.
type door interface {
	Confirm(context.Context, clinic.Actor, proposal.Decision) (proposal.Answer, error)
	Reject(context.Context, clinic.Actor, proposal.Decision) (proposal.Answer, error)
	Revise(context.Context, clinic.Actor, proposal.Revising) (proposal.Answer, error)
	Get(context.Context, clinic.Actor, string) (proposal.Record, error)
}

// session is what clients do to a few proposals at once.
type session struct {
	d       *desktest.Desk
	door    door
	kinds   []string
	clients int  // to each proposal
	calls   int  // of each client
	lose    bool // some callers go away
	fresh   bool // no key is used twice
	started time.Time
	mu      sync.Mutex
	history []porcupine.Operation
	hashes  map[string][]string // by proposal, of revision i+1
}

func (s *session) run(cards []proposal.Record) {
	s.started, s.hashes = time.Now(), map[string][]string{}
	var all sync.WaitGroup
	for i, c := range cards {
		s.hashes[c.ID] = []string{c.PlanHash}
		for n := range s.clients {
			all.Go(func() { s.client(c.ID, rand.New(rand.NewPCG(uint64(i), uint64(n)))) })
		}
	}
	all.Wait()
}

func (s *session) client(id string, rnd *rand.Rand) {
	ana := s.d.Actor("ana")
	for range s.calls {
		s.mu.Lock()
		known := slices.Clone(s.hashes[id])
		s.mu.Unlock()
		a := asked{proposal: id, fragile: s.lose, kind: s.kinds[rnd.IntN(len(s.kinds))]}
		if a.kind == "confirm" || a.kind == "reject" {
			a.key = fmt.Sprintf("%s.%d", id, rnd.IntN(6))
		}
		if s.fresh && a.key != "" {
			a.key = desktest.ID("key")
		}
		if a.kind != "get" && a.kind != "expire" {
			a.revision = max(1, len(known)-rnd.IntN(3)*rnd.IntN(2))
		}
		ctx, cancel := context.WithCancel(ctx)
		if s.lose && rnd.IntN(6) == 0 {
			time.AfterFunc(time.Duration(rnd.IntN(12_000))*time.Microsecond, cancel)
		}
		called := time.Since(s.started)
		out := s.call(ctx, ana, a, known)
		returned := time.Since(s.started)
		cancel()
		if out.code == refusal.Busy && (a.kind == "get" || a.kind == "expire") {
			continue // nothing was learnt
		}
		if out.unknown {
			returned = time.Hour
		}
		s.mu.Lock()
		s.history = append(s.history, porcupine.Operation{Input: a, Output: out, Call: int64(called), Return: int64(returned)})
		if a.kind == "revise" && out.code == "" && out.revision == len(s.hashes[id])+1 {
			r := s.d.Text(`SELECT plan_hash FROM revisions WHERE proposal = $1 AND revision = $2`, id, out.revision)
			s.hashes[id] = append(s.hashes[id], r)
		}
		s.mu.Unlock()
	}
}

func (s *session) call(ctx context.Context, by clinic.Actor, a asked, known []string) got {
	var answer proposal.Answer
	var err error
	decision := proposal.Decision{Proposal: a.proposal, Revision: a.revision, Key: a.key}
	if a.revision > 0 {
		decision.PlanHash = known[a.revision-1]
	}
	switch a.kind {
	case "confirm":
		answer, err = s.door.Confirm(ctx, by, decision)
	case "reject":
		answer, err = s.door.Reject(ctx, by, decision)
	case "revise":
		answer, err = s.door.Revise(ctx, by, proposal.Revising{Proposal: a.proposal, Revision: a.revision, PlanHash: decision.PlanHash})
		if err == nil {
			return got{revision: answer.Record.Revision}
		}
		if code(err) == refusal.Busy {
			return got{unknown: true} // an edit has no key to look up
		}
		return got{code: code(err)}
	case "expire": // the deadline passes for this one; the row's lock orders it among the others
		s.d.Exec(`UPDATE proposals SET expires_at = app_now() WHERE id = $1 AND state = 'proposed' AND expires_at > app_now()`, a.proposal)
		return got{}
	case "get":
		r, err := s.door.Get(ctx, by, a.proposal)
		return got{code: code(err), state: r.State, revision: r.Revision}
	}
	switch {
	case err == nil && answer.Replayed:
		var body struct{ Proposal struct{ State string } }
		must(s.d.T, json.Unmarshal(answer.Body, &body))
		return got{state: body.Proposal.State, replayed: true}
	case err == nil:
		return got{state: answer.Record.State}
	case code(err) == refusal.Busy && refusal.Of(err).Message != "":
		return got{unknown: true}
	}
	return got{code: code(err)}
}

func linearizable(history []porcupine.Operation) bool {
	model := contract.ToModel()
	switch porcupine.CheckOperationsTimeout(model, history, time.Minute) {
	case porcupine.Ok:
		return true
	case porcupine.Illegal:
		return false
	default:
		panic("the checker did not finish")
	}
}

func cards(d *desktest.Desk, n int) (out []proposal.Record) {
	for i := range n {
		out = append(out, d.Propose(d.Actor("ana"), d.Move(booked(d, newPatient(d), "holm", d.At(3, 8, 30*i)), d.At(2, 8, 30*i))))
	}
	return out
}

func TestHistoriesAreLinearizable(t *testing.T) {
	for name, s := range map[string]*session{
		"everything":             {kinds: []string{"confirm", "confirm", "reject", "revise", "revise", "revise", "revise", "revise", "revise", "get", "get", "get", "expire"}},
		"no clock":               {kinds: []string{"confirm", "revise", "revise", "revise", "get"}},
		"with answers lost":      {kinds: []string{"confirm", "confirm", "reject", "revise", "revise", "revise", "revise", "get", "get", "expire"}, lose: true},
		"with many answers lost": {kinds: []string{"confirm", "confirm", "reject", "get"}, lose: true},
	} {
		t.Run(name, func(t *testing.T) {
			d := desktest.New(t, wide(16))
			s.d, s.door, s.clients, s.calls = d, d.Desk, 4, 10
			all := cards(d, 6)
			if s.lose {
				defer breakThings(d)()
			}
			s.run(all)
			outcomes := map[string]int{}
			for _, o := range s.history {
				out := o.Output.(got)
				outcomes[fmt.Sprint(o.Input.(asked).kind, " ", out.code, out.state, map[bool]string{true: " lost"}[out.unknown], map[bool]string{true: " replay"}[out.replayed])]++
			}
			t.Log(outcomes)
			if !linearizable(s.history) {
				for _, o := range s.history {
					t.Logf("%d-%d %s", o.Call, o.Return, contract.DescribeOperation(o.Input, o.Output))
				}
				t.Fatal("no order of single steps explains this history")
			}
			wantWhole(t, d)
		})
	}
}

// breakThings puts the desk behind a cable that breaks at COMMIT now and then, and ends sessions, until it is told to stop.
func breakThings(d *desktest.Desk) (stop func()) {
	line, near := newCable(d.T, d.URL)
	pool, err := db.Open(ctx, near, db.Options{MaxConns: 16})
	must(d.T, err)
	d.T.Cleanup(func() { pool.Close() })
	d.Desk.Store = db.Proposals{DB: pool}
	end := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for i := int32(0); ; i++ {
			select {
			case <-end:
				return
			case <-line.cut:
			case <-time.After(10 * time.Millisecond):
				line.atCommit.Store(neverArrives + i%3)
				if i%3 == 0 {
					d.Exec(`SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%claim_proposal%'
						AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1) x`)
				}
			}
		}
	})
	return func() { close(end); all.Wait() }
}

// The checker must be able to say no: two faults that others really had are planted, and it must find them.

// unlocked looks before it locks, and writes without a guard (cases B6, A7).
type unlocked struct {
	proposal.Store
	d *desktest.Desk
}

var errPeek = errors.New("looked")

func (u unlocked) InClaim(ctx context.Context, clinicID string, c proposal.ClaimRequest, fn func(proposal.Tx, proposal.Claim) error) error {
	var seen proposal.Claim
	peek := c
	peek.Key = ""
	err := u.Store.InClaim(ctx, clinicID, peek, func(_ proposal.Tx, c proposal.Claim) error { seen = c; return errPeek })
	if !errors.Is(err, errPeek) {
		return err
	}
	time.Sleep(2 * time.Millisecond)
	return u.Store.InTx(ctx, clinicID, func(tx proposal.Tx) error { return fn(unguarded{tx, u.d}, seen) })
}

type unguarded struct {
	proposal.Tx
	d *desktest.Desk
}

func (u unguarded) Execute(_ context.Context, e proposal.Execution) (int64, error) {
	u.d.Exec(`UPDATE proposals SET state = $2, outcome = $3, decided_by = 'ana' WHERE id = $1`, e.Proposal, e.State, e.Outcome)
	for _, s := range e.Steps {
		return *s.ExpectVersion + 1, nil
	}
	return 0, nil
}

// careless approves whatever is current (case A7).
type careless struct{ *proposal.Service }

func (c careless) Confirm(ctx context.Context, by clinic.Actor, d proposal.Decision) (proposal.Answer, error) {
	r, err := c.Get(ctx, by, d.Proposal)
	if err != nil {
		return proposal.Answer{}, err
	}
	d.Revision, d.PlanHash = r.Revision, r.PlanHash
	return c.Service.Confirm(ctx, by, d)
}

func TestTheCheckerFindsPlantedFaults(t *testing.T) {
	for name, plant := range map[string]func(d *desktest.Desk) *session{
		"check, then act": func(d *desktest.Desk) *session {
			d.Exec(`DROP TRIGGER one_outcome ON proposals`)
			broken := *d.Desk
			broken.Store = unlocked{broken.Store, d}
			return &session{door: &broken, kinds: []string{"confirm", "reject"}, fresh: true}
		},
		"the revision is ignored": func(d *desktest.Desk) *session {
			return &session{door: careless{d.Desk}, kinds: []string{"confirm", "revise", "revise"}, fresh: true}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 10 { // whether the calls of one run meet is a matter of luck
				d := desktest.New(t, wide(16))
				s := plant(d)
				s.d, s.clients, s.calls = d, 4, 6
				s.run(cards(d, 6))
				if !linearizable(s.history) {
					return
				}
			}
			t.Fatal("the planted fault was not found")
		})
	}
}
