package journeys

import (
	"net/http"
	"testing"
	"time"
)

// Case 6: the message fails and is sent again. The booking is not touched.
func TestFailedMessageSentAgain(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		p := w.person("staff@demo.test", scripts)
		p.open("/outbox")
		p.look()
		p.swap("#demo-fail") // Let sending fail
		p.says("Sending fails now, on purpose")
		id, at := p.asked("appt_maria84", 1)
		p.swap("#confirm")
		p.says("Completed: Maria Jensen’s visit is moved")
		w.deliver()
		w.stored("failed", `SELECT state FROM inspect.outbox WHERE kind <> 'reminder'`)
		stands := "booked prac_holm " + at + " 2"
		if got := w.visit("appt_maria84"); got != stands {
			t.Errorf("after the failure the visit is %s, want %s", got, stands)
		}
		p.open("/proposals/" + id)
		p.says("Completed", "could not be sent")
		p.look()
		p.open("/outbox")
		p.says("Failed", "last answer")
		p.look()
		p.picture("outbox-failed")
		p.swap("#demo-fail") // Let sending work again
		p.says("Nothing leaves this machine")
		p.swap(`[id^="retry-"]`)
		p.says("Waiting")
		w.deliver()
		p.open("/outbox")
		p.says("Sent")
		p.saysNot("Try sending again")
		p.look()
		w.stored("sent 1", `SELECT min(state), count(*) FROM inspect.outbox WHERE kind <> 'reminder'`)
		if got := w.visit("appt_maria84"); got != stands {
			t.Errorf("sending again changed the visit: %s, want %s", got, stands)
		}
		w.stored("1", `SELECT count(*) FROM inspect.audit WHERE proposal = $1 AND action = 'proposal.confirm'`, id)
		w.stored("2", `SELECT count(*) FROM appointment_history WHERE appointment = 'appt_maria84'`)
	})
}

// The API has no call that sends again; a retried confirmation of a booking whose message failed makes no second one.
func TestFailedMessageOverTheAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.demo.Fail(true)
	p := w.program("demo-staff")
	one := p.move("appt_maria84", w.free(0, "prac_holm").Format(time.RFC3339))
	done := p.is(p.confirm(one, "k"), http.StatusOK)
	w.deliver()
	w.stored("failed 1", `SELECT min(state), count(*) FROM inspect.outbox WHERE kind <> 'reminder'`)
	again := p.is(p.confirm(one, "k"), http.StatusOK)
	if again.raw != done.raw {
		t.Errorf("the replay differs: %s", again.raw)
	}
	w.demo.Fail(false)
	w.deliver()
	w.stored("failed 1 2", `SELECT min(o.state), count(*), max(a.version) FROM inspect.outbox o, inspect.appointments a WHERE a.id = 'appt_maria84' AND o.kind <> 'reminder'`)
	if visit := p.get("/appointments/appt_maria84"); visit.text("starts_at") != one.text("plan.after.starts_at") {
		t.Errorf("the visit: %s", visit.raw)
	}
}
