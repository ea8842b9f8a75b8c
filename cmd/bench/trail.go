package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"time"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
)

// trailEvent is the n-th entry of a trail as a clinic makes it: 5,000 patients, a decision in ten entries, an agent in
// seven, a refusal in fifty.
func trailEvent(clinicID string, n int) audit.Event {
	by := clinic.Actor{Clinic: clinicID, Person: fmt.Sprintf("staff-%d", n%20), Role: clinic.RoleStaff, Kind: clinic.KindUser, Via: "page", Request: fmt.Sprintf("req_%d", n)}
	patient := fmt.Sprintf("patient-%d", n%5000)
	e := audit.Event{ID: newID("aud"), Actor: by, Action: audit.ReadPatient, Outcome: audit.Success, ObjectKind: "patient", Object: patient, Version: 1, Patient: patient}
	if n%7 == 0 {
		e.Actor.Kind, e.Actor.Agent, e.Actor.AgentName = clinic.KindAgent, "agent-1", "Agent"
	}
	if n%10 == 0 {
		e.Action, e.ObjectKind, e.Object, e.Risk = audit.Confirm, "proposal", fmt.Sprintf("prp_%d", n), "low"
		e.Proposal, e.Revision, e.PlanHash = e.Object, 1, planHash(n)
	}
	if n%50 == 0 {
		e.Outcome, e.Code = audit.Denied, "permission_denied"
	}
	return e
}

func planHash(n int) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(n)))
	return hex.EncodeToString(sum[:])
}

// benchTrail measures one page of the trail, filter by filter and deep in it.
func benchTrail(ctx context.Context, d *db.DB, clinicID string, rows int) error {
	half, err := middleOf(ctx, d, clinicID, rows)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name string
		f    db.AuditFilter
	}{
		{"newest", db.AuditFilter{}},
		{"from the middle on", db.AuditFilter{Cursor: half}},
		{"a person", db.AuditFilter{Actor: "staff-3"}},
		{"one's own", db.AuditFilter{OwnOf: "staff-3"}},
		{"agents", db.AuditFilter{Agent: db.AgentYes}},
		{"a patient", db.AuditFilter{Patient: "patient-77"}},
		{"an appointment", db.AuditFilter{Appointment: "nothing"}},
		{"a hash prefix", db.AuditFilter{Hash: planHash(10)[:8]}},
		{"an action", db.AuditFilter{Action: audit.Confirm}},
		{"an action of which there is none", db.AuditFilter{Action: audit.EndBypass}},
		{"denied", db.AuditFilter{Outcome: audit.Denied}},
		{"a request", db.AuditFilter{Request: "req_4242"}},
		{"a time", db.AuditFilter{To: time.Now().Add(-time.Hour)}},
		{"decided within 3 s", db.AuditFilter{Within: 3 * time.Second}},
		{"a person's denied confirms", db.AuditFilter{Actor: "staff-10", Action: audit.Confirm, Outcome: audit.Denied}},
	} {
		c.f.Limit = 50
		var took []time.Duration
		found := 0
		for range 40 {
			from := time.Now()
			err := d.InClinic(ctx, clinicID, func(t *db.Tx) error {
				page, _, err := t.AuditRows(ctx, c.f)
				found = len(page)
				return err
			})
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			took = append(took, time.Since(from))
		}
		slices.Sort(took)
		fmt.Printf("%-34s %2d rows  p50 %7.1f ms  p95 %7.1f ms\n", c.name, found, ms(took[len(took)/2]), ms(took[len(took)*95/100]))
	}
	return nil
}

// middleOf is the cursor that stands half way down the trail.
func middleOf(ctx context.Context, d *db.DB, clinicID string, rows int) (cursor string, err error) {
	err = d.InClinic(ctx, clinicID, func(t *db.Tx) error {
		for at := 0; at < rows/2; at += 10_000 {
			if _, cursor, err = t.AuditRows(ctx, db.AuditFilter{Cursor: cursor, Limit: 10_000}); err != nil {
				return err
			}
		}
		return nil
	})
	return cursor, err
}
