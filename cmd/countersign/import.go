package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/ehr/intake"
	"countersign/internal/refusal"
)

// errNotTaken ends an import of which a file was refused. What was wrong has been said.
var errNotTaken = errors.New("not every file was taken")

// importFiles takes files into a clinic, one transaction each.
func (p *program) importFiles(ctx context.Context, args []string) error {
	var c config
	var clinicName, zone string
	f := flag.NewFlagSet("import", flag.ContinueOnError)
	c.databaseFlags(f)
	f.StringVar(&clinicName, "clinic", "", "the clinic's `name`; one that is not there is made by a file with a Location and a Schedule")
	f.StringVar(&zone, "zone", "", "time `zone` (Europe/Copenhagen) of locations that say none")
	files, err := p.parseWithFiles(f, args)
	if err != nil {
		return err
	}
	if clinicName == "" || len(files) == 0 {
		return p.wrong("import needs --clinic and at least one file (- is standard input)")
	}
	if _, err := time.LoadLocation(zone); err != nil || zone != "" && !strings.Contains(zone, "/") {
		return p.wrong("no time zone %q: an IANA name such as Europe/Copenhagen", zone)
	}
	return c.withDatabase(ctx, p.log(), true, func(d *db.DB, ownersURL string) error {
		var failed error
		for _, name := range files {
			if err := p.importFile(ctx, d, clinicName, name, zone); errors.Is(err, errNotTaken) {
				failed = err
			} else if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return errors.Join(failed, db.Analyze(ctx, ownersURL))
	})
}

// importFile takes one file, whole or not at all.
func (p *program) importFile(ctx context.Context, d *db.DB, clinicName, name, zone string) error {
	from, done, err := p.openAgain(name)
	if err != nil {
		return err
	}
	defer done()
	file, err := intake.Open(from)
	if errors.Is(err, intake.ErrNotWhole) {
		fmt.Fprintf(p.stderr, "%s: nothing was taken: %v\n", name, err)
		return errNotTaken
	}
	if err != nil {
		return err
	}
	id, fresh, err := p.clinicFor(ctx, d, clinicName, file)
	if err != nil {
		return err
	}
	var result *intake.Result
	made := false
	err = d.InClinic(ctx, id, func(t *db.Tx) error {
		if fresh {
			if made, err = t.AddClinic(ctx, clinicName, false); err != nil {
				return err
			}
			// Another import has made it meanwhile: then this one goes on with it.
			if known, err := d.ClinicByName(ctx, clinicName); !made && (err != nil || known != id) {
				return errors.Join(err, fmt.Errorf("clinic %q cannot be made", clinicName))
			}
		}
		if result, err = file.Into(ctx, t.Intake(db.IntakeOptions{By: "import", Via: "import", Zone: zone})); err != nil {
			return err
		}
		if !result.Whole() {
			return errNotTaken
		}
		changed := 0
		for _, n := range result.Changed {
			changed += n
		}
		if changed == 0 {
			return nil
		}
		return t.Audit(ctx, audit.Event{ID: newID("aud"), At: t.Now(), Actor: operator(id), Action: audit.ImportFile, Outcome: audit.Success,
			ObjectKind: "rows", Object: fmt.Sprint(changed)})
	})
	if err != nil && !errors.Is(err, errNotTaken) {
		return err
	}
	if err == nil && made {
		fmt.Fprintf(p.stderr, "%s: clinic %q was made\n", name, clinicName)
	}
	p.sayResult(name, result)
	return err
}

func (p *program) sayResult(name string, r *intake.Result) {
	word := "entry"
	if r.Lines {
		word = "line"
	}
	for _, x := range r.Refused {
		what := "refused"
		if x.Note {
			what = "note"
		}
		fmt.Fprintf(p.stderr, "%s: %s %d: %s: %s\n", name, word, x.Place, what, strings.TrimSpace(strings.Trim(x.Kind+"/"+x.ID, "/")+" "+x.Words))
	}
	if r.More > 0 {
		fmt.Fprintf(p.stderr, "%s: and %d more\n", name, r.More)
	}
	if len(r.Left) > 0 {
		fmt.Fprintf(p.stderr, "%s: left out, of types that are not taken: %s\n", name, counts(r.Left, slices.Sorted(maps.Keys(r.Left))))
	}
	if !r.Whole() {
		fmt.Fprintf(p.stdout, "%s: nothing was taken\n", name)
		return
	}
	fmt.Fprintf(p.stdout, "%s: read %s; new or changed %s\n", name, counts(r.Read, intake.Kinds()), counts(r.Changed, intake.Kinds()))
}

// counts is "2 Location, 14 Slot", "nothing" for none.
func counts(of map[string]int, order []string) string {
	var parts []string
	for _, kind := range order {
		if of[kind] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", of[kind], kind))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// clinicFor finds the clinic of a name. One that is not there is made only by a file from which it can work.
func (p *program) clinicFor(ctx context.Context, d *db.DB, name string, file *intake.File) (id string, fresh bool, err error) {
	id, err = d.ClinicByName(ctx, name)
	if err == nil {
		return id, false, nil
	}
	if r := refusal.Of(err); r == nil || r.Code != refusal.NotFound {
		return "", false, err
	}
	if file.Brings(intake.KindLocation) == 0 || file.Brings(intake.KindSchedule) == 0 {
		names, err := d.ClinicNames(ctx)
		if err != nil {
			return "", false, err
		}
		return "", false, fmt.Errorf("no clinic %q, and a file without a Location and a Schedule makes none; there are: %s", name, strings.Join(names, ", "))
	}
	if clean, err := clinic.CleanText(name, 100); err != nil || clean != name {
		return "", false, fmt.Errorf("a clinic cannot be called %q", name)
	}
	id = strings.ReplaceAll(clinic.Fold(name), " ", "_")
	if _, err := d.ClinicByName(ctx, id); err == nil || !clinic.ValidID(id) {
		sum := sha256.Sum256([]byte(name))
		id = "clinic_" + hex.EncodeToString(sum[:8])
	}
	return id, true, nil
}

// openAgain opens a file that can be read several times. Standard input is kept in a file that only we can read, and that
// has no name.
func (p *program) openAgain(name string) (from io.ReadSeeker, done func(), err error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, nil, errors.Unwrap(err)
		}
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
			f.Close()
			return nil, nil, errors.New("it is no regular file; - reads standard input")
		}
		return f, func() { f.Close() }, nil
	}
	dir, err := os.MkdirTemp("", "countersign-import-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	f, err := os.OpenFile(filepath.Join(dir, "input"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, nil, err
	}
	if _, err := io.Copy(f, os.Stdin); err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, func() { f.Close() }, nil
}
