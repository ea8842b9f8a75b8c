package journeys

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// busy finds days on which a practitioner has visits and leaves exactly n of them booked: the first and the last day.
func (w *world) busy(practitioner string, n int) (from, to string) {
	w.t.Helper()
	const theirs = `FROM appointments a JOIN locations l ON l.clinic = a.clinic AND l.id = a.location WHERE a.practitioner = $1 AND a.status = 'booked'
		AND (a.starts_at AT TIME ZONE l.zone)::date >= (now() AT TIME ZONE l.zone)::date + 2`
	from, to, _ = strings.Cut(w.row(`SELECT min(day)::text, max(day)::text FROM (SELECT (a.starts_at AT TIME ZONE l.zone)::date AS day `+theirs+` ORDER BY a.starts_at LIMIT $2) x`, practitioner, n), " ")
	rest := `SELECT a.id ` + theirs + ` AND (a.starts_at AT TIME ZONE l.zone)::date <= $2 ORDER BY a.starts_at OFFSET $3`
	w.exec(`UPDATE slots SET appointment = NULL WHERE appointment IN (`+rest+`)`, practitioner, to, n)
	w.exec(`UPDATE appointments SET status = 'cancelled' WHERE id IN (`+rest+`)`, practitioner, to, n)
	return from, to
}

// A practitioner falls ill (cases D08, A12, B3): saving leave lists the visits it hits and changes none; a reviewer
// decides all at once; two that somebody touched meanwhile fail alone, and only the others are told. Another one is
// stopped.
func TestLeaveWithFourteenVisits(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		w.desk.Inline = -1 // the worker does it, so that the running card is seen
		from, to := w.busy("prac_holm", 14)
		desk := w.person("staff@demo.test", scripts)
		desk.open("/leave")
		desk.follow(desk.link("Enter leave"))
		desk.open("/leave/new?" + url.Values{"practitioner": {"prac_holm"}, "from": {from}, "to": {to}, "reason_code": {"sickness"}}.Encode())
		desk.says("14 visits in that time", "Saving changes no visit")
		if n := desk.count(".choices tbody tr"); n != 14 {
			t.Fatalf("%d lines", n)
		}
		desk.look()
		desk.picture("leave-new")
		desk.follow("#save")
		id := desk.proposal()
		desk.says("Nothing has changed yet", "14 visits at once")
		desk.noConfirm() // it is high, and staff asked
		w.stored("1 0 14", `SELECT (SELECT count(*) FROM leave WHERE reason_code = 'sickness'), (SELECT count(*) FROM inspect.outbox), (SELECT count(*) FROM appointments WHERE practitioner = 'prac_holm'
			AND status = 'booked' AND id IN (SELECT x->>'appointment' FROM revisions r, jsonb_array_elements(convert_from(r.plan_bytes, 'UTF8')::jsonb->'after'->'items') x WHERE r.proposal = $1))`, id)

		boss := w.person("reviewer@demo.test", scripts)
		boss.open("/proposals/" + id)
		boss.look()
		boss.picture("bulk-proposed")
		// Meanwhile two of the patients arrive: those visits are no longer what the card shows.
		w.exec(`UPDATE appointments SET status = 'arrived', changed_via = 'status' WHERE id IN (SELECT appointment FROM (SELECT x->>'appointment' AS appointment
			FROM revisions r, jsonb_array_elements(convert_from(r.plan_bytes, 'UTF8')::jsonb->'after'->'items') x WHERE r.proposal = $1 LIMIT 2) y)`, id)
		boss.swap("#confirm")
		boss.says("Being carried out: 0 of 14", "Stop")
		boss.noConfirm()
		boss.look()
		boss.picture("bulk-executing")
		if found, err := w.desk.CarryOn(context.Background(), w.row(`SELECT clinic FROM inspect.proposals WHERE id = $1`, id)); !found || err != nil {
			t.Fatal(found, err)
		}
		if scripts {
			boss.until(`document.body.innerText.includes("Partly done")`) // by itself
		} else {
			boss.follow("#look")
		}
		boss.says("Partly done: 12 of 14 visits changed", "2 visits could not be changed", "Changed since this was proposed")
		boss.look()
		boss.fits()
		boss.picture("bulk-partial")
		w.stored("partial 12 2 0", `SELECT (SELECT outcome FROM inspect.proposals WHERE id = $1), (SELECT count(*) FROM bulk_items WHERE proposal = $1 AND state = 'completed'),
			(SELECT count(*) FROM bulk_items WHERE proposal = $1 AND state = 'failed' AND code = 'resource_changed'),
			(SELECT count(*) FROM outbox o WHERE o.proposal = $1 AND o.appointment NOT IN (SELECT appointment FROM bulk_items WHERE proposal = $1 AND state = 'completed'))`, id)
		w.stored("true", `SELECT count(*) > 0 FROM outbox WHERE proposal = $1`, id)

		// Another one is stopped before it has begun.
		from, to = w.busy("prac_okafor", 6)
		desk.open("/leave/new?" + url.Values{"practitioner": {"prac_okafor"}, "from": {from}, "to": {to}, "reason_code": {"training"}}.Encode())
		desk.says("6 visits in that time")
		desk.follow("#save")
		second := desk.proposal()
		boss.open("/proposals/" + second)
		boss.swap("#confirm")
		boss.says("Being carried out: 0 of 6")
		boss.swap("#stop")
		boss.says("Not done: no visit was changed", "Stopped before it began")
		boss.look()
		w.stored("failed 6 0", `SELECT (SELECT outcome FROM inspect.proposals WHERE id = $1), (SELECT count(*) FROM bulk_items WHERE proposal = $1 AND state = 'stopped'), (SELECT count(*) FROM outbox WHERE proposal = $1)`, second)
		w.stored("1", `SELECT count(*) FROM inspect.audit WHERE action = 'proposal.stop' AND outcome = 'success' AND proposal = $1`, second)

		// What was cancelled needs a new date, until somebody says why not; and leave can be withdrawn.
		if w.row(`SELECT count(*) FROM appointments WHERE proposal = $1 AND status = 'cancelled'`, id) != "0" {
			desk.open("/rebooking")
			desk.says("Book a new visit")
		}
		desk.open("/leave")
		desk.says("Sickness", "Training")
		desk.picture("leave")
		desk.swap(fmt.Sprintf("#end-%s", w.row(`SELECT id FROM leave WHERE reason_code = 'training'`)))
		desk.says("Leave")
		w.stored("0", `SELECT count(*) FROM leave WHERE reason_code = 'training'`)
	})
}
