package journeys

import "testing"

// Four eyes: one person through browser and token is one person; another one makes two.
func TestFourEyes(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		w.exec(`INSERT INTO policies (clinic, action, version, least_risk, set_by, set_name) SELECT clinic, 'reschedule_appointment@1', 1, 'critical', id, name FROM accounts WHERE email = 'admin@demo.test'`)
		staff := w.person("staff@demo.test", scripts)
		id, at := staff.asked("appt_maria84", 2)
		staff.noConfirm()
		staff.says("0 of 2 approvals", "2 people must approve", "This clinic’s policy: at least critical risk")

		first := w.person("reviewer@demo.test", scripts)
		first.open("/proposals/" + id)
		first.swap("#confirm")
		first.says("1 of 2 approvals: you, ", "Another person must approve", "You have approved this already; it needs another person.")
		first.noConfirm()
		first.look()
		api := w.program("demo-reviewer")
		if a := api.is(api.post("/proposals/"+id+"/confirm", api.get("/proposals/"+id).decision("other-door")), 409); a.text("error.code") != "already_decided" {
			t.Errorf("%v", a)
		}
		w.stored("proposed 1", `SELECT state, (SELECT version FROM inspect.appointments WHERE id = 'appt_maria84') FROM inspect.proposals WHERE id = $1`, id)

		second := w.person("reviewer2@demo.test", scripts)
		second.open("/proposals/" + id)
		second.says("1 of 2 approvals: ")
		second.swap("#confirm")
		second.says("Completed: Maria Jensen’s visit is moved", "2 of 2 approvals: ")
		second.look()
		w.stored("completed "+at, `SELECT state, (SELECT to_char(starts_at AT TIME ZONE 'UTC', `+utc+`) FROM inspect.appointments WHERE id = 'appt_maria84') FROM inspect.proposals WHERE id = $1`, id)
	})
}
