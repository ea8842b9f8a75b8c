package journeys

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Case 3: the button is pressed twice. It runs once, and the person sees the outcome.
func TestPressTwice(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		for _, how := range []struct {
			name  string
			press func(p *tab)
		}{
			{"double click", func(p *tab) { p.doubleClick("#confirm") }},
			{"Enter and click", func(p *tab) {
				x, y := p.middle("#confirm")
				eval[any](p, `document.getElementById("confirm").focus(); 0`)
				p.w.must(p.Do(chromedp.KeyEvent(kb.Enter), chromedp.MouseClickXY(x, y)))
			}},
		} {
			t.Run(how.name, func(t *testing.T) {
				w := newWorld(t)
				w.line.delay = 300 * time.Millisecond
				p := w.person("staff@demo.test", scripts)
				id, at := p.asked("appt_maria84", 2)
				how.press(p)
				p.says("Completed: Maria Jensen’s visit is moved")
				p.noConfirm()
				time.Sleep(2 * w.line.delay) // let a straggler come
				p.says("Completed: Maria Jensen’s visit is moved")
				w.stored("booked prac_holm "+at+" 2 1", `SELECT status, practitioner, to_char(starts_at AT TIME ZONE 'UTC', `+utc+`), version,
					(SELECT count(*) FROM inspect.outbox WHERE kind <> 'reminder') FROM inspect.appointments WHERE id = 'appt_maria84'`)
				w.stored("1", `SELECT count(*) FROM inspect.audit WHERE proposal = $1 AND action = 'proposal.confirm' AND outcome = 'success'`, id)
				if n := w.line.seen.Load(); scripts && n != 1 {
					t.Errorf("%d confirmations were sent", n)
				}
				p.look()
			})
		}
	})
}

func TestPressTwiceOverTheAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.program("demo-staff")
	one := p.move("appt_maria84", w.free(0, "prac_holm").Format(time.RFC3339))
	answers := make([]said, 8)
	var wait sync.WaitGroup
	for i := range answers {
		wait.Go(func() { answers[i] = p.confirm(one, "the-one-key") })
	}
	wait.Wait()
	first := 0
	for _, a := range answers {
		if a.status != http.StatusOK || a.raw != answers[0].raw {
			t.Errorf("answered %d %s", a.status, a.raw)
		}
		if a.header.Get("Idempotency-Replayed") != "true" {
			first++
		}
	}
	if first != 1 {
		t.Errorf("%d of the answers are no replay", first)
	}
	if other := p.is(p.confirm(one, "another-key"), http.StatusConflict); other.text("error.code") != "already_decided" {
		t.Errorf("another key: %s", other.raw)
	}
	w.stored("2 1 1", `SELECT version, (SELECT count(*) FROM inspect.outbox WHERE kind <> 'reminder'), (SELECT count(*) FROM inspect.idempotency_keys WHERE key = 'the-one-key') FROM inspect.appointments WHERE id = 'appt_maria84'`)
}
