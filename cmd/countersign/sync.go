package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"countersign/db"
	"countersign/internal/ehr"
	"countersign/internal/ehr/mirror"
)

// mostDrift lines are printed; the counts are of all.
const mostDrift = 1000

// errNotRead ends a sync in which the EHR did not answer rightly. What was wrong has been said.
var errNotRead = errors.New("the EHR was not read to its end")

// sync reads what changed in a clinic's EHR, once, and lists where it and we differ: counts and ids, no names.
func (p *program) sync(ctx context.Context, args []string) error {
	var c config
	var clinicName string
	var full bool
	f := flag.NewFlagSet("sync", flag.ContinueOnError)
	c.databaseFlags(f)
	c.ehrFlags(f)
	f.StringVar(&clinicName, "clinic", "", "the clinic's `name`")
	f.BoolVar(&full, "full", false, "read everything: finds also what is gone there, and visits that are known here only")
	if err := p.parse(f, args); err != nil {
		return err
	}
	return c.withDatabase(ctx, p.log(), false, func(d *db.DB, _ string) error {
		id, err := p.oneClinic(ctx, d, clinicName)
		if err != nil {
			return err
		}
		conns, err := c.connections(ctx, d)
		if err != nil {
			return err
		}
		conn, has := conns.of(id)
		if !has {
			return errors.New("this clinic has no EHR: say --ehr-url or --ehr-connections")
		}
		client, err := ehr.NewClient(conn, nil)
		if err != nil {
			return err
		}
		m := mirrorFor(d, id, client, "cli", p.log())
		passes, err := m.Run(ctx, full)
		for _, x := range passes {
			line := fmt.Sprintf("%s: %d read on %d pages, %d new or changed, %d not taken", x.Kind, x.Read, x.Pages, x.Changed, x.Drift)
			if x.Code != "" {
				line += "; not to the end: " + x.Code
				err = errors.Join(err, errNotRead)
			}
			fmt.Fprintln(p.stdout, line)
		}
		return errors.Join(err, p.sayDrift(ctx, d, id))
	})
}

func (p *program) sayDrift(ctx context.Context, d *db.DB, clinicID string) error {
	return d.Read(ctx, clinicID, func(t *db.Tx) error {
		list, counts, err := t.Drift(ctx, mostDrift)
		if err != nil {
			return err
		}
		var parts []string
		all := 0
		for _, code := range slices.Sorted(maps.Keys(counts)) {
			parts = append(parts, fmt.Sprintf("%d %s", counts[code], code))
			all += counts[code]
		}
		if len(parts) == 0 {
			parts = []string{"none"}
		}
		fmt.Fprintln(p.stdout, "drift: "+strings.Join(parts, ", "))
		for _, x := range list {
			fmt.Fprintf(p.stdout, "  %s there %s, here %s: %s, since %s\n", x.Kind, orDash(x.Remote), orDash(x.ID), x.Code, x.FirstAt.UTC().Format(time.RFC3339))
		}
		if all > len(list) {
			fmt.Fprintf(p.stdout, "  and %d more\n", all-len(list))
		}
		return nil
	})
}

func orDash(id string) string {
	if id == "" {
		return "-"
	}
	return id
}

func mirrorFor(d *db.DB, clinicID string, client *ehr.Client, via string, log *slog.Logger) *mirror.Mirror {
	return &mirror.Mirror{Clinic: clinicID, EHR: client, Store: db.Mirror{DB: d, IDs: newID}, IDs: newID, Via: via, Log: log}
}

const (
	mirrorPause = time.Minute
	// mirrorFresh is how young another process's reading must be to do for this one too.
	mirrorFresh = 45 * time.Second
)

// mirrors reads the EHR of every clinic that has one, each minute, each beside the others: a slow one makes no other wait.
// An EHR that several clinics have is not read by itself: nothing in it says whose a patient is, and each clinic would get
// the others'.
func mirrors(d *db.DB, conns *connections, log *slog.Logger) func(context.Context) error {
	var all, said sync.Map // of the process: *mirror.Mirror by clinic; clinics of which was said that they are not read
	return eachEHR(d, conns, log, "mirror", func(ctx context.Context, clinicID string, client *ehr.Client) error {
		kept, _ := all.LoadOrStore(clinicID, mirrorFor(d, clinicID, client, "worker", log))
		m := kept.(*mirror.Mirror)
		return every(mirrorPause, func(ctx context.Context) error {
			clinics, err := d.Clinics(ctx)
			if err != nil {
				return err
			}
			if conns.shared(clinicID, clinics) {
				if _, again := said.LoadOrStore(clinicID, true); !again {
					log.WarnContext(ctx, "ehr: not read by itself, for other clinics have the same EHR; an operator may: countersign sync", "clinic", clinicID)
				}
				return nil
			}
			if read, err := m.ReadWithin(ctx, mirrorFresh); err != nil || read {
				return err
			}
			_, err = m.Run(ctx, false)
			return err
		})(ctx)
	})
}
