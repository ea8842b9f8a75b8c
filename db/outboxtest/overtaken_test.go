//go:build unix

package outboxtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/clinic"
	"countersign/internal/outbox"
	"countersign/internal/proposal"
)

func confirm(d *desktest.Desk, p proposal.Proposing) proposal.Record {
	d.T.Helper()
	r := d.Propose(d.Actor("ana"), p)
	out, err := d.Desk.Confirm(ctx, d.Actor("ana"), desktest.Deciding(r, r.ID))
	must(d.T, err)
	return out.Record
}

func cancel(appointment string) proposal.Proposing {
	return proposal.Proposing{Action: "cancel_appointment@1", Parameters: map[string]any{"appointment": appointment, "reason_code": "patient_request"}}
}

const visitRows = `SELECT string_agg(kind || ' v' || version || ' ' || state, '; ' ORDER BY version, kind) FROM outbox WHERE appointment = $1`

// A visit that moves or is cancelled overtakes, in the same commit, what was not sent; the rows of other visits stay. One
// that gets another status overtakes it when it would be sent.
func TestAChangeOvertakesWhatWasNotSent(t *testing.T) {
	d := desktest.New(t)
	tomorrow := d.At(-1, 10, 0)
	reminder := func(l letter, id string) letter {
		l.id, l.kind, l.sendAt = id, "reminder", &tomorrow
		return l
	}
	plant(d, reminder(toMaria(""), "m_reminder"), reminder(toSoren(""), "s_reminder"))
	for i, state := range []string{"failed", "dead", "unknown", "sent", "suppressed", "expired"} {
		l := toMaria("m_" + state)
		l.kind, l.recipient = "confirmation", fmt.Sprint("old", i, "@example.test")
		plant(d, l)
		d.Exec(`UPDATE outbox SET state = $2 WHERE id = $1`, l.id, state)
	}
	confirm(d, d.Move("apt_maria", d.At(1, 14, 0)))
	if got, want := d.Text(visitRows, "apt_maria"), "confirmation v1 superseded; confirmation v1 superseded; confirmation v1 superseded; confirmation v1 sent; "+
		"confirmation v1 suppressed; confirmation v1 expired; reminder v1 superseded; change v2 queued; reminder v2 queued"; sorted(got) != sorted(want) {
		t.Errorf("after a move:\n%s\n%s", got, want)
	}
	confirm(d, cancel("apt_maria"))
	if got := d.Text(visitRows, "apt_maria"); !strings.HasSuffix(got, "change v2 superseded; reminder v2 superseded; cancellation v3 queued") {
		t.Error("after a cancellation:", got)
	}
	if got := d.Text(visitRows, "apt_soren"); got != "reminder v1 queued" {
		t.Error("another visit's:", got)
	}
	must(t, d.DB.InClinic(ctx, "hav", func(tx *db.Tx) error {
		_, err := tx.SetStatus(ctx, "ana", "apt_soren", clinic.StatusArrived, 1)
		return err
	}))
	to := &post{}
	once(later(d, time.Until(tomorrow)-d.Shift+time.Minute), to)
	if got := d.Text(visitRows, "apt_soren"); got != "reminder v1 superseded" {
		t.Error("after arriving:", got)
	}
	if got := d.Text(`SELECT string_agg(kind || ' ' || state, '; ') FROM outbox WHERE state = 'sent' AND provider_id IS NOT NULL`); got != "cancellation sent" {
		t.Error("went out:", got)
	}
}

// A status that was a slip, and was taken back before a message was due, takes nothing from the patient; a message that
// comes due meanwhile is not sent, and neither is one whose visit was elsewhere in between.
func TestASlipOfTheDeskLosesNoReminder(t *testing.T) {
	const slip, back = `UPDATE appointments SET status = 'arrived' WHERE id = 'apt_maria' AND clinic = 'hav'`, `UPDATE appointments SET status = 'booked' WHERE id = 'apt_maria' AND clinic = 'hav'`
	const move = `UPDATE appointments SET during = tstzrange(lower(during) + $1::interval, upper(during) + $1::interval) WHERE id = 'apt_maria' AND clinic = 'hav'`
	for name, c := range map[string]struct {
		do   func(d *desktest.Desk)
		want string
	}{
		"taken back":      {func(d *desktest.Desk) { d.Exec(slip); d.Exec(back) }, "sent 1 0"},
		"twice":           {func(d *desktest.Desk) { d.Exec(slip); d.Exec(back); d.Exec(slip); d.Exec(back) }, "sent 1 0"},
		"not taken back":  {func(d *desktest.Desk) { d.Exec(slip) }, "superseded visit_changed 0 0"},
		"moved there":     {func(d *desktest.Desk) { d.Exec(slip); d.Exec(move, "1 day"); d.Exec(back) }, "superseded visit_changed 0 0"},
		"moved, and back": {func(d *desktest.Desk) { d.Exec(move, "1 day"); d.Exec(move, "-1 day") }, "superseded visit_changed 0 0"},
		"another's by now": {func(d *desktest.Desk) {
			d.Exec(slip)
			d.Exec(`UPDATE appointments SET status = 'cancelled' WHERE id = 'apt_soren' AND clinic = 'hav'`)
			d.Exec(`UPDATE appointments SET status = 'booked', practitioner = 'okafor' WHERE id = 'apt_maria' AND clinic = 'hav'`)
		}, "superseded visit_changed 0 0"},
		"at the desk": {func(d *desktest.Desk) {
			for i, status := range []string{clinic.StatusNoShow, clinic.StatusBooked, clinic.StatusFulfilled, clinic.StatusBooked} {
				must(d.T, d.DB.InClinic(ctx, "hav", func(tx *db.Tx) error {
					_, err := tx.SetStatus(ctx, "ana", "apt_maria", status, int64(i+1))
					return err
				}))
			}
		}, "sent 1 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := desktest.New(t)
			due := d.At(-1, 10, 0)
			l, failed := toMaria("m"), toMaria("f")
			l.kind, l.sendAt, failed.kind = "reminder", &due, "confirmation"
			plant(d, l, failed)
			d.Exec(`UPDATE outbox SET state = 'failed', last_code = 'no_such_mailbox' WHERE id = 'f'`)
			c.do(d)
			to := &post{}
			once(d, to)
			want(d, "m", "queued 0 0")
			once(later(d, time.Until(due)-d.Shift+time.Minute), to)
			want(d, "m", c.want)
			if sent := to.got() == "m"; sent != (c.want == "sent 1 0") {
				t.Errorf("sent %q", to.got())
			}
			if name == "at the desk" { // a visit that was over needs nobody for what had failed
				want(d, "f", "superseded visit_changed 0 0")
			} else {
				want(d, "f", "failed no_such_mailbox 0 0")
			}
		})
	}
}

func sorted(list string) string {
	parts := strings.Split(list, "; ")
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}

// While a message is on its way its visit moves. That one is left to its sender; if it has to be tried again it is judged
// again, and the new message goes out after it.
func TestAVisitMovesWhileItsMessageIsOnTheWay(t *testing.T) {
	for _, answer := range []error{nil, &outbox.Refused{Code: "busy", Temporary: true}} {
		d := desktest.New(t)
		confirm(d, d.Move("apt_maria", d.At(1, 14, 0)))
		to := &post{answer: func(m outbox.Message) error {
			if m.Version > 2 {
				return nil
			}
			confirm(d, d.Move("apt_maria", d.At(2, 14, 0)))
			return answer
		}}
		once(d, to)
		once(later(d, time.Minute), to)
		want := map[bool]string{true: "change v2 sent; reminder v2 superseded; change v3 sent; reminder v3 queued",
			false: "change v2 superseded; reminder v2 superseded; change v3 sent; reminder v3 queued"}[answer == nil]
		if got := d.Text(visitRows, "apt_maria"); got != want {
			t.Errorf("%v: %s, want %s", answer, got, want)
		}
		if n := len(to.taken); to.taken[n-1].Version != 3 {
			t.Error("the newest did not come last")
		}
	}
}

// What changed past us, in another system or on the patient's record, is seen just before sending.
func TestWhatIsWrongByThenIsNotSent(t *testing.T) {
	for name, c := range map[string]struct{ change, state string }{
		"moved":     {`UPDATE appointments SET during = tstzrange(lower(during) + interval '1 day', upper(during) + interval '1 day') WHERE id = 'apt_maria' AND clinic = 'hav'`, "superseded visit_changed 0 0"},
		"cancelled": {`UPDATE appointments SET status = 'cancelled' WHERE id = 'apt_maria' AND clinic = 'hav'`, "superseded visit_changed 0 0"},
		"deceased":  {`UPDATE patients SET deceased = true WHERE id = 'maria'`, "suppressed deceased 0 0"},
		"address":   {`UPDATE patients SET email = 'other@example.test' WHERE id = 'maria'`, "suppressed recipient_changed 0 0"},
		"consent":   {`UPDATE patients SET contact = 'none' WHERE id = 'maria'`, "suppressed no_consent 0 0"},
		"nothing":   {`SELECT 1`, "sent 1 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := desktest.New(t)
			confirm(d, d.Move("apt_maria", d.At(1, 14, 0)))
			id := d.Text(`SELECT id FROM outbox WHERE kind = 'change'`)
			d.Exec(c.change)
			to := &post{}
			once(d, to)
			want(d, id, c.state)
			if sent := to.got() != ""; sent != (name == "nothing") {
				t.Errorf("sent %q", to.got())
			}
		})
	}
}

// 150 visits are cancelled in a go, half of them past us, with a reminder queued for each: no reminder goes out, then or
// later (case N02), and each that was cancelled here is told so once.
func TestNoReminderAfterManyCancellations(t *testing.T) {
	d := desktest.New(t)
	due := d.At(-1, 8, 0)
	all := many(d, 150, "reminder", &due)
	for _, l := range all[:75] {
		confirm(d, cancel(l.appointment))
	}
	d.Exec(`UPDATE appointments SET status = 'cancelled' WHERE id = ANY (SELECT 'apt' || lpad(i::text, 3, '0') FROM generate_series(75, 149) i)`)
	to := &post{}
	for at := d.Shift; at < 9*24*time.Hour; at += 12 * time.Hour {
		once(later(d, at), to)
	}
	kinds := map[string]int{}
	for _, m := range to.taken {
		kinds[m.Kind]++
	}
	if len(kinds) != 1 || kinds["cancellation"] != 75 || unique(to.got()) != 75 {
		t.Error(kinds)
	}
	if got := d.Text(`SELECT string_agg(DISTINCT state, ' ') FROM outbox WHERE kind = 'reminder'`); got != "superseded" {
		t.Error(got)
	}
}

// Bytes that are not those that were approved never leave, and somebody is alarmed.
func TestChangedBytesAreAnAlarm(t *testing.T) {
	d := desktest.New(t)
	confirm(d, d.Move("apt_maria", d.At(1, 14, 0)))
	plant(d, toSoren("text"))
	d.Exec(`ALTER TABLE outbox DISABLE TRIGGER message_never_changes`)
	d.Exec(`UPDATE outbox SET body = replace(body, 'Maria', 'Marie') WHERE appointment = 'apt_maria'`)
	d.Exec(`ALTER TABLE revisions DISABLE TRIGGER never_changes`)
	d.Exec(`UPDATE revisions SET plan_bytes = plan_bytes || ' '::bytea WHERE proposal = 'p_text'`)
	to := &post{}
	once(d, to)
	if got := d.Text(`SELECT string_agg(DISTINCT concat_ws(' ', state, last_code), '; ') FROM outbox WHERE kind = 'change'`); got != "dead plan_mismatch" || to.got() != "" {
		t.Error(got, to.got())
	}
	if log := d.Log.String(); strings.Count(log, "ALARM") != 2 {
		t.Error(log)
	}
	saysNobody(d, d.Log.String())
}

// At ten in the evening a reminder waits for the morning of where the patient lives, else of where the visit is; a change
// that somebody has just confirmed does not.
func TestRemindersKeepTheNight(t *testing.T) {
	evening := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1).Add(22 * time.Hour)
	shift := time.Until(evening)
	d := desktest.New(t, func(o *db.Options) { o.ClockShift = shift })
	due := evening.Add(-time.Hour).Truncate(time.Second)
	here, there, change := toMaria("here"), toSoren("there"), toMaria("change")
	here.kind, there.kind, here.sendAt, there.sendAt = "reminder", "reminder", &due, &due
	change.sendAt = nil
	plant(d, here, there, change)
	d.Exec(`UPDATE patients SET zone = 'America/Los_Angeles' WHERE id = 'soren' AND clinic = 'hav'`)
	send := func(d *desktest.Desk) string {
		to := &post{}
		r := relay(d, to)
		r.Quiet = outbox.DefaultQuiet
		must(t, r.Once(ctx))
		must(t, r.Once(ctx))
		return to.got()
	}
	if got := send(d); got != "change there" && got != "there change" {
		t.Errorf("sent at ten in the evening: %q", got)
	}
	want(d, "here", "queued quiet_hours 0 0")
	if got, want := d.Text(`SELECT to_char(next_at AT TIME ZONE 'UTC', 'DD HH24:MI') FROM outbox WHERE id = 'here'`), evening.AddDate(0, 0, 1).Format("02")+" 08:00"; got != want {
		t.Errorf("held back until %s, want %s", got, want)
	}
	if got := send(later(d, 10*time.Hour+time.Minute)); got != "here" {
		t.Errorf("sent in the morning: %q", got)
	}
}

// A commit wakes the worker of its own process: nothing waits for the next look.
func TestACommitWakesTheWorker(t *testing.T) {
	d := desktest.New(t)
	wake := make(chan string, 8)
	d.Desk.Store = db.Proposals{DB: d.DB, Queued: func(c string) { wake <- c }}
	to := &post{}
	r := relay(d, to)
	r.Every, r.Wake = time.Hour, wake
	working, stop := context.WithCancel(ctx)
	defer stop()
	over := make(chan error)
	go func() { over <- r.Run(working) }()
	d.Propose(d.Actor("ana"), d.Move("apt_maria", d.At(1, 15, 0)))
	if len(wake) != 0 {
		t.Error("a proposal alone woke it")
	}
	confirm(d, d.Move("apt_maria", d.At(1, 14, 0)))
	waitFor(d, "sent", `SELECT state FROM outbox WHERE kind = 'change'`)
	stop()
	must(t, <-over)
}

// A proposal that was rejected sends nothing, and a row that names it all the same is stopped (case B10).
func TestARejectedProposalSendsNothing(t *testing.T) {
	d := desktest.New(t)
	r := d.Propose(d.Actor("ana"), d.Move("apt_maria", d.At(1, 14, 0)))
	_, err := d.Desk.Reject(ctx, d.Actor("ana"), desktest.Deciding(r, "no"))
	must(t, err)
	to := &post{}
	once(later(d, time.Hour), to)
	if got := d.Text(`SELECT count(*) FROM outbox`); got != "0" || to.got() != "" {
		t.Error(got, to.got())
	}
	m := r.Plan.Messages[0]
	d.Exec(`INSERT INTO outbox (clinic, id, appointment, version, kind, channel, recipient, subject, body, calendar, proposal, revision, plan_hash)
		VALUES ('hav', 'forged', 'apt_maria', 1, $1, $2, $3, $4, $5, $6, $7, 1, $8)`, m.Kind, m.Channel, m.Recipient, m.Subject, m.Text, m.Calendar, r.ID, r.PlanHash)
	once(d, to)
	want(d, "forged", "dead not_confirmed 0 0")
	if to.got() != "" || !strings.Contains(d.Log.String(), "ALARM") {
		t.Error(to.got(), d.Log.String())
	}
}

// Staff cancel the visit of a patient who is told by SMS: the SMS goes out (case N16).
func TestACancellationByStaffReachesAnSMSPatient(t *testing.T) {
	d := desktest.New(t)
	r := confirm(d, cancel("apt_soren"))
	to := &post{}
	once(d, to)
	if len(to.taken) != 1 {
		t.Fatal(to.got())
	}
	m := to.taken[0]
	if m.Channel != "sms" || m.Kind != "cancellation" || m.Recipient != "+45 00 20 03 00" || m.Text != r.Plan.Messages[0].Text || m.Subject != "" || m.Appointment != "apt_soren" || m.PlanHash != r.PlanHash {
		t.Errorf("%+v", m)
	}
}
