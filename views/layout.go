package views

import (
	"net/url"
	"time"

	"github.com/a-h/templ"
)

// htmxConfig is htmx 4's own configuration: no style of its own (the policy forbids it), no history (nothing of a page
// is stored, Back is a real page load), and every answer but 204 is swapped.
const htmxConfig = `{"includeIndicatorCSS":false,"history":false,"mode":"same-origin","noSwap":[204,304],"defaultSwap":"outerHTML","transitions":false}`

// live is what htmx adds to a real form: its answer replaces #work, one request at a time for the whole work, and
// refusals that say nothing about the card go to the fixed alert region. htmx 4 inherits nothing, so each form has all.
func live(action string) templ.Attributes {
	const alert = "target:#alert swap:innerHTML"
	return templ.Attributes{"hx-post": action, "hx-target": "#work", "hx-swap": "outerHTML", "hx-sync": "#work:drop",
		"hx-status:401": alert, "hx-status:404": alert, "hx-status:413": alert, "hx-status:429": alert, "hx-status:5xx": alert}
}

func cardURL(id string) string    { return "/proposals/" + url.PathEscape(id) }
func visitURL(id string) string   { return "/appointments/" + url.PathEscape(id) }
func patientURL(id string) string { return "/patients/" + url.PathEscape(id) }

// proposeURL is the form for a change of a visit.
func proposeURL(action, appointment string) string {
	return "/proposals/new?" + url.Values{"action": {action}, "appointment": {appointment}}.Encode()
}

func fieldAnchor(name string) string { return "#" + url.PathEscape(name) }

// message is what is wrong with one field, "" when nothing is.
func (r Refusal) message(field string) string {
	for _, f := range r.Fields {
		if f.Name == field {
			return f.Message
		}
	}
	return ""
}

// describe gives a field its aria attributes: hint is the id of its hint, "" when it has none.
func (r Refusal) describe(field, hint string) templ.Attributes {
	a := templ.Attributes{}
	if hint != "" {
		a["aria-describedby"] = hint
	}
	if r.message(field) != "" {
		a["aria-invalid"] = "true"
		a["aria-describedby"] = field + "-wrong"
		if hint != "" {
			a["aria-describedby"] = field + "-wrong " + hint
		}
	}
	return a
}

// entryTime is a clock time, with seconds where order matters, and the date when it was another day than the reader's
// eye expects: a timeline always shows it.
func entryTime(t time.Time, seconds bool) string {
	if seconds {
		return t.Format("2 Jan 2006, 15:04:05")
	}
	return t.Format("2 Jan, 15:04")
}

var keyHelp = []struct{ key, does string }{
	{"?", "Show or hide this help"},
	{"/", "Go to the patient search or the first filter"},
	{"t", "Day sheet: today"},
	{"p", "Day sheet: the day before"},
	{"n", "Day sheet: the day after"},
	{"j", "Lists: next row"},
	{"k", "Lists: previous row"},
	{"o", "Queue: open the row (Enter does the same)"},
	{"a", "Queue: open the row at what can be decided"},
	{"r", "Queue: open the row at the rejection"},
	{"a", "Card: go to Confirm (Enter presses it)"},
	{"e", "Card: edit"},
	{"r", "Card: go to the reason for a rejection"},
}

// titled fills in a title, with "Error: " in front of it when the page holds a refusal.
func titled(s Shell, title string, r Refusal) Shell {
	if s.Title == "" {
		s.Title = title
	}
	if r.Is() {
		s.Title = "Error: " + s.Title
	}
	return s
}

func onOff(off bool) string {
	if off {
		return "off"
	}
	return "on"
}
