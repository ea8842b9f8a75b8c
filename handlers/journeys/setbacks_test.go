package journeys

import (
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// talker is somebody with a card in a conversation that would move Maria Jensen's visit (MRN 100871).
type talker struct {
	*tab
	thread string    // its path
	was    time.Time // start of the visit
	to     time.Time // and what the card says
}

const movedVisit = "appt_maria91"

func (w *world) talker(scripts bool) talker {
	w.t.Helper()
	zone, err := time.LoadLocation("Europe/Copenhagen")
	w.must(err)
	k := talker{tab: w.person("staff@demo.test", scripts), was: w.start(movedVisit), to: w.free(3, "prac_holm")}
	k.open("/assistant")
	k.tells("Move MRN 100871 to " + k.to.In(zone).Format("2 January 2006") + " at " + k.to.In(zone).Format("15:04"))
	k.says("Nothing has changed yet")
	k.thread = k.path()
	return k
}

// stays fails when the visit was moved.
func (k talker) stays() {
	k.w.t.Helper()
	if at := k.w.start(movedVisit); !at.Equal(k.was) {
		k.w.t.Errorf("the visit stands at %s, not %s", at, k.was)
	}
}

// moved fails unless the one completed proposal put the visit where it stands, which is none of the times given, and told
// the patient once.
func (k talker) moved(not ...time.Time) {
	k.w.t.Helper()
	at := k.w.start(movedVisit)
	for _, n := range append(not, k.was) {
		if at.Equal(n) {
			k.w.t.Errorf("the visit stands at %s", at)
		}
	}
	k.w.stored("1 "+at.Format(time.RFC3339), `SELECT count(*), min(convert_from(r.plan_bytes, 'UTF8')::json -> 'after' ->> 'starts_at') FROM inspect.proposals p JOIN inspect.revisions r ON r.proposal = p.id AND r.revision = p.revision WHERE p.state = 'completed'`)
	k.w.stored("2 1", `SELECT version, (SELECT count(*) FROM inspect.outbox WHERE kind <> 'reminder') FROM inspect.appointments WHERE id = $1`, movedVisit)
}

// The deadline passes over a card in a conversation: it says so, nothing ran, and a fresh start is another card.
func TestACardRunsOutInAConversation(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		k := w.talker(scripts)
		stale := k.another()
		stale.open(k.thread)
		w.at(20 * time.Minute)
		if !scripts { // with them the page hears of it by itself
			k.open(k.thread)
		}
		k.says("The time to decide passed", "nothing was executed", "Propose it again", "Leave everything as it is")
		k.noConfirm()
		k.look()
		k.picture("expired")
		if stale.count("#confirm") == 1 { // a page that has not heard: its Confirm comes too late
			stale.click("#confirm")
			stale.says("This ran out at")
			stale.noConfirm()
			stale.look()
			stale.follow(stale.link("Back to the conversation"))
			stale.says("nothing was executed")
		} else if !scripts {
			t.Error("the other tab had no card")
		}
		k.stays()
		w.stored("0", `SELECT count(*) FROM inspect.outbox`)
		k.tells("> Propose it again")
		k.says("Nothing has changed yet")
		k.stays()
		k.decides("#confirm", "Completed")
		k.says("Done, confirmed by")
		k.look()
		k.moved()
		w.stored("2 1", `SELECT count(*), count(*) FILTER (WHERE outcome = 'completed') FROM inspect.proposals`)
	})
}

// A rejection with its reason: the conversation asks what should happen instead, and offers other times.
func TestARejectedCardAsksOn(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		k := w.talker(scripts)
		k.write("#reason", "She works that day")
		k.decides("#reject", "Rejected by you")
		k.says("Rejected by", "“She works that day”", "What should happen instead", "with Dr Anna Holm", "Something else", "Leave everything as it is")
		k.noConfirm()
		k.look()
		k.picture("rejected")
		k.stays()
		w.at(0)
		k.tells("> with Dr Anna Holm")
		k.decides("#confirm", "Completed")
		k.says("Done, confirmed by")
		k.moved(k.to)
		w.stored("completed rejected", `SELECT string_agg(state, ' ' ORDER BY state) FROM inspect.proposals`)
	})
}

// Confirmed, and then another visit lies there that no pin could show: the failure is told in plain words, and other
// times are a choice.
func TestAFailedWriteAsksOn(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		k := w.talker(scripts)
		w.exec(`INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, during, changed_by, changed_via)
			VALUES ('hav', 'appt_between', 'pat_anna1', 'prac_holm', 'loc_hav12', 'type_standard', 'booked', tstzrange($1::timestamptz, $1::timestamptz + interval '30 min'), 'seed', 'seed')`, k.to)
		k.decides("#confirm", "Not done")
		k.says("could not be carried out", "Nothing was changed", "Another visit of this practitioner lies in that time", "with Dr Anna Holm", "Leave everything as it is")
		k.noConfirm()
		k.look()
		k.picture("failed")
		k.stays()
		w.at(0)
		k.tells("> with Dr Anna Holm")
		k.decides("#confirm", "Completed")
		k.says("Done, confirmed by")
		k.moved(k.to)
		w.stored("completed failed", `SELECT string_agg(state, ' ' ORDER BY state) FROM inspect.proposals`)
	})
}

// Somebody else takes the time while the card waits: confirming it changes nothing and says why, and another time is
// found from there.
func TestTheTimeOfACardIsTaken(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		k := w.talker(scripts)
		rival := w.program("demo-staff2")
		one := rival.is(rival.post("/proposals", map[string]any{"action": "book_appointment@1", "parameters": map[string]any{"patient": "pat_anna1", "type": "type_standard",
			"practitioner": "prac_holm", "location": "loc_hav12", "starts_at": k.to.Format(time.RFC3339)}}), http.StatusCreated)
		rival.is(rival.confirm(one, "rival"), http.StatusOK)
		k.open(k.thread)
		k.look()
		k.picture("taken")
		if k.count("#confirm") == 1 {
			k.click("#confirm")
		}
		k.says("Nothing was moved and nothing was sent")
		k.noConfirm()
		k.look()
		k.stays()
		k.swap("#prepare")
		k.says("These are free instead")
		k.look()
		other := eval[string](k.tab, `document.querySelector(".offer input[name=starts_at]").value`)
		k.click(`.offer label:has(input[value="` + other + `"])`)
		k.follow("#propose .btn.main")
		k.says("revision 2")
		k.open(k.thread)
		k.says("revision 2")
		k.decides("#confirm", "Completed")
		k.says("Done, confirmed by")
		if at := w.start(movedVisit).Format(time.RFC3339); at != other {
			t.Errorf("the visit stands at %s, not %s", at, other)
		}
	})
}

// The session ends in the middle of a conversation: the words typed are there again after signing in, in the same
// conversation, and nothing was said by itself.
func TestWordsSurviveSigningInAgain(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		p := w.person("staff@demo.test", scripts)
		p.open("/assistant")
		p.tells("Message 100871")
		p.says("What should the message say")
		thread := p.path()
		w.at(70 * time.Minute)
		p.write("#text", "Please bring your glasses")
		if scripts {
			eval[any](p, `window.leaving = true; 0`)
		}
		p.press(kb.Enter)
		p.until(`!!document.getElementById("email")`)
		p.ready()
		p.says("What you typed is kept")
		p.saysNot("glasses", "Maria")
		p.look()
		p.signIn("staff@demo.test")
		p.says("What should the message say")
		if p.path() != thread {
			t.Errorf("signing in leads to %s, not %s", p.path(), thread)
		}
		if got := eval[string](p, `document.getElementById("text").value`); got != "Please bring your glasses" {
			t.Errorf("the words are %q", got)
		}
		p.look()
		w.stored("0 2", `SELECT (SELECT count(*) FROM inspect.proposals), count(*) FROM messages`)
		p.press(kb.Enter)
		p.says("Nothing has changed yet", "Please bring your glasses")
		p.decides("#confirm", "Completed")
		p.says("Done, confirmed by")
		w.stored("1 +4500100871", `SELECT count(*), min(recipient) FROM inspect.outbox WHERE body LIKE '%Please bring your glasses%'`)
		if scripts {
			p.forgets()
		}
	})
}
