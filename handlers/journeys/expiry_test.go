package journeys

import (
	"net/http"
	"testing"
	"time"
)

// Case 2: a confirmation after the deadline. The card had been live; time passed; nothing runs.
func TestConfirmAfterExpiry(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		p := w.person("staff@demo.test", scripts)
		before := w.visit("appt_maria84")
		id, _ := p.asked("appt_maria84", 0)
		p.until(`!!document.getElementById("confirm")`)
		w.at(20 * time.Minute)
		p.swap("#confirm")
		p.says("This ran out at", "Nothing was changed and nothing was sent", "Propose again")
		p.noConfirm()
		p.look()
		p.picture("card-expired-409")
		p.open("/proposals/" + id)
		p.says("This ran out at", "Nobody decided in time")
		p.noConfirm()
		p.look()
		if w.visit("appt_maria84") != before {
			t.Error("an expired confirmation moved the visit")
		}
		w.stored("0", `SELECT count(*) FROM inspect.outbox`)
		w.stored("0", `SELECT count(*) FROM inspect.idempotency_keys WHERE key LIKE 'key%' AND status = 200`)
		w.stored("0", `SELECT count(*) FROM inspect.audit WHERE proposal = $1 AND action = 'appointment.move'`, id)
		w.stored("1", `SELECT count(*) FROM inspect.audit WHERE proposal = $1 AND outcome = 'denied'`, id)

		p.follow(p.link("Propose again"))
		p.says("Pick a start")
	})
}

func TestConfirmAfterExpiryOverTheAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.program("demo-staff")
	before := w.visit("appt_maria84")
	one := p.move("appt_maria84", w.free(0, "prac_holm").Format(time.RFC3339))
	w.at(20 * time.Minute)
	for range 2 { // a refusal is not saved: the same key is refused again
		late := p.is(p.confirm(one, "late"), http.StatusGone)
		if late.text("error.code") != "proposal_expired" || late.text("error.retry") != "new-proposal" || late.text("error.proposal.state") != "expired" {
			t.Errorf("late: %s", late.raw)
		}
	}
	if got := p.get("/proposals/" + one.text("id")); got.text("state") != "expired" || got.text("outcome") != "not_executed" {
		t.Errorf("reads: %s", got.raw)
	}
	if w.visit("appt_maria84") != before {
		t.Error("the visit moved")
	}
	w.stored("0 0", `SELECT (SELECT count(*) FROM inspect.outbox), (SELECT count(*) FROM inspect.idempotency_keys WHERE key = 'late')`)
}
