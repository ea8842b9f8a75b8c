package faulttest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/ehr"
	"countersign/internal/ehr/ehrtest"
	"countersign/internal/proposal"
)

const victim = "FAULTTEST_VICTIM"

// doomed counts what a worker does and kills its process, without a last word, when it has counted so far.
type doomed struct {
	ehr.Store
	ehr.Desk
	http.RoundTripper
	left int
}

func (d *doomed) tick() {
	if d.left--; d.left == 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

func (d *doomed) Claim(c context.Context, clinic string, most int, lease time.Duration) ([]ehr.Operation, error) {
	defer d.tick()
	return d.Store.Claim(c, clinic, most, lease)
}

func (d *doomed) InOperation(c context.Context, op ehr.Operation, fn func(ehr.Tx) error) (bool, error) {
	defer d.tick()
	return d.Store.InOperation(c, op, fn)
}

func (d *doomed) RoundTrip(r *http.Request) (*http.Response, error) {
	d.tick()
	defer d.tick()
	return d.RoundTripper.RoundTrip(r)
}

func (d *doomed) Applied(c context.Context, op ehr.Operation, f ehr.Found) (bool, error) {
	d.tick()
	defer d.tick()
	return d.Desk.Applied(c, op, f)
}

// Row 34: the worker's process is killed at every step it takes, before and after; another goes on from the rows alone.
// X02, G7: nothing is lost between a call and its commit, and nothing stays pending for ever.
func TestAWorkerIsKilledAtEveryStep(t *testing.T) {
	if spec := os.Getenv(victim); spec != "" {
		work(t, spec)
		return
	}
	t.Parallel()
	w := newWorld(t, ehrtest.Mode{OpenConflicts: true})
	for step := 1; ; step++ {
		o := w.confirm(w.booking(step%9, 11+step/9))
		before := w.ehr.Count("POST", "Appointment")
		child := exec.Command(os.Args[0], "-test.run=^TestAWorkerIsKilledAtEveryStep$")
		child.Env = append(os.Environ(), victim+"="+w.URL+" "+w.web.URL+" "+strconv.Itoa(step))
		out, err := child.CombinedOutput()
		if err == nil {
			if step < 15 {
				t.Fatalf("the worker was over after %d steps", step)
			}
			w.common(o, ehr.Applied)
			return
		}
		if !strings.Contains(err.Error(), "killed") {
			t.Fatalf("step %d: %v\n%s", step, err, out)
		}
		w.pass(4 * time.Minute)
		w.run(o)
		w.common(o, ehr.Applied)
		if n := w.ehr.Count("POST", "Appointment") - before; n != 1 {
			t.Errorf("killed at step %d: %d writes\n%s", step, n, w.story(o))
		}
	}
}

// work is the worker that will be killed.
func work(t *testing.T, spec string) {
	var url, base string
	var left int
	if _, err := fmt.Sscan(spec, &url, &base, &left); err != nil {
		t.Fatal(err)
	}
	pool, err := db.Open(ctx, url, db.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	log := slog.New(slog.DiscardHandler)
	d := &doomed{Store: db.Operations{DB: pool}, RoundTripper: http.DefaultTransport, left: left,
		Desk: ehr.ProposalDesk{Service: &proposal.Service{Store: db.Proposals{DB: pool}, IDs: desktest.ID, Log: log, EHR: func(string) bool { return true }}}}
	client, err := ehr.NewClient(ehr.Connection{Clinic: "hav", URL: base + "/fhir"}, d)
	if err != nil {
		t.Fatal(err)
	}
	lane := &ehr.Lane{Clinic: "hav", Client: client, Store: d, Desk: d, Settle: settle, IDs: desktest.ID, Log: log}
	if _, err := lane.Once(ctx); err != nil {
		t.Fatal(err)
	}
}
