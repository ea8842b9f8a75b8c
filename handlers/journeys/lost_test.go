package journeys

import (
	"net/http"
	"testing"
	"time"
)

// Case 5: the desk has written and its answer is lost. Whoever presses again, or loads the page again, sees the outcome;
// nothing runs a second time.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		p := w.person("staff@demo.test", scripts)
		id, at := p.asked("appt_maria84", 1)
		w.line.dead.Store(true)
		p.click("#confirm")
		if scripts {
			p.says("No answer came back", "We do not know whether it was done")
			p.until(`!!document.getElementById("confirm")`)
			p.look()
			p.picture("card-no-answer")
		} else {
			p.until(`location.protocol === "chrome-error:"`)
		}
		w.stored("completed 1 completed", `SELECT state, revision, outcome FROM inspect.proposals WHERE id = $1`, id)
		w.line.dead.Store(false)
		once := `SELECT status, practitioner, to_char(starts_at AT TIME ZONE 'UTC', ` + utc + `), version, (SELECT count(*) FROM inspect.outbox WHERE kind <> 'reminder') FROM inspect.appointments WHERE id = 'appt_maria84'`
		w.stored("booked prac_holm "+at+" 2 1", once)
		if scripts {
			p.swap("#confirm")
			p.says("Completed: Maria Jensen’s visit is moved")
			p.noConfirm()
		}
		p.open("/proposals/" + id)
		p.says("Completed: Maria Jensen’s visit is moved")
		p.noConfirm()
		w.stored("booked prac_holm "+at+" 2 1", once)
		w.stored("1", `SELECT count(*) FROM inspect.audit WHERE proposal = $1 AND action = 'proposal.confirm' AND outcome = 'success'`, id)
	})
}

func TestLostAnswerOverTheAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.program("demo-staff")
	one := p.move("appt_maria84", w.free(0, "prac_holm").Format(time.RFC3339))
	w.line.dead.Store(true)
	if a, err := p.try("POST", "/proposals/"+one.text("id")+"/confirm", one.decision("retry-me")); err == nil {
		t.Fatalf("the lost answer arrived: %s", a.raw)
	}
	w.line.dead.Store(false)
	again := p.is(p.confirm(one, "retry-me"), http.StatusOK)
	if again.header.Get("Idempotency-Replayed") != "true" || again.text("outcome") != "completed" {
		t.Errorf("the retry: %v %s", again.header, again.raw)
	}
	w.stored("2 1", `SELECT version, (SELECT count(*) FROM inspect.outbox WHERE kind <> 'reminder') FROM inspect.appointments WHERE id = 'appt_maria84'`)
}
