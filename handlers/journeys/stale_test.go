package journeys

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"
)

// Two tabs: one edits, the other confirms what it still shows. It gets both revisions side by side, nothing live, and a
// way to the current one.
func TestTwoTabs(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		old := w.person("staff@demo.test", scripts)
		id, first := old.asked("appt_maria84", 0)
		before := w.visit("appt_maria84")
		edit := old.another()
		edit.open("/proposals/" + id)
		edit.follow("#edit")
		second := edit.other("appt_maria84", 4)
		edit.pick(second)
		edit.follow("#propose .btn.main")
		edit.says("revision 2")

		old.swap("#confirm")
		_, was := local(t, first)
		_, is := local(t, second)
		old.says("This changed while you had it open", "Now booked", "You saw, revision 1", "Current, revision 2", was, is)
		old.noConfirm()
		if scripts && old.focused() != "This changed while you had it open" {
			t.Errorf("the focus is on %s", old.focused())
		}
		old.look()
		old.picture("card-two-tabs")
		if got := w.visit("appt_maria84"); got != before {
			t.Errorf("a stale confirmation moved the visit: %s", got)
		}
		old.follow(old.link("Review revision 2"))
		old.says("revision 2", is)
		old.swap("#confirm")
		old.says("Completed")
		if got := w.start("appt_maria84").Format(time.RFC3339); got != second {
			t.Errorf("the visit stands at %s, want %s", got, second)
		}
		edit.swap("#confirm") // the other tab, under another key: the person's own outcome
		edit.says("You had decided this already", "Completed")
		edit.noConfirm()
		edit.look()
		w.stored("2 1", `SELECT version, (SELECT count(*) FROM inspect.outbox WHERE kind <> 'reminder') FROM inspect.appointments WHERE id = 'appt_maria84'`)
	})
}

// What the card rests on moves: a new preview is another revision, and that one can be confirmed.
func TestStalePins(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		p := w.person("staff@demo.test", scripts)
		id, at := p.asked("appt_maria84", 1)
		w.exec(`UPDATE patients SET email = 'maria.new@example.test' WHERE id = 'pat_maria84'`)
		p.swap("#confirm")
		p.says("Nothing was moved and nothing was sent", "Prepare a new preview")
		p.noConfirm()
		p.look()
		p.picture("card-stale-pins")
		w.stored("proposed 1 proposed", `SELECT state, revision, outcome FROM inspect.proposals WHERE id = $1`, id)
		w.stored("0", `SELECT count(*) FROM inspect.outbox`)
		p.swap("#prepare")
		p.says("revision 2", "maria.new@example.test")
		p.look()
		p.swap("#confirm")
		p.says("Completed")
		w.stored("completed 2 completed", `SELECT state, revision, outcome FROM inspect.proposals WHERE id = $1`, id)
		w.stored("maria.new@example.test 2", `SELECT recipient, version FROM inspect.outbox`)
		if got := w.start("appt_maria84").Format(time.RFC3339); got != at {
			t.Errorf("the visit stands at %s, want %s", got, at)
		}
	})
}

// The time is taken while the form is open: the form comes back with the reason and other times, none of them chosen.
func TestSlotGone(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		p := w.person("staff@demo.test", scripts)
		p.open("/proposals/new?action=reschedule_appointment%401&appointment=appt_maria84")
		at := p.other("appt_maria84", 0)
		p.pick(at)
		p.write("#reason", "She starts a new job")
		rival := w.program("demo-staff2")
		one := rival.is(rival.post("/proposals", map[string]any{"action": "book_appointment@1", "parameters": map[string]any{"patient": "pat_anna1", "type": "type_standard",
			"practitioner": "prac_holm", "location": "loc_hav12", "starts_at": at}}), http.StatusCreated)
		rival.is(rival.confirm(one, "rival"), http.StatusOK)
		p.follow("#propose .btn.main")
		p.says("These are free instead", "Pick a start")
		p.look()
		p.picture("slot-gone")
		if n := p.count(`input[name=starts_at]:checked`); n != 0 {
			t.Errorf("%d times are chosen for the person", n)
		}
		if got := eval[string](p, `document.getElementById("reason").value`); got != "She starts a new job" {
			t.Errorf("the reason is %q", got)
		}
		w.stored("1", `SELECT count(*) FROM inspect.proposals`)
		other := eval[string](p, `document.querySelector(".offer input[name=starts_at]").value`)
		p.click(fmt.Sprintf(`.offer label:has(input[value=%q])`, other))
		p.follow("#propose .btn.main")
		p.says("She starts a new job")
		p.swap("#confirm")
		p.says("Completed")
		if got := w.start("appt_maria84").Format(time.RFC3339); got != other {
			t.Errorf("the visit stands at %s, want %s", got, other)
		}
	})
}

// A proposal whose time goes to a rival: the card says who stands in the way of what, and leads to a new review.
func TestRivalWins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.person("staff@demo.test", true)
	id, at := p.asked("appt_maria84", 1)
	rival := w.program("demo-staff2")
	one := rival.is(rival.post("/proposals", map[string]any{"action": "book_appointment@1", "parameters": map[string]any{"patient": "pat_anna1", "type": "type_standard",
		"practitioner": "prac_holm", "location": "loc_hav12", "starts_at": at}}), http.StatusCreated)
	p.open("/proposals/" + id)
	p.says("1 rival")
	p.look()
	rival.is(rival.confirm(one, "rival"), http.StatusOK)
	p.swap("#confirm")
	p.says("This changed while you had it open", "Nothing was moved")
	p.noConfirm()
	p.look()
	p.picture("card-rival-won")
	p.swap("#prepare") // the time is taken: the picker, with the reason
	p.says("These are free instead")
	p.look()
	w.stored("proposed 1 proposed", `SELECT state, revision, outcome FROM inspect.proposals WHERE id = $1`, id)
	w.stored("1", `SELECT version FROM inspect.appointments WHERE id = 'appt_maria84'`)
}

// A change of high risk: who asked may not decide it; a reviewer finds it in the queue and does.
func TestReviewerDecidesHighRisk(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		at := w.free(3, "prac_holm", "prac_okafor").Format(time.RFC3339)
		desk := w.program("demo-staff2")
		booking := func(practitioner string) map[string]any {
			return map[string]any{"action": "book_appointment@1", "parameters": map[string]any{"patient": "pat_soren", "type": "type_standard",
				"practitioner": practitioner, "location": "loc_hav12", "starts_at": at}}
		}
		desk.is(desk.confirm(desk.is(desk.post("/proposals", booking("prac_holm")), http.StatusCreated), "first"), http.StatusOK)

		p := w.person("staff@demo.test", scripts)
		p.open("/proposals/new?" + url.Values{"action": {"book_appointment@1"}, "patient": {"pat_soren"}, "practitioner": {"prac_okafor"}, "location": {"loc_hav12"},
			"type": {"type_standard"}, "starts_at": {at}}.Encode())
		p.pick(at)
		p.follow("#propose .btn.main")
		id := p.proposal()
		p.says("High", "The patient has another visit at the same time")
		p.noConfirm()
		p.look()
		p.picture("card-high-asker")
		w.stored("high", `SELECT risk FROM proposals WHERE id = $1`, id)
		asker := w.program("demo-staff")
		seen := asker.is(asker.get("/proposals/"+id), http.StatusOK)
		if no := asker.is(asker.confirm(seen, "mine"), http.StatusForbidden); no.text("error.code") != "self_approval_forbidden" {
			t.Errorf("the asker confirms: %s", no.raw)
		}
		w.stored("proposed 1 proposed", `SELECT state, revision, outcome FROM inspect.proposals WHERE id = $1`, id)

		r := w.person("reviewer@demo.test", scripts)
		r.open("/queue")
		r.says("1 waiting")
		r.look()
		r.picture("queue")
		r.noConfirm()
		r.says("1 waits for you")
		r.follow(`a[data-row][href^="/proposals/` + id + `"]`)
		r.says("You may decide")
		r.look()
		r.swap("#confirm")
		r.says("Completed: Søren Łukasz Groß’s visit is booked")
		if f := r.focused(); f != "#next" { // nothing more waits: the queue
			t.Errorf("after deciding from the queue the focus is on %s", f)
		}
		r.look()
		w.stored("booked prac_okafor", `SELECT status, practitioner FROM inspect.appointments WHERE id IN (SELECT id FROM appointments WHERE proposal = $1)`, id)
		w.stored("1", `SELECT count(*) FROM audit WHERE proposal = $1 AND action = 'proposal.confirm' AND outcome = 'success'`, id)
		r.open("/queue")
		r.says("Nothing waits for you")
		r.look()
	})
}

// Enter in the note of a rejection rejects; it never approves.
func TestEnterInTheNoteNeverApproves(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		p := w.person("staff@demo.test", scripts)
		before := w.visit("appt_maria84")
		id, _ := p.asked("appt_maria84", 0)
		p.write("#reason", "Wrong patient\r")
		p.says("Rejected by you", "Wrong patient", "Nothing was changed and nothing was sent")
		p.noConfirm()
		p.look()
		p.picture("card-rejected")
		w.stored("rejected 1 not_executed", `SELECT state, revision, outcome FROM inspect.proposals WHERE id = $1`, id)
		if got := w.visit("appt_maria84"); got != before {
			t.Errorf("the visit is %s, was %s", got, before)
		}
		w.stored("0", `SELECT count(*) FROM inspect.outbox`)
	})
}
