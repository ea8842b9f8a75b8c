package main

import (
	"context"
	"log/slog"
	"math/rand/v2"

	"countersign/db"
	"countersign/internal/assistant"
	"countersign/internal/audit"
	"countersign/internal/outbox"
	"countersign/internal/outbox/sms"
	"countersign/internal/proposal"
)

// engine is what works on a database, with or without the web in front of it.
type engine struct {
	desk      *proposal.Service
	talk      *assistant.Service
	key       func() (*audit.Key, error)
	queued    func(clinic string) // wakes this process's relay: there is a new message
	smsSecret sms.Secret          // shared with the SMS gateway; nil = there is none
	workers   []worker
}

// waking holds more clinics than commit between two turns of the relay; what it cannot hold is found at the next look.
const waking = 256

func (c *config) engine(ctx context.Context, d *db.DB, demo *outbox.DemoSender, log *slog.Logger) (*engine, error) {
	secret, err := c.smsSecret()
	if err != nil {
		return nil, err
	}
	senders, err := c.senders(demo, secret)
	if err != nil {
		return nil, err
	}
	conns, err := c.connections(ctx, d)
	if err != nil {
		return nil, err
	}
	words, err := c.interpreter(log)
	if err != nil {
		return nil, err
	}
	wake := make(chan string, waking)
	e := &engine{smsSecret: secret, key: keyAtNeed(c.dataDir), queued: func(clinic string) {
		select {
		case wake <- clinic:
		default:
		}
	}}
	e.desk = &proposal.Service{Store: db.Proposals{DB: d, Queued: e.queued}, IDs: newID, TTL: c.proposalTTL, Log: log, MailFrom: c.mailFrom, Limits: c.proposalLimits, EHR: conns.has}
	e.talk = &assistant.Service{Store: db.Threads{DB: d}, Desk: e.desk, Interpreter: words, IDs: newID, Log: log}
	relay := &outbox.Relay{Store: db.Outbox{DB: d}, Senders: senders, Log: log, Quiet: outbox.DefaultQuiet, Random: rand.Float64, Wake: wake}
	e.workers = append(workersOf(d, e.desk, e.talk, e.key, log), worker{"outbox", relay.Run}, worker{"ehr", lanes(d, conns, e.desk, c.ehrSettle, log)}, worker{"mirror", mirrors(d, conns, log)})
	return e, nil
}
