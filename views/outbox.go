package views

import (
	"net/url"
	"slices"
	"time"

	"countersign/internal/outbox"
)

// OutboxPage is GET /outbox: the messages patients get or got, newest first, with the exact text.
type OutboxPage struct {
	Shell
	Messages []OutboxMessage
	State    string // filter: "" = all
	NotTold  int    // messages of the clinic that the filter Attention finds, on whichever page
	Older    string // cursor, "" = the end
	Demo     bool   // show the switch POST /outbox/demo, field fail=on|off
	Failing  bool   // the switch is on
}

// OutboxMessage is one message. SendAt zero = at once; SentAt zero = not sent.
type OutboxMessage struct {
	ID, Kind, Channel, Recipient, Subject, Text string
	State                                       string
	Attempts, Unanswered                        int
	Code                                        string // of the last failure, or why it waits or was not sent
	CreatedAt, SendAt, NextAt, SentAt           time.Time
	ReceiptAt                                   time.Time // when the receiver says it came to its state
	Proposal                                    string
	Revision                                    int
	PlanHash                                    string
	Appointment                                 string
	MayRetry                                    bool // POST /outbox/{id}/retry
}

// Attention is the filter of all that somebody should look at: NotTold.
const Attention = "attention"

// outboxStates are the filters, as words.
var outboxStates = []Option{{Value: Attention, Label: "Needs somebody"}, {Value: outbox.Queued, Label: "Waiting"}, {Value: outbox.Sending, Label: "Being sent"},
	{Value: outbox.Sent, Label: "Sent"}, {Value: outbox.Delivered, Label: "Delivered"}, {Value: outbox.Undelivered, Label: "Not delivered"},
	{Value: outbox.Failed, Label: "Failed"}, {Value: outbox.Dead, Label: "Given up"}, {Value: outbox.Unknown, Label: "May have been sent"},
	{Value: outbox.Superseded, Label: "Overtaken"}, {Value: outbox.Suppressed, Label: "Not to be sent"}, {Value: outbox.Expired, Label: "Too late"}}

// OutboxFilter reports whether a text is a filter of the page.
func OutboxFilter(state string) bool {
	return slices.ContainsFunc(outboxStates, func(o Option) bool { return o.Value == state })
}

// OutboxWord names the state of a message.
func OutboxWord(state string) string {
	for _, o := range outboxStates {
		if o.Value == state {
			return o.Label
		}
	}
	return state
}

// NotTold are the states in which somebody should see that the patient knows.
func NotTold(state string) bool {
	return slices.Contains([]string{outbox.Failed, outbox.Dead, outbox.Unknown, outbox.Undelivered}, state)
}

// WentOut are the states in which the message has left, as far as anybody knows.
func WentOut(state string) bool { return state == outbox.Sent || state == outbox.Delivered }

func outboxClass(state string) string {
	switch {
	case WentOut(state):
		return "ok"
	case NotTold(state):
		return "stop"
	case state == outbox.Superseded, state == outbox.Suppressed, state == outbox.Expired:
		return "gone"
	}
	return "low"
}

// codeWord says in words what a receiver answered, or why a message waits or is not sent.
func codeWord(code string) string {
	return word(map[string]string{outbox.CodePlanMismatch: "it is not what stands in its plan", outbox.CodeNotConfirmed: "nobody confirmed its plan", outbox.CodeDeceased: "the patient is recorded as deceased",
		outbox.CodeNoConsent: "the patient does not want messages this way", outbox.CodeRecipientChanged: "the patient’s address has changed",
		outbox.CodeNoSender: "no way out is set up for this channel", outbox.CodeQuietHours: "nobody is woken at night",
		outbox.CodePanic: "sending it broke off", "demo_switched_off": "the demo’s sending is switched off"}, code)
}

func retryURL(id string) string { return "/outbox/" + url.PathEscape(id) + "/retry" }

// notToldWords say how many wait for somebody.
func (p OutboxPage) notToldWords() string {
	if p.NotTold == 1 {
		return "1 message needs somebody."
	}
	return Count(p.NotTold, "message") + " need somebody."
}

// attentionURL shows them alone.
const attentionURL = "/outbox?state=" + Attention

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
	if words := (map[string]string{outbox.Delivered: ", delivered ", outbox.Undelivered: ", not delivered, said the gateway ", outbox.Sent: ", passed on "})[m.State]; words != "" && !m.ReceiptAt.IsZero() {
		out += words + when(m.ReceiptAt)
	}
	if m.Attempts > 0 {
		out += ", " + Count(m.Attempts, "attempt")
	}
	switch {
	case m.State == outbox.Queued && m.Code == outbox.CodeQuietHours:
		out += ", held back until " + when(m.NextAt) + ": " + codeWord(m.Code)
	case m.State == outbox.Queued && m.Code == outbox.CodeNoSender:
		out += ", waiting: " + codeWord(m.Code)
	case m.State == outbox.Suppressed:
		out += ", not sent: " + codeWord(m.Code)
	case m.State == outbox.Expired, m.State == outbox.Superseded:
	case m.Code != "" && !WentOut(m.State):
		out += ", last answer: " + codeWord(m.Code)
		if m.State == outbox.Queued && m.Attempts > 0 && !m.NextAt.IsZero() {
			out += ", tried again " + when(m.NextAt)
		}
	}
	switch m.State {
	case outbox.Superseded:
		out += ". A later change of the same visit made it wrong, so it was not sent"
	case outbox.Expired:
		out += ". It would have come too late, so it was not sent"
	}
	switch {
	case m.Unanswered == 0 || WentOut(m.State) || m.State == outbox.Undelivered:
	case m.State == outbox.Unknown && m.Channel == "sms":
		out += ". There was no answer, so the patient may have got it; an SMS is never repeated by itself"
	default:
		out += ". " + Count(m.Unanswered, "attempt") + " had no answer, so the patient may have got it"
	}
	return out + "."
}

// retryWords are on the button. Who presses it must know what it may do.
func (m OutboxMessage) retryWords() string {
	if m.State == outbox.Unknown || m.Unanswered > 0 {
		return "Send again: the patient may get it twice"
	}
	return "Try sending again"
}
