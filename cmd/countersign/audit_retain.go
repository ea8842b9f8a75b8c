package main

import (
	"context"
	"flag"
	"fmt"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
)

// operator is who works the program on the machine itself.
func operator(clinicID string) clinic.Actor {
	return clinic.Actor{Clinic: clinicID, Person: "operator", Kind: clinic.KindSystem, Via: "cli"}
}

// auditRetain sets for how many years a clinic's trail is kept.
func (p *program) auditRetain(ctx context.Context, args []string) error {
	var c config
	var clinicName string
	var years int
	f := flag.NewFlagSet("audit retain", flag.ContinueOnError)
	c.databaseFlags(f)
	f.StringVar(&clinicName, "clinic", "", "the clinic's `name`")
	f.IntVar(&years, "years", 0, "`number` of years, at least 1")
	if err := p.parse(f, args); err != nil {
		return err
	}
	if years < 1 || years > 1000 {
		return p.wrong("audit retain needs --years, at least 1")
	}
	return c.withDatabase(ctx, p.log(), false, func(d *db.DB, _ string) error {
		id, err := p.oneClinic(ctx, d, clinicName)
		if err != nil {
			return err
		}
		return d.InClinic(ctx, id, func(t *db.Tx) error {
			if err := t.SetRetention(ctx, years); err != nil {
				return err
			}
			return t.Audit(ctx, audit.Event{ID: newID("aud"), At: t.Now(), Actor: operator(id), Action: audit.SetRetention, Outcome: audit.Success,
				ObjectKind: "years", Object: fmt.Sprint(years)})
		})
	})
}

// auditCut removes what a clinic need not keep any longer, after the whole trail was verified.
func (p *program) auditCut(ctx context.Context, args []string) error {
	var c config
	var clinicName string
	f := flag.NewFlagSet("audit cut", flag.ContinueOnError)
	c.databaseFlags(f)
	f.StringVar(&clinicName, "clinic", "", "the clinic's `name`")
	if err := p.parse(f, args); err != nil {
		return err
	}
	key, err := auditKey(c.dataDir)
	if err != nil {
		return err
	}
	return c.withDatabase(ctx, p.log(), false, func(d *db.DB, ownersURL string) error {
		id, err := p.oneClinic(ctx, d, clinicName)
		if err != nil {
			return err
		}
		found := 0
		err = d.Snapshot(ctx, id, func(t *db.Tx) error {
			_, err := t.VerifyTrail(ctx, []string{key.Public}, nil, func(f audit.Finding) {
				found++
				fmt.Fprintf(p.stdout, "clinic %s: %s [%s]\n", id, f.Words, f.Kind)
			})
			return err
		})
		if err != nil {
			return err
		}
		if found > 0 {
			return fmt.Errorf("the trail is not whole (%d findings), and a cut would hide it: nothing was cut", found)
		}
		size, err := db.CutTrail(ctx, ownersURL, id, key, func(t *db.Tx, size int64) audit.Event {
			return audit.Event{ID: newID("aud"), At: t.Now(), Actor: operator(id), Action: audit.CutTrail, Outcome: audit.Success, ObjectKind: "entries", Object: fmt.Sprint(size)}
		})
		if err != nil {
			return err
		}
		if size == 0 {
			fmt.Fprintln(p.stderr, "nothing is old enough to be cut")
			return nil
		}
		fmt.Fprintf(p.stderr, "cut: entries 1 to %d are gone; what is left behind keeps the rest verifiable\n", size)
		return nil
	})
}
