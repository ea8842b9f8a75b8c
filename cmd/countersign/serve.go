package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"countersign/handlers"
	"countersign/internal/account"
	"countersign/internal/outbox"
)

// drainWithin is how long requests may take to end once the program is asked to stop.
const drainWithin = 15 * time.Second

func (p *program) log() *slog.Logger { return slog.New(slog.NewJSONHandler(p.stderr, nil)) }

// serve runs the web app, the API and the workers until ctx ends, and then stops in order: no new requests, the
// requests that run, the workers, the private PostgreSQL.
func (p *program) serve(ctx context.Context, args []string) (err error) {
	var c config
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	c.databaseFlags(f)
	c.serveFlags(f)
	if err := p.parse(f, args); err != nil {
		return err
	}
	if c.demo && !isLoopback(c.addr) {
		return p.wrong("--demo has public passwords and runs on a loopback address only, not on %s", c.addr)
	}
	log := p.log()
	listener, err := net.Listen("tcp", c.addr) // first, so that a taken port is known before anything is started
	if err != nil {
		return err
	}
	defer listener.Close()

	d, stop, err := c.serversDatabase(ctx, log, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()

	accounts, err := account.NewService(d, rand.Reader, c.demo, account.DefaultLimits)
	if err != nil {
		return err
	}
	if c.demo {
		if err := demo(ctx, d, accounts, log); err != nil {
			return err
		}
	}
	rules := account.DefaultRules
	rules.Idle, rules.Demo = c.sessionIdle, c.demo
	registry := prometheus.NewRegistry()
	var demoSender *outbox.DemoSender
	if c.demo {
		demoSender = &outbox.DemoSender{}
	}
	e, err := c.engine(ctx, d, demoSender, log)
	if err != nil {
		return err
	}
	app := handlers.New(handlers.Deps{
		DB:        d,
		Desk:      e.desk,
		Talk:      e.talk,
		AuditKey:  e.key,
		Demo:      demoSender,
		Queued:    e.queued,
		SMSSecret: e.smsSecret,
		Accounts:  accounts, Sessions: d, Rules: rules, Ready: d.Ready, Log: log, Random: rand.Reader, Now: time.Now,
		Metrics: registry, TrustedProxies: c.trustedProxies, Closing: ctx,
	})

	servers := []listening{{listener, app}}
	if c.metricsAddr != "" {
		l, err := net.Listen("tcp", c.metricsAddr)
		if err != nil {
			return err
		}
		defer l.Close()
		servers = append(servers, listening{l, metricsHandler(registry, d)})
	}
	defer e.talk.Stop() // after the workers, which begin runs
	workers := startWorkers(ctx, log, e.workers)
	defer workers.stop()
	return serveAll(ctx, log, servers, func() { fmt.Fprintf(p.stdout, "listening on http://%s\n", listener.Addr()) })
}

type listening struct {
	net.Listener
	handler http.Handler
}

// serveAll serves until ctx ends or a server fails, and then lets the requests that run come to their end.
func serveAll(ctx context.Context, log *slog.Logger, all []listening, ready func()) error {
	failed := make(chan error, len(all))
	servers := make([]*http.Server, len(all))
	for i, l := range all {
		servers[i] = &http.Server{Handler: l.handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
			WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
			ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
		go func() { failed <- servers[i].Serve(l) }()
	}
	ready()
	var err error
	select {
	case <-ctx.Done():
		log.Info("stopping")
	case err = <-failed:
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainWithin)
	defer cancel()
	for _, s := range servers {
		if stopErr := s.Shutdown(drain); stopErr != nil {
			err = errors.Join(err, stopErr, s.Close())
		}
	}
	return err
}

// newID is a random id: a prefix that tells what it names, and 80 bits. It is no secret; it must only never come twice.
func newID(prefix string) string { return prefix + "_" + rand.Text()[:16] }
