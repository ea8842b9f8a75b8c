package main

import (
	"context"
	"errors"
	"flag"
)

// work runs the background workers alone, beside any number of servers and of others like it, until ctx ends. All that
// work on one database share the audit key in their data directory.
func (p *program) work(ctx context.Context, args []string) (err error) {
	var c config
	f := flag.NewFlagSet("work", flag.ContinueOnError)
	c.databaseFlags(f)
	c.workFlags(f)
	if err := p.parse(f, args); err != nil {
		return err
	}
	log := p.log()
	d, stop, err := c.serversDatabase(ctx, log, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	e, err := c.engine(ctx, d, nil, log)
	if err != nil {
		return err
	}
	defer e.talk.Stop()
	workers := startWorkers(ctx, log, e.workers)
	defer workers.stop()
	log.Info("working")
	<-ctx.Done()
	log.Info("stopping")
	return nil
}
