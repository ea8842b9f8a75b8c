package views

import "time"

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
