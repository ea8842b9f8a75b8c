package journeys

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"countersign/internal/account"
)

// signIn fills in the form of the page that is open.
func (p *tab) signIn(email string) {
	p.w.t.Helper()
	p.write("#email", email)
	p.write("#password", account.DemoPassword)
	p.follow("main form button.main")
}

// Signed out, the browser holds nothing: Back leads to signing in, not to a patient.
func TestSignOutThenBack(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		p := w.person("", scripts)
		p.open("/patients/pat_maria84")
		p.look()
		p.picture("signin")
		p.signIn("staff@demo.test")
		p.says("Maria Jensen")
		p.asked("appt_maria84", 0)
		if scripts {
			p.forgets()
		}
		p.follow(`[form=signout]`)
		p.says("Sign in")
		p.saysNot("Maria", "Jensen")
		for range 3 {
			p.w.must(p.Do(chromedp.NavigateBack()))
			p.until(`document.readyState === "complete"`)
			p.saysNot("Maria", "Jensen", "Born")
		}
		if !strings.HasPrefix(p.path(), "/signin") {
			t.Errorf("Back leads to %s", p.path())
		}
		if scripts {
			p.forgets()
		}
		w.stored("0", `SELECT count(*) FROM sessions WHERE account IS NOT NULL`)
	})
}

// The session ends over a form: what was typed is there again after signing in, and nothing was sent by itself.
func TestTypedFieldsSurviveSigningInAgain(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		p := w.person("staff@demo.test", scripts)
		p.open("/proposals/new?action=reschedule_appointment%401&appointment=appt_maria84")
		at := p.other("appt_maria84", 2)
		p.pick(at)
		p.write("#message", "Please bring your glasses")
		p.write("#reason", "She rang")
		w.at(70 * time.Minute)
		p.follow("#propose .btn.main")
		p.says("What you typed is kept")
		p.saysNot("glasses", "Maria")
		p.look()
		p.picture("signin-again")
		p.signIn("staff@demo.test")
		p.until(`!!document.getElementById("propose")`)
		for selector, want := range map[string]string{"#message": "Please bring your glasses", "#reason": "She rang", "#slots input:checked": at} {
			if got := eval[string](p, `(document.querySelector(%q) || {}).value || ""`, selector); got != want {
				t.Errorf("%s is %q, want %q", selector, got, want)
			}
		}
		w.stored("0", `SELECT count(*) FROM inspect.proposals`)
		p.follow("#propose .btn.main")
		p.says("Please bring your glasses", "Medium")

		w.at(140 * time.Minute) // and on the card, where htmx asks; its deadline is over by then, and it says so
		p.write("#reason", "Too late")
		if scripts {
			eval[any](p, `window.leaving = true; 0`)
		}
		p.press(kb.Enter)
		p.until(`!!document.getElementById("email")`)
		p.ready()
		p.signIn("staff@demo.test")
		p.says("This ran out at")
		if scripts {
			p.forgets()
		}
	})
}
