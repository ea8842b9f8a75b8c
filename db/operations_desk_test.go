package db_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/ehr"
	"countersign/internal/proposal"
)

// One more look at what waits for a person is claimed, and whatever the reconciler does with it, it sends nothing and
// leaves it with people (case G5).
func TestALookForAPersonNeverSends(t *testing.T) {
	d, store, _ := withEHR(t)
	ctx, ben := context.Background(), d.Actor("ben")
	_, op := d.Strand(d.Move("apt_maria", d.At(0, 11, 0)), ehr.Manual, "several", desktest.Saw(2, "several"))
	if ops, err := store.Claim(ctx, "hav", 10, time.Minute); err != nil || len(ops) != 0 {
		t.Fatalf("%d claimed before anybody asks: %v", len(ops), err)
	}
	version := d.Text(`SELECT version FROM ehr_operations`)
	if err := d.Desk.LookAgain(ctx, ben, op.ID); err != nil {
		t.Fatal(err)
	}
	if got := d.Text(`SELECT version FROM ehr_operations`); got != version {
		t.Errorf("asking to look is news: version %s after %s", got, version)
	}
	op = claimOne(t, store)
	if !op.LookOnly || op.AskedBy != "ben" {
		t.Fatalf("claimed %+v", op)
	}
	_, err := store.InOperation(ctx, op, func(tx ehr.Tx) error {
		op.State = ehr.Unknown
		if err := tx.Set(ctx, op, tx.Now(), false); err != nil {
			return err
		}
		return tx.BeginAttempt(ctx, ehr.Attempt{N: 2, Phase: op.Phase, Method: "POST", Request: []byte("{}"), RequestID: "req2"})
	})
	if err == nil {
		t.Fatal("an attempt began")
	}
	if _, err := store.InOperation(ctx, op, func(tx ehr.Tx) error {
		op.Looks++
		l := desktest.Saw(0, "none")
		if l.N = op.Looks; tx.AddLook(ctx, l) != nil {
			t.Error("the look was not kept")
		}
		op.State, op.AskedBy = ehr.Ready, ""
		return tx.Set(ctx, op, tx.Now(), true)
	}); err != nil {
		t.Fatal(err)
	}
	if got := d.Text(`SELECT state || ' ' || look_only FROM ehr_operations`); got != "manual false" {
		t.Errorf("it is %s", got)
	}
	if ops, err := store.Claim(ctx, "hav", 10, time.Minute); err != nil || len(ops) != 0 {
		t.Errorf("%d claimed after the look: %v", len(ops), err)
	}
}

// A visit of a bulk is resolved alone, and the bulk goes on with what a person said.
func TestAVisitOfABulkIsResolved(t *testing.T) {
	d, store, _ := withEHR(t)
	d.Desk.Inline = -1
	ctx, ana, ben, bea := context.Background(), d.Actor("ana"), d.Actor("ben"), d.Actor("bea")
	r := d.Propose(ana, bulkOf(item("apt_maria", d.At(0, 14, 0)), ending("apt_soren")))
	if _, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k1")); err != nil {
		t.Fatal(err)
	}
	carryOn(t, d)
	ops, err := store.Claim(ctx, "hav", 10, time.Minute)
	if err != nil || len(ops) != 2 {
		t.Fatalf("claimed %d: %v", len(ops), err)
	}
	for _, op := range ops {
		d.Leave(op, ehr.Manual, "several", desktest.Saw(2, "several"))
		say := resolving(op.ID, proposal.Booked, "remote_id", "r7")
		if op.Item == 2 {
			say = resolving(op.ID, proposal.NotBooked)
		}
		said := d.Propose(ben, say)
		if f := said.Plan.After.Operation; f.Item != op.Item || f.Wanted.Appointment != op.Appointment || said.Plan.After.Patient.ID != op.Wanted.Patient.ID {
			t.Errorf("it shows %+v", f)
		}
		if a, err := d.Desk.Confirm(ctx, bea, desktest.Deciding(said, desktest.ID("k"))); err != nil || a.Record.State != proposal.StateCompleted {
			t.Fatalf("%s %v", a.Record.State, err)
		}
	}
	carryOn(t, d)
	got, err := d.Desk.Get(ctx, ana, r.ID)
	if err != nil || got.State != proposal.StatePartial || states(got) != "cf" || *got.ItemResults()[1].Code != "ehr_not_booked" {
		t.Errorf("%s %s %v", got.State, states(got), err)
	}
	if got := d.Text(visitRow); got != "booked 14:00 v2" {
		t.Errorf("the visit is %s", got)
	}
}

// The desk shows what is late first, then what nobody knows, then the rest, the oldest first; page by page the same rows.
func TestTheDeskShowsWhatIsLateFirst(t *testing.T) {
	d := desktest.New(t).KeptInEHR()
	ctx := context.Background()
	for i, state := range []string{ehr.Pending, ehr.Unknown, ehr.Manual, ehr.Ready, ehr.Unknown} {
		d.Exec(`INSERT INTO proposals (clinic, id, action, revision, state, outcome, expires_at, risk, created_by, created_kind, created_name, owner, owner_name, created_via, decided_by, decided_name, decided_at)
			SELECT 'hav', 'p' || $1, 'cancel_appointment@1', 1, 'executing', 'unknown', app_now() + interval '1 hour', 'low', 'ana', 'user', 'ana', 'ana', 'ana', 'page', 'ana', 'ana', app_now()`, i)
		d.Exec(`INSERT INTO revisions (clinic, proposal, revision, plan_hash, plan_bytes, expires_at, created_by, created_name) VALUES ('hav', 'p' || $1, 1, repeat('a', 64), '{}', app_now(), 'ana', 'ana')`, i)
		d.Exec(`INSERT INTO ehr_operations (clinic, id, proposal, revision, plan_hash, kind, appointment, state, send_until, deadline, person, person_name, role, via, request, created_at)
			VALUES ('hav', 'op' || $1, 'p' || $1, 1, repeat('a', 64), 'cancel', 'a' || $1, $2, app_now(), app_now() + make_interval(hours => CASE WHEN $1 = '3' THEN -1 ELSE 1 END), 'ana', 'ana', 'staff', 'page', 'r',
				app_now() + make_interval(mins => $3))`, strconv.Itoa(i), state, i)
	}
	read := func(f db.OperationFilter) (ids string, next string) {
		t.Helper()
		err := d.DB.InClinic(ctx, "hav", func(tx *db.Tx) error {
			rows, more, err := tx.DeskOperations(ctx, f)
			ids, next = "", more
			for _, o := range rows {
				ids += o.ID + " "
				if o.Plan != nil {
					t.Error("a plan without its hash is shown")
				}
				if o.Late() != (o.ID == "op3") {
					t.Errorf("%s late: %v", o.ID, o.Late())
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return ids, next
	}
	if got, next := read(db.OperationFilter{Limit: 10}); got != "op3 op1 op2 op4 op0 " || next != "" {
		t.Errorf("%s %q", got, next)
	}
	all, next := read(db.OperationFilter{Limit: 2})
	for next != "" {
		var got string
		got, next = read(db.OperationFilter{Limit: 2, Cursor: next})
		all += got
	}
	if all != "op3 op1 op2 op4 op0 " {
		t.Errorf("page by page: %s", all)
	}
	if got, _ := read(db.OperationFilter{Limit: 10, State: "late"}); got != "op3 " {
		t.Errorf("late: %s", got)
	}
	if got, _ := read(db.OperationFilter{Limit: 10, State: ehr.Unknown}); got != "op1 op4 " {
		t.Errorf("unknown: %s", got)
	}
}
