package journeys

import (
	"strings"

	"github.com/chromedp/chromedp/kb"
)

// The steps that every conversation is made of. With scripts choices are clicked; without, the keyboard alone is used.

// tells sends a message, or picks ("> words"), and waits for the answer.
func (p *tab) tells(words string) {
	p.w.t.Helper()
	if choice, picks := strings.CutPrefix(words, "> "); picks {
		p.chooses(choice)
		return
	}
	before := p.count(".talk > li")
	p.write("#text", words)
	p.press(kb.Enter)
	p.until(`document.querySelectorAll(".talk > li").length >= %d`, before+2)
	p.ready()
}

// chooses picks the choice with the words in it.
func (p *tab) chooses(words string) {
	p.w.t.Helper()
	before := p.count(".talk > li")
	if p.scripts {
		p.click(p.link(words))
	} else {
		p.tabTo(words)
		p.enter()
	}
	p.until(`document.querySelectorAll(".talk > li").length >= %d`, before+2)
	p.ready()
}

// decides presses a button of the card that waits in the conversation, and goes on there. Without scripts the card
// itself tells the outcome first.
func (p *tab) decides(button, outcome string) {
	p.w.t.Helper()
	if p.scripts {
		p.click(button)
		p.until(`document.querySelector("#confirm") === null && !!document.querySelector(".talk")`)
		p.ready()
		return
	}
	p.tabTo(button)
	p.enter()
	p.says(outcome)
	p.look()
	p.tabTo("Back to the conversation")
	p.enter()
}
