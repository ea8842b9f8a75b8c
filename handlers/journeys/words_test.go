package journeys

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// errand is one request in words, from the first message to the rows that stand for it.
type errand struct {
	name   string
	steps  []string // the first message, and the answers to its questions; "> words" picks the choice with the words
	hears  []string // what each question shows
	before string   // the rows while the card waits
	after  string   // and once it was confirmed
	rows   string   // the query for both
	says   string   // what the conversation says in the end
	second bool     // it takes another person to confirm
}

// errands are the workflows beside the move. The answer to the first message is always a question, so that there is a
// middle.
func (w *world) errands() []errand {
	zone, err := time.LoadLocation("Europe/Copenhagen")
	w.must(err)
	at := w.free(5, "prac_okafor")
	return []errand{
		{
			name:   "booking",
			steps:  []string{"Book Søren Groß with Dr Okafor on " + at.In(zone).Format("2 January 2006") + " at " + at.In(zone).Format("15:04"), "> Standard"},
			hears:  []string{"What type"},
			before: "0 ", after: "1 " + at.UTC().Format(time.RFC3339),
			rows: `SELECT count(*), min(to_char(starts_at AT TIME ZONE 'UTC', ` + utc + `)) FROM appointments WHERE clinic = 'hav' AND patient = 'pat_soren' AND type = 'type_standard' AND practitioner = 'prac_okafor' AND status = 'booked' AND starts_at = '` + at.UTC().Format(time.RFC3339) + `'`,
			says: "Done, confirmed by",
		},
		{
			name:   "cancellation", // two of one name and one birth date
			steps:  []string{"Cancel Anna Nielsen's visit", "> 200002", "> It was booked in error"},
			hears:  []string{"Which one?", "Why is the visit"},
			before: "booked", after: "cancelled",
			rows: `SELECT status FROM inspect.appointments WHERE id = 'appt_anna2'`,
			says: "Done, confirmed by",
		},
		{
			name:   "registration",
			steps:  []string{"Register Maria Jensen, born 1984-03-11, phone +45 20 30 40 50, prefers sms", "> Somebody else"},
			hears:  []string{"looks the same"},
			before: "1", after: "2",
			rows:   `SELECT count(*) FROM patients WHERE clinic = 'hav' AND family = 'Jensen' AND given = 'Maria' AND birth_date = '1984-03-11'`,
			says:   "Stored: Maria Jensen, born 1984-03-11",
			second: true,
		},
		{
			name:   "message",
			steps:  []string{"Message 100871", "Cancel nothing, please come ten minutes early"},
			hears:  []string{"What should the message say"},
			before: "0 ", after: "1 +4500100871",
			rows: `SELECT count(*), min(recipient) FROM inspect.outbox WHERE kind = 'message' AND body LIKE '%Cancel nothing, please come ten minutes early%'`,
			says: "Done, confirmed by",
		},
		{
			name:   "corrected e-mail",
			steps:  []string{"Change Maria Jensen's email to m.jensen@example.test", "> 100234"},
			hears:  []string{"Which one?"},
			before: "maria.jensen.84@example.test +4500100234 email", after: "m.jensen@example.test +4500100234 email",
			rows: `SELECT email, phone, contact FROM patients WHERE clinic = 'hav' AND id = 'pat_maria84'`,
			says: "Done, confirmed by",
		},
	}
}

// Each errand in the browser, without scripts by keyboard alone; the server is another one after every step.
func TestErrandsByWords(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		p := w.person("staff@demo.test", scripts)
		for _, e := range w.errands() {
			p.open("/assistant")
			for i, words := range e.steps {
				w.at(0)
				p.tells(words)
				if i < len(e.hears) {
					p.says(e.hears[i])
					p.noConfirm()
				}
				w.stored(e.before, e.rows)
				p.look()
				p.picture(fmt.Sprint(e.name, "-", i))
			}
			p.says("Nothing has changed yet")
			w.at(0)
			if e.second {
				p.noConfirm()
				q := w.person("reviewer@demo.test", scripts)
				q.open("/queue")
				q.follow(q.link("Maria Jensen"))
				q.swap("#confirm")
				q.says("Completed")
				if !scripts {
					p.open(p.path())
				}
			} else {
				p.decides("#confirm", "Completed")
			}
			p.says(e.says)
			if got := w.row(e.rows); got != e.after {
				t.Errorf("%s: stored %q, want %q", e.name, got, e.after)
			}
			p.until(`document.querySelector("#confirm") === null`)
			p.look()
			p.picture(e.name + "-done")
		}
		w.deliver()
		w.stored("sent", `SELECT state FROM inspect.outbox WHERE kind = 'message' AND body LIKE '%Cancel nothing%'`)
	})
}

// The same over the API: another server knows the thread, the run and the waiting call. A run that waits for a decision
// is awaiting_input too; its pending confirmation tells.
func TestErrandsOverTheAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.program("demo-staff")
	for i, e := range w.errands() {
		thread := "/threads/" + p.is(p.post("/threads", nil), http.StatusCreated).text("id")
		run := ""
		for i, words := range e.steps {
			run = p.tells(thread, words)
			w.at(0)
			h := p.is(p.get(thread), http.StatusOK)
			if i < len(e.hears) && (h.text("state") != "awaiting_input" || h.at("pending_confirmation") != nil || !strings.Contains(h.raw, e.hears[i])) {
				t.Errorf("%s: not the question %q: %s", e.name, e.hears[i], h.raw)
			}
			w.stored(e.before, e.rows)
		}
		h := p.is(p.get(thread), http.StatusOK)
		if h.text("state") != "awaiting_input" || h.text("pending_confirmation.run_id") != run {
			t.Fatalf("%s: no card: %s", e.name, h.raw)
		}
		decision := map[string]any{"tool_call_id": h.text("pending_confirmation.tool_call_id"), "decision": "approve", "idempotency_key": fmt.Sprint("errand-", i),
			"revision": h.at("pending_confirmation.revision"), "plan_hash": h.text("pending_confirmation.plan_hash")}
		if e.second {
			p.is(p.post("/runs/"+run+"/confirm", decision), http.StatusForbidden)
			w.stored(e.before, e.rows)
			card := p.is(p.get("/proposals/"+h.text("pending_confirmation.proposal_id")), http.StatusOK)
			p.is(w.program("demo-reviewer").confirm(card, "errand-second"), http.StatusOK)
		} else {
			p.is(p.post("/runs/"+run+"/confirm", decision), http.StatusAccepted)
		}
		if h = p.is(p.get(thread), http.StatusOK); h.text("state") != "completed" || !strings.Contains(h.raw, e.says) {
			t.Errorf("%s: in the end: %s", e.name, h.raw)
		}
		w.stored(e.after, e.rows)
		if r := p.is(p.get("/runs/"+run), http.StatusOK); r.text("tool_calls.0.status") != "completed" {
			t.Errorf("%s: the run: %s", e.name, r.raw)
		}
	}
}

// tells posts a message, or the choice that the last answer offers, and is the run.
func (p program) tells(thread, words string) string {
	p.w.t.Helper()
	body := map[string]any{"text": words}
	if choice, picks := strings.CutPrefix(words, "> "); picks {
		list, _ := p.is(p.get(thread), http.StatusOK).at("messages").([]any)
		offered, _ := list[len(list)-1].(map[string]any)["choices"].([]any)
		body = nil
		for _, x := range offered {
			if c := x.(map[string]any); strings.Contains(c["label"].(string), choice) {
				body = map[string]any{"choice": c["id"]}
			}
		}
		if body == nil {
			p.w.t.Fatalf("no choice with %q in %v", choice, offered)
		}
	}
	return p.is(p.post(thread+"/messages", body), http.StatusAccepted).text("run_id")
}
