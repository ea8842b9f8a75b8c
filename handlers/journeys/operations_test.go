package journeys

import (
	"testing"

	"countersign/internal/ehr/ehrtest"
)

// Nobody knows whether the EHR has a change, and it is past its deadline (cases G5 and G7): one reviewer finds it, has it
// looked for and says that it is not there, another confirms. The EHR is written to once in all of it.
func TestAReviewerSaysWhatTheEHRHas(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		fake, lane := w.withEHR("appt_maria84")
		fake.Script(ehrtest.Rule{Method: "PUT", To: 1, Fault: ehrtest.Fault{Name: "lost", Before: true, Drop: true}})
		staff := w.person("staff@demo.test", scripts)
		id, _ := staff.asked("appt_maria84", 2)
		was := w.visit("appt_maria84")
		staff.swap("#confirm")
		staff.says("Accepted, waiting for the EHR")
		w.step(lane)
		w.exec(`UPDATE ehr_operations SET deadline = app_now() - interval '1 minute'`)
		w.step(lane)
		w.stored("manual", `SELECT state FROM ehr_operations`)

		first := w.person("reviewer@demo.test", scripts)
		first.open("/operations")
		first.says("1 change past the deadline", "A person must look", "Nothing by itself: it waits for a person")
		first.look()
		first.follow(first.link("Move Maria Jensen’s visit"))
		first.says("What was approved", "What was sent", "No clear answer", "The visit as it was before", "It is not moved there: release")
		first.look()
		first.swap("#look")
		first.says("A look, for ")
		w.step(lane)
		first.open(first.path())
		first.says("Nothing by itself: it waits for a person", "looked")
		w.stored("manual reviewer", `SELECT o.state, (SELECT a.role FROM ehr_looks l JOIN accounts a ON a.id = l.asked_by WHERE l.operation = o.id ORDER BY l.n DESC LIMIT 1) FROM ehr_operations o`)
		first.write("#why", "It stands at the old time in their calendar.")
		first.swap("#is-not-booked")
		first.says("The EHR does not have it", "was not moved", "It stands at the old time in their calendar.")
		first.noConfirm()
		said := w.row(`SELECT id FROM proposals WHERE action = 'resolve_operation@1'`)

		second := w.person("reviewer2@demo.test", scripts)
		second.open("/queue")
		second.says("The EHR does not have it", "confirming gives the time back")
		second.open("/proposals/" + said)
		second.says("A person says what the EHR has not said", "Not known. It was sent once")
		second.look()
		second.swap("#confirm")
		second.says("Completed: the change was ended as not done")
		second.look()

		staff.open("/proposals/" + id)
		staff.says("A reviewer looked in the EHR and found that the change is not there")
		w.stored("failed failed", `SELECT state, outcome FROM inspect.proposals WHERE id = $1`, id)
		w.stored("0 0", `SELECT (SELECT count(*) FROM inspect.outbox), (SELECT count(*) FROM slots WHERE held_by IS NOT NULL)`)
		if now := w.visit("appt_maria84"); now != was {
			t.Errorf("the visit is %s", now)
		}
		if n := fake.Count("PUT", "Appointment"); n != 1 {
			t.Errorf("the EHR was written to %d times", n)
		}
	})
}
