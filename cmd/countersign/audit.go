package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"countersign/db"
	"countersign/internal/audit"
)

// errNotWhole is a trail, a file or a receipt with findings, which have been said: exit status 1.
var errNotWhole = errors.New("not whole")

// texts are files given on the command line, read.
type texts []string

func (t *texts) String() string { return "" }

func (t *texts) Set(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	*t = append(*t, string(b))
	return nil
}

// keys are public keys given on the command line: as they are, or in files.
type keys []string

func (k *keys) String() string { return "" }

func (k *keys) Set(s string) error {
	if b, err := os.ReadFile(s); err == nil {
		s = string(b)
	}
	*k = append(*k, s)
	return nil
}

// auditVerify checks the trail of every clinic, or an exported file. Findings are lines on standard output; it ends with
// status 0 only when there is none.
func (p *program) auditVerify(ctx context.Context, args []string) error {
	var c config
	var clinicName string
	var outside texts
	var trusted keys
	f := flag.NewFlagSet("audit verify", flag.ContinueOnError)
	c.databaseFlags(f)
	f.StringVar(&clinicName, "clinic", "", "only the clinic of this `name`")
	f.Var(&outside, "checkpoint", "a checkpoint that was kept elsewhere, a `file`; may be repeated")
	f.Var(&trusted, "key", "public `key`, or a file that holds it; may be repeated. The installation's own counts where it is")
	files, err := p.parseWithFiles(f, args)
	if err != nil {
		return err
	}
	trusted = append(trusted, knownKey(c.dataDir)...)
	found := 0
	report := func(f audit.Finding) {
		found++
		where := ""
		if f.Clinic != "" {
			where = "clinic " + f.Clinic + ": "
		}
		fmt.Fprintf(p.stdout, "%s%s [%s]\n", where, f.Words, f.Kind)
	}
	if len(files) > 0 {
		err = p.verifyFiles(files, trusted, outside, report)
	} else {
		err = c.withDatabase(ctx, p.log(), false, func(d *db.DB, _ string) error {
			return p.verifyClinics(ctx, d, clinicName, trusted, outside, report)
		})
	}
	if err == nil && found > 0 {
		fmt.Fprintf(p.stderr, "countersign: NOT WHOLE: %d findings\n", found)
		return errNotWhole
	}
	return err
}

func (p *program) verifyClinics(ctx context.Context, d *db.DB, name string, trusted, outside []string, report func(audit.Finding)) error {
	clinics, err := d.Clinics(ctx)
	if err != nil {
		return err
	}
	if name != "" {
		id, err := d.ClinicByName(ctx, name)
		if err != nil {
			return fmt.Errorf("no clinic %q: %w", name, err)
		}
		clinics = []string{id}
	}
	of := map[string][]string{}
	for _, note := range outside {
		id := audit.ClinicOf(note)
		if !slices.Contains(clinics, id) {
			report(audit.Finding{Kind: audit.BadCheckpoint, Words: fmt.Sprintf("a checkpoint from outside is of clinic %q, which is not looked at here", id)})
		}
		of[id] = append(of[id], note)
	}
	for _, id := range clinics {
		var size int64
		n := 0
		err := d.Snapshot(ctx, id, func(t *db.Tx) (err error) {
			size, err = t.VerifyTrail(ctx, trusted, of[id], func(f audit.Finding) { n++; report(f) })
			return err
		})
		if err != nil {
			return err
		}
		if n == 0 {
			fmt.Fprintf(p.stdout, "clinic %s: whole, %d entries\n", id, size)
		}
	}
	return nil
}

func (p *program) verifyFiles(files, trusted, outside []string, report func(audit.Finding)) error {
	for _, path := range files {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		n := 0
		out, err := audit.VerifyFile(file, trusted, outside, func(f audit.Finding) { n++; report(f) })
		file.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if n > 0 {
			continue
		}
		what := "whole"
		if !out.Whole {
			what = "a part of it (" + out.Filter + "), as exported"
		}
		fmt.Fprintf(p.stdout, "%s: the trail of clinic %s, %s, %d entries\n", path, out.Clinic, what, out.Seen)
		if len(trusted) == 0 {
			fmt.Fprintf(p.stdout, "signed with the key that the file names: compare it with the one you kept, or give that with --key\n  %s\n", out.By)
		}
	}
	return nil
}

// auditKeyCommand prints the installation's public key, and makes the key where there is none.
func (p *program) auditKeyCommand(args []string) error {
	var c config
	f := flag.NewFlagSet("audit key", flag.ContinueOnError)
	c.databaseFlags(f)
	if err := p.parse(f, args); err != nil {
		return err
	}
	key, err := auditKey(c.dataDir)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, key.Public)
	return nil
}

// auditCheckpoint takes a checkpoint of every clinic, or of one, and prints them or writes them to a file.
func (p *program) auditCheckpoint(ctx context.Context, args []string) error {
	var c config
	var clinicName, out string
	f := flag.NewFlagSet("audit checkpoint", flag.ContinueOnError)
	c.databaseFlags(f)
	f.StringVar(&clinicName, "clinic", "", "the clinic's `name`; needed where there is more than one")
	f.StringVar(&out, "out", "", "write it to this `file`; standard output without it")
	if err := p.parse(f, args); err != nil {
		return err
	}
	key, err := auditKey(c.dataDir)
	if err != nil {
		return err
	}
	return c.withDatabase(ctx, p.log(), false, func(d *db.DB, _ string) error {
		id, err := p.oneClinic(ctx, d, clinicName)
		if err != nil {
			return err
		}
		note, _, _, err := d.ExportStart(ctx, id, key)
		if err != nil {
			return err
		}
		if out != "" {
			return os.WriteFile(out, []byte(note), 0o644)
		}
		fmt.Fprint(p.stdout, note)
		return nil
	})
}

// oneClinic is the clinic of a name; without a name, the only one.
func (p *program) oneClinic(ctx context.Context, d *db.DB, name string) (string, error) {
	if name != "" {
		id, err := d.ClinicByName(ctx, name)
		if err != nil {
			return "", fmt.Errorf("no clinic %q: %w", name, err)
		}
		return id, nil
	}
	clinics, err := d.Clinics(ctx)
	if err == nil && len(clinics) != 1 {
		err = fmt.Errorf("there are %d clinics: name one with --clinic", len(clinics))
	}
	if err != nil {
		return "", err
	}
	return clinics[0], nil
}

// receiptVerify checks receipts from their text alone: files, or - for standard input.
func (p *program) receiptVerify(args []string) error {
	var trusted keys
	f := flag.NewFlagSet("receipt verify", flag.ContinueOnError)
	f.Var(&trusted, "key", "public `key` that was kept, or a file that holds it; may be repeated")
	files, err := p.parseWithFiles(f, args)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return p.wrong("receipt verify needs a file, or - for standard input")
	}
	for _, path := range files {
		b, err := readText(path)
		if err != nil {
			return err
		}
		all, err := audit.VerifyReceipts(string(b), trusted...)
		for _, r := range all {
			fmt.Fprintln(p.stdout, "GOOD\n"+r.Says())
		}
		if err != nil {
			fmt.Fprintf(p.stdout, "NOT GOOD: %v\n", err)
			return errNotWhole
		}
		if len(trusted) == 0 {
			fmt.Fprintf(p.stdout, "signed with the key that the receipt names: compare it with the one you kept, or give that with --key\n  %s\n", all[0].Key)
		}
	}
	return nil
}

func readText(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(io.LimitReader(os.Stdin, 64<<20))
	}
	return os.ReadFile(path)
}
