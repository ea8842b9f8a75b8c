package journeys

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/views"
)

// asked leads from the day sheet over the appointment to a card that moves the visit to the nth free start of the
// picker. It gives the proposal and the start.
func (p *tab) asked(visit string, n int) (proposal, at string) {
	p.w.t.Helper()
	p.open(p.w.sheet(visit))
	p.follow(`a[href="/appointments/` + visit + `"]`)
	p.follow(p.link("Move"))
	at = p.other(visit, n)
	p.pick(at)
	p.follow(`#propose .btn.main`)
	return p.proposal(), at
}

// other is the nth start of the picker at which the visit is not now.
func (p *tab) other(visit string, n int) string {
	p.w.t.Helper()
	now := p.w.start(visit).Format(time.RFC3339)
	var free []string
	for _, at := range p.times() {
		if at != now {
			free = append(free, at)
		}
	}
	if len(free) <= n {
		p.w.t.Fatalf("the picker offers %d times", len(free))
	}
	return free[n]
}

// local is an instant as cards show it, in Copenhagen.
func local(t *testing.T, at string) (date, clock string) {
	t.Helper()
	i, err := time.Parse(time.RFC3339, at)
	if err != nil {
		t.Fatal(err)
	}
	zone, err := time.LoadLocation("Europe/Copenhagen")
	if err != nil {
		t.Fatal(err)
	}
	return views.LongDate(i.In(zone)), views.Clock(i.In(zone))
}

// Case 1: the time is edited before approval. What runs, and what the patient gets, is the second revision.
func TestEditBeforeApproval(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		p := w.person("staff@demo.test", scripts)
		before := w.visit("appt_maria84")
		id, first := p.asked("appt_maria84", 0)
		p.look()
		p.picture("card-1")
		w.stored("proposed 1 proposed", `SELECT state, revision, outcome FROM inspect.proposals WHERE id = $1`, id)
		_, clock := local(t, first)
		p.says("Nothing has changed yet", "revision 1", clock)
		if w.visit("appt_maria84") != before {
			t.Error("a proposal moved the visit")
		}

		p.follow("#edit")
		p.look()
		p.picture("edit")
		second := p.other("appt_maria84", 3)
		if second == first {
			t.Fatal("the picker does not offer another time")
		}
		p.pick(second)
		p.follow("#propose .btn.main")
		date, clock := local(t, second)
		p.says("revision 2", date, clock)
		p.look()
		text := p.text("blockquote")
		w.stored("proposed 2 proposed", `SELECT state, revision, outcome FROM inspect.proposals WHERE id = $1`, id)

		p.swap("#confirm")
		p.says("Completed: Maria Jensen’s visit is moved", date, clock)
		p.noConfirm()
		p.look()
		p.picture("card-done")
		w.stored("completed 2 completed", `SELECT state, revision, outcome FROM inspect.proposals WHERE id = $1`, id)
		if got := w.start("appt_maria84").Format(time.RFC3339); got != second {
			t.Errorf("the visit stands at %s, the card said %s", got, second)
		}
		w.stored("1 2", `SELECT count(*), max(version) FROM inspect.outbox WHERE appointment = 'appt_maria84' AND kind <> 'reminder'`)
		if body := strings.Join(strings.Fields(w.row(`SELECT body FROM inspect.outbox WHERE appointment = 'appt_maria84' AND kind <> 'reminder'`)), " "); body != text || body == "" {
			t.Errorf("the patient gets %q, the card said %q", body, text)
		}
		w.stored("true", `SELECT encode(sha256('countersign.plan.v1' || E'\n'::bytea || plan_bytes), 'hex') = plan_hash FROM inspect.revisions WHERE proposal = $1 AND revision = 2`, id)

		p.open(w.sheet("appt_maria84"))
		p.says(clock)
		p.follow(`a[href="/appointments/appt_maria84"]`)
		p.says(date, "Moved")
	})
}

func TestEditBeforeApprovalOverTheAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.program("demo-staff")
	first, second := w.free(0, "prac_holm").Format(time.RFC3339), w.free(7, "prac_holm").Format(time.RFC3339)
	one := p.move("appt_maria84", first)
	two := p.is(p.post("/proposals/"+one.text("id")+"/revisions", map[string]any{"revision": 1, "plan_hash": one.text("plan_hash"),
		"parameters": map[string]any{"starts_at": second}}), http.StatusCreated)
	if two.text("plan.after.starts_at") != second || two.text("plan.steps.0.starts_at") == first {
		t.Errorf("revision 2: %s", two.raw)
	}
	if old := p.is(p.confirm(one, "old"), http.StatusConflict); old.text("error.code") != "resource_changed" {
		t.Errorf("confirming revision 1: %s", old.raw)
	}
	done := p.is(p.confirm(two, "new"), http.StatusOK)
	if done.text("outcome") != "completed" || done.text("result.appointment.starts_at") != second {
		t.Errorf("confirming revision 2: %s", done.raw)
	}
	w.stored("booked prac_holm "+second+" 2", `SELECT status, practitioner, to_char(starts_at AT TIME ZONE 'UTC', `+utc+`), version FROM inspect.appointments WHERE id = 'appt_maria84'`)
	if body := w.row(`SELECT body FROM inspect.outbox WHERE appointment = 'appt_maria84' AND kind <> 'reminder'`); body != two.text("plan.messages.0.text") {
		t.Errorf("the outbox holds %q", body)
	}
}
