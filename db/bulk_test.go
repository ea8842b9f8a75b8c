package db_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// fullDay gives n visits of maria, soren and aoife in turn with holm on the first day, half hours from 10:30 on, and then
// on the second; ids apt_1, apt_2 ...
func fullDay(d *desktest.Desk, n int) {
	for i := 1; i <= n; i++ {
		at := d.At((i-1)/10, 10, 30).Add(time.Duration((i-1)%10) * 30 * time.Minute)
		who := []string{"maria", "soren", "aoife"}[i%3]
		d.Exec(`INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, during, changed_by, changed_via)
			VALUES ('hav', $1, $2, 'holm', 'main', 'std', 'booked', tstzrange($3, $3::timestamptz + interval '30 min'), 'seed', 'seed')`, fmt.Sprintf("apt_%d", i), who, at)
		d.Exec(`UPDATE slots SET appointment = $1 WHERE clinic = 'hav' AND practitioner = 'holm' AND starts_at >= $2 AND starts_at < $2::timestamptz + interval '30 min'`, fmt.Sprintf("apt_%d", i), at)
	}
}

func item(appointment string, at time.Time) map[string]any {
	return map[string]any{"appointment": appointment, "starts_at": at.Format(time.RFC3339)}
}

func ending(appointment string) map[string]any {
	return map[string]any{"appointment": appointment, "cancel": true, "reason_code": "practitioner_unavailable"}
}

func bulkOf(items ...any) proposal.Proposing {
	return proposal.Proposing{Action: "bulk_change@1", Parameters: map[string]any{"items": items}}
}

// movesAndEnds moves every visit but the last to four days later, and cancels the last.
func movesAndEnds(d *desktest.Desk, n int) (items []any) {
	for i := 1; i < n; i++ {
		items = append(items, item(fmt.Sprintf("apt_%d", i), d.At((i-1)/10+4, 10, 30).Add(time.Duration((i-1)%10)*30*time.Minute)))
	}
	return append(items, ending(fmt.Sprintf("apt_%d", n)))
}

func states(r proposal.Record) (out string) {
	for _, it := range r.ItemResults() {
		out += it.State[:1]
	}
	return out
}

func TestABulkRunsItemByItemAndMovedOnesFailAlone(t *testing.T) {
	d := desktest.New(t)
	d.Desk.Inline = time.Minute
	fullDay(d, 14)
	ana, ben := d.Actor("ana"), d.Actor("ben")
	r := d.Propose(ana, bulkOf(movesAndEnds(d, 14)...))
	if r.Risk != proposal.High || len(r.Plan.After.Items) != 14 || r.Plan.Before.Items[13].Status != "booked" || r.Plan.After.Items[13].Status != "cancelled" {
		t.Fatal(r.Risk, r.RiskReasons)
	}
	if got := d.Text(`SELECT count(*) FROM appointment_history WHERE version > 1`); got != "0" {
		t.Fatal("proposing changed a visit")
	}
	if _, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k1")); code(err) != refusal.SelfApprovalForbidden {
		t.Fatal(err)
	}
	// Somebody else touches two of the visits: they fail, twelve run.
	d.Exec(`UPDATE appointments SET status = 'arrived' WHERE clinic = 'hav' AND id IN ('apt_1', 'apt_3')`)
	if now := get(d, ben, r.ID); !now.Stale || fmt.Sprint(now.ItemsChanged()) != "[0 2]" {
		t.Fatal(now.Stale, now.ItemsChanged())
	}
	out, err := d.Desk.Confirm(ctx, ben, desktest.Deciding(r, "k2"))
	if err != nil {
		t.Fatal(err)
	}
	if out.Status != 200 || out.Record.State != proposal.StatePartial || out.Record.Outcome != proposal.OutcomePartial || states(out.Record) != "fcfccccccccccc" {
		t.Fatal(out.Status, out.Record.State, states(out.Record), string(out.Record.Result))
	}
	failed := out.Record.ItemResults()[2]
	if *failed.Code != refusal.ResourceChanged || *failed.Message == "" || failed.Version != nil {
		t.Fatal(*failed.Code, *failed.Message)
	}
	if got := d.Text(`SELECT count(*) FROM outbox WHERE proposal = $1 AND kind <> 'reminder'`, r.ID); got != fmt.Sprint(reached(r)-2) {
		t.Fatal("messages:", got, reached(r))
	}
	if err := d.DB.Read(ctx, "hav", func(tx *db.Tx) error { // they are many patients', and shown like any other
		all, _, err := tx.Messages(ctx, db.MessageFilter{Limit: 100})
		of, more := tx.MessagesOf(ctx, r.ID)
		if want := d.Text(`SELECT count(*) FROM outbox`); fmt.Sprint(len(all)) != want || len(of) != len(all) || want == "0" {
			t.Errorf("%d messages shown, %d on the card, of %s", len(all), len(of), want)
		}
		return errors.Join(err, more)
	}); err != nil {
		t.Fatal(err)
	}
	if got := d.Text(`SELECT count(*) FROM appointments WHERE clinic = 'hav' AND version = 2 AND proposal = $1`, r.ID); got != "12" {
		t.Fatal("visits changed:", got)
	}
	if got := d.Text(`SELECT string_agg(action || ' ' || outcome || ' ' || n, ', ' ORDER BY action, outcome) FROM (SELECT action, outcome, count(*) n FROM audit WHERE proposal = $1 AND action NOT IN ('proposal.propose') GROUP BY 1, 2) x`, r.ID); got !=
		"appointment.cancel success 1, appointment.move failed 2, appointment.move success 11, proposal.confirm denied 1, proposal.confirm success 1, proposal.finish partial 1" {
		t.Fatal(got)
	}
	again, err := d.Desk.Confirm(ctx, ben, desktest.Deciding(r, "k2"))
	if err != nil || !again.Replayed || again.Status != 200 || string(again.Body) != string(out.Body) {
		t.Fatal("a replay shows today's state:", err, again.Status)
	}
	if _, err := d.Desk.Stop(ctx, ben, r.ID); code(err) != refusal.AlreadyDecided {
		t.Fatal(err)
	}
	if _, err := d.Root.Exec(`UPDATE bulk_items SET state = 'completed', code = NULL, version = 3 WHERE proposal = $1 AND item = 2`, r.ID); err == nil {
		t.Fatal("the result of an item was changed")
	}
}

// reached counts the plan's messages.
func reached(r proposal.Record) (n int) {
	for _, m := range r.Plan.Messages {
		if m.SendAt == nil {
			n++
		}
	}
	return n
}

func get(d *desktest.Desk, by clinic.Actor, id string) proposal.Record {
	d.T.Helper()
	r, err := d.Desk.Get(ctx, by, id)
	if err != nil {
		d.T.Fatal(err)
	}
	return r
}

func TestABulkIsCheckedWhole(t *testing.T) {
	d := desktest.New(t)
	fullDay(d, 3)
	ana := d.Actor("ana")
	for name, c := range map[string]struct {
		items any
		code  string
		field string
	}{
		"empty (case A12)":     {[]any{}, refusal.ValidationFailed, "items"},
		"none (case A12)":      {nil, refusal.ValidationFailed, "items"},
		"no list":              {"apt_1", refusal.ValidationFailed, "items"},
		"twice":                {[]any{item("apt_1", d.At(4, 9, 0)), ending("apt_1")}, refusal.ValidationFailed, "items[1].appointment"},
		"one time for two":     {[]any{item("apt_1", d.At(4, 9, 0)), item("apt_2", d.At(4, 9, 15))}, refusal.ValidationFailed, "items[1].starts_at"},
		"no time":              {[]any{map[string]any{"appointment": "apt_1"}}, refusal.ValidationFailed, "items[0].starts_at"},
		"no reason":            {[]any{map[string]any{"appointment": "apt_1", "cancel": true}}, refusal.ValidationFailed, "items[0].reason_code"},
		"unknown visit":        {[]any{item("apt_1", d.At(4, 9, 0)), ending("nobody")}, refusal.ValidationFailed, "items[1].appointment"},
		"another clinic's":     {[]any{ending("lake_apt_maria")}, refusal.ValidationFailed, "items[0].appointment"},
		"unknown field":        {[]any{map[string]any{"appointment": "apt_1", "cancel": true, "reason_code": "other", "x": "y"}}, refusal.ValidationFailed, "items[0].x"},
		"taken":                {[]any{item("apt_1", d.At(0, 10, 0))}, refusal.SlotTaken, ""},
		"freed only later":     {[]any{item("apt_1", d.At(0, 11, 0)), item("apt_2", d.At(4, 9, 0))}, refusal.SlotTaken, ""},
		"outside":              {[]any{item("apt_1", d.At(4, 7, 0))}, refusal.OutsideSchedule, ""},
		"both move and cancel": {[]any{map[string]any{"appointment": "apt_1", "cancel": true, "reason_code": "other", "starts_at": "2027-01-01T10:00"}}, refusal.ValidationFailed, "items[0].starts_at"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := d.Desk.Propose(ctx, ana, proposal.Proposing{Action: "bulk_change@1", Parameters: map[string]any{"items": c.items}})
			r := refusal.Of(err)
			if r == nil || r.Code != c.code || c.field != "" && (len(r.Fields) == 0 || r.Fields[0].Name != c.field) {
				t.Fatalf("%v %+v", err, r)
			}
		})
	}
	if got := d.Text(`SELECT count(*) FROM proposals`); got != "0" {
		t.Fatal("something was proposed")
	}
}

func TestATimeThatALineFreesMayBeTakenByALaterOne(t *testing.T) {
	d := desktest.New(t)
	fullDay(d, 3)
	ana := d.Actor("ana")
	// 1 goes away, 2 takes its time, 3 takes 2's: in this order, and only so.
	chain := []any{ending("apt_1"), item("apt_2", d.At(0, 10, 30)), item("apt_3", d.At(0, 11, 0))}
	r := d.Propose(ana, bulkOf(chain...))
	out, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k1"))
	if err != nil || states(out.Record) != "ccc" || out.Record.State != proposal.StateCompleted {
		t.Fatal(err, string(out.Body))
	}
	if got := d.Text(`SELECT appointment FROM slots WHERE clinic = 'hav' AND practitioner = 'holm' AND starts_at = $1`, d.At(0, 11, 0)); got != "apt_3" {
		t.Fatal(got)
	}

	d = desktest.New(t)
	fullDay(d, 3)
	r = d.Propose(ana, bulkOf(chain[0], item("apt_2", d.At(0, 10, 30)), ending("apt_3")))
	d.Exec(`UPDATE appointments SET status = 'arrived' WHERE clinic = 'hav' AND id = 'apt_1'`)
	out, err = d.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k1"))
	if err != nil || states(out.Record) != "ffc" || *out.Record.ItemResults()[1].Code != refusal.SlotTaken {
		t.Fatal(err, string(out.Body))
	}
}

func TestNothingOfABulkLeftIsNotConfirmed(t *testing.T) {
	d := desktest.New(t)
	fullDay(d, 2)
	ana := d.Actor("ana")
	r := d.Propose(ana, bulkOf(ending("apt_1"), ending("apt_2")))
	d.Exec(`UPDATE appointments SET status = 'arrived' WHERE clinic = 'hav' AND id LIKE 'apt__'`)
	if _, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k1")); code(err) != refusal.ResourceChanged {
		t.Fatal(err)
	}
	if now := get(d, ana, r.ID); now.State != proposal.StateProposed {
		t.Fatal(now.State)
	}
}

func TestRiskOfABulk(t *testing.T) {
	d := desktest.New(t)
	fullDay(d, 20)
	var ends []any
	for i := 1; i <= 20; i++ {
		ends = append(ends, ending(fmt.Sprintf("apt_%d", i)))
	}
	for n, want := range map[int]string{1: proposal.Medium, 4: proposal.Medium, 5: proposal.High, 19: proposal.High, 20: proposal.Critical} {
		if r := d.Propose(d.Actor("ana"), bulkOf(ends[:n]...)); r.Risk != want || r.Approvals.Needed != map[bool]int{true: 2, false: 1}[n == 20] {
			t.Fatal(n, r.Risk)
		}
	}
	p := bulkOf(ends[:2]...)
	p.Parameters["message"] = "Call us."
	if r := d.Propose(d.Agent(), p); r.Risk != proposal.High || r.Plan.Messages[0].Text != "Call us." {
		t.Fatal(r.Risk, r.RiskReasons)
	}
	if r := d.Propose(d.Agent(), bulkOf(ends[:2]...)); r.Risk != proposal.Medium {
		t.Fatal(r.Risk, r.RiskReasons)
	}
}

// What the inline run leaves, workers take: many at once, and still each item once (any of them may die: see prooftest).
func TestWorkersCarryABulkOn(t *testing.T) {
	d := desktest.New(t)
	d.Desk.Inline = -1
	fullDay(d, 14)
	ben := d.Actor("ben")
	r := d.Propose(d.Actor("ana"), bulkOf(movesAndEnds(d, 14)...))
	out, err := d.Desk.Confirm(ctx, ben, desktest.Deciding(r, "k1"))
	var body struct {
		Outcome   string `json:"outcome"`
		StatusURL string `json:"status_url"`
	}
	if err != nil || out.Status != 202 || json.Unmarshal(out.Body, &body) != nil || body.Outcome != "proposed" || body.StatusURL != "/api/v1/proposals/"+r.ID {
		t.Fatal(err, out.Status, string(out.Body))
	}
	if now := get(d, ben, r.ID); now.State != proposal.StateExecuting || states(now) != "wwwwwwwwwwwwww" {
		t.Fatal(now.State, states(now))
	}
	if again, err := d.Desk.Confirm(ctx, ben, desktest.Deciding(r, "k1")); err != nil || again.Status != 202 || !again.Replayed {
		t.Fatal(err)
	}
	if _, err := d.Desk.Reject(ctx, ben, desktest.Deciding(r, "k3")); code(err) != refusal.AlreadyDecided {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := d.Desk.CarryOn(ctx, "hav"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if now := get(d, ben, r.ID); now.State != proposal.StateCompleted || states(now) != "cccccccccccccc" {
		t.Fatal(now.State, states(now))
	}
	if again, err := d.Desk.Confirm(ctx, ben, desktest.Deciding(r, "k1")); err != nil || again.Status != 200 || !again.Replayed || again.Record.State != proposal.StateCompleted {
		t.Fatal("the replay of a 202 shows today's state:", err, again.Status)
	}
	if got := d.Text(`SELECT count(*) FROM appointment_history WHERE clinic = 'hav' AND version > 1`); got != "14" {
		t.Fatal(got)
	}
}

func TestStoppingABulk(t *testing.T) {
	d := desktest.New(t)
	d.Desk.Inline = -1
	fullDay(d, 6)
	ana, ben := d.Actor("ana"), d.Actor("ben")
	r := d.Propose(ana, bulkOf(movesAndEnds(d, 6)...))
	if _, err := d.Desk.Stop(ctx, ana, r.ID); code(err) != refusal.NotAwaitingConfirmation {
		t.Fatal(err)
	}
	if _, err := d.Desk.Confirm(ctx, ben, desktest.Deciding(r, "k1")); err != nil {
		t.Fatal(err)
	}
	for name, by := range map[string]clinic.Actor{refusal.PermissionDenied: d.Actor("emil"), refusal.ConfirmationNeedsPerson: d.Agent()} {
		if _, err := d.Desk.Stop(ctx, by, r.ID); code(err) != name {
			t.Fatal(err)
		}
	}
	if _, err := d.Desk.Stop(ctx, ana, "prp_nothing"); code(err) != refusal.NotFound {
		t.Fatal(err)
	}
	now, err := d.Desk.Stop(ctx, ana, r.ID)
	if err != nil || now.State != proposal.StateFailed || states(now) != "ssssss" {
		t.Fatal(err, now.State, states(now))
	}
	if found, err := d.Desk.CarryOn(ctx, "hav"); found || err != nil {
		t.Fatal("a stopped bulk was carried on", err)
	}
	if got := d.Text(`SELECT count(*) || ' ' || (SELECT count(*) FROM audit WHERE action = $1) FROM outbox`, audit.StopBulk); got != "0 5" {
		t.Fatal(got)
	}
}

func TestLateChangesAreSaidOnTheTrail(t *testing.T) {
	d := desktest.New(t)
	ana := d.Actor("ana")
	codeOf := func(p proposal.Proposing, action string) string {
		t.Helper()
		r := d.Propose(ana, p)
		if _, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(r, r.ID)); err != nil {
			t.Fatal(err)
		}
		return d.Text(`SELECT coalesce(code, '') FROM audit WHERE proposal = $1 AND action = $2`, r.ID, action)
	}
	if got := codeOf(d.Move("apt_maria", d.At(1, 14, 0)), audit.MoveAppointment); got != "" {
		t.Fatal(got)
	}
	d.Exec(`UPDATE appointments SET during = tstzrange(app_now() + interval '23 hours', app_now() + interval '23 hours 30 minutes') WHERE clinic = 'hav' AND id = 'apt_maria'`)
	if got := codeOf(d.Move("apt_maria", d.At(1, 15, 0)), audit.MoveAppointment); got != proposal.LateChange {
		t.Fatal(got)
	}
	d.Exec(`UPDATE appointments SET during = tstzrange(app_now() + interval '23 hours', app_now() + interval '23 hours 30 minutes') WHERE clinic = 'hav' AND id = 'apt_soren'`)
	if got := codeOf(bulkOf(ending("apt_soren")), audit.CancelAppointment); got != proposal.LateCancellation {
		t.Fatal(got)
	}
}
