package journeys

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// booked lists so many visits of the clinic that lie ahead, the latest first.
func (w *world) booked(n int) []string {
	w.t.Helper()
	ids := strings.Split(w.row(`SELECT string_agg(id, ',') FROM (SELECT id FROM inspect.appointments
		WHERE clinic = (SELECT clinic FROM accounts WHERE email = 'staff@demo.test') AND status = 'booked' AND starts_at > now() + interval '2 days'
		ORDER BY starts_at DESC, id LIMIT $1) a`, n), ",")
	if len(ids) != n {
		w.t.Fatalf("%d visits lie ahead, not %d", len(ids), n)
	}
	return ids
}

// cancels proposes that a visit is cancelled, and is the answer.
func (p program) cancels(visit string) said {
	p.w.t.Helper()
	return p.is(p.post("/proposals", map[string]any{"action": "cancel_appointment@1",
		"parameters": map[string]any{"appointment": visit, "reason_code": "clinic_closed"}}), 201)
}

const changedRow = `document.getElementById("now-%s").innerText.includes(%q)`

// Two reviewers on one item: one wins, the other sees why, on the card and in the list that was open all the time.
func TestTwoReviewersOnOneItem(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		p := w.program("demo-staff").cancels("appt_maria84")
		id := p.text("id")

		second := w.person("reviewer2@demo.test", scripts)
		second.open("/queue")
		list := second.another()
		list.open("/queue")
		second.follow(`a[data-row][href*="` + id + `"]`)

		first := w.person("reviewer@demo.test", scripts)
		first.open("/queue")
		first.look()
		first.follow(`a[data-row][href*="` + id + `"]`)
		first.swap("#confirm")
		first.says("Completed")

		second.swap("#confirm")
		second.noConfirm()
		second.says("decided")
		second.look()
		if scripts {
			list.until(changedRow, id, "ompleted")
		} else {
			list.follow(`.bar a[href^="/queue"]`)
			if list.count(`a[data-row][href*="`+id+`"]`) != 0 {
				t.Error("what was decided still waits")
			}
		}
		w.stored("completed 1", `SELECT state, (SELECT count(*) FROM inspect.audit WHERE proposal = $1 AND action = 'proposal.confirm' AND outcome = 'success') FROM inspect.proposals WHERE id = $1`, id)
	})
}

// The role goes between the look and the click: refused in words, and the proposal waits for somebody else.
func TestTheRoleGoesBetweenTheLookAndTheClick(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		id := w.program("demo-staff").cancels("appt_maria84").text("id")
		p := w.person("reviewer@demo.test", scripts)
		p.open("/proposals/" + id)
		w.exec(`UPDATE accounts SET role = 'staff' WHERE email = 'reviewer@demo.test'`)
		p.swap("#confirm")
		p.says("Only the person who asked, or a reviewer, may decide this.")
		p.noConfirm()
		p.look()
		w.stored("proposed", `SELECT state FROM inspect.proposals WHERE id = $1`, id)
		other := w.person("reviewer2@demo.test", scripts)
		other.open("/proposals/" + id)
		other.swap("#confirm")
		other.says("Completed")
	})
}

// A list decided together: each item its own result, and one that went stale holds up no other.
func TestDecidedTogether(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		staff, ids := w.program("demo-staff"), []string{}
		visits := w.booked(3)
		for _, v := range visits {
			ids = append(ids, staff.cancels(v).text("id"))
		}
		p := w.person("reviewer@demo.test", scripts)
		p.open("/queue?view=all")
		for _, id := range ids {
			p.click(`input[form=bulk][name*="` + id + `"]`)
		}
		p.follow(`button[form=bulk]`)
		p.look()
		for i, decision := range []string{"approve", "reject", "approve"} {
			row := eval[int](p, `[...document.querySelectorAll('input[name^="proposal"]')].findIndex(e => e.value === %q)`, ids[i])
			name := eval[string](p, `document.querySelectorAll('input[name^="proposal"]')[%d].name`, row)
			p.click(`input[name="` + strings.Replace(name, "proposal", "decision", 1) + `"][value=` + decision + `]`)
		}
		// Meanwhile the third visit is cancelled by another proposal.
		w.program("demo-reviewer2").is(w.program("demo-reviewer2").confirm(staff.cancels(visits[2]), "elsewhere"), 200)
		p.follow("#decide-all")
		p.says("hanged")
		p.look()
		for i, want := range []string{"completed cancelled", "rejected booked", "proposed cancelled"} {
			w.stored(want, `SELECT p.state, a.status FROM inspect.proposals p, inspect.appointments a WHERE p.id = $1 AND a.id = $2`, ids[i], visits[i])
		}
	})
}

// 120 items walked through page by page while others arrive and are decided: each is seen once, and what is new is a
// button, not a row that moves.
func TestTheWholeQueueIsWalkedWhileItMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	staff, reviewer := w.program("demo-staff"), w.program("demo-reviewer2")
	visits := w.booked(123)
	var asked []said
	for _, v := range visits[:120] {
		asked = append(asked, staff.cancels(v))
	}
	p := w.person("reviewer@demo.test", true)
	p.open("/queue?view=all")
	seen := map[string]int{}
	rows := func() []string {
		return strings.Fields(eval[string](p, `[...document.querySelectorAll("[data-row]")].map(a => a.getAttribute("href").match(/prp_[a-z0-9]+/)[0]).join(" ")`))
	}
	before := rows()
	for _, v := range visits[120:] {
		staff.cancels(v)
	}
	gone := asked[100].text("id")
	reviewer.is(reviewer.confirm(asked[100], "meanwhile"), 200)
	p.until(`document.getElementById("queue-live").innerText.includes("3 new")`)
	if !slices.Equal(rows(), before) {
		t.Error("rows moved while they were looked at")
	}
	for page := 0; ; page++ {
		for _, id := range rows() {
			seen[id]++
		}
		if p.count(`a[href*="cursor"]`) == 0 || page > 9 {
			break
		}
		p.follow(`a[href*="cursor"]`)
	}
	for i, a := range asked {
		id := a.text("id")
		if seen[id] != 1 && id != gone {
			t.Errorf("item %d was seen %d times", i, seen[id])
		}
	}
	if seen[gone] > 1 {
		t.Error("what was decided was seen twice")
	}
	p.fits()
}

// Keys of the list move and open; none decides. They can be switched off.
func TestTheQueueByKeyboard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	staff := w.program("demo-staff")
	var asked []string
	for _, v := range w.booked(2) {
		asked = append(asked, staff.cancels(v).text("id"))
	}
	p := w.person("reviewer@demo.test", true)
	p.open("/queue")
	p.press("j")
	at := func() string { return eval[string](p, `document.activeElement.getAttribute("href") || ""`) }
	first := at()
	p.press("j")
	if second := at(); first == "" || second == "" || second == first {
		t.Fatalf("j leads from %q to %q", first, second)
	}
	p.press("k")
	if got := at(); got != first {
		t.Fatalf("k leads to %q, not %q", got, first)
	}
	eval[any](p, `window.leaving = true; 0`)
	p.press("a")
	p.until(`!window.leaving`)
	p.ready()
	p.tabTo("#confirm")
	w.stored("2", `SELECT count(*) FROM inspect.proposals WHERE state = 'proposed' AND id IN ($1, $2)`, asked[0], asked[1])
	eval[any](p, `window.stayed = true; document.getElementById("work").dataset.old = "1"; 0`)
	p.press(kb.Enter)
	p.swapped()
	p.says("Completed")
	p.open("/queue")
	p.follow(`button[form=keys-form]`)
	p.says("Single keys are off.")
	p.press("j")
	if eval[bool](p, `document.activeElement.matches("[data-row]")`) {
		t.Error("j moves although the keys are off")
	}
}
