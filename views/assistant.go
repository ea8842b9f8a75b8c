package views

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
)

// AssistantPage is a conversation with the card that waits beside it, or, without a thread, the place to begin one.
type AssistantPage struct {
	Shell
	Threads []ThreadLine // the person's own, newest first
	Cursor  string       // of this page of them; "" = the newest
	Older   string       // cursor of the next page; "" = the list ends here
	Thread  Talk         // ID "" = a new one
	Card    *CardPage    // what waits for a decision; nil = nothing
	Text    string       // what was typed and refused
	Refusal Refusal
	Part    bool // only what may change by itself: the answer to the poll
}

// ThreadLine is one conversation in the list.
type ThreadLine struct {
	ID, Title, State string    // State in words
	At               time.Time // when something was said last
	Mark             string    // of a timeline
}

// Talk is a conversation. Text is data, whoever wrote it.
type Talk struct {
	ID, Title string
	Said      []TalkLine // oldest first
	Known     []Fact
	Missing   []Fact // what, and why
	Working   bool   // the last message is being read
	Live      bool   // it may go on by itself: a decision, a deadline, a run at work
	Seen      string // what the poll has seen, to be told from what is there now
}

// TalkLine is one message. Choices can be picked only in the last one.
type TalkLine struct {
	Mine     bool
	By       string
	At       time.Time
	Text     string
	Choices  []TalkChoice
	Proposal string // id of the card it speaks of, "" = none
}

// TalkChoice is something to pick. Who is set when it names a patient.
type TalkChoice struct {
	ID, Label, Note string
	Who             Person
}

// Fact is one thing that is known.
type Fact struct{ Label, Value string }

func (p AssistantPage) title() string {
	if p.Thread.Title != "" {
		return p.Thread.Title
	}
	return "New request"
}

func threadURL(id string) string { return "/assistant/" + url.PathEscape(id) }

// sayURL is where what is typed goes; "new" begins a conversation.
func (p AssistantPage) sayURL() string {
	if p.Thread.ID == "" {
		return threadURL("new") + "/messages"
	}
	return threadURL(p.Thread.ID) + "/messages"
}

// live swaps the answer in. A new conversation is a new page, with an address of its own.
func (p AssistantPage) live() templ.Attributes {
	if p.Thread.ID == "" {
		return nil
	}
	return live(p.sayURL())
}

func (p AssistantPage) pollURL() string {
	return threadURL(p.Thread.ID) + "/changed?" + url.Values{"seen": {p.Thread.Seen}}.Encode()
}

func (p AssistantPage) sayLabel() string {
	switch {
	case p.Thread.Working:
		return "Wait for the answer, then go on"
	case p.Card != nil:
		return "Decide first: words decide nothing"
	case p.Thread.ID == "":
		return "Say what should change"
	default:
		return "Answer, correct, or say what else"
	}
}

// open reports whether the choices of a line can be picked: the last thing said, while no card waits.
func (p AssistantPage) open(i int) bool { return i == len(p.Thread.Said)-1 && p.Card == nil }

// listed reports whether there is a list to show; the last page of one may be empty.
func (p AssistantPage) listed() bool { return len(p.Threads) > 0 || p.Cursor != "" }

// beforeBirth is a title without the birth date at its end.
func beforeBirth(title string) string {
	if i := strings.LastIndex(title, "born "); i >= 0 && len(title)-i == len("born 02-Jan-2006") {
		return title[:i]
	}
	return title
}

func olderThreadsURL(cursor string) string {
	return "/assistant?" + url.Values{"cursor": {cursor}}.Encode()
}

func lineID(i int) string { return "said-" + strconv.Itoa(i) }
