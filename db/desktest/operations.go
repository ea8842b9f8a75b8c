package desktest

import (
	"context"
	"time"

	"countersign/db"
	"countersign/internal/ehr"
	"countersign/internal/proposal"
)

// KeptInEHR makes the clinics' visits be kept in an EHR too, with no connector at work.
func (d *Desk) KeptInEHR() *Desk {
	d.Desk.EHR = func(string) bool { return true }
	return d
}

// Strand confirms a change as ana and leaves its operation as a connector does that does not know what became of it: one
// attempt without an answer, those looks, that state and code.
func (d *Desk) Strand(p proposal.Proposing, state, code string, looks ...ehr.Look) (proposal.Record, ehr.Operation) {
	d.T.Helper()
	ctx := context.Background()
	a, err := d.Desk.Confirm(ctx, d.Actor("ana"), Deciding(d.Propose(d.Actor("ana"), p), ID("key")))
	if err != nil {
		d.T.Fatalf("confirm: %v", err)
	}
	ops, err := db.Operations{DB: d.DB}.Claim(ctx, "hav", 1, time.Minute)
	if err != nil || len(ops) != 1 {
		d.T.Fatalf("claimed %d operations: %v", len(ops), err)
	}
	d.Leave(ops[0], state, code, looks...)
	return a.Record, ops[0]
}

// Leave is the end of a claim: see Strand.
func (d *Desk) Leave(op ehr.Operation, state, code string, looks ...ehr.Look) {
	d.T.Helper()
	ctx := context.Background()
	mine, err := db.Operations{DB: d.DB}.InOperation(ctx, op, func(tx ehr.Tx) error {
		a := ehr.Attempt{N: op.Attempts + 1, Phase: op.Phase, Method: "POST", RequestID: "req_1",
			Request: []byte(`{"resourceType":"Appointment","status":"booked","participant":[{"actor":{"reference":"Patient/maria","display":"Maria Jensen"}}]}`)}
		if err := tx.BeginAttempt(ctx, a); err != nil {
			return err
		}
		a.Outcome, a.Code = "unknown", "no_answer"
		if err := tx.EndAttempt(ctx, a); err != nil {
			return err
		}
		now := op
		for i, l := range looks {
			l.N = op.Looks + i + 1
			if err := tx.AddLook(ctx, l); err != nil {
				return err
			}
			now.LookedAt = tx.Now()
		}
		now.State, now.Code, now.Attempts, now.Looks, now.AttemptedAt = state, code, op.Attempts+1, op.Looks+len(looks), tx.Now()
		return tx.Set(ctx, now, tx.Now().Add(time.Hour), true)
	})
	if err != nil || !mine {
		d.T.Fatalf("the operation could not be left: %v %v", mine, err)
	}
}

// Saw is a look by the business identifier that found so many.
func Saw(matches int, verdict string) ehr.Look {
	return ehr.Look{How: "identifier", Matches: &matches, Verdict: verdict}
}
