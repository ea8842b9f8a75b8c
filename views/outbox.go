package views

import (
	"net/url"
	"time"
)

// OutboxPage is GET /outbox: the messages patients get or got, newest first, with the exact text.
type OutboxPage struct {
	Shell
	Messages []OutboxMessage
	State    string // filter: "" = all
	Older    string // cursor, "" = the end
	Demo     bool   // show the switch POST /outbox/demo, field fail=on|off
	Failing  bool   // the switch is on
}

// OutboxMessage is one message. SendAt zero = at once; SentAt zero = not sent.
type OutboxMessage struct {
	ID, Kind, Channel, Recipient, Subject, Text string
	State                                       string
	Attempts                                    int
	Code                                        string // of the last failure
	CreatedAt, SendAt, NextAt, SentAt           time.Time
	Proposal                                    string
	Revision                                    int
	PlanHash                                    string
	Appointment                                 string
	MayRetry                                    bool // POST /outbox/{id}/retry
}

var outboxStates = []Option{{Value: "queued", Label: "Waiting"}, {Value: "sent", Label: "Sent"}, {Value: "failed", Label: "Failed"}, {Value: "superseded", Label: "Overtaken"}}

func outboxClass(state string) string {
	switch state {
	case "sent":
		return "ok"
	case "failed":
		return "stop"
	case "superseded":
		return "gone"
	}
	return "low"
}

func retryURL(id string) string { return "/outbox/" + url.PathEscape(id) + "/retry" }

func outboxURL(state, cursor string) string {
	q := url.Values{"cursor": {cursor}}
	if state != "" {
		q.Set("state", state)
	}
	return "/outbox?" + q.Encode()
}

// mailWords says what became of a message and what happens next.
func (p OutboxPage) mailWords(m OutboxMessage) string {
	loc := zone(p.Zone)
	when := func(t time.Time) string { return ShortDate(t.In(loc)) + ", " + ClockSeconds(t.In(loc)) }
	out := capital(m.Kind) + ", made " + when(m.CreatedAt)
	if !m.SendAt.IsZero() && m.SentAt.IsZero() {
		out += ", to be sent " + when(m.SendAt)
	}
	if !m.SentAt.IsZero() {
		out += ", sent " + when(m.SentAt)
	}
	if m.Attempts > 0 {
		out += ", " + Count(m.Attempts, "attempt")
	}
	if m.Code != "" && m.State != "sent" {
		out += ", last answer: " + word(nil, m.Code)
	}
	if m.State == "queued" && m.Attempts > 0 && !m.NextAt.IsZero() {
		out += ", tried again " + when(m.NextAt)
	}
	if m.State == "superseded" {
		out += ". A later change of the same visit made it wrong, so it was not sent"
	}
	return out + "."
}
