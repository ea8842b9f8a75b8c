package journeys

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// An admin asks what exactly was approved: from the trail to the evidence with the keyboard alone, and on paper.
func TestWhatExactlyWasApproved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	staff := w.person("staff@demo.test", true)
	id, _ := staff.asked("appt_maria84", 2)
	staff.swap("#confirm")
	staff.says("Completed")

	p := w.person("admin@demo.test", true)
	p.open("/audit?proposal=" + id)
	p.tabTo("evidence for " + id)
	p.enter()
	p.says("Evidence for "+id, "Shown = approved = executed = sent", "The plan that ran is the plan that was approved")
	p.saysNot("NOT EQUAL")
	p.look()
	p.call(emulation.SetEmulatedMediaParams{Media: "print"})
	if !eval[bool](p, `getComputedStyle(document.querySelector(".rail nav")).display === "none" || getComputedStyle(document.querySelector(".rail")).display === "none"`) {
		t.Error("the navigation is printed")
	}
	p.call(emulation.SetEmulatedMediaParams{})
	p.tabTo("A receipt of them")
	w.exec(`ALTER TABLE revisions DISABLE TRIGGER USER`)
	w.exec(`UPDATE revisions SET plan_bytes = plan_bytes || ' '::bytea WHERE proposal = $1`, id)
	p.open("/proposals/" + id + "/evidence")
	p.says("NOT EQUAL")
	if strings.Contains(p.text("main"), "Internal") {
		t.Error("a tampered plan breaks the page")
	}
}
