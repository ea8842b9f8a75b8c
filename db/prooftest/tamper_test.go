//go:build unix

package prooftest

import (
	"strings"
	"testing"

	"countersign/db/desktest"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// Somebody with the owner's rights changes what was approved. It never runs, never passes for the plan, alarms, and
// breaks no reading.
func TestTamperedPlanIsRefusedAndAlarmed(t *testing.T) {
	for name, change := range map[string]string{
		"another time":     `convert_to(replace(convert_from(plan_bytes, 'UTF8'), 'T14:00:00Z', 'T15:00:00Z'), 'UTF8')`,
		"one byte more":    `plan_bytes || ' '`,
		"not JSON":         `'\x00ff'::bytea`,
		"nothing":          `''::bytea`,
		"an empty object":  `'{}'::bytea`,
		"without an after": `convert_to((convert_from(plan_bytes, 'UTF8')::jsonb || '{"after": null}')::text, 'UTF8')`,
	} {
		t.Run(name, func(t *testing.T) {
			d := desktest.New(t)
			ana := d.Actor("ana")
			card := d.Propose(ana, d.Move("apt_maria", d.At(1, 14, 0)))
			d.Exec(`ALTER TABLE revisions DISABLE TRIGGER never_changes; UPDATE revisions SET plan_bytes = ` + change + `; ALTER TABLE revisions ENABLE TRIGGER never_changes`)
			before := picture(t, d)
			_, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(card, "k"))
			wantCode(t, err, refusal.PlanHashMismatch)
			wantUnchanged(t, before, picture(t, d))
			if !strings.Contains(d.Log.String(), "ALARM") || !strings.Contains(d.Log.String(), card.ID) || strings.Contains(d.Log.String(), "Jensen") {
				t.Error("the log must alarm, with the proposal's id and without its words:", d.Log)
			}
			if got := d.Text(`SELECT count(*) FROM audit WHERE action = 'proposal.tampered' AND outcome = 'denied' AND proposal = $1`, card.ID); got != "1" {
				t.Error("rows of the trail:", got)
			}
			now, err := d.Desk.Get(ctx, ana, card.ID)
			must(t, err)
			list, err := d.Desk.List(ctx, ana, proposal.Filter{Limit: 10})
			must(t, err)
			for _, r := range append(list, now) {
				if len(r.Plan.Steps) > 0 || len(r.Summary.Fields) > 0 || string(r.PlanBytes) != "null" {
					t.Error("what was tampered with must not be shown as the plan")
				}
			}
			_, err = d.Desk.Revise(ctx, ana, proposal.Revising{Proposal: card.ID, Revision: 1, PlanHash: card.PlanHash})
			wantCode(t, err, refusal.PlanHashMismatch)
			if _, err := d.Desk.Reject(ctx, ana, desktest.Deciding(card, "no")); err != nil {
				t.Error("it can still be rejected:", err)
			}
		})
	}
}

// The bytes and their hash are changed together: what was on the card is still what the person's hash names.
func TestAPlanExchangedWithItsHashIsNotTheOneOnTheCard(t *testing.T) {
	d := desktest.New(t)
	ana := d.Actor("ana")
	card := d.Propose(ana, d.Move("apt_maria", d.At(1, 14, 0)))
	d.Exec(`ALTER TABLE revisions DISABLE TRIGGER never_changes;
		UPDATE revisions SET plan_bytes = convert_to(replace(convert_from(plan_bytes, 'UTF8'), 'T14:00:00Z', 'T15:00:00Z'), 'UTF8');
		UPDATE revisions SET plan_hash = encode(sha256(convert_to(E'countersign.plan.v1\n', 'UTF8') || plan_bytes), 'hex');
		ALTER TABLE revisions ENABLE TRIGGER never_changes`)
	before := picture(t, d)
	_, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(card, "k"))
	wantCode(t, err, refusal.PlanHashMismatch)
	wantUnchanged(t, before, picture(t, d))
}

// failAudit makes the trail refuse rows of one outcome.
func failAudit(d *desktest.Desk, outcome string) {
	d.Exec(`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'disk full' USING ERRCODE = '53100'; END $$;
		CREATE TRIGGER full_disk BEFORE INSERT ON audit FOR EACH ROW WHEN (NEW.outcome = '` + outcome + `') EXECUTE FUNCTION full_disk()`)
}

// Cases G12, G14, F7: a decision that cannot be written down has not happened, and the failure is not kept under the key.
func TestWithoutItsTrailNothingHappens(t *testing.T) {
	d := desktest.New(t)
	ana := d.Actor("ana")
	cards := []proposal.Record{d.Propose(ana, d.Move("apt_maria", d.At(1, 14, 0))), d.Propose(ana, d.Move("apt_soren", d.At(1, 14, 0)))}
	before := picture(t, d)
	failAudit(d, "success")
	for what, call := range map[string]func() (proposal.Answer, error){
		"confirm": func() (proposal.Answer, error) { return d.Desk.Confirm(ctx, ana, desktest.Deciding(cards[0], "k0")) },
		"reject":  func() (proposal.Answer, error) { return d.Desk.Reject(ctx, ana, desktest.Deciding(cards[1], "k1")) },
		"revise": func() (proposal.Answer, error) {
			return d.Desk.Revise(ctx, ana, proposal.Revising{Proposal: cards[0].ID, Revision: 1, PlanHash: cards[0].PlanHash})
		},
		"propose": func() (proposal.Answer, error) { return d.Desk.Propose(ctx, ana, d.Move("apt_maria", d.At(2, 14, 0))) },
	} {
		if _, err := call(); code(err) != refusal.Busy {
			t.Errorf("%s: %v", what, err)
		}
		wantUnchanged(t, before, picture(t, d))
	}
	d.Exec(`DROP TRIGGER full_disk ON audit`)
	out, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(cards[0], "k0"))
	must(t, err)
	if out.Replayed {
		t.Fatal("the failure was kept")
	}
	if _, err := d.Desk.Reject(ctx, ana, desktest.Deciding(cards[1], "k1")); err != nil {
		t.Fatal(err)
	}
	wantWhole(t, d)
}

// Case G13: a refusal outlives its rollback in the trail; when it cannot, it is still a refusal, and the log says so.
func TestARefusalIsWrittenDownAfterTheRollback(t *testing.T) {
	d := desktest.New(t)
	card := d.Propose(d.Actor("ana"), d.Move("apt_maria", d.At(1, 14, 0)))
	_, err := d.Desk.Confirm(ctx, d.Actor("emil"), desktest.Deciding(card, "k"))
	wantCode(t, err, refusal.PermissionDenied)
	if got := d.Text(`SELECT string_agg(action || ' ' || outcome || ' ' || code || ' ' || actor, ',') FROM audit WHERE outcome <> 'success'`); got != "proposal.confirm denied permission_denied emil" {
		t.Fatal(got)
	}
	failAudit(d, "denied")
	_, err = d.Desk.Confirm(ctx, d.Actor("emil"), desktest.Deciding(card, "k"))
	wantCode(t, err, refusal.PermissionDenied)
	if !strings.Contains(d.Log.String(), "could not be audited") {
		t.Fatal("nobody would know")
	}
	wantWhole(t, d)
}
