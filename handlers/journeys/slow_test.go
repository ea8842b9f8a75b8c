package journeys

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"countersign/internal/assistant"
	"countersign/internal/assistant/model"
)

// slowly has messages read by a language model that answers each only when it is let.
func (w *world) slowly(arguments string) (let func()) {
	w.t.Helper()
	gate := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		select {
		case <-gate:
		case <-r.Context().Done():
			return
		}
		w.must(json.NewEncoder(rw).Encode(map[string]any{"id": "x", "object": "chat.completion", "choices": []any{map[string]any{"index": 0, "finish_reason": "tool_calls",
			"message": map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{
				map[string]any{"id": "call_1", "type": "function", "function": map[string]any{"name": "understand", "arguments": arguments}}}}}}}))
	}))
	w.t.Cleanup(server.Close)
	grammar, err := assistant.NewGrammar("en")
	w.must(err)
	w.reads, err = model.New(model.Config{URL: server.URL + "/v1", Model: "slow", Timeout: 50 * time.Second}, grammar, nil, nil)
	w.must(err)
	w.at(0)
	return func() { gate <- struct{}{} }
}

// A slow language model: the page says that it is being worked on and brings the answer by itself, or behind a link. What
// is said meanwhile is refused in words and stays in the box.
func TestASlowModelsAnswerIsWaitedFor(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		let := w.slowly(`{"workflow":"cancel","patient":"Maria Jensen"}`)
		p := w.person("staff@demo.test", scripts)
		p.open("/assistant")
		p.write("#text", "Cancel Maria Jensen's visit")
		p.press(kb.Enter)
		p.until(`document.querySelectorAll(".talk > li").length === 1 && document.querySelector("[role=log] ~ .working [role=status]").innerText === "Working on it"`)
		p.ready()
		thread := p.path()
		p.look()
		p.picture("working")
		p.write("#text", "the one born in 84")
		p.press(kb.Enter)
		p.until(`document.querySelector("#refused") !== null`)
		p.ready()
		p.says("still working on what you said before", "Working on it")
		p.look()
		p.picture("busy")
		if got := eval[string](p, `document.getElementById("text").value`); got != "the one born in 84" {
			t.Errorf("the words are %q", got)
		}
		w.stored("1 running", `SELECT count(*), (SELECT state FROM runs) FROM messages`)
		if !scripts {
			p.follow("#answer")
			p.says("Working on it")
			if p.path() != thread {
				t.Errorf("the answer is looked for at %s, not %s", p.path(), thread)
			}
		}
		let()
		if scripts {
			p.says("Which one?")
			p.until(`document.querySelector("#refused") === null && document.querySelector(".working") === null`)
			if got := eval[string](p, `document.getElementById("text").value`); got != "the one born in 84" {
				t.Errorf("when the answer comes the words are %q", got)
			}
		} else {
			for end := time.Now().Add(patience); p.count(".pick") == 0 && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				p.follow("#answer")
			}
			p.says("Which one?")
		}
		p.says("Waiting for an answer, today")
		p.look()
		p.picture("answer")
		p.chooses("100871")
		p.says("Why is the visit", "Maria Jensen, born 02-Jul-1991, MRN 100871")
		w.stored("0", `SELECT count(*) FROM inspect.proposals`)
	})
}

// On a phone older conversations are behind one fold, told apart by wish, name, birth date, state and time.
func TestConversationsOnAPhone(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		w.exec(`INSERT INTO threads (clinic, id, person, title, updated_at) SELECT 'hav', 'old' || n, a.id, 'Move: Old Talk ' || n, now() - n * interval '1 day' FROM generate_series(1, 25) n, accounts a WHERE a.email = 'staff@demo.test'`)
		w.exec(`INSERT INTO messages (clinic, thread, n, role, text, choices, created_at) SELECT clinic, id, 1, 'user', 'Move Old Talk', '[]', updated_at FROM threads`)
		p := w.person("staff@demo.test", scripts)
		p.open("/assistant")
		for _, mrn := range []string{"100234", "100871"} {
			p.tells("Cancel " + mrn + "'s visit")
			p.says("Why is the visit")
			p.open("/assistant")
		}
		p.resize(phone)
		p.open("/assistant")
		p.saysNot("born 11-Mar-1984")
		p.click(".fold summary")
		p.says("Cancel: Maria Jensen, born 11-Mar-1984", "Cancel: Maria Jensen, born 02-Jul-1991", "Waiting for an answer, today", "Waiting for an answer, yesterday")
		p.saysNot("Old Talk 19")
		p.look()
		p.follow("#talks-older")
		p.says("Old Talk 19", "Old Talk 25", "Newest conversations")
		p.saysNot("Old Talk 18")
		p.look()
		p.follow("#talks-newest")
		p.click(".fold summary")
		p.follow(p.link("born 11-Mar-1984"))
		p.says("Why is the visit", "MRN 100234")
		p.look()
	})
}
